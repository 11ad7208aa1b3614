package main

import (
	"fmt"
	"os"
	"strings"
)

// secret is a value that is never printed: given in the file, or in a file of
// its own.
type secret struct {
	value string
	file  string
	set   bool
}

// String keeps a secret out of logs and errors.
func (secret) String() string { return "***" }

// GoString keeps a secret out of %#v.
func (secret) GoString() string { return "***" }

// read is the secret's value. One in a file is read each time, so that a
// rotated key needs no restart.
func (s secret) read() (string, error) {
	if s.file == "" {
		return s.value, nil
	}
	text, err := os.ReadFile(s.file)
	if err != nil {
		return "", fmt.Errorf("read a secret: %w", err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}
