package exercises

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// patternAlphabet is what # stands for: no vowels, so that no words come out,
// and nothing that looks like something else (0 and o, 1 and l).
const patternAlphabet = "23456789bcdfghjkmnpqrstvwxz"

// maxRedraws bounds the search for a distinct value. The loader has made sure
// that there are many more values than events.
const maxRedraws = 1000

// Draw gives the logical events of a run, in the order in which they are
// produced. They are a function of the seed and the start of the run, the same
// on every machine. Each field has a random stream of its own, so that a new
// field does not change the values of the others.
func (e Events) Draw(seed int64, start time.Time) ([]Event, error) {
	events := make([]Event, len(e.Templates))
	for i, template := range e.Templates {
		events[i] = Event{Topic: template.Topic, Partition: template.Partition, Fields: map[string]any{}}
	}
	for _, field := range e.Fields {
		if err := e.drawField(field, events, seed, start); err != nil {
			return nil, fmt.Errorf("draw field %s: %w", field.Name, err)
		}
	}
	for i, template := range e.Templates {
		if err := e.finish(&events[i], i, template, start); err != nil {
			return nil, fmt.Errorf("draw event %d: %w", i+1, err)
		}
	}
	return events, nil
}

func (e Events) drawField(field Field, events []Event, seed int64, start time.Time) error {
	stream := rand.New(rand.NewPCG(uint64(seed), streamOf(field.Name))) //nolint:gosec // a run must repeat
	seen := map[any]bool{}
	for i, template := range e.Templates {
		if earlier, ok := template.Same[field.Name]; ok {
			events[i].Fields[field.Name] = events[earlier-1].Fields[field.Name]
			continue
		}
		value, fixed := template.With[field.Name]
		for tries := 0; !fixed; tries++ {
			if tries == maxRedraws {
				return fmt.Errorf("no distinct value for event %d after %d tries", i+1, maxRedraws)
			}
			value = field.draw(stream, i, start)
			fixed = !field.Distinct || !seen[value]
		}
		seen[value] = true
		events[i].Fields[field.Name] = value
	}
	return nil
}

func streamOf(name string) uint64 {
	hash := fnv.New64a()
	hash.Write([]byte(name))
	return hash.Sum64()
}

// draw gives the field's value for the event at index i.
func (f Field) draw(stream *rand.Rand, i int, start time.Time) any {
	switch f.Kind {
	case NumberField:
		steps := uint64(f.Max-f.Min)/uint64(f.Step) + 1
		return f.Min + int64(stream.Uint64N(steps))*f.Step
	case UUIDField:
		return drawUUID(stream)
	case TimeField:
		return start.UTC().Add(f.Offset + time.Duration(i)*f.Every).Format(time.RFC3339Nano)
	default:
		return drawPattern(stream, f.Pattern)
	}
}

func drawPattern(stream *rand.Rand, pattern string) string {
	var value strings.Builder
	for _, char := range pattern {
		if char == '#' {
			char = rune(patternAlphabet[stream.Uint64N(uint64(len(patternAlphabet)))])
		}
		value.WriteRune(char)
	}
	return value.String()
}

func drawUUID(stream *rand.Rand) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], stream.Uint64())
	binary.BigEndian.PutUint64(id[8:], stream.Uint64())
	id[6] = id[6]&0x0f | 0x40 // version 4
	id[8] = id[8]&0x3f | 0x80 // the variant of RFC 9562
	return id.String()
}

// finish fills what follows from the fields.
func (e Events) finish(event *Event, i int, template Template, start time.Time) error {
	event.ID = "event-" + strconv.Itoa(i+1)
	if e.ID != "" {
		event.ID = text(event.Fields[e.ID])
	}
	if e.Object != "" {
		event.Object = text(event.Fields[e.Object])
	}
	event.Timestamp = start.UTC()
	if e.Timestamp != "" {
		sent, err := time.Parse(time.RFC3339, text(event.Fields[e.Timestamp]))
		if err != nil {
			return fmt.Errorf("timestamp: %w", err)
		}
		event.Timestamp = sent.UTC()
	}
	event.Key = []byte(render(template.Key, event.Fields))
	event.Value = []byte(render(template.Value, event.Fields))
	for _, header := range template.Headers {
		event.Headers = append(event.Headers, Header{Key: header.Name, Value: []byte(render(header.Value, event.Fields))})
	}
	return nil
}

// render replaces every {field} by its value.
func render(template string, fields map[string]any) string {
	return placeholderPattern.ReplaceAllStringFunc(template, func(placeholder string) string {
		return text(fields[strings.Trim(placeholder, "{}")])
	})
}

func text(value any) string {
	if number, ok := value.(int64); ok {
		return strconv.FormatInt(number, 10)
	}
	return value.(string)
}
