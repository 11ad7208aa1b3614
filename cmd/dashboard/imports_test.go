package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/unwedge/unwedge/"

// mayImport says which packages of ours each package may import: the house of
// ARCHITECTURE.md. A package that is not listed fails the test: give it a room.
var mayImport = map[string][]string{
	"sources":                {},
	"sources/convention":     {"sources", "payload"},
	"sources/kafka":          {"sources", "sources/convention"},
	"sources/sqs":            {"sources", "sources/convention"},
	"sources/registry":       {"sources", "payload"},
	"sources/sqs/sqstest":    {},
	"views/viewstest":        {"sources/sourcetest"},
	"sources/sourcetest":     {"sources", "sources/kafka", "sources/sqs", "sources/sqs/sqstest", "sources/convention"},
	"payload":                {},
	"views":                  {},
	"static":                 {},
	"review":                 {"sources", "payload"},
	"alerts":                 {"sources", "payload"},
	"alerts/pagerduty":       {"alerts", "sources"},
	"alerts/webhook":         {"alerts", "sources"},
	"alerts/slack":           {"alerts"},
	"heartbeat":              {},
	"skips":                  {"sources", "payload"},
	"skips/calls":            {"sources", "alerts", "alerts/webhook"},
	"store":                  {"sources", "review", "alerts", "skips", "payload"},
	"web":                    {"sources", "review", "alerts", "skips", "payload", "views", "static"},
	"internal/failpoint":     {},
	"demo":                   {"*"},
	"cmd/dashboard":          {"*"},
	"cmd/dashboard/campaign": {},
	"cmd/dashboard/nights":   {},
}

func TestWhoImportsWhom(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		from := strings.TrimPrefix(words[0], module)
		allowed, listed := mayImport[from]
		if !listed {
			t.Errorf("package %s has no room in the house: add it to mayImport and ARCHITECTURE.md", from)
			continue
		}
		for _, to := range words[1:] {
			to, ours := strings.CutPrefix(to, module)
			if to == "internal/failpoint" {
				continue // anybody may name a place; in the shipped program it is nothing
			}
			if ours && !slices.Contains(allowed, to) && !slices.Contains(allowed, "*") {
				t.Errorf("%s imports %s, and may import only %v", from, to, allowed)
			}
		}
	}
}

func TestEchoStaysInTheWeb(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		from, imports, _ := strings.Cut(line, " ")
		if strings.Contains(imports, "labstack/echo") && !slices.Contains([]string{module + "web", module + "demo"}, from) {
			t.Errorf("%s imports echo: only the web does, so that a move to v5 is mechanical", from)
		}
	}
}
