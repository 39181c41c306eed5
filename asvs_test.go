package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// asvsItems are the sections of ASVS 5.0.0 with the number of their items of level 1
// and 2, which come before those of level 3.
const asvsItems = "1.1:2 1.2:9 1.3:11 1.4:3 1.5:2 2.1:3 2.2:3 2.3:4 2.4:1 3.2:2 3.3:4 3.4:6 3.5:5 3.7:2 4.1:3 4.2:1 4.3:2 4.4:4 " +
	"5.1:1 5.2:3 5.3:2 5.4:3 6.1:3 6.2:12 6.3:4 6.4:4 6.5:5 6.6:3 6.8:4 7.1:3 7.2:4 7.3:2 7.4:5 7.5:2 7.6:2 8.1:2 8.2:3 8.3:1 8.4:1 " +
	"9.1:3 9.2:4 10.1:2 10.2:2 10.3:4 10.4:11 10.5:5 10.6:2 10.7:3 11.1:2 11.2:3 11.3:3 11.4:4 11.5:1 11.6:1 12.1:3 12.2:2 12.3:4 " +
	"13.1:1 13.2:5 13.3:2 13.4:5 14.1:2 14.2:4 14.3:3 15.1:3 15.2:3 15.3:7 16.1:1 16.2:5 16.3:4 16.4:3 16.5:3 17.1:1 17.2:4 17.3:2"

var (
	asvsRow   = regexp.MustCompile(`(?m)^\| ([0-9][0-9., to]*) \| [^|]+ \| (?:met|design|partly|not met|operator) \| [^|]+ \|$`)
	codeSpan  = regexp.MustCompile("`([^`\n]+)`")
	nameIn    = regexp.MustCompile("`(\\w+)` in `([^`\n]+)`")
	testName  = regexp.MustCompile(`^(?:Test|Fuzz)\w*(?:/|$)`)
	testStart = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w*)\(`)
)

// Every item of the list stands in docs/asvs.md once, with a state.
func TestASVSIsWhole(t *testing.T) {
	t.Parallel()
	told := map[string]int{}
	for _, row := range asvsRow.FindAllStringSubmatch(readText(t, "docs/asvs.md"), -1) {
		for _, item := range itemsOf(t, row[1]) {
			told[item]++
		}
	}
	for _, section := range strings.Fields(asvsItems) {
		name, count, _ := strings.Cut(section, ":")
		for i := range numberIn(t, count) {
			item := fmt.Sprintf("%s.%d", name, i+1)
			if told[item] != 1 {
				t.Errorf("%s has %d rows with a state", item, told[item])
			}
			delete(told, item)
		}
	}
	for item := range told {
		t.Errorf("%s is no item of level 1 or 2", item)
	}
}

// itemsOf reads "1.2.6, 1.2.8" and "4.4.1 to 4.4.4".
func itemsOf(t *testing.T, cell string) (items []string) {
	t.Helper()
	for part := range strings.SplitSeq(cell, ", ") {
		first, last, _ := strings.Cut(part, " to ")
		if last == "" {
			last = first
		}
		at := strings.LastIndexByte(first, '.') + 1
		for i := numberIn(t, first[at:]); i <= numberIn(t, last[strings.LastIndexByte(last, '.')+1:]); i++ {
			items = append(items, fmt.Sprintf("%s%d", first[:at], i))
		}
	}
	return items
}

// The tests, files and functions that the texts about security name are there.
func TestSecurityTextsNameWhatIsThere(t *testing.T) {
	t.Parallel()
	tests := readTests(t)
	for _, doc := range []string{"docs/asvs.md", "docs/security.md"} {
		text := readText(t, doc)
		for _, span := range codeSpan.FindAllStringSubmatch(text, -1) {
			switch name := span[1]; {
			case testName.MatchString(name):
				if !tests.have(name) {
					t.Errorf("%s: there is no test %s", doc, name)
				}
			case doc == "docs/asvs.md" && strings.ContainsAny(name, "./"):
				if _, err := os.Stat(name); err != nil {
					t.Errorf("%s: %v", doc, err)
				}
			}
		}
		for _, place := range nameIn.FindAllStringSubmatch(text, -1) {
			if !testName.MatchString(place[1]) && !regexp.MustCompile(`\b`+place[1]+`\b`).MatchString(readText(t, place[2])) {
				t.Errorf("%s: there is no %s in %s", doc, place[1], place[2])
			}
		}
	}
}

// testNames are the functions of tests with the texts of the files that have them,
// and the names of files that are a test each.
type testNames struct {
	functions map[string][]string
	files     map[string]bool
}

func readTests(t *testing.T) testNames {
	t.Helper()
	found := testNames{map[string][]string{}, map[string]bool{}}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case path.Ext(name) == ".txtar":
			found.files[strings.TrimSuffix(d.Name(), ".txtar")] = true
		case strings.HasSuffix(name, "_test.go"):
			text := readText(t, name)
			for _, f := range testStart.FindAllStringSubmatch(text, -1) {
				found.functions[f[1]] = append(found.functions[f[1]], text)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// have finds a test, and its part behind the slash as a string in the same file or as
// a file of its own. A part with * stands for several.
func (n testNames) have(name string) bool {
	function, part, _ := strings.Cut(name, "/")
	texts := n.functions[function]
	if part == "" || strings.Contains(part, "*") || n.files[part] {
		return len(texts) > 0
	}
	for _, text := range texts {
		if strings.Contains(text, strconv.Quote(part)) {
			return true
		}
	}
	return false
}

func readText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func numberIn(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
