package build

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// kitPrefix begins the names of prepared folders.
const kitPrefix = "packages-"

// manifestName is the file of a kit that is written last.
const manifestName = "manifest"

// kit is a prepared folder: the archive of every package that a program can
// need, and how to run the compiler and the linker on them.
type kit struct {
	hash     string // of all that went in, toolchain included
	compile  string // path of the compiler
	link     string
	imports  string            // importcfg with every archive
	archives map[string]string // by import path
}

// archive is one line of the manifest.
type archive struct{ path, file string }

// loadKit opens a prepared folder. Each archive must have the sum that the
// manifest says, so that a folder which a crash or a full disk left damaged is
// prepared again instead of failing every build. The error is fs.ErrNotExist
// when there is no folder.
func loadKit(dir, hash, toolDir string) (*kit, error) {
	manifest, err := os.Open(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, err
	}
	defer manifest.Close() //nolint:errcheck // it was only read
	k := &kit{hash: hash, archives: map[string]string{}, compile: filepath.Join(toolDir, "compile"), link: filepath.Join(toolDir, "link")}
	var cfg strings.Builder
	lines := bufio.NewScanner(manifest)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) != 3 {
			return nil, fmt.Errorf("%s: bad line %q", manifest.Name(), lines.Text())
		}
		file := filepath.Join(dir, f[1])
		sum, err := fileSum(file)
		if err != nil {
			return nil, err
		}
		if sum != f[2] {
			return nil, fmt.Errorf("%s is damaged", file)
		}
		k.archives[f[0]] = file
		fmt.Fprintf(&cfg, "packagefile %s=%s\n", f[0], file)
	}
	k.imports = cfg.String()
	now := time.Now()
	_ = os.Chtimes(manifest.Name(), now, now) // the last use, see removeOldKits
	return k, lines.Err()
}

// saveKit writes archives and the manifest into dir, which must be empty.
func saveKit(dir string, list []archive) error {
	slices.SortFunc(list, func(a, b archive) int { return strings.Compare(a.path, b.path) })
	var manifest strings.Builder
	for i, a := range list {
		name := fmt.Sprintf("%03d.a", i)
		sum, err := copyFile(filepath.Join(dir, name), a.file)
		if err != nil {
			return err
		}
		fmt.Fprintf(&manifest, "%s %s %s\n", a.path, name, sum)
	}
	return os.WriteFile(filepath.Join(dir, manifestName), []byte(manifest.String()), 0o644)
}

func copyFile(to, from string) (sum string, err error) {
	in, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer in.Close() //nolint:errcheck // it was only read
	out, err := os.Create(to)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, h), in)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, out.Close())
}

func fileSum(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
