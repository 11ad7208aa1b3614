package payload

import (
	"fmt"
	"strings"
)

// Hex shows at most limit bytes as lines of sixteen: place, bytes, text.
func Hex(b []byte, limit int) string {
	var out strings.Builder
	shown := b[:min(len(b), max(limit, 0))]
	for at := 0; at < len(shown); at += 16 {
		line := shown[at:min(at+16, len(shown))]
		fmt.Fprintf(&out, "%04x %-47s %s\n", at, fmt.Sprintf("% x", line), dotted(line))
	}
	if len(shown) < len(b) {
		fmt.Fprintf(&out, "%s\n", cutNote(len(shown), len(b)))
	}
	return out.String()
}

func dotted(line []byte) string {
	text := make([]byte, len(line))
	for i, c := range line {
		text[i] = c
		if c < 0x20 || c > 0x7e {
			text[i] = '.'
		}
	}
	return string(text)
}

// cutNote says that more is stored than shown, and that nothing is lost (C12).
func cutNote(shown, size int) string {
	part := plural(shown, "byte")
	if shown >= 1024 && shown%1024 == 0 {
		part = Count(shown/1024) + " kB"
	}
	return fmt.Sprintf("first %s of %s bytes shown; the stored message is complete", part, Count(size))
}
