package views

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
