package exercises

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
)

// Catalog is every pack that is installed and, as far as is known, sound. Open
// reads what a list shows; the rest of a pack is read and checked when somebody
// asks for it, and by Verify. A pack that turns out to be broken is left out from
// then on, so a catalog only ever loses packs. It may be used by many goroutines.
type Catalog struct {
	places []*place // as they were found, broken ones too
	opened map[Problem]bool

	mu         sync.Mutex
	sound      []*place // those of places that are not left out
	references Problems // why sound packs are left out all the same
}

// Open finds the built-in packs, each a folder of builtin, and those in dirs.
// A directory is a pack when it holds a pack.yaml, and otherwise holds packs as
// folders. A pack with problems is left out; so is one whose id is taken, the
// built-in packs being first.
func Open(builtin fs.FS, dirs []string) *Catalog {
	c := &Catalog{opened: map[Problem]bool{}}
	if builtin != nil {
		c.places = placesIn(builtin, "", func() (fs.FS, func() error, error) {
			return builtin, func() error { return nil }, nil
		})
	}
	for _, dir := range dirs {
		c.places = append(c.places, placesOnDisk(dir)...)
	}
	each(c.places, (*place).list)
	c.refuseTaken()
	c.leaveOut()
	for _, problem := range c.Problems() {
		c.opened[problem] = true
	}
	return c
}

// LoadDirectory loads the one pack in a directory, wholly. The pack is nil
// exactly when there are problems.
func LoadDirectory(dir string) (*Pack, Problems) {
	p := &place{name: ".", prefix: dir, open: opener(dir)}
	return p.read()
}

// placesOnDisk goes through os.Root, which follows no symbolic link out of the
// directory.
func placesOnDisk(dir string) []*place {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return []*place{unreadable(dir, "The directory cannot be opened: %v.", err)}
	}
	defer func() { _ = root.Close() }() // it was only read from
	if _, err := fs.Stat(root.FS(), "pack.yaml"); err == nil {
		return []*place{{name: ".", prefix: dir, open: opener(dir)}}
	}
	return placesIn(root.FS(), dir, opener(dir))
}

// placesIn takes every folder for a pack.
func placesIn(fsys fs.FS, prefix string, open openFunc) []*place {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return []*place{unreadable(prefix, "The directory cannot be read: %v.", err)}
	}
	var all []*place
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			all = append(all, &place{name: entry.Name(), prefix: prefix, open: open})
		}
	}
	return all
}

// refuseTaken lets the first pack keep an id, also when it is found to be broken
// later: which pack a name means does not change while a server runs.
func (c *Catalog) refuseTaken() {
	ids, uuids := map[string]bool{}, map[string]bool{}
	for _, p := range c.places {
		if p.listed == nil {
			continue
		}
		if ids[p.listed.id] || uuids[p.listed.uuid] {
			p.refuse("Another pack has the id %s or the uuid %s; this one is left out.", p.listed.id, p.listed.uuid)
			continue
		}
		ids[p.listed.id], uuids[p.listed.uuid] = true, true
	}
}

// leaveOut goes through all packs again: those with problems go, and those that
// need something that is not there any more, until no more have to go.
func (c *Catalog) leaveOut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sound, c.references = nil, nil
	for _, p := range c.places {
		if _, problems := p.known(); p.listed != nil && len(problems) == 0 {
			c.sound = append(c.sound, p)
		}
	}
	for {
		var kept []*place
		for _, p := range c.sound {
			missing := c.missing(p.listed)
			for _, what := range missing {
				c.references.add(p.listed.id, "The pack is left out: %s.", what)
			}
			if len(missing) == 0 {
				kept = append(kept, p)
			}
		}
		if len(kept) == len(c.sound) {
			return
		}
		c.sound = kept
	}
}

// Missing says, in words that can follow a colon, which packs and exercises the
// pack names that are neither in it nor in the catalog.
func (c *Catalog) Missing(pack *Pack) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.missing(listingOf(pack))
}

