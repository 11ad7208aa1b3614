package review

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWord is how much of a very long word counts, in bytes: base64 is one word.
const maxWord = 128

// Words are the words of a text as a search sees them: runs of letters, digits
// and marks, in lower case, whatever stands between them. A word is cut after
// 128 bytes. Bytes that are not UTF-8 stand between words.
func Words(text []byte) []string {
	var words []string
	start := -1
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		if inWord(r, size) {
			if start < 0 {
				start = i
			}
		} else if start >= 0 {
			words = append(words, word(text[start:i]))
			start = -1
		}
		i += size
	}
	if start >= 0 {
		words = append(words, word(text[start:]))
	}
	return words
}

func inWord(r rune, size int) bool {
	switch {
	case r < utf8.RuneSelf:
		return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	case r == utf8.RuneError && size == 1:
		return false
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// word cuts and folds one word.
func word(b []byte) string {
	if len(b) > maxWord {
		end := maxWord
		for !utf8.RuneStart(b[end]) {
			end--
		}
		b = b[:end]
	}
	return strings.ToLower(string(b))
}

// HasWords tells whether a text has the wanted words in a row, the last one as
// a beginning. No words are in every text.
func HasWords(text, wanted []string) bool {
	if len(wanted) == 0 {
		return true
	}
	last := len(wanted) - 1
	for i := 0; i+last < len(text); i++ {
		if strings.HasPrefix(text[i+last], wanted[last]) && slices.Equal(text[i:i+last], wanted[:last]) {
			return true
		}
	}
	return false
}
