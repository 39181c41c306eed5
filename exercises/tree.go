package exercises

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// What a pack may hold. A pack can come from anybody: without limits, loading
// one could take all of the server's memory.
const (
	MaxExercises   = 200
	MaxSourceBytes = 64 << 10  // of one sample's files together
	MaxTextBytes   = 256 << 10 // of one statement, hint file, approach
	MaxYAMLBytes   = 64 << 10
	maxPackBytes   = 64 << 20
	maxPackFiles   = 20_000
	maxFolderDepth = 3 // <exercise>/wrong/<name>
)

var (
	slugPattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	filePattern = regexp.MustCompile(`^[A-Za-z0-9]+([.-][A-Za-z0-9]+)*$`)
)

// tree is the whole content of a pack's folder, read once. Files that the
// loader has not asked for at the end have no meaning and are reported.
type tree struct {
	dir      string // what stands before a file's name in a problem
	files    map[string][]byte
	taken    map[string]bool
	bytes    int
	problems Problems
}

// readTree reads the folder dir of fsys. Names that begin with a dot are not
// part of a pack: go:embed leaves them out as well.
func readTree(fsys fs.FS, dir string) *tree {
	t := newTree(dir)
	t.readFolder(fsys, "", 0)
	return t
}

func newTree(dir string) *tree {
	return &tree{dir: dir, files: map[string][]byte{}, taken: map[string]bool{}}
}

func (t *tree) readFolder(fsys fs.FS, folder string, depth int) {
	entries, err := fs.ReadDir(fsys, path.Join(t.dir, folder))
	if err != nil {
		t.problem(folder, "The folder cannot be read: %v.", reason(err))
		return
	}
	for _, entry := range entries {
		name := path.Join(folder, entry.Name())
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case len(t.files) >= maxPackFiles || t.bytes >= maxPackBytes:
			t.problem(folder, "The pack is too large: at most %d files and %d MiB.", maxPackFiles, maxPackBytes>>20)
			return
		case entry.IsDir():
			t.enterFolder(fsys, name, depth)
		case !entry.Type().IsRegular():
			t.problem(name, "Only regular files and folders are allowed; symbolic links are not.")
		case !filePattern.MatchString(entry.Name()):
			t.problem(name, "A file name may hold letters, digits, single hyphens and dots.")
		default:
			t.readFile(fsys, name)
		}
	}
}

func (t *tree) enterFolder(fsys fs.FS, name string, depth int) {
	switch {
	case !slugPattern.MatchString(path.Base(name)):
		t.problem(name, "A folder name may hold lower-case letters, digits and single hyphens.")
	case depth == maxFolderDepth:
		t.problem(name, "No folder is expected here.")
	default:
		t.readFolder(fsys, name, depth+1)
	}
}

func (t *tree) readFile(fsys fs.FS, name string) {
	content, err := readAtMost(fsys, path.Join(t.dir, name), maxBytes(name))
	if err != nil {
		t.problem(name, "The file cannot be read: %v.", reason(err))
		return
	}
	t.bytes += len(content)
	switch {
	case len(content) > maxBytes(name):
		t.problem(name, "The file is larger than %d KiB.", maxBytes(name)>>10)
	case !utf8.Valid(content):
		t.problem(name, "The file is not valid UTF-8.")
	case bytes.IndexByte(content, 0) >= 0:
		t.problem(name, "The file holds a NUL character.")
	default:
		t.files[name] = content
		return
	}
	t.taken[name] = true // reported already: do not call it missing as well
}

// readAtMost reads one byte more than limit at most, so that the caller can
// tell a file that is too large even when it grows while it is read.
func readAtMost(fsys fs.FS, name string, limit int) ([]byte, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	return content, errors.Join(err, file.Close())
}

func maxBytes(name string) int {
	switch path.Ext(name) {
	case ".md", path.Ext(FeedbackFile):
		return MaxTextBytes
	case ".yaml":
		return MaxYAMLBytes
	default:
		return MaxSourceBytes
	}
}

// take returns a file that must be there.
func (t *tree) take(name string) ([]byte, bool) {
	content, ok := t.files[name]
	if !ok && !t.taken[name] {
		t.problem(name, "The file is missing.")
	}
	t.taken[name] = true
	return content, ok
}

// has says whether a file is there, readable or not.
func (t *tree) has(name string) bool {
	_, ok := t.files[name]
	return ok || t.taken[name]
}

// yaml parses a file that must be there into v.
func (t *tree) yaml(name string, v any) (*document, bool) {
	content, ok := t.take(name)
	if !ok {
		return nil, false
	}
	doc, problem := parseYAML(path.Join(t.dir, name), content)
	if problem == nil {
		problem = doc.decode(v)
	}
	if problem != nil {
		t.problems = append(t.problems, *problem)
		return nil, false
	}
	return doc, true
}

// folders lists the folders directly in folder that hold a file somewhere.
func (t *tree) folders(folder string) []string {
	return t.below(folder, func(rest string) (string, bool) {
		name, _, isFolder := strings.Cut(rest, "/")
		return name, isFolder
	})
}

// filesIn lists the files directly in folder.
func (t *tree) filesIn(folder string) []string {
	return t.below(folder, func(rest string) (string, bool) { return rest, !strings.Contains(rest, "/") })
}

func (t *tree) below(folder string, pick func(rest string) (string, bool)) []string {
	var names []string
	for name := range t.files {
		rest, inside := name, true
		if folder != "" {
			rest, inside = strings.CutPrefix(name, folder+"/")
		}
		if picked, ok := pick(rest); inside && ok && !slices.Contains(names, picked) {
			names = append(names, picked)
		}
	}
	slices.Sort(names)
	return names
}

// reportUnknown adds a problem for every file that nobody took.
func (t *tree) reportUnknown() {
	var unknown []string
	for name := range t.files {
		if !t.taken[name] {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		t.problem(name, "The file has no meaning here.")
	}
}

func (t *tree) problem(name, format string, args ...any) {
	t.problems.add(path.Join(t.dir, name), format, args...)
}

// reason leaves the path out of a file system's error: the problem names it,
// and the path on the server's disk is nobody's business.
func reason(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return fmt.Errorf("unknown reason (%T)", err)
}
