package exercises

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Limits of events.yaml. Every event is handled many times in a grading.
const (
	maxEvents     = 100
	maxTopics     = 10
	maxPartitions = 12
)

// eventsFile is events.yaml.
type eventsFile struct {
	Fields    map[string]fieldFile `yaml:"fields"`
	Topics    []topicFile          `yaml:"topics"`
	Outputs   []topicFile          `yaml:"outputs"`
	Events    []eventFile          `yaml:"events"`
	ID        string               `yaml:"id"`
	Object    string               `yaml:"object"`
	Timestamp string               `yaml:"timestamp"`
	Setup     []string             `yaml:"setup"`
	Expected  map[string]any       `yaml:"expected"`
}

type topicFile struct {
	Name       string `yaml:"name"`
	Partitions int32  `yaml:"partitions"`
}

type eventFile struct {
	Topic     string            `yaml:"topic"`
	Partition int32             `yaml:"partition"`
	Key       string            `yaml:"key"`
	Headers   map[string]string `yaml:"headers"`
	Value     string            `yaml:"value"`
	With      map[string]any    `yaml:"with"`
	Same      map[string]int    `yaml:"same"`
}

// topicPattern is what Kafka allows.
var topicPattern = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)

// eventsLoader checks one events.yaml while it turns it into Events.
type eventsLoader struct {
	*loader
	doc    *document
	file   eventsFile
	events Events
}

// loadEvents reads the exercise's events.yaml; the result is empty when it has
// problems.
func (l *loader) loadEvents(slug string) Events {
	e := &eventsLoader{loader: l}
	doc, ok := l.yaml(slug+"/events.yaml", &e.file)
	if !ok {
		return Events{}
	}
	e.doc = doc
	before := len(l.problems)
	e.topics()
	e.fields()
	e.roles()
	e.templates()
	e.setup()
	e.columns()
	if len(l.problems) == before {
		e.tryDraw()
	}
	if len(l.problems) > before {
		return Events{}
	}
	return e.events
}

func (e *eventsLoader) problem(message string, where ...any) { e.at(e.doc, message, where...) }

// calls says whether events are calls of the submission's function, which consumes
// nothing: they name no topic.
func (e *eventsLoader) calls() bool {
	named := func(event eventFile) bool { return event.Topic != "" }
	return len(e.file.Topics) == 0 && len(e.file.Events) > 0 && !slices.ContainsFunc(e.file.Events, named)
}

func (e *eventsLoader) topics() {
	if n := len(e.file.Topics); n > maxTopics || n == 0 && !e.calls() {
		e.problem(fmt.Sprintf("There must be between 1 and %d topics.", maxTopics), "topics")
	}
	if len(e.file.Outputs) > maxTopics {
		e.problem(fmt.Sprintf("There may be at most %d outputs.", maxTopics), "outputs")
	}
	e.events.Topics = e.topicList("topics", e.file.Topics)
	e.events.Outputs = e.topicList("outputs", e.file.Outputs)
	for i, output := range e.file.Outputs {
		if _, input := e.partitions(output.Name); input {
			e.problem("The topic stands under topics as well: a submission cannot produce to what it reads.", "outputs", i, "name")
		}
	}
}

// topicList checks the topics under a key.
func (e *eventsLoader) topicList(key string, topics []topicFile) []Topic {
	var list []Topic
	for i, topic := range topics {
		if !topicPattern.MatchString(topic.Name) || topic.Name == "." || topic.Name == ".." {
			e.problem("A topic's name holds letters, digits, dots, hyphens and underscores.", key, i, "name")
		}
		if topic.Partitions < 1 || topic.Partitions > maxPartitions {
			e.problem(fmt.Sprintf("A topic has between 1 and %d partitions.", maxPartitions), key, i, "partitions")
		}
		if slices.ContainsFunc(list, func(t Topic) bool { return t.Name == topic.Name }) {
			e.problem("Another topic has this name.", key, i, "name")
		}
		list = append(list, Topic(topic))
	}
	return list
}

func (e *eventsLoader) partitions(topic string) (int32, bool) {
	for _, t := range e.events.Topics {
		if t.Name == topic {
			return t.Partitions, true
		}
	}
	return 0, false
}

// roles checks the names of fields that id, object and timestamp hold.
func (e *eventsLoader) roles() {
	for _, role := range []struct{ key, name string }{
		{"id", e.file.ID}, {"object", e.file.Object}, {"timestamp", e.file.Timestamp},
	} {
		field, ok := e.events.field(role.name)
		switch {
		case role.name == "":
		case !ok:
			e.problem("There is no field "+role.name+".", role.key)
		case role.key == "timestamp" && field.Kind != TimeField:
			e.problem("The field "+role.name+" is no time.", role.key)
		case role.key == "id" && !field.Distinct && field.Kind != UUIDField:
			e.problem("The field "+role.name+" must be distinct: it tells events apart.", role.key)
		}
	}
	e.events.ID, e.events.Object, e.events.Timestamp = e.file.ID, e.file.Object, e.file.Timestamp
}

func (e *eventsLoader) templates() {
	if n := len(e.file.Events); n < 1 || n > maxEvents {
		e.problem(fmt.Sprintf("There must be between 1 and %d events.", maxEvents), "events")
	}
	for i, event := range e.file.Events {
		e.events.Templates = append(e.events.Templates, e.template(i, event))
	}
}

