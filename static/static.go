// Package static has the files that pages load: style, script and icons, in
// the program itself.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
)

// Files has the files by name: "unwedge.css", "unwedge.js", "icon.svg".
//
//go:embed *.css *.js *.svg
var Files embed.FS

// hash names this version of all files: one of them changed, and all have new
// addresses, so that they can be kept by browsers for ever.
var hash = func() string {
	sum := sha256.New()
	names, err := fs.Glob(Files, "*")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, name := range names {
		data, err := Files.ReadFile(name)
		if err != nil {
			panic(err) // embedded
		}
		sum.Write([]byte(name))
		sum.Write(data)
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
}()

// Hash is the part of the path that changes with the files' content.
func Hash() string { return hash }

// Path is the path of a file, without the base path of the program:
// "/static/{hash}/unwedge.css".
func Path(name string) string { return "/static/" + hash + "/" + name }
