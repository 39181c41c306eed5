package exercises

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

const (
	maxFields = 50
	maxTime   = 10 * 365 * 24 * time.Hour
	maxNumber = 1 << 53 // larger ones are not exact in every JSON reader
)

var (
	fieldPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
	// plainValue is text that can stand inside a JSON string and in SQL as it
	// is: what is drawn or fixed can never end the string that it stands in.
	plainValue = regexp.MustCompile(`^[A-Za-z0-9._:/+@ -]*$`)
)

// fieldFile is one entry under fields in events.yaml.
type fieldFile struct {
	Pattern  string  `yaml:"pattern"`
	Between  []int64 `yaml:"between"`
	Step     int64   `yaml:"step"`
	UUID     string  `yaml:"uuid"`
	Time     string  `yaml:"time"`
	Every    string  `yaml:"every"`
	Distinct bool    `yaml:"distinct"`
}

func (e *eventsLoader) fields() {
	if len(e.file.Fields) > maxFields {
		e.problem(fmt.Sprintf("There are at most %d fields.", maxFields), "fields")
		return
	}
	for _, name := range sortedKeys(e.file.Fields) {
		if !fieldPattern.MatchString(name) {
			e.problems = append(e.problems, e.doc.key("A field's name begins with a letter and holds lower-case letters, digits and underscores.", name, "fields"))
			continue
		}
		field, message := e.file.Fields[name].field(name)
		if message == "" && field.Distinct && field.capacity() < 16*uint64(len(e.file.Events)) {
			message = "There are too few values to draw distinct ones: at least 16 per event are needed."
		}
		if message != "" {
			e.problem(message, "fields", name)
		}
		e.events.Fields = append(e.events.Fields, field)
	}
}

// field gives the field, or what is wrong with it.
func (f fieldFile) field(name string) (Field, string) {
	field := Field{Name: name, Distinct: f.Distinct, Step: 1}
	kinds := 0
	message := ""
	if f.Pattern != "" {
		kinds, field.Kind = kinds+1, PatternField
		message = field.pattern(f)
	}
	if f.Between != nil {
		kinds, field.Kind = kinds+1, NumberField
		message = field.number(f)
	}
	if f.UUID != "" {
		kinds, field.Kind = kinds+1, UUIDField
		if f.UUID != "v4" {
			message = "The only kind of uuid is v4."
		}
	}
	if f.Time != "" {
		kinds, field.Kind = kinds+1, TimeField
		message = field.time(f)
	}
	switch {
	case kinds != 1:
		return field, "A field has exactly one of pattern, between, uuid and time."
	case f.Step != 0 && field.Kind != NumberField:
		return field, "Only a field with between has a step."
	case f.Every != "" && field.Kind != TimeField:
		return field, "Only a field with time has every."
	}
	return field, message
}

func (f *Field) pattern(file fieldFile) string {
	f.Pattern = file.Pattern
	if len(f.Pattern) > 100 || !plainValue.MatchString(strings.ReplaceAll(f.Pattern, "#", "")) {
		return "A pattern holds at most 100 letters, digits, spaces and the characters . _ : / + @ - and #."
	}
	return ""
}

func (f *Field) number(file fieldFile) string {
	if len(file.Between) != 2 || file.Between[0] > file.Between[1] || file.Between[0] < -maxNumber || file.Between[1] > maxNumber {
		return "The value of between is the least and the greatest number, at most 2^53."
	}
	f.Min, f.Max = file.Between[0], file.Between[1]
	if file.Step < 0 {
		return "The step must be at least 1."
	}
	f.Step = max(file.Step, 1)
	return ""
}

func (f *Field) time(file fieldFile) string {
	var err error
	if f.Offset, err = time.ParseDuration(file.Time); err != nil || f.Offset.Abs() > maxTime {
		return "The time is a distance from the start such as -1m or 0s, at most ten years."
	}
	if file.Every == "" {
		return ""
	}
	if f.Every, err = time.ParseDuration(file.Every); err != nil || f.Every.Abs() > maxTime/maxEvents {
		return "The value of every is a duration such as 1s, at most 36 days."
	}
	return ""
}

// capacity is the number of different values, at most 2^60.
func (f Field) capacity() uint64 {
	switch f.Kind {
	case PatternField:
		n := uint64(1)
		for range strings.Count(f.Pattern, "#") {
			n = min(n*uint64(len(patternAlphabet)), 1<<58)
		}
		return n
	case NumberField:
		return uint64(f.Max-f.Min)/uint64(f.Step) + 1
	case TimeField:
		if f.Every == 0 {
			return 1
		}
		return 1 << 60 // each event's time is its own
	default:
		return 1 << 60
	}
}