func (e *eventsLoader) template(i int, event eventFile) Template {
	partitions, ok := e.partitions(event.Topic)
	switch {
	case e.calls():
		if event.Key == "" || event.Value != "" || len(event.Headers) > 0 || event.Partition != 0 {
			e.problem("An event without a topic is a call: it has a key, which the function is given, and no value, headers or partition.", "events", i)
		}
	case !ok:
		e.problem("There is no topic "+event.Topic+" under topics.", "events", i, "topic")
	case event.Partition < 0 || event.Partition >= partitions:
		e.problem(fmt.Sprintf("The topic has %d partitions, counted from 0.", partitions), "events", i, "partition")
	}
	template := Template{
		Topic: event.Topic, Partition: event.Partition, Key: event.Key, Value: event.Value, Same: event.Same,
		With: e.fixed(i, event.With),
	}
	e.checkTemplate(event.Key, "events", i, "key")
	e.checkTemplate(event.Value, "events", i, "value")
	for _, name := range sortedKeys(event.Headers) {
		e.checkTemplate(event.Headers[name], "events", i, "headers", name)
		template.Headers = append(template.Headers, HeaderTemplate{Name: name, Value: event.Headers[name]})
	}
	e.checkSame(i, event)
	return template
}

func (e *eventsLoader) checkTemplate(template string, where ...any) {
	for _, placeholder := range placeholderPattern.FindAllString(template, -1) {
		if name := strings.Trim(placeholder, "{}"); !e.events.hasField(name) {
			e.problem("There is no field "+name+".", where...)
		}
	}
}

func (e *eventsLoader) checkSame(i int, event eventFile) {
	for _, name := range sortedKeys(event.Same) {
		_, fixed := event.With[name]
		switch {
		case !e.events.hasField(name):
			e.problems = append(e.problems, e.doc.key("There is no field "+name+".", name, "events", i, "same"))
		case fixed:
			e.problem("The field "+name+" stands under with as well.", "events", i, "same", name)
		case name == e.events.ID:
			e.problem("The field "+name+" tells events apart: two events cannot share it.", "events", i, "same", name)
		case event.Same[name] < 1 || event.Same[name] > i:
			e.problem("The value must be the number of an earlier event, counted from 1.", "events", i, "same", name)
		}
	}
}

// fixed checks the values under `with` against the types of their fields.
func (e *eventsLoader) fixed(i int, with map[string]any) map[string]any {
	values := map[string]any{}
	for _, name := range sortedKeys(with) {
		field, ok := e.events.field(name)
		if !ok {
			e.problems = append(e.problems, e.doc.key("There is no field "+name+".", name, "events", i, "with"))
			continue
		}
		value := scalar(with[name])
		words, isText := value.(string)
		_, isNumber := value.(int64)
		switch {
		case field.Kind == NumberField && !isNumber:
			e.problem("The value must be a whole number.", "events", i, "with", name)
		case field.Kind != NumberField && !isText:
			e.problem("The value must be text.", "events", i, "with", name)
		case isText && !plainValue.MatchString(words):
			e.problem("The value holds letters, digits, spaces and the characters . _ : / + @ - only.", "events", i, "with", name)
		}
		values[name] = value
	}
	return values
}

// scalar gives text and whole numbers, as the YAML package decodes them, the
// types that events have; nil for everything else.
func scalar(value any) any {
	switch value := value.(type) {
	case string:
		return value
	case int64:
		return value
	case uint64:
		if value <= maxNumber {
			return int64(value)
		}
	}
	return nil
}

func (e *eventsLoader) setup() {
	for i, sql := range e.file.Setup {
		if strings.TrimSpace(sql) == "" {
			e.problem("The statement is empty.", "setup", i)
		}
		for _, name := range parameters(sql) {
			if !e.events.hasField(name) {
				e.problem("There is no field "+name+" for the parameter :"+name+".", "setup", i)
			}
		}
	}
	e.events.SetupSQL = e.file.Setup
}

func (e *eventsLoader) columns() {
	for _, name := range sortedKeys(e.file.Expected) {
		column := Column{Name: name, Type: "TEXT", Value: scalar(e.file.Expected[name])}
		switch value := column.Value.(type) {
		case int64:
			column.Type = "INTEGER"
		case string:
			e.checkTemplate(value, "expected", name)
			if field, ok := e.events.field(strings.Trim(value, "{}")); ok && value == "{"+field.Name+"}" && field.Kind == NumberField {
				column.Type = "INTEGER"
			}
		default:
			e.problem("The value must be text or a whole number.", "expected", name)
		}
		if !fieldPattern.MatchString(name) || name == "event_id" {
			e.problems = append(e.problems, e.doc.key("A column's name begins with a letter and holds lower-case letters, digits and underscores; event_id is there already.", name, "expected"))
		}
		e.events.Columns = append(e.events.Columns, column)
	}
}

// tryDraw draws once: a value that looks like JSON must be JSON, because a
// misplaced quote in a template is otherwise found by a puzzled candidate.
func (e *eventsLoader) tryDraw() {
	events, err := e.events.Draw(1, time.Unix(0, 0))
	if err != nil {
		e.problem("The events cannot be drawn: "+err.Error()+".", "events")
	}
	for i, event := range events {
		if trimmed := strings.TrimSpace(string(event.Value)); strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
			if !json.Valid(event.Value) {
				e.problem("The value is not valid JSON once the fields are filled in.", "events", i, "value")
			}
		}
	}
}
