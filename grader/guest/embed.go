// Package guest holds the sources that are compiled into a candidate's
// program: the runtime of the sandbox, the encoding that it shares with the
// server, and the packages that stand in for client libraries.
//
// A submission is compiled in a module named redeliver, as ours is, so that
// redeliver/grader/guest/abi is one import path on both sides. What lies under
// lookalike becomes vendor/ there: lookalike/modernc.org/sqlite is what a
// submission imports as modernc.org/sqlite. Two of these are the real sources,
// kerr and uuid, with their licences; the others are written for the sandbox
// and export a part of the real package with the same signatures. The package
// redeliver/gateway is ours on both sides and lies outside of this folder.
package guest

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed abi host redis sdk sqlite warm withclients withgateway withredis lookalike
var sources embed.FS

// Sources calls f with the path, from this folder, and the content of each
// Go file that belongs into the workspace, in lexical order. Tests are left out.
func Sources(f func(name string, content []byte) error) error {
	return fs.WalkDir(sources, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		content, err := sources.ReadFile(name)
		if err != nil {
			return err
		}
		return f(name, content)
	})
}

// Module is a module of which the workspace has a part.
type Module struct {
	Path, Version string
	Packages      []string // import paths
}

// Modules are the modules that a submission may import from, sorted by path.
// The versions are those of the server: a test compares.
func Modules() []Module {
	return []Module{
		{"github.com/google/uuid", "v1.6.0", []string{"github.com/google/uuid"}},
		{"github.com/redis/go-redis/v9", "v9.23.0", []string{"github.com/redis/go-redis/v9"}},
		{"github.com/twmb/franz-go", "v1.22.3", []string{
			"github.com/twmb/franz-go/pkg/kerr",
			"github.com/twmb/franz-go/pkg/kgo",
		}},
		{"modernc.org/sqlite", "v1.62.0", []string{"modernc.org/sqlite", "modernc.org/sqlite/lib"}},
	}
}
