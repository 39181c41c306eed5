package packcheck

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"redeliver/exercises"
)

var packID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// uuidLine is where a manifest has its uuid.
var uuidLine = regexp.MustCompile(`(?m)^uuid: [0-9a-f-]{36}`)

// exampleID is the id that the example's files hold.
const exampleID = "example"

// New writes a small pack that passes Check into dir, which must be empty or
// missing. It is the example with an id and uuids of its own.
func New(dir, id string) error {
	if !packID.MatchString(id) || len(id) > 64 {
		return &UsageError{fmt.Errorf("%q is no id for a pack: lower-case letters, digits and single hyphens, at most 64 characters; name one with --id", id)}
	}
	if entries, err := os.ReadDir(dir); len(entries) > 0 {
		return &UsageError{fmt.Errorf("%s is not empty", dir)}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &UsageError{err}
	}
	example := exercises.Example()
	err := fs.WalkDir(example, ".", func(name string, entry fs.DirEntry, err error) error {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err != nil || entry.IsDir() {
			return errors.Join(err, os.MkdirAll(to, 0o755))
		}
		if name == "README.md" { // it is about the example
			return nil
		}
		content, err := fs.ReadFile(example, name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, []byte(renamed(name, string(content), id)), 0o644)
	})
	if err != nil {
		return fmt.Errorf("write the new pack: %w", err)
	}
	return nil
}

// renamed gives a file of the example what tells the new pack from it.
func renamed(name, content, id string) string {
	content = strings.ReplaceAll(content, exampleID+"/", id+"/")
	content = uuidLine.ReplaceAllString(content, "uuid: "+uuid.NewString())
	if name == "pack.yaml" {
		_, content, _ = strings.Cut(content, "id: "+exampleID) // with the comment that is about the example
		content = "id: " + id + strings.Replace(content, "An example pack", "A new pack", 1)
	}
	return content
}

// newCommand is `redeliver pack new`.
type newCommand struct {
	ID  string `help:"The id, the first part of the exercises' names. Default: the folder's name." placeholder:"ID"`
	Dir string `arg:"" help:"The folder to write; it must be empty or missing."`
}

// Run writes the pack and says what to do with it.
func (c *newCommand) Run(env *Env) error {
	id := c.ID
	if id == "" {
		dir, err := filepath.Abs(c.Dir)
		if err != nil {
			return &UsageError{err}
		}
		id = filepath.Base(dir)
	}
	if err := New(c.Dir, id); err != nil {
		return err
	}
	_, err := fmt.Fprintf(env.Out, "Wrote the pack %s with one exercise, %s/grant-once. Next:\n  redeliver pack check %s\n  redeliver --packs %s serve\n", id, id, c.Dir, c.Dir)
	return err
}
