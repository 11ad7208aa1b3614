package views

import "slices"

// ErrorPage says that a request could not be answered, and what to do.
type ErrorPage struct {
	Frame
	Status  int
	Code    string
	Heading string // "No such letter"
	Message string
	Do      string // what to do about it; "" when there is nothing
	Links   []Link
}

// headings is what to say of a status where nothing better is known.
var headings = map[int]string{
	400: "That cannot be asked for", 403: "Not allowed", 404: "No such page", 405: "Not this way",
	409: "It has changed meanwhile", 413: "Too large", 422: "That cannot be done as it is", 503: "Not right now",
}

func (p ErrorPage) heading() string {
	switch {
	case p.Heading != "":
		return p.Heading
	case headings[p.Status] != "":
		return headings[p.Status]
	default:
		return "Something went wrong here"
	}
}

func (p ErrorPage) glyphOf() string { return oneOf(p.Status == 404, "i-search", "i-warn") }

// leadsTo tells whether one of the links leads to a page.
func (p ErrorPage) leadsTo(path string) bool {
	return slices.ContainsFunc(p.Links, func(l Link) bool { return l.Href == path })
}
