//go:build !failpoints

// Package failpoint names the places at which a test may kill the program. In
// the program that is shipped they are nothing: only a build with the tag
// failpoints has them.
package failpoint

// Hit is reached at a named place.
func Hit(string) {}
