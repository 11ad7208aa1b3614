package payload

import "strings"

// Field is one value of a body, with the path to it: "card.issuer",
// "items[].sku". Elements of an array share their path.
type Field struct {
	Path  string
	Kind  Kind
	Value string // the exact text of a scalar, a string without quotes; "" of an object or array
}

// The bounds of what is taken apart of one body. What lies deeper or behind is
// left out, and cannot set a record apart.
const (
	maxFields   = 400
	maxDepth    = 12
	maxElements = 50
	fieldsLimit = 1 << 20
)

// Fields takes a JSON body apart, in the order in which it was written. Of
// other bodies, and of those beyond its bounds, there are none. Numbers are
// their text.
func Fields(b []byte) []Field {
	b = Open(b)
	if len(b) > fieldsLimit || !isJSON(b) {
		return nil
	}
	w := walker{}
	w.value("", trimSpace(b), 0)
	return w.out
}

type walker struct{ out []Field }

func (w *walker) value(path string, raw []byte, depth int) {
	if len(w.out) >= maxFields || depth > maxDepth {
		return
	}
	kind := kindOf(raw)
	f := Field{Path: path, Kind: kind}
	if kind != Object && kind != Array {
		f.Value = textOf(raw)
	}
	if path != "" {
		w.out = append(w.out, f)
	}
	switch kind {
	case Object:
		members(raw, func(name, value []byte) bool {
			w.value(under(path, unquote(name)), value, depth+1)
			return len(w.out) < maxFields
		})
	case Array:
		seen := 0
		elements(raw, func(value []byte) bool {
			w.value(path+"[]", value, depth+1)
			seen++
			return seen < maxElements && len(w.out) < maxFields
		})
	}
}

// under appends a name to a path. A name that would read like a path is quoted.
func under(path, name string) string {
	if name == "" || strings.ContainsAny(name, `.[]" `) {
		name = `"` + strings.ReplaceAll(name, `"`, `\"`) + `"`
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// parent is the path of the object or array that holds a path's value.
func parent(path string) string {
	if strings.HasPrefix(path, aside) {
		return aside
	}
	if strings.HasSuffix(path, "[]") {
		return path[:len(path)-2]
	}
	if strings.HasSuffix(path, `"`) {
		if at := strings.LastIndex(path[:len(path)-1], `."`); at >= 0 {
			return path[:at]
		}
		return ""
	}
	if at := strings.LastIndexByte(path, '.'); at >= 0 {
		return path[:at]
	}
	return ""
}
