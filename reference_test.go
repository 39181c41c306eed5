package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var update = flag.Bool("update", false, "write docs/reference.md")

// docs/reference.md says what the program understands, and nothing else.
func TestReference(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&commands{}, kong.Name("redeliver"), kong.Vars{"workers": "half the processors"})
	if err != nil {
		t.Fatal(err)
	}
	want := reference(parser.Model)
	if *update {
		if err := os.WriteFile("docs/reference.md", []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("docs/reference.md")
	if err != nil || string(got) != want {
		t.Errorf("docs/reference.md is not what the program has (err %v): go test -run TestReference . -update", err)
	}
}

// reference writes the command line as Markdown.
func reference(app *kong.Application) string {
	var b strings.Builder
	b.WriteString("# Commands, flags and environment\n\nWritten by `go test -run TestReference . -update`; a test compares it with the program. A flag goes before its variable.\n")
	b.WriteString("Temporary files go to `TMPDIR`; `GOMEMLIMIT` overrides the limit of the collector that the number of workers sets.\n\n## For every command\n")
	flags(&b, app.Flags)
	for _, leaf := range app.Leaves(true) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", "redeliver "+leaf.Path(), leaf.Help)
		for _, p := range leaf.Positional {
			fmt.Fprintf(&b, "\n- `%s`: %s\n", p.Summary(), p.Help)
		}
		flags(&b, leaf.Flags)
	}
	return b.String()
}

func flags(b *strings.Builder, list []*kong.Flag) {
	rows := ""
	for _, f := range list {
		if f.Hidden || f.Name == "help" {
			continue
		}
		env := ""
		for _, name := range f.Envs {
			env += "`" + name + "` "
		}
		value := f.Default
		if value != "" {
			value = "`" + value + "`"
		}
		rows += fmt.Sprintf("| `--%s` | %s | %s | %s |\n", f.Name, strings.TrimSpace(env), value, strings.ReplaceAll(f.Help, "|", "\\|"))
	}
	if rows != "" {
		b.WriteString("\n| flag | environment | default | |\n| --- | --- | --- | --- |\n" + rows)
	}
}
