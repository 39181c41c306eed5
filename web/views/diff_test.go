package views

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	show := func(d FileDiff) (out []string) {
		for _, l := range d.Lines {
			if l.Gap {
				out = append(out, "...")
				continue
			}
			out = append(out, fmt.Sprintf("%s%d %d %s", l.Sign, l.Old, l.New, l.Text))
		}
		return out
	}
	const ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	for _, tc := range []struct {
		name, before, after string
		want                []string
	}{
		{"Same", "a\n", "a\n", nil},
		{"FromNothing", "", "a\n", []string{"+0 1 a"}},
		{"ToNothing", "a\nb\n", "", []string{"-1 0 a", "-2 0 b"}},
		{"Middle", ten, strings.Replace(ten, "6", "six", 1), []string{
			"...", "3 3 3", "4 4 4", "5 5 5", "-6 0 6", "+0 6 six", "7 7 7", "8 8 8", "9 9 9",
		}},
		{"TextThatLooksLikeASign", "-- a\n", "-- a\n++ b\n@@ c\n", []string{"1 1 -- a", "+0 2 ++ b", "+0 3 @@ c"}},
		{"LastLineWithoutEnd", "a\nb", "a\nc", []string{"1 1 a", "-2 0 b", "+0 2 c"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := diffOf("x.go", tc.before, tc.after)
			if diff := cmp.Diff(tc.want, show(d)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
