package convention

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/conventions.md anew")

// TestTheDocsListTheConventions keeps docs/conventions.md what the table is.
func TestTheDocsListTheConventions(t *testing.T) {
	const path = "../../docs/conventions.md"
	want := document()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("docs/conventions.md is not what the table is: go test ./sources/convention -update (%v)", err)
	}
}

func document() string {
	var b strings.Builder
	b.WriteString(`# Whose dead-letter headers does it understand?

Of each letter it reads origin, reason, attempts and the way back from the headers, attributes or body that these write. The letter's page names the convention that was recognised. Headers that tell of the failure are dropped when the letter is redriven; the plan lists them.

A convention that only you know goes into ` + "`mappings`" + ` ([configuration](configuration.md)). Values are read with ` + "`header:NAME`, `system:NAME`, `json:/POINTER`, `key`" + ` or ` + "`text:LITERAL`" + `. A mapping wins over what is recognised.

Where no header tells, the origin is taken from the queue's name when a queue of that name is there, and the attempts from the place in a chain of retry topics; both are said to be inferred.

| framework | transport | recognised by |
|---|---|---|
`)
	for _, c := range Conventions() {
		marks := "nothing: " + c.Note
		if len(c.Marks) > 0 {
			marks = "`" + strings.Join(c.Marks[:min(len(c.Marks), 3)], "`, `") + "`"
		} else if c.Note == "" {
			marks = "its name or its body"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(c.Framework), c.Transport, cell(marks))
	}
	return b.String()
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
