package review

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/unwedge/unwedge/sources"
)

// edited is a header after an edit. One that the edit wrote is sent whatever
// the rules say of its name; one that it left as it was goes by the rules.
type edited struct {
	sources.Header
	fresh bool
}

func plain(headers []edited) []sources.Header {
	if headers == nil {
		return nil
	}
	list := make([]sources.Header, len(headers))
	for i, h := range headers {
		list[i] = h.Header
	}
	return list
}

// headers are those of a letter after the edit, in wire order.
func (e *Edit) headers(l sources.DeadLetter) ([]edited, error) {
	if e != nil && e.Headers != nil {
		return relisted(l, *e.Headers)
	}
	list := make([]edited, 0, len(l.Headers))
	for _, h := range l.Headers {
		list = append(list, edited{Header: h})
	}
	if e == nil {
		return list, nil
	}
	list = slices.DeleteFunc(list, func(h edited) bool { return slices.Contains(e.DropHeaders, h.Name) })
	for _, h := range e.SetHeaders {
		list = set(list, typed(l, h))
	}
	return list, nil
}

// set puts a header in the place of the first of its name, and takes the others
// of that name out.
func set(list []edited, h sources.Header) []edited {
	named := func(other edited) bool { return other.Name == h.Name }
	at := slices.IndexFunc(list, named)
	if at < 0 {
		return append(list, edited{h, true})
	}
	list[at] = edited{h, true}
	return slices.Concat(list[:at+1], slices.DeleteFunc(list[at+1:], named))
}

// relisted is a whole new list. A header that the letter has, too, as often as
// it has it, is one that was left as it was.
func relisted(l sources.DeadLetter, headers []sources.Header) ([]edited, error) {
	had := headerCounts{}
	for _, h := range l.Headers {
		had.add(h)
	}
	list := make([]edited, 0, len(headers))
	for _, h := range headers {
		left := had.take(h)
		if !left && ours(h.Name) {
			return nil, fmt.Errorf("header %s is set by Unwedge itself: leave it out, or as it was", h.Name)
		}
		list = append(list, edited{typed(l, h), !left})
	}
	return list, nil
}

// headerCounts counts headers of the same name and value; null is not empty.
type headerCounts map[headerText]int

type headerText struct {
	name, value string
	null        bool
}

func textOfHeader(h sources.Header) headerText {
	return headerText{h.Name, string(h.Value), h.Value == nil}
}

func (c headerCounts) add(h sources.Header) { c[textOfHeader(h)]++ }

// take counts one off, and is false when there is none.
func (c headerCounts) take(h sources.Header) bool {
	t := textOfHeader(h)
	if c[t] == 0 {
		return false
	}
	c[t]--
	return true
}

// typed gives an attribute of SQS its data type: that which the attribute of
// this name has had, else String for text and Binary for anything else. Kafka
// has none.
func typed(l sources.DeadLetter, h sources.Header) sources.Header {
	if l.Place.MessageID == "" {
		h.Type = ""
		return h
	}
	if h.Type != "" {
		return h
	}
	for _, was := range l.Headers {
		if was.Name == h.Name {
			h.Type = was.Type
			return h
		}
	}
	h.Type = "String"
	if !sqsText(h.Value) {
		h.Type = "Binary"
	}
	return h
}

// fitsSQS says, before a plan, what SQS would say of an edited message at the
// send (SQS API reference, SendMessage and MessageAttributeValue).
func (e *Edit) fitsSQS(body []byte, headers []edited) error {
	changed := e.Value.Is || e.Patch != nil
	switch {
	case e.Key.Is:
		return errors.New("a message of SQS has no key that could be edited")
	case changed && len(body) == 0:
		return errors.New("a message of SQS cannot be null or empty: it has at least one character")
	case changed && !sqsText(body):
		return errors.New("a message of SQS is text: UTF-8 without control characters other than tab and new line")
	}
	names := map[string]bool{}
	for _, h := range headers {
		if names[h.Name] {
			return fmt.Errorf("a message of SQS has one attribute of a name, and %q is there twice", h.Name)
		}
		names[h.Name] = true
		if err := fitsAttribute(h.Header); h.fresh && err != nil {
			return err
		}
	}
	return nil
}

func fitsAttribute(h sources.Header) error {
	kind, _, _ := strings.Cut(h.Type, ".")
	switch {
	case !attributeName(h.Name):
		return fmt.Errorf("attribute %q: SQS takes names of up to 256 letters, digits, and _ - . between them, not beginning with AWS. or Amazon", h.Name)
	case len(h.Value) == 0:
		return fmt.Errorf("attribute %s is null or empty, and SQS takes neither", h.Name)
	case kind != "Binary" && !sqsText(h.Value):
		return fmt.Errorf("attribute %s has the data type %s and is not text", h.Name, h.Type)
	}
	return nil
}

func attributeName(name string) bool {
	lower := strings.ToLower(name)
	return name != "" && len(name) <= 256 && !strings.HasPrefix(lower, "aws.") && !strings.HasPrefix(lower, "amazon.") &&
		name[0] != '.' && name[len(name)-1] != '.' && !strings.Contains(name, "..") &&
		strings.Trim(lower, "abcdefghijklmnopqrstuvwxyz0123456789_-.") == ""
}

// sqsText tells whether SQS takes bytes as text: the characters of XML 1.0.
func sqsText(b []byte) bool {
	return utf8.Valid(b) && !strings.ContainsFunc(string(b), func(r rune) bool {
		return r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff
	})
}
