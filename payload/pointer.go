package payload

import (
	"fmt"
	"strconv"
	"strings"
)

// jsonPointer is a JSON pointer (RFC 6901), split into its unescaped tokens.
type jsonPointer []string

// parsePointer reads a pointer strictly: it is empty or begins with a slash,
// and a tilde is followed by 0 or 1.
func parsePointer(s string) (jsonPointer, error) {
	if s == "" {
		return nil, nil
	}
	if s[0] != '/' {
		return nil, fmt.Errorf("%q is no JSON pointer: it begins with / or is empty", s)
	}
	tokens := strings.Split(s[1:], "/")
	for i, t := range tokens {
		plain := strings.NewReplacer("~0", "", "~1", "").Replace(t)
		if strings.Contains(plain, "~") {
			return nil, fmt.Errorf("%q is no JSON pointer: ~ is written ~0, and / in a name ~1", s)
		}
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	return tokens, nil
}

// String is the pointer as it is written.
func (p jsonPointer) String() string {
	var out strings.Builder
	for _, t := range p {
		out.WriteByte('/')
		out.WriteString(strings.ReplaceAll(strings.ReplaceAll(t, "~", "~0"), "/", "~1"))
	}
	return out.String()
}

// words is the pointer for a message: the one of everything is empty.
func (p jsonPointer) words() string {
	if len(p) == 0 {
		return "the whole value"
	}
	return p.String()
}

// within tells whether p names something inside of what q names.
func (p jsonPointer) within(q jsonPointer) bool {
	if len(p) <= len(q) {
		return false
	}
	for i, t := range q {
		if p[i] != t {
			return false
		}
	}
	return true
}

// index reads the number of an array's element: digits, and no zero before
// others.
func index(token string) (int, bool) {
	if token == "" || len(token) > 1 && token[0] == '0' || strings.Trim(token, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(token)
	return n, err == nil
}
