package review

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/unwedge/unwedge/sources"
)

// failure is a recorded reason, read for what it shares with others.
type failure struct {
	class   string
	root    bool   // class is the innermost cause, not the outermost error
	message string // first line, with numbers and ids left out
	varied  bool   // something was left out
	frames  []string
}

// ownFrames is how many frames of the application's own code count.
const ownFrames = 2

// The bounds of what is read of a reason: a message may hold a whole body, a
// stack trace thousands of frames.
const (
	messageLimit = 2 << 10
	stackLimit   = 64 << 10
	messageRunes = 300
)

func readReason(r sources.Reason) failure {
	stack := r.Stack[:min(len(r.Stack), stackLimit)]
	out := failure{class: r.RootClass, root: r.RootClass != "" && r.RootClass != r.Class}
	message := firstLine(strings.ToValidUTF8(r.Message[:min(len(r.Message), messageLimit)], "\uFFFD"))
	if out.class == "" {
		out.class = r.Class
	}
	class, inner := innermost(message)
	switch {
	case class != "" && (out.class == "" || wrapper(out.class) || class == out.class):
		out.root = out.root || out.class != "" && class != out.class
		out.class, message = class, inner
	case out.class == "" || wrapper(out.class) && !out.root:
		if class, text := headline(stack); class != "" && !wrapper(class) {
			out.root = out.class != "" && class != out.class
			out.class = class
			if message == "" {
				message = text
			}
		}
	}
	out.class = strings.ToValidUTF8(out.class, "\uFFFD")
	out.message, out.varied = normalise(withoutWrapping(message))
	out.frames = topFrames(stack, ownFrames)
	return out
}

// firstLine is the first line that has anything on it: what follows are
// details of the one message.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// wrappers are exceptions that only say that another was thrown.
var wrappers = []string{
	"ListenerExecutionFailedException", "MessageHandlingException", "MessagingException", "MessageDeliveryException",
	"ExecutionException", "CompletionException", "InvocationTargetException", "UndeclaredThrowableException",
	"ConnectException", "StreamsException", "AggregateException", "TargetInvocationException", "HandlerException",
	"KafkaException", "RecoverableDataAccessException", "RuntimeException", "Exception", "Error",
}

// wrapper tells whether a class wraps others as a rule. Java's own
// ConnectException is a real failure; Kafka Connect's only wraps.
func wrapper(class string) bool {
	name := shortClass(class)
	for _, w := range wrappers {
		if name == w {
			return name != "ConnectException" || strings.HasPrefix(class, "org.apache.kafka.")
		}
	}
	return false
}

// classEndings are how classes of exceptions end.
var classEndings = []string{"Exception", "Error", "Fault", "Failure", "Throwable", "Timeout", "Violation", "NotFound", "Rejected"}

// isClass tells whether a text is the name of an exception's class: by its
// package, or by its ending.
func isClass(s string) bool {
	if s == "" || len(s) > maxTitle || strings.Trim(s, classRunes) != "" {
		return false
	}
	name := shortClass(s)
	if name == "" || name[0] < 'A' || name[0] > 'Z' {
		return false
	}
	if strings.Count(s, ".") > 1 && s[0] >= 'a' && s[0] <= 'z' {
		return true
	}
	for _, e := range classEndings {
		if strings.Contains(name, e) {
			return true
		}
	}
	return false
}

const classRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.:\\/"

// nestedMark is how Spring joins the messages of an exception and its cause.
const nestedMark = "nested exception is "

// innermost takes a message of the form "Class: message" apart, and of one
// that nests others the innermost.
func innermost(message string) (class, rest string) {
	if at := strings.LastIndex(message, nestedMark); at >= 0 {
		message = message[at+len(nestedMark):]
	}
	for range 5 {
		head, rest, _ := strings.Cut(message, ": ")
		if head = strings.TrimSuffix(head, ":"); !isClass(head) {
			break
		}
		class, message = head, strings.TrimSpace(rest)
	}
	return class, message
}

// wrapping is what wrappers put before the message that matters.
var wrapping = []string{
	"Listener failed; ", "Seek to current after exception; ", "Seek to current after exception;", "Tolerance exceeded in error handler: ",
	"Tolerance exceeded in error handler",
}

// threw ends what Spring says of the method that it called.
const threw = "' threw exception; "

func withoutWrapping(message string) string {
	rest := message
	for _, w := range wrapping {
		rest = strings.TrimPrefix(rest, w)
	}
	if strings.HasPrefix(rest, "Listener method '") {
		if at := strings.Index(rest, threw); at > 0 {
			rest = rest[at+len(threw):]
		}
	}
	if rest == "" {
		return message
	}
	return rest
}

// gap stands for what was left out.
const gap = "…"

