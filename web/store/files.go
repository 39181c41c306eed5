package store

import (
	"encoding/json"
	"fmt"

	"redeliver/grader/verdict"
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
	return verdict.SourceHash(func(yield func(string, []byte) bool) {
		for _, f := range files {
			if !yield(f.Name, f.Content) {
				return
			}
		}
	})
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
