package review

import "github.com/unwedge/unwedge/sources"

// Edit is how letters are changed before they are sent. The letter itself stays
// as it was found. Value, Key and Headers replace those of a single letter;
// Patch, SetHeaders and DropHeaders change each of many.
type Edit struct {
	Value   Replaced
	Key     Replaced
	Headers *[]sources.Header // the whole list, in wire order; nil: as they are

	Patch       []byte // JSON Patch (RFC 6902) of the value; nil: none
	SetHeaders  []sources.Header
	DropHeaders []string
}

// Replaced are bytes that stand in place of others. Null bytes are nil.
type Replaced struct {
	Is    bool
	Bytes []byte
}