// varying is what differs from letter to letter of one cause, and is looked for
// only where its mark is.
var varying = []struct {
	mark string
	form *regexp.Regexp
}{
	{"@", regexp.MustCompile(`[\w.+%-]+@[\w-]+(?:\.[\w-]+)+|@[0-9a-fA-F]{4,16}\b`)},                                                                       // mail addresses, a Java object's hash
	{"?", regexp.MustCompile(`\?[^\s"'<>)]*=[^\s"'<>)]*`)},                                                                                                // the query of a URL
	{"-", regexp.MustCompile(`[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)},                                                                     // UUIDs
	{":", regexp.MustCompile(`\[[0-9a-fA-F]*:[0-9a-fA-F:.]+\]|\b(?:[0-9a-fA-F]{1,4}:){3,7}(?::?[0-9a-fA-F]{1,4})\b|\b[0-9a-fA-F]{1,4}::[0-9a-fA-F:]*\b`)}, // IPv6
}

// meaningful are words with digits that name a thing and no instance of it.
var meaningful = regexp.MustCompile(`(?i)^(?:utf8|utf16|utf32|base64|base32|sha1|sha256|sha384|sha512|md5|crc32c?|ipv[46]|s3|ec2|x509|oauth2?|h2|http[123]|tls1|rfc\d+|iso\d+|u?int(?:8|16|32|64)|float(?:32|64)|log4j2?|v\d{1,2}|log4net|k8s|mp[34]|i18n|b2b|p2p|e2e)$`)

// beforeCode are words behind which a number is a code, and says what went wrong.
var beforeCode = regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:http|status|code|errno|sqlstate|error|returned|response|ora|rc|exit)(?:[ _-]?(?:code|status))?(?: is| of| was)?[\s:=#(\[/-]{0,3}$`)

// codeNumber is a number as short as codes are.
var codeNumber = regexp.MustCompile(`^[0-9A-Z]{1,6}$`)

// gaps are several things in a row that were left out: a list, a date.
var gaps = regexp.MustCompile(`…(?:[\s,;:./x*_+-]*…)+`)

// normalise leaves out of a message what differs from letter to letter, and
// tells whether there was any. Embedded JSON is left out whole. What is quoted
// stays unless it holds digits: a quoted name of a field is what went wrong.
func normalise(message string) (out string, varied bool) {
	out = withoutJSON(message)
	for _, v := range varying {
		if strings.Contains(out, v.mark) {
			out = v.form.ReplaceAllString(out, gap)
		}
	}
	out = withoutNumbers(out)
	if at := strings.Index(out, gap); at >= 0 && strings.Contains(out[at+len(gap):], gap) {
		out = gaps.ReplaceAllString(out, gap)
	}
	out = strings.Join(strings.Fields(out), " ")
	if runes := []rune(out); len(runes) > messageRunes {
		out = string(runes[:messageRunes])
	}
	return out, strings.Contains(out, gap)
}

// withoutNumbers leaves out words with digits: numbers, ids, times.
func withoutNumbers(text string) string {
	if !strings.ContainsFunc(text, unicode.IsDigit) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		end, digit := wordEnd(text, i)
		switch {
		case end == i: // no word begins here
			_, size := utf8.DecodeRuneInString(text[i:])
			b.WriteString(text[i : i+size])
			i += size
		case digit:
			b.WriteString(keepOr(text, i, end))
			i = end
		default:
			b.WriteString(text[i:end])
			i = end
		}
	}
	return b.String()
}

// wordEnd is where the word that begins at i ends, and whether it has a digit.
// A sign belongs to a number that no letter stands before.
func wordEnd(text string, i int) (end int, digit bool) {
	start := i
	if i+1 < len(text) && (text[i] == '-' || text[i] == '+') && text[i+1] >= '0' && text[i+1] <= '9' && (i == 0 || !isWordByte(text[i-1])) {
		i++
	}
	end = i
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		switch {
		case unicode.IsDigit(r):
			digit = true
		case r != '_' && !unicode.IsLetter(r) && (r != '%' || !digit):
			if end == i {
				return start, false
			}
			return end, digit
		}
		end += size
	}
	return end, digit
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// keepOr is the word itself when it means something, else a gap.
func keepOr(text string, from, to int) string {
	word := text[from:to]
	if len(word) <= 8 && meaningful.MatchString(word) {
		return word
	}
	if codeNumber.MatchString(word) && beforeCode.MatchString(text[max(0, from-40):from]) {
		return word
	}
	return gap
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) }

// withoutJSON leaves embedded objects out: {"a":1} is a gap. A brace that
// nothing closes stays.
func withoutJSON(s string) string {
	var b strings.Builder
	for {
		open := strings.IndexByte(s, '{')
		if open < 0 {
			break
		}
		closed := closing(s, open)
		if closed < 0 {
			break
		}
		b.WriteString(s[:open] + gap)
		s = s[closed+1:]
	}
	b.WriteString(s)
	return b.String()
}

// closing is where the brace that opens at i is closed; -1: nowhere.
func closing(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// title is what a person would call the reason: the class without its package,
// and the part of the message that says something.
func (r failure) title() string {
	name, message := onOneLine(shortClass(r.class)), telling(r.message)
	switch {
	case name == "" && message == "" && len(r.frames) > 0:
		return onOneLine("failed at " + lastParts(r.frames[0], 2))
	case name == "":
		return onOneLine(message)
	case message == "" || message == name:
		return name
	}
	return onOneLine(name + ": " + message)
}

// telling leaves out a beginning that only names the instance: of "payment …:
// currency INRR is not known" the second half.
func telling(message string) string {
	for range 2 {
		head, rest, ok := strings.Cut(message, ": ")
		if !ok || !strings.Contains(head, gap) || len(strings.Fields(head)) > 4 || strings.Count(rest, " ") < 1 {
			break
		}
		message = rest
	}
	return message
}

// shortClass is a class without its package or module.
func shortClass(class string) string {
	for _, separator := range []string{".", "::", `\`, "/"} {
		if at := strings.LastIndex(class, separator); at >= 0 && at+len(separator) < len(class) {
			class = class[at+len(separator):]
		}
	}
	if at := strings.LastIndexByte(class, '$'); at >= 0 && at+1 < len(class) && unicode.IsUpper(rune(class[at+1])) {
		class = class[at+1:]
	}
	return class
}

// lastParts is the end of a dotted name: Class.method of a frame.
func lastParts(name string, n int) string {
	parts := strings.Split(name, ".")
	return strings.Join(parts[max(0, len(parts)-n):], ".")
}
