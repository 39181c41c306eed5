package exercises

import (
	"embed"
	"io/fs"
)

// The directive go:embed drops folders that have a go.mod of their own and names that begin
// with _ or a dot, without a word; TestBuiltin compares with the disk.
var (
	//go:embed packs/core
	builtin embed.FS
	//go:embed packs/example
	example embed.FS
)

// Builtin is the folder of the packs that every server shows.
func Builtin() fs.FS { return below(builtin, "packs") }

// Example is the pack that shows every key of the format, and what a new pack
// begins with. A server shows it only when its folder is named.
func Example() fs.FS { return below(example, "packs/example") }

func below(embedded embed.FS, dir string) fs.FS {
	fsys, err := fs.Sub(embedded, dir)
	if err != nil {
		panic("open the embedded packs: " + err.Error()) // dir is a valid path
	}
	return fsys
}