func (c *Catalog) missing(pack *listing) []string {
	var missing []string
	for _, id := range pack.requires {
		if c.find(id) == nil {
			missing = append(missing, fmt.Sprintf("it requires the pack %s, which is not installed", id))
		}
	}
	for _, head := range pack.heads {
		for _, name := range head.Prerequisites {
			id, slug, _ := strings.Cut(name, "/")
			if id != pack.id && !slices.Contains(pack.requires, id) {
				missing = append(missing, fmt.Sprintf("%s names the prerequisite %s, but the pack does not require %s", head.Name(), name, id))
				continue
			}
			other := pack
			if id != pack.id {
				p := c.find(id)
				if p == nil {
					continue // said above
				}
				other = p.listed
			}
			if !other.has(slug) {
				missing = append(missing, fmt.Sprintf("%s names the prerequisite %s, which does not exist", head.Name(), name))
			}
		}
	}
	return missing
}

// find looks among the sound packs; nil: there is none. The caller holds mu.
func (c *Catalog) find(id string) *place {
	i := slices.IndexFunc(c.sound, func(p *place) bool { return p.listed.id == id })
	if i < 0 {
		return nil
	}
	return c.sound[i]
}

// Pack returns the pack with an id, which is read wholly the first time.
func (c *Catalog) Pack(id string) (*Pack, bool) {
	c.mu.Lock()
	p := c.find(id)
	c.mu.Unlock()
	if p == nil {
		return nil, false
	}
	pack := c.open(p)
	return pack, pack != nil
}

// open reads a pack if nobody has yet; nil: it is broken.
func (c *Catalog) open(p *place) *Pack {
	if p.load() {
		c.leaveOut()
	}
	pack, _ := p.known()
	return pack
}

// Packs are all packs, the built-in ones first, each read wholly.
func (c *Catalog) Packs() []*Pack {
	var packs []*Pack
	each(c.listed(), func(p *place) { c.open(p) })
	for _, p := range c.listed() {
		if pack, _ := p.known(); pack != nil { // or another goroutine is just leaving it out
			packs = append(packs, pack)
		}
	}
	return packs
}

func (c *Catalog) listed() []*place {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sound)
}

// Exercise returns the exercise with a name such as "core/charge-once",
// whatever its visibility. The first time, its pack is read wholly.
func (c *Catalog) Exercise(name string) (*Exercise, bool) {
	id, slug, _ := strings.Cut(name, "/")
	pack, ok := c.Pack(id)
	if !ok {
		return nil, false
	}
	i := slices.IndexFunc(pack.Exercises, func(e *Exercise) bool { return e.Slug == slug })
	if i < 0 {
		return nil, false
	}
	return pack.Exercises[i], true
}

// Public lists the exercises that anybody may see, pack by pack, in the order
// of each pack. It reads nothing.
func (c *Catalog) Public() []*Head {
	return slices.DeleteFunc(c.All(), func(head *Head) bool { return head.Visibility != "public" })
}

// All lists what Public lists and, among it, the exercises that are only for who has
// a link.
func (c *Catalog) All() (all []*Head) {
	for _, p := range c.listed() {
		all = append(all, p.listed.heads...)
	}
	return all
}

// Verify reads what nobody has opened yet, until ctx ends, and returns the
// problems that Open could not see. It takes one pack after the other: a server
// has other work beside it.
func (c *Catalog) Verify(ctx context.Context) Problems {
	for _, p := range c.listed() {
		if ctx.Err() == nil {
			c.open(p)
		}
	}
	var found Problems
	for _, problem := range c.Problems() {
		if !c.opened[problem] {
			found = append(found, problem)
		}
	}
	return found
}

// Problems tells why packs were left out, as far as is known: Verify finds out
// about the rest.
func (c *Catalog) Problems() Problems {
	var problems Problems
	for _, p := range c.places {
		_, found := p.known()
		problems = append(problems, found...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return append(problems, c.references...)
}
