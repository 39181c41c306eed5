package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"redeliver/gateway"
	"redeliver/grader/guest"
)

// languageVersion is what submissions are written in.
const languageVersion = "1.26"

// The packages of the workspace that a program needs beside those that a
// submission may import.
const (
	sdkPackage     = "redeliver/grader/guest/sdk"
	redisPackage   = "redeliver/grader/guest/withredis"
	chargePackage  = "redeliver/grader/guest/withgateway"
	clientsPackage = "redeliver/grader/guest/withclients"
	kgoPackage     = "github.com/twmb/franz-go/pkg/kgo"
	warmPackage    = "redeliver/grader/guest/warm"
)

var ourPackages = [...]string{sdkPackage, redisPackage, chargePackage, clientsPackage, warmPackage}

// workspaceFiles returns the module in which everything is compiled, by path.
func workspaceFiles() (map[string]string, error) {
	files := map[string]string{}
	err := guest.Sources(func(name string, content []byte) error {
		if rest, ok := strings.CutPrefix(name, "lookalike/"); ok {
			files["vendor/"+rest] = string(content)
		} else {
			files["grader/guest/"+name] = string(content)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	files["gateway/gateway.go"] = gateway.Source
	var mod, vendored strings.Builder
	fmt.Fprintf(&mod, "module redeliver\n\ngo %s\n\nrequire (\n", languageVersion)
	for _, m := range guest.Modules() {
		fmt.Fprintf(&mod, "\t%s %s\n", m.Path, m.Version)
		fmt.Fprintf(&vendored, "# %s %s\n## explicit; go %s\n%s\n", m.Path, m.Version, languageVersion, strings.Join(m.Packages, "\n"))
	}
	mod.WriteString(")\n")
	files["go.mod"] = mod.String()
	files["vendor/modules.txt"] = vendored.String()
	return files, nil
}

// writeFiles writes files under dir.
func writeFiles(dir string, files map[string]string) error {
	for name, content := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// hashFiles is a hash of names and contents, and of what else matters.
func hashFiles(files map[string]string, more ...string) string {
	h := sha256.New()
	add := func(s string) { fmt.Fprintf(h, "%d:%s", len(s), s) }
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		add(name)
		add(files[name])
	}
	for _, s := range more {
		add(s)
	}
	return hex.EncodeToString(h.Sum(nil))
}
