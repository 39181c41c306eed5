package exercises

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Catalog is every pack that is installed and sound. It does not change after
// Open and may be used by many goroutines.
type Catalog struct {
	packs     []*Pack
	exercises map[string]*Exercise // by pack/slug
	problems  Problems
}

// Open loads the built-in packs, each a folder of builtin, and those in dirs.
// A directory is a pack when it holds a pack.yaml, and otherwise holds packs as
// folders. A pack with problems is left out; so is one whose id is taken, the
// built-in packs being first.
func Open(builtin fs.FS, dirs []string) *Catalog {
	c := &Catalog{exercises: map[string]*Exercise{}}
	if builtin != nil {
		c.addAll(foldersOf(builtin, ""))
	}
	for _, dir := range dirs {
		c.addDirectory(dir)
	}
	c.checkReferences()
	for _, pack := range c.packs {
		for _, exercise := range pack.Exercises {
			c.exercises[exercise.Name()] = exercise
		}
	}
	return c
}

// LoadDirectory loads the one pack in a directory, as Open does. The pack is nil
// exactly when there are problems.
func LoadDirectory(dir string) (*Pack, Problems) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, Problems{{File: dir, Message: fmt.Sprintf("The directory cannot be opened: %v.", reason(err))}}
	}
	defer func() { _ = root.Close() }() // it was only read from
	f := &folder{fsys: root.FS(), name: ".", prefix: dir}
	f.load()
	return f.pack, f.problems
}

// addDirectory goes through os.Root, which follows no symbolic link out of the
// directory.
func (c *Catalog) addDirectory(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		c.problems.add(dir, "The directory cannot be opened: %v.", reason(err))
		return
	}
	// Everything is read before this returns; closing a directory that was
	// only read from can lose nothing.
	defer func() { _ = root.Close() }()
	if _, err := fs.Stat(root.FS(), "pack.yaml"); err == nil {
		c.addAll([]*folder{{fsys: root.FS(), name: ".", prefix: dir}}, nil)
		return
	}
	c.addAll(foldersOf(root.FS(), dir))
}

// folder is a place where a pack lies, and then what was found there.
type folder struct {
	fsys     fs.FS
	name     string
	prefix   string // what leads to fsys on the disk
	pack     *Pack
	problems Problems
}

func foldersOf(fsys fs.FS, prefix string) ([]*folder, Problems) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, Problems{{File: prefix, Message: fmt.Sprintf("The directory cannot be read: %v.", reason(err))}}
	}
	var all []*folder
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			all = append(all, &folder{fsys: fsys, name: entry.Name(), prefix: prefix})
		}
	}
	return all, nil
}

func (f *folder) load() {
	f.pack, f.problems = Load(f.fsys, f.name)
	for i := range f.problems {
		f.problems[i].File = filepath.Join(f.prefix, f.problems[i].File)
	}
}

// addAll loads packs side by side, because a server waits for them, and adds them
// in their order, because the first one keeps an id.
func (c *Catalog) addAll(folders []*folder, problems Problems) {
	c.problems = append(c.problems, problems...)
	var wg sync.WaitGroup
	next := make(chan *folder)
	for range min(runtime.GOMAXPROCS(0), len(folders)) {
		wg.Go(func() {
			for f := range next {
				f.load()
			}
		})
	}
	for _, f := range folders {
		next <- f
	}
	close(next)
	wg.Wait()
	for _, f := range folders {
		c.add(f)
	}
}

func (c *Catalog) add(f *folder) {
	c.problems = append(c.problems, f.problems...)
	if f.pack == nil {
		return
	}
	for _, other := range c.packs {
		if other.ID == f.pack.ID || other.UUID == f.pack.UUID {
			c.problems.add(filepath.Join(f.prefix, f.name, "pack.yaml"), "Another pack has the id %s or the uuid %s; this one is left out.", f.pack.ID, f.pack.UUID)
			return
		}
	}
	c.packs = append(c.packs, f.pack)
}

// checkReferences leaves out packs that need something that is not installed,
// until no more have to go.
func (c *Catalog) checkReferences() {
	for {
		var sound []*Pack
		for _, pack := range c.packs {
			missing := c.Missing(pack)
			for _, what := range missing {
				c.problems.add(pack.ID, "The pack is left out: %s.", what)
			}
			if len(missing) == 0 {
				sound = append(sound, pack)
			}
		}
		if len(sound) == len(c.packs) {
			return
		}
		c.packs = sound
	}
}

// Missing says, in words that can follow a colon, which packs and exercises the
// pack names that are neither in it nor in the catalog.
func (c *Catalog) Missing(pack *Pack) []string {
	var missing []string
	for _, id := range pack.Requires {
		if _, ok := c.Pack(id); !ok {
			missing = append(missing, fmt.Sprintf("it requires the pack %s, which is not installed", id))
		}
	}
	for _, exercise := range pack.Exercises {
		for _, name := range exercise.Prerequisites {
			id, slug, _ := strings.Cut(name, "/")
			if id != pack.ID && !slices.Contains(pack.Requires, id) {
				missing = append(missing, fmt.Sprintf("%s names the prerequisite %s, but the pack does not require %s", exercise.Name(), name, id))
				continue
			}
			other, ok := pack, true
			if id != pack.ID {
				other, ok = c.Pack(id)
			}
			if ok && !other.has(slug) {
				missing = append(missing, fmt.Sprintf("%s names the prerequisite %s, which does not exist", exercise.Name(), name))
			}
		}
	}
	return missing
}

func (p *Pack) has(slug string) bool {
	return slices.ContainsFunc(p.Exercises, func(e *Exercise) bool { return e.Slug == slug })
}

// Packs are all packs, the built-in ones first.
func (c *Catalog) Packs() []*Pack { return slices.Clone(c.packs) }

// Pack returns the pack with an id.
func (c *Catalog) Pack(id string) (*Pack, bool) {
	for _, pack := range c.packs {
		if pack.ID == id {
			return pack, true
		}
	}
	return nil, false
}

// Exercise returns the exercise with a name such as "core/charge-once",
// whatever its visibility.
func (c *Catalog) Exercise(name string) (*Exercise, bool) {
	exercise, ok := c.exercises[name]
	return exercise, ok
}

// Public lists the exercises that anybody may see, pack by pack, in the order
// of each pack.
func (c *Catalog) Public() []*Exercise {
	var public []*Exercise
	for _, pack := range c.packs {
		for _, exercise := range pack.Exercises {
			if exercise.Visibility == "public" {
				public = append(public, exercise)
			}
		}
	}
	return public
}

// Problems tells why packs were left out. Empty means that all were loaded.
func (c *Catalog) Problems() Problems { return slices.Clone(c.problems) }
