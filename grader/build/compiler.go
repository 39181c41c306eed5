package build

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// Config says where a Compiler works and what it may use. Only Dir is required.
type Config struct {
	// Dir is a folder for the prepared packages, temporary files and finished
	// programs. Several processes may share it.
	Dir string
	// Prepared, when not empty, is the Dir of another Compiler whose packages are
	// used where they fit, and never written to: a container image ships one.
	Prepared string
	// Go is the go command: a path, or a name that is looked up. Default "go".
	Go string
	// BuildCache is a folder for the go command's build cache while Prepare
	// works. Default: one in Dir, which is removed when Prepare is done, because
	// it is four times as large as what is kept. A folder that is named stays.
	BuildCache string
	// CacheBytes is how much finished programs may take. Default 256 MiB.
	CacheBytes int64
	Limits     Limits
}

// Limits bound one run of the compiler or the linker; zero means the default.
type Limits struct {
	CPU     time.Duration // processor time of one process; 20 s
	Memory  uint64        // bytes of writable memory of one process; 1 GiB. Linux only.
	Program int64         // bytes of the finished program; 16 MiB
}

func (l Limits) withDefaults() Limits {
	return Limits{
		CPU:     cmp.Or(l.CPU, 20*time.Second),
		Memory:  cmp.Or(l.Memory, 1<<30),
		Program: cmp.Or(l.Program, 16<<20),
	}
}

// ErrNotPrepared is returned by Build before Prepare has succeeded.
var ErrNotPrepared = errors.New("the compiler is not prepared")

// State says what Prepare is doing.
type State struct {
	Ready bool
	Step  string // "preparing the compiler"; "" before the first Prepare
	Done  int    // packages
	Total int    // 0: not known yet
	Err   error  // why the last Prepare failed
}

// String is a sentence without a full stop, or "" when the compiler is ready.
func (s State) String() string {
	switch {
	case s.Ready:
		return ""
	case s.Err != nil:
		return "the compiler could not be prepared"
	case s.Total > 0:
		return fmt.Sprintf("%s: %d of %d packages", s.Step, s.Done, s.Total)
	default:
		return cmp.Or(s.Step, "the compiler is not prepared yet")
	}
}

// Compiler builds submissions. Its methods may be called from several
// goroutines at once.
type Compiler struct {
	dir        string
	prepared   string
	goTool     string
	buildCache string // "" for one that is removed
	limits     Limits
	cache      cache

	preparing sync.Mutex // held by Prepare

	mu    sync.Mutex
	state State
	kit   *kit // nil until prepared
}

// New returns a compiler that Prepare must make ready. It touches no file.
func New(c Config) *Compiler {
	// An absolute path, because the tools run in other folders. It fails only
	// when the working folder is gone, which Prepare then reports.
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		dir = c.Dir
	}
	return &Compiler{
		dir:        dir,
		prepared:   c.Prepared,
		goTool:     cmp.Or(c.Go, "go"),
		buildCache: c.BuildCache,
		limits:     c.Limits.withDefaults(),
		cache:      cache{dir: filepath.Join(dir, "programs"), max: cmp.Or(c.CacheBytes, 256<<20)},
	}
}

// State reports what Prepare is doing, for a page that shows it.
func (c *Compiler) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

func (c *Compiler) setState(s State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = s
}

func (c *Compiler) ready() (*kit, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kit == nil {
		return nil, ErrNotPrepared
	}
	return c.kit, nil
}
