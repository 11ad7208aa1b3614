package sources

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Link is the address of something outside that knows more of one record: its
// line in a log, its trace. Of the address {topic}, {partition}, {offset},
// {group}, {time} (the record's own, RFC 3339 UTC) and {header:name} (the value
// of the record's first header of that name) are filled in, escaped.
type Link struct {
	Name string
	URL  string
}

// Subject is the record that a link is about, as far as it is known.
type Subject struct {
	Topic     string
	Partition int64 // negative: not known
	Offset    int64 // negative: not known
	Group     string
	Time      time.Time
	Headers   []Header
}

// placeholders are what an address may name, besides headers.
var placeholders = []string{"topic", "partition", "offset", "group", "time"}

const headerPlaceholder = "header:"

// Validate says what is wrong with a link.
func (l Link) Validate() error {
	if l.Name == "" {
		return fmt.Errorf("a link needs a name")
	}
	filled, err := l.fill(func(name string) (string, error) {
		if header, ok := strings.CutPrefix(name, headerPlaceholder); ok && header != "" || slices.Contains(placeholders, name) {
			return "x", nil
		}
		return "", fmt.Errorf("{%s} is none of {%s} and {header:NAME}", name, strings.Join(placeholders, "}, {"))
	})
	if err != nil {
		return err
	}
	at, err := url.Parse(filled)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || strings.Contains(strings.SplitN(l.URL, "/", 4)[2], "{") {
		return fmt.Errorf("%q is no address of http or https whose host is written out", l.URL)
	}
	return nil
}

// For is the address for a record; false when it needs something that is not
// known of it.
func (l Link) For(s Subject) (string, bool) {
	at, err := l.fill(func(name string) (string, error) {
		value := s.value(name)
		if value == "" {
			return "", fmt.Errorf("%s is not known", name)
		}
		return strings.ReplaceAll(url.QueryEscape(value), "+", "%20"), nil // right in a path, too
	})
	return at, err == nil
}

// fill replaces each placeholder.
func (l Link) fill(by func(name string) (string, error)) (string, error) {
	var out strings.Builder
	rest := l.URL
	for {
		before, after, found := strings.Cut(rest, "{")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, behind, closed := strings.Cut(after, "}")
		if !closed {
			return "", fmt.Errorf("a brace is not closed")
		}
		value, err := by(name)
		if err != nil {
			return "", err
		}
		out.WriteString(value)
		rest = behind
	}
}

func (s Subject) value(name string) string {
	if header, ok := strings.CutPrefix(name, headerPlaceholder); ok {
		return s.header(header)
	}
	switch name {
	case "topic":
		return s.Topic
	case "partition":
		return known(s.Partition)
	case "offset":
		return known(s.Offset)
	case "group":
		return s.Group
	case "time":
		if !s.Time.IsZero() {
			return s.Time.UTC().Format(time.RFC3339Nano)
		}
	}
	return ""
}

func known(n int64) string {
	if n < 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func (s Subject) header(name string) string {
	for _, h := range s.Headers {
		if h.Name == name {
			return string(h.Value)
		}
	}
	return ""
}

// Links are the links of a source.
type Links []Link

// Address is a link for one record.
type Address struct{ Name, URL string }

// For are the addresses for a record, without those that need what is not known
// of it.
func (all Links) For(s Subject) []Address {
	var out []Address
	for _, l := range all {
		if at, ok := l.For(s); ok {
			out = append(out, Address{l.Name, at})
		}
	}
	return out
}

// Subject is a record of a group as a link takes it.
func (r Record) Subject(group string) Subject {
	return Subject{Topic: r.Topic, Partition: int64(r.Partition), Offset: r.Offset, Group: group, Time: r.Timestamp, Headers: r.Headers}
}
