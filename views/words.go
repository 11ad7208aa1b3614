package views

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/a-h/templ"
)

// words is a sentence of strings and components with exactly the spaces that
// its parts have: templ's own are those of the layout of its source.
func words(parts ...any) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		for _, part := range parts {
			if c, ok := part.(templ.Component); ok {
				if err := c.Render(ctx, w); err != nil {
					return err
				}
				continue
			}
			if _, err := io.WriteString(w, templ.EscapeString(Visible(fmt.Sprint(part)))); err != nil {
				return err
			}
		}
		return nil
	})
}

// tag is an element around parts, without attributes but a class.
func tag(name, class string, parts ...any) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		open := "<" + name + ">"
		if class != "" {
			open = "<" + name + ` class="` + class + `">`
		}
		if _, err := io.WriteString(w, open); err != nil {
			return err
		}
		if err := words(parts...).Render(ctx, w); err != nil {
			return err
		}
		_, err := io.WriteString(w, "</"+name+">")
		return err
	})
}

func bold(parts ...any) templ.Component    { return tag("b", "", parts...) }
func code(parts ...any) templ.Component    { return tag("code", "", parts...) }
func unseeing(s string) templ.Component    { return tag("span", "unseen", s) }
func asideOf(parts ...any) templ.Component { return tag("span", "aside", parts...) }

// at is an instant: the text in a shape, the exact UTC instant on hover. The
// zero time is an empty component: say what is not known beside it.
func (f Frame) at(t time.Time, as shape) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		if t.IsZero() {
			return nil
		}
		_, err := fmt.Fprintf(w, `<time datetime="%s" title="%s" data-as="%s">%s</time>`,
			machine(t), utc(t), as, templ.EscapeString(f.write(t, as)))
		return err
	})
}

// orDash is an instant, or a dash where there is none.
func (f Frame) orDash(t time.Time, as shape) templ.Component {
	if t.IsZero() {
		return words("–")
	}
	return f.at(t, as)
}

// foreignTime is a timestamp that somebody else wrote, exactly, with what is
// odd about it.
func (f Frame) foreignTime(t time.Time) templ.Component {
	if t.IsZero() {
		return words("no timestamp")
	}
	if odd := f.odd(t); odd != "" {
		return words(f.at(t, exact), " ", tag("span", "odd", odd))
	}
	return f.at(t, exact)
}

// name is a long name that breaks after its dots and dashes.
func name(s string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		parts := breakable(Visible(s))
		for i, part := range parts {
			parts[i] = templ.EscapeString(part)
		}
		_, err := io.WriteString(w, `<span class="name">`+strings.Join(parts, "<wbr>")+`</span>`)
		return err
	})
}

// names is a list of names in words.
func names(list []string, most int) templ.Component {
	var parts []any
	for i, s := range list {
		switch {
		case i == most:
			return words(append(parts, " and "+number(len(list)-most)+" more")...)
		case i > 0 && i == len(list)-1:
			parts = append(parts, " and ")
		case i > 0:
			parts = append(parts, ", ")
		}
		parts = append(parts, name(s))
	}
	return words(parts...)
}
