//go:build synctests && !realtime

package grader

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/exercises"
	"redeliver/grader/cluster/bubble"
	handler "redeliver/grader/conformance"
	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
)

// A program that makes its Kafka clients itself sees the same in the sandbox as with
// the real package kgo. Both have a broker of their own, with the same topics, and
// virtual time.
func TestConformanceOfOwnClients(t *testing.T) {
	t.Parallel()
	w := conformanceWorld(t)
	docs, err := os.ReadFile("../docs/authoring.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, program := range handler.Programs() {
		t.Run(program.Name, func(t *testing.T) {
			want := natively(t, program.Name)
			got := sandboxed(t, w, i, program.Name)
			d := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n"))
			switch {
			case program.Differs == "" && d != "":
				t.Errorf("the real client (-) and the sandbox (+) differ:\n%s", d)
			case program.Differs != "" && d == "":
				t.Errorf("the sandbox is no other one any more: take away %q", program.Differs)
			case !strings.Contains(string(docs), program.Differs):
				t.Errorf("docs/authoring.md does not say that %q", program.Differs)
			}
			if testing.Verbose() {
				t.Log(want)
			}
		})
	}
}

// Every name of package kgo that there is in the sandbox is used by a program; types
// go along with what they are for.
func TestConformanceIsOfEveryName(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../docs/authoring.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(docs), "<!-- kgo: made from the sources -->\n")
	list, _, ok := strings.Cut(list, "<!-- kgo: end -->")
	if !ok {
		t.Fatal("docs/authoring.md has no list of names")
	}
	var programs strings.Builder
	for _, f := range conformanceFiles(t) {
		programs.Write(f.Content)
	}
	for line := range strings.Lines(list) {
		_, names, _ := strings.Cut(line, ":")
		for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(names, -1) {
			if !regexp.MustCompile(`\.` + m[1] + `\b`).MatchString(programs.String()) {
				t.Errorf("no program uses %s", m[1])
			}
		}
	}
}

// topics of the programs, with their partitions.
func conformanceTopics() map[string]int32 {
	return map[string]int32{handler.One: 1, handler.Two: 2, handler.Three: 3}
}

// natively runs a program with the real client.
func natively(t *testing.T, name string) (text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := bubble.Run(ctx, func(ctx context.Context) error {
		var net kfake.VirtualNetwork
		opts := []kfake.Opt{kfake.Ports(9092), kfake.ListenFn(net.Listen)}
		for topic, partitions := range conformanceTopics() {
			opts = append(opts, kfake.SeedTopics(partitions, topic))
		}
		broker, err := kfake.NewCluster(opts...)
		if err != nil {
			return err
		}
		defer broker.Close()
		text, err = handler.Run(ctx, []kgo.Opt{kgo.SeedBrokers(broker.ListenAddrs()...), kgo.Dialer(net.DialContext)}, name)
		return err
	})
	if err != nil {
		t.Fatalf("natively: %v", err)
	}
	return text
}

// conformanceWorld has the programs as a submission of the entry producer, which is
// called with the name of a program.
func conformanceWorld(t *testing.T) *world {
	t.Helper()
	e := &exercises.Exercise{
		Head:   exercises.Head{Entry: "producer", Databases: []string{string(verdict.SQLite)}},
		Schema: "CREATE TABLE written (program TEXT, text TEXT)",
	}
	for topic, partitions := range conformanceTopics() {
		e.Events.Outputs = append(e.Events.Outputs, exercises.Topic{Name: topic, Partitions: partitions})
	}
	for _, program := range handler.Programs() {
		e.Events.Templates = append(e.Events.Templates, exercises.Template{Key: program.Name})
	}
	return worldFor(t, e, conformanceFiles(t))
}

// conformanceFiles are the sources of the programs.
func conformanceFiles(t *testing.T) (files []exercises.File) {
	t.Helper()
	names, err := filepath.Glob("conformance/*.go")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, exercises.File{Name: filepath.Base(name), Content: source})
	}
	return files
}

// sandboxed runs the program with an index and a name as a submission.
func sandboxed(t *testing.T, w *world, i int, name string) string {
	t.Helper()
	all := w.sub.events
	defer func() { w.sub.events = all }()
	w.sub.events = all[i : i+1]
	r, err := w.run(t.Context(), schedule.Schedule{Phase: schedule.HappyPath, Set: schedule.All, Database: verdict.SQLite}, options{})
	if err != nil {
		t.Fatalf("in the sandbox: %v", err)
	}
	if r.problem != nil {
		var story strings.Builder
		for _, s := range r.steps {
			fmt.Fprintf(&story, "%s %s %s\n", s.Lane, s.Event, s.Text)
		}
		t.Fatalf("in the sandbox: %s\n%s", r.problem.text, &story)
	}
	rows, err := w.ledger.Query(t.Context(), "SELECT text FROM written")
	if err != nil || len(rows.Rows) != 1 {
		t.Fatalf("in the sandbox: %d protocols, %v", len(rows.Rows), err)
	}
	return rows.Rows[0][0].(string)
}
