package main

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// mistakes are all that is wrong with a configuration file, each with the path
// of its key and, where it stands in the file, its line.
type mistakes []error

func (m *mistakes) add(path string, line int, format string, args ...any) {
	where := path
	if line > 0 {
		where = fmt.Sprintf("line %d: %s", line, path)
	}
	*m = append(*m, fmt.Errorf("%s: %w", strings.TrimSuffix(where, ": "), fmt.Errorf(format, args...)))
}

// decoder fills configuration structs from a YAML tree. The YAML library's own
// decoder names lines and Go types; a person needs the path of the key.
type decoder struct {
	getenv func(string) (string, bool)
	wrong  mistakes
}

// laterKey marks a key of the contract that this version does not know yet.
type laterKey struct{}

// span is a length of time that may be given in days: "30d".
type span time.Duration

func decode(root *yaml.Node, getenv func(string) (string, bool), into any) mistakes {
	d := &decoder{getenv: getenv}
	if len(root.Content) == 0 {
		return nil
	}
	d.value(root.Content[0], reflect.ValueOf(into).Elem(), "")
	return d.wrong
}

func (d *decoder) value(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch v.Interface().(type) {
	case laterKey:
		d.wrong.add(path, n.Line, "not yet: this version does not know it; leave it out")
		return
	case secret, span, string, bool, int, float64, *bool:
		d.scalar(n, v, path)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), path)
	case reflect.Struct:
		d.mapping(n, v, path)
	case reflect.Slice:
		d.sequence(n, v, path)
	default:
		panic("configuration: no decoding for " + v.Type().String())
	}
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path string) {
	if n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		d.wrong.add(path, n.Line, "must be a mapping of keys")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, at := n.Content[i].Value, join(path, n.Content[i].Value)
		if seen[key] {
			d.wrong.add(at, n.Content[i].Line, "given twice")
			continue
		}
		seen[key] = true
		field, isFile, known := fieldOf(v, key)
		switch {
		case !known:
			d.wrong.add(at, n.Content[i].Line, "unknown key; known here are %s", strings.Join(keysOf(v.Type()), ", "))
		case isFile:
			d.secretFile(n.Content[i+1], field, at)
		default:
			d.value(n.Content[i+1], field, at)
		}
	}
}

func (d *decoder) sequence(n *yaml.Node, v reflect.Value, path string) {
	if n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.SequenceNode {
		d.wrong.add(path, n.Line, "must be a list")
		return
	}
	list := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, c := range n.Content {
		d.value(c, list.Index(i), path+"["+strconv.Itoa(i)+"]")
	}
	v.Set(list)
}

func (d *decoder) scalar(n *yaml.Node, v reflect.Value, path string) {
	text, ok := d.text(n, path)
	if !ok {
		return
	}
	var err error
	switch v.Interface().(type) {
	case string:
		v.SetString(text)
	case secret:
		v.Set(reflect.ValueOf(secret{value: text, set: true}))
	case span:
		var s span
		s, err = parseSpan(text)
		v.Set(reflect.ValueOf(s))
	default:
		err = n.Decode(v.Addr().Interface())
		if err != nil {
			err = fmt.Errorf("%q is no %s", text, strings.TrimPrefix(v.Type().String(), "*"))
		}
	}
	if err != nil {
		d.wrong.add(path, n.Line, "%w", err)
	}
}

var variable = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

// text is a scalar's text, with a whole value of ${ENV} replaced by the
// variable.
func (d *decoder) text(n *yaml.Node, path string) (string, bool) {
	if n.Kind != yaml.ScalarNode {
		d.wrong.add(path, n.Line, "must be a single value")
		return "", false
	}
	m := variable.FindStringSubmatch(n.Value)
	if m == nil {
		return n.Value, n.Tag != "!!null"
	}
	value, set := d.getenv(m[1])
	if !set {
		d.wrong.add(path, n.Line, "the environment variable %s is not set", m[1])
	}
	n.Value, n.Tag = value, ""
	return value, set
}

// secretFile reads a secret's file once, so that one that cannot be read is a
// mistake now and not at night.
func (d *decoder) secretFile(n *yaml.Node, v reflect.Value, path string) {
	name, ok := d.text(n, path)
	if !ok {
		return
	}
	if _, err := os.ReadFile(name); err != nil {
		d.wrong.add(path, n.Line, "%w", err)
	}
	v.Set(reflect.ValueOf(secret{file: name, set: true}))
}

// fieldOf finds the field of a key. A secret's key may also end in _file.
func fieldOf(v reflect.Value, key string) (field reflect.Value, isFile, known bool) {
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("yaml")
		if name == key {
			return v.Field(i), false, true
		}
		if _, isSecret := v.Field(i).Interface().(secret); isSecret && name+"_file" == key {
			return v.Field(i), true, true
		}
	}
	return reflect.Value{}, false, false
}

func keysOf(t reflect.Type) (keys []string) {
	for i := range t.NumField() {
		if t.Field(i).Type != reflect.TypeFor[laterKey]() {
			keys = append(keys, t.Field(i).Tag.Get("yaml"))
		}
	}
	slices.Sort(keys)
	return keys
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// parseSpan reads a length of time: Go's form, or whole days as "30d".
func parseSpan(text string) (span, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 0 || n > 36500 {
			return 0, fmt.Errorf("%q is no length of time such as 30d, 4m or 15s", text)
		}
		return span(time.Duration(n) * 24 * time.Hour), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no length of time such as 30d, 4m or 15s", text)
	}
	return span(d), nil
}
