package verdict

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"iter"
	"slices"
	"strings"
)

// SourceHash identifies the files of a submission, given as names and contents
// in any order: 64 hexadecimal digits. Replay tokens carry its beginning, and
// the store finds verdicts and sources by it.
func SourceHash(files iter.Seq2[string, []byte]) string {
	type file struct {
		name    string
		content []byte
	}
	var sorted []file
	for name, content := range files {
		sorted = append(sorted, file{name, content})
	}
	slices.SortStableFunc(sorted, func(a, b file) int { return strings.Compare(a.name, b.name) })
	h := sha256.New()
	for _, f := range sorted {
		for _, part := range [][]byte{[]byte(f.name), f.content} {
			// The length goes first, so that no two lists of files run together.
			h.Write(binary.AppendUvarint(nil, uint64(len(part))))
			h.Write(part)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
