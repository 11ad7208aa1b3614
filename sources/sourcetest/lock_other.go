//go:build !unix

package sourcetest

// lock does nothing where there is no flock: two test binaries may then fetch
// the same server at the same time, each into a directory of its own.
func lock(string) (unlock func(), err error) { return func() {}, nil }
