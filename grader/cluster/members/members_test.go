package members_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/grader/cluster/bubble"
	"redeliver/grader/cluster/members"
)

var update = flag.Bool("update", false, "write the stories in testdata anew")

const effects = 3

func records(n int) (rs members.Records) {
	for i := range n {
		rs = append(rs, &kgo.Record{Topic: "payments", Key: []byte("k"), Value: fmt.Append(nil, "v", i)})
	}
	return rs
}

// process has three effects.
func process(_ context.Context, d *members.Delivery) error {
	for range effects {
		if err := d.Effect(); err != nil {
			return err
		}
	}
	return nil
}

func play(t testing.TB, sc members.Scenario, opts members.Options, handle members.Handle) members.Story {
	t.Helper()
	story, err := members.Run(t.Context(), sc, records(3), opts, handle)
	if err != nil {
		t.Fatal(err)
	}
	return story
}

func scenario(t testing.TB, name string) members.Scenario {
	t.Helper()
	for _, sc := range members.Scenarios() {
		if sc.Name == name {
			return sc
		}
	}
	t.Fatalf("no scenario %s", name)
	return members.Scenario{}
}

// golden compares a story with a file. In real time the stories have no times,
// and nothing else may differ.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if bubble.Real {
			t.Fatal("write the stories in virtual time: -tags synctests")
		}
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := string(raw)
	if bubble.Real {
		want = withoutTimes(want)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("story (-want +got):\n%s", diff)
	}
}

func withoutTimes(story string) string {
	var b strings.Builder
	for line := range strings.Lines(story) {
		if at, rest, ok := strings.Cut(line, "s  "); ok && strings.TrimLeft(at, " 0123456789.") == "" {
			line = rest
		}
		b.WriteString(line)
	}
	return b.String()
}

func TestStories(t *testing.T) {
	t.Parallel()
	for _, sc := range members.Scenarios() {
		t.Run(sc.Name, func(t *testing.T) {
			t.Parallel()
			golden(t, sc.Name, play(t, sc, members.Options{At: 2}, process).String())
		})
	}
}

var _ = errors.New
var _ = time.Now
