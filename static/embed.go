// Package static serves the embedded assets under addresses that contain a hash
// of the file, so that a browser keeps each as long as it is the right one.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed app.css icon.svg lib
var files embed.FS

// Prefix is the path under which Handler has to be mounted.
const Prefix = "/static/"

var hashes = hashAll(files)

// hashAll runs once, when the program starts: an address then costs nothing.
func hashAll(fsys fs.FS) map[string]string {
	sums := map[string]string{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(b)
		sums[name] = hex.EncodeToString(sum[:6])
		return nil
	})
	if err != nil {
		panic("static: " + err.Error()) // the program was built without its files
	}
	return sums
}

// URL returns the address of a file such as "app.css". It panics when there is
// no such file; a test draws every page, so no user meets that.
func URL(name string) string {
	hash, ok := hashes[name]
	if !ok {
		panic("static: no such file: " + name)
	}
	return Prefix + hash + "/" + name
}

// Handler answers the addresses that URL makes, and no others.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hash, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, Prefix), "/")
		if hash == "" || hashes[name] != hash {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		http.ServeFileFS(w, r, files, name) //nolint:gosec // name is a key of hashes
	})
}
