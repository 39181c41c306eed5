package exercises

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"sync"
)

// openFunc opens the folder in which packs lie. It is closed again after each
// reading: a server would otherwise hold every directory for as long as it runs.
type openFunc func() (fsys fs.FS, done func() error, err error)

func opener(dir string) openFunc {
	return func() (fs.FS, func() error, error) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, nil, err
		}
		return root.FS(), root.Close, nil
	}
}

// place is where a pack lies, and what is known of it.
type place struct {
	name   string
	prefix string // what leads to the folder of the pack on the disk
	open   openFunc
	listed *listing // nil: the pack is broken, or the place no pack at all

	once     sync.Once  // reads the pack
	mu       sync.Mutex // for what follows, never held while something is read
	pack     *Pack      // nil: not read yet, or broken
	problems Problems   // why it is left out
}

// unreadable is the place of packs that cannot be looked for.
func unreadable(dir, format string, err error) *place {
	return &place{problems: Problems{{File: dir, Message: fmt.Sprintf(format, reason(err))}}}
}

// list reads what a list of exercises shows. Where that is not as it should be,
// the whole pack is read at once, so that its author hears of everything.
func (p *place) list() {
	if p.open == nil {
		return
	}
	fsys, done, err := p.open()
	if err == nil {
		p.listed = list(fsys, p.name)
		_ = done() // it was only read from
	}
	if p.listed == nil {
		p.load()
		if p.pack != nil { // the files have changed between two readings
			p.listed = listingOf(p.pack)
		}
	}
}

// load reads the pack wholly, once, and says whether that found it to be broken.
// Whoever comes meanwhile waits.
func (p *place) load() (foundBroken bool) {
	p.once.Do(func() {
		pack, problems := p.read()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.pack, p.problems = pack, problems
		foundBroken = pack == nil
	})
	return foundBroken
}

// read gives a pack or problems.
func (p *place) read() (*Pack, Problems) {
	fsys, done, err := p.open()
	if err != nil {
		return nil, Problems{{File: p.prefix, Message: fmt.Sprintf("The directory cannot be opened: %v.", reason(err))}}
	}
	defer func() { _ = done() }() // it was only read from
	pack, problems := Load(fsys, p.name)
	for i := range problems {
		problems[i].File = filepath.Join(p.prefix, problems[i].File)
	}
	if pack != nil && p.listed != nil && !reflect.DeepEqual(listingOf(pack), p.listed) {
		return nil, Problems{{File: filepath.Join(p.prefix, p.name), Message: "The pack has changed since it was found here. Start the program again."}}
	}
	return pack, problems
}

// refuse leaves a pack out whatever it holds.
func (p *place) refuse(format string, args ...any) {
	p.once.Do(func() {}) // nobody has to read it any more
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pack = nil
	p.problems.add(filepath.Join(p.prefix, p.name, "pack.yaml"), format, args...)
}

// known is what reading the pack has given so far.
func (p *place) known() (*Pack, Problems) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pack, p.problems
}

// each calls work for all places, side by side, because somebody waits.
func each(places []*place, work func(*place)) {
	var wg sync.WaitGroup
	next := make(chan *place)
	for range min(runtime.GOMAXPROCS(0), len(places)) {
		wg.Go(func() {
			for p := range next {
				work(p)
			}
		})
	}
	for _, p := range places {
		next <- p
	}
	close(next)
	wg.Wait()
}
