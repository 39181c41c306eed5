package build

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// cache keeps finished programs by key. Entries appear by renaming, so several
// processes can share the folder; one that is damaged counts as missing.
type cache struct {
	dir string
	max int64 // bytes of all entries
}

const (
	programSuffix = ".wasm"
	sumSize       = sha256.Size // of the sum that each entry ends with
)

func (c cache) file(key string) string { return filepath.Join(c.dir, key+programSuffix) }

// get returns the program with that key, or nil.
func (c cache) get(key string) []byte {
	b, err := os.ReadFile(c.file(key))
	if err != nil {
		return nil
	}
	n := len(b) - sumSize
	if n < 0 {
		_ = os.Remove(c.file(key))
		return nil
	}
	if sum := sha256.Sum256(b[:n]); !bytes.Equal(sum[:], b[n:]) {
		_ = os.Remove(c.file(key))
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(c.file(key), now, now) // the last use; without it only the order of eviction suffers
	return b[:n:n]
}

// put stores a program and removes the least recently used ones when the
// folder has become too large.
func (c cache) put(key string, program []byte) error {
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.dir, "new-")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(program)
	_, err = f.Write(program)
	if err == nil {
		_, err = f.Write(sum[:])
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.file(key))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return c.evict()
}

// abandoned is the age at which a file that put has not finished is removed.
const abandoned = time.Hour

func (c cache) evict() error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	type used struct {
		path string
		size int64
		at   time.Time
	}
	var list []used
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // removed by another process
		}
		p := filepath.Join(c.dir, e.Name())
		if !strings.HasSuffix(e.Name(), programSuffix) {
			if time.Since(info.ModTime()) > abandoned {
				_ = os.Remove(p)
			}
			continue
		}
		list = append(list, used{p, info.Size(), info.ModTime()})
		total += info.Size()
	}
	slices.SortFunc(list, func(a, b used) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.path, b.path)) })
	for _, e := range list {
		if total <= c.max {
			break
		}
		if err := os.Remove(e.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		total -= e.size
	}
	return nil
}
