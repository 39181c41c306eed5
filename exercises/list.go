package exercises

import (
	"io/fs"
	"path"
	"slices"
)

// listing is what is known of a pack before it is opened.
type listing struct {
	id, uuid string
	requires []string
	heads    []*Head
}

func listingOf(pack *Pack) *listing {
	l := &listing{id: pack.ID, uuid: pack.UUID, requires: pack.Requires}
	for _, e := range pack.Exercises {
		l.heads = append(l.heads, &e.Head)
	}
	return l
}

func (l *listing) has(slug string) bool {
	return slices.ContainsFunc(l.heads, func(h *Head) bool { return h.Slug == slug })
}

// list reads the manifests of the pack in the folder dir of fsys and no more: a
// server that starts waits for this. The listing is nil when anything is not as
// Load wants it. What it is, Load says: manifests alone do not show it all.
func list(fsys fs.FS, dir string) *listing {
	l := &loader{tree: newTree(dir), pack: &Pack{}}
	l.readAlone(fsys, "pack.yaml")
	var file packFile
	doc, ok := l.yaml("pack.yaml", &file)
	if !ok {
		return nil
	}
	l.checkPackHead(doc, file)
	if len(l.problems) > 0 || len(file.Exercises) > MaxExercises {
		return nil
	}
	*l.pack = file.pack()
	for _, slug := range file.Exercises {
		head, ok := l.head(fsys, slug)
		if !ok {
			return nil
		}
		l.pack.Exercises = append(l.pack.Exercises, &Exercise{Head: head})
	}
	l.checkUUIDs()
	if len(l.problems) > 0 {
		return nil
	}
	return listingOf(l.pack)
}

func (l *loader) head(fsys fs.FS, slug string) (Head, bool) {
	if !slugPattern.MatchString(slug) || l.pack.has(slug) {
		return Head{}, false
	}
	l.readAlone(fsys, slug+"/exercise.yaml")
	var file exerciseFile
	doc, ok := l.yaml(slug+"/exercise.yaml", &file)
	if !ok {
		return Head{}, false
	}
	l.checkManifest(doc, slug, file)
	return file.head(l.pack.ID), len(l.problems) == 0
}

// readAlone reads a file without the folder that it lies in. A pack may come from
// anybody: opening what is no regular file could wait for ever.
func (t *tree) readAlone(fsys fs.FS, name string) {
	info, err := fs.Lstat(fsys, path.Join(t.dir, name))
	if err == nil && info.Mode().IsRegular() {
		t.readFile(fsys, name)
	}
}
