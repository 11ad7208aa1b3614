package review

import (
	"regexp"
	"slices"
	"strings"
)

// otherForms are lines of stack traces of languages that do not write "at".
// Each is looked for only in lines that have its mark.
var otherForms = []struct {
	mark string
	form *regexp.Regexp
}{
	{`File "`, regexp.MustCompile(`^\s*File "(?:.*[/\\])?([^"/\\]+)", line \d+, in (.+)$`)},                           // Python
	{`.rb:`, regexp.MustCompile(`^\s*(?:from )?(?:.*/)?([\w.-]+\.rb):\d+:in [` + "`" + `'](?:block .*in )?([^']+)'`)}, // Ruby
	{`#`, regexp.MustCompile(`^#\d+ .*?: ([\w\\]+(?:->|::)[\w{}]+)\(`)},                                               // PHP
	{`(`, regexp.MustCompile(`^([\w./-]+\.[\w().*]+)\([^)]*\)$`)},                                                     // Go
}

// foreignFrames are the beginnings and parts of frames that are not the
// application's own.
var foreignFrames = []string{
	"java.", "javax.", "jakarta.", "jdk.", "sun.", "com.sun.", "kotlin.", "kotlinx.", "scala.", "akka.", "org.springframework.",
	"org.apache.", "io.netty.", "reactor.", "io.smallrye.", "io.quarkus.", "io.micronaut.", "io.vertx.", "org.hibernate.", "com.fasterxml.",
	"com.google.common.", "io.confluent.", "org.jboss.", "rx.", "org.aspectj.", "System.", "Microsoft.", "MassTransit.", "NServiceBus.",
	"Confluent.Kafka.", "runtime.", "Symfony\\", "Illuminate\\", "Object.<anonymous>", "Module._", "process.", "node:", "Promise.", "Array.",
}

// generatedFrames are parts of frames that compilers and proxies make up, with
// numbers that change from build to build.
var generatedFrames = []string{
	"$$Lambda", "$$EnhancerBy", "$$FastClassBy", "$$SpringCGLIB", "$Proxy",
	"GeneratedMethodAccessor", "GeneratedConstructorAccessor", "MethodHandle", "<lambda",
}

// lambdaNumber is what tells a lambda or an anonymous class from the next one.
var lambdaNumber = regexp.MustCompile(`\$\d+|(?:lambda\$)|(?:d?__\d+(?:_\d+)?)|\b(?:0x)?[0-9a-f]{8,}\b`)

// topFrames are the first frames of the application's own code, those of the
// innermost cause before others; where there is none, the first frame at all.
// Lines and generated names are left out, so that a new build is no new cause.
func topFrames(stack string, n int) []string {
	if stack == "" {
		return nil
	}
	foreign := ""
	for _, part := range sections(stack) {
		var own []string
		for line := range strings.Lines(part) {
			frame := frameOf(line)
			if frame == "" {
				continue
			}
			if foreign == "" {
				foreign = frame
			}
			if !isForeign(frame) {
				own = append(own, frame)
			}
			if len(own) == n {
				break
			}
		}
		if len(own) > 0 {
			return own
		}
	}
	if foreign == "" {
		return nil
	}
	return []string{foreign}
}

// causeMark begins the stack of a cause in Java.
const causeMark = "\nCaused by: "

// traceback begins each part of a stack trace of Python.
const traceback = "Traceback (most recent call last)"

// sections are the parts of a stack trace, the innermost cause first. Python
// tells the innermost cause first, and of it the innermost frame last.
func sections(stack string) []string {
	if strings.Contains(stack, traceback) {
		parts := strings.Split(stack, traceback)[1:]
		for i, p := range parts {
			parts[i] = reversed(p)
		}
		return parts
	}
	parts := strings.Split(stack, causeMark)
	slices.Reverse(parts)
	return parts
}

// between are the lines that Python writes between two parts.
var between = []string{"The above exception was", "During handling of"}

func reversed(text string) string {
	lines := strings.Split(text, "\n")
	slices.Reverse(lines)
	lines = slices.DeleteFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, between[0]) || strings.HasPrefix(line, between[1])
	})
	return strings.Join(lines, "\n")
}

// frameOf is what a line of a stack trace calls; "" when it is no frame.
func frameOf(line string) string {
	line = strings.TrimRight(line, "\r\n ")
	if len(line) > 1000 {
		return ""
	}
	frame, at := strings.CutPrefix(strings.TrimLeft(line, " \t"), "at ")
	if at {
		frame = calledAt(frame)
	} else {
		frame = otherFrame(line)
	}
	for _, g := range generatedFrames {
		if strings.Contains(frame, g) {
			return ""
		}
	}
	if strings.ContainsAny(frame, "$0123456789") {
		return lambdaNumber.ReplaceAllString(frame, "")
	}
	return frame
}

// calledAt is the name in a line of Java, .NET or Node: up to its bracket,
// without the module before it.
func calledAt(call string) string {
	call = strings.TrimPrefix(strings.TrimPrefix(call, "async "), "new ")
	name, _, _ := strings.Cut(call, "(")
	name = strings.TrimSpace(name)
	if place, alias, ok := strings.Cut(name, " [as "); ok {
		name = place + "." + strings.TrimSuffix(alias, "]")
	}
	if at := strings.LastIndexByte(name, '/'); at > 0 {
		name = name[at+1:] // java.base/java.util.Optional.get
	}
	if name == "" || strings.ContainsAny(name, " /:") {
		return ""
	}
	return name
}

func otherFrame(line string) string {
	for _, o := range otherForms {
		if !strings.Contains(line, o.mark) {
			continue
		}
		if m := o.form.FindStringSubmatch(line); m != nil {
			return strings.Join(m[1:], " ")
		}
	}
	return ""
}

func isForeign(frame string) bool {
	for _, f := range foreignFrames {
		if strings.HasPrefix(frame, f) {
			return true
		}
	}
	return false
}

// headline is the class and the message with which a stack trace begins: of
// the innermost cause, where it tells one.
func headline(stack string) (class, message string) {
	return innermost(firstLine(sections(stack)[0]))
}
