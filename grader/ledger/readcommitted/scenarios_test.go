package readcommitted_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var updateGolden = flag.Bool("update", false, "write the golden transcripts with what PostgreSQL answers") //nolint:gochecknoglobals // a flag

const golden = "testdata/scenarios.golden"

func scenarios(t *testing.T, name string) map[string]string {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	check(t, err)
	all := map[string]string{}
	for _, f := range archive.Files {
		all[f.Name] = string(f.Data)
	}
	return all
}

func steps(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }

// The model answers every scenario as PostgreSQL did.
func TestScenarios(t *testing.T) {
	t.Parallel()
	want := scenarios(t, golden)
	all := scenarios(t, "testdata/scenarios.txtar")
	if len(want) != len(all) || len(all) < 40 {
		t.Fatalf("%d scenarios, %d transcripts", len(all), len(want))
	}
	for name, text := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := open(t, schema)
			got := transcript(m, steps(text))
			if m.outside != "" {
				t.Fatalf("outside the model: %s", m.outside)
			}
			if diff := cmp.Diff(want[name], got); diff != "" {
				t.Errorf("PostgreSQL (-), model (+):\n%s", diff)
			}
		})
	}
}

// The transcripts are still what PostgreSQL answers.
func TestScenariosOnPostgreSQL(t *testing.T) {
	s := connect(t)
	archive, err := txtar.ParseFile("testdata/scenarios.txtar")
	check(t, err)
	out := &txtar.Archive{Comment: []byte("Written by PostgreSQL. Do not edit.\n\n")}
	for _, f := range archive.Files {
		p := s.start()
		out.Files = append(out.Files, txtar.File{Name: f.Name, Data: []byte(transcript(p, steps(string(f.Data))))})
		p.end()
	}
	if *updateGolden {
		check(t, os.WriteFile(golden, txtar.Format(out), 0o600))
		return
	}
	want, err := os.ReadFile(golden)
	check(t, err)
	if diff := cmp.Diff(string(want), string(txtar.Format(out))); diff != "" {
		t.Errorf("golden (-), PostgreSQL (+):\n%s", diff)
	}
}
