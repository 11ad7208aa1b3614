package sources

import (
	"errors"
	"fmt"
)

var (
	// ErrAmbiguous is a send that may or may not have arrived.
	ErrAmbiguous = errors.New("the answer to the send was lost: it may or may not have arrived")
	// ErrNotSent is a letter of which nothing went out: it can go later.
	ErrNotSent = errors.New("nothing was sent")
	// ErrRepack is an ErrNotSent with nothing to wait for: the target refused what
	// it was packed with.
	ErrRepack = fmt.Errorf("%w: it is packed anew", ErrNotSent)
	// ErrGone is a letter that is no longer where it was found.
	ErrGone = errors.New("gone")
	// ErrNotAuthorised is what the broker refused to show or do.
	ErrNotAuthorised = errors.New("not authorised")
	// ErrHasMembers is a broker that takes no position of a group from somebody
	// who is not a member of it, while it has members.
	ErrHasMembers = errors.New("the group has members")
	// ErrNoSuchQueue is a queue or topic that is not there.
	ErrNoSuchQueue = errors.New("no such queue")
	// ErrSchemaMismatch is a value that does not fit the schema that it names.
	ErrSchemaMismatch = errors.New("does not fit its schema")
	// ErrNoSchema is a value that names a schema that there is not.
	ErrNoSchema = errors.New("no such schema")
	// ErrTooLarge is a letter that its target does not take because of its size.
	ErrTooLarge = errors.New("too large for its target")
)
