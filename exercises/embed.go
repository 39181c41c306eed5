package exercises

import (
	"embed"
	"io/fs"
)

// The directive go:embed drops folders that have a go.mod of their own and names that begin
// with _ or a dot, without a word; TestEmbedded compares with the disk.
//
//go:embed packs
var embedded embed.FS

// Builtin is the folder of the packs that are part of the program.
func Builtin() fs.FS {
	packs, err := fs.Sub(embedded, "packs")
	if err != nil {
		panic("open the embedded packs: " + err.Error()) // "packs" is a valid path
	}
	return packs
}
