package convention

import "strings"

// causedBy are what stack traces put before the exception that caused the one
// above: Java's and .NET's, in which the innermost is the last that is told
// that way.
var causedBy = []string{"\nCaused by: ", " ---> "}

// rootOf is the class of the innermost cause that a stack trace names; "" when
// it names none besides the class itself. It prefers the last "Caused by".
func rootOf(stack, class string) string {
	for _, mark := range causedBy {
		if !strings.Contains(stack, mark) {
			continue
		}
		at := strings.LastIndex(stack, mark)
		root := className(stack[at+len(mark):])
		if root != "" && root != class {
			return root
		}
	}
	return ""
}

// className is the class at the beginning of "class: message" or of a line.
func className(s string) string {
	end := strings.IndexAny(s, ": \n\r\t")
	if end < 0 {
		end = len(s)
	}
	name := s[:min(end, maxName)]
	for _, r := range name {
		if !isLetter(r) && (r < '0' || r > '9') && !strings.ContainsRune("._$`+", r) {
			return ""
		}
	}
	return name
}
