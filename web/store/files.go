package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// File is one file of a draft or a submission.
type File struct {
	Name string `json:"name"`
	// Content is any bytes. JSON writes them as base64, which PostgreSQL takes
	// where it would refuse a zero byte in a text.
	Content []byte `json:"content"`
}

// SourceHash identifies what was written: equal names and contents in any order
// give the same hash.
func SourceHash(files []File) string {
	sorted := slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	h := sha256.New()
	for _, f := range sorted {
		for _, part := range [][]byte{[]byte(f.Name), f.Content} {
			// The length goes first, so that no two lists of files run together.
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
			h.Write(part)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func size(files []File) (n int64) {
	for _, f := range files {
		n += int64(len(f.Name) + len(f.Content))
	}
	return n
}

// EncodeFiles writes files as the column "files" keeps them.
func EncodeFiles(files []File) (string, error) {
	b, err := json.Marshal(files)
	if err != nil {
		return "", fmt.Errorf("encode files: %w", err)
	}
	return string(b), nil
}

// DecodeFiles reads the column "files".
func DecodeFiles(column string) ([]File, error) {
	var files []File
	if err := json.Unmarshal([]byte(column), &files); err != nil {
		return nil, fmt.Errorf("decode files: %w", err)
	}
	return files, nil
}
