//go:build synctests && !realtime

package grader_test

import (
	"strings"
	"testing"

	"redeliver/exercises"
	"redeliver/grader"
	"redeliver/grader/verdict"
)

// publisher is a submission whose Publish has this body after it has made the client cl
// and the record rec.
func publisher(body string) []exercises.File {
	return []exercises.File{{Name: "handler.go", Content: []byte(`package handler

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

func Publish(ctx context.Context, kafka []kgo.Opt, db *sql.DB, orderID string) error {
	cl, err := kgo.NewClient(kafka...)
	if err != nil {
		return err
	}
	var amount int64
	if err := db.QueryRow("SELECT amount FROM orders WHERE id = ?", orderID).Scan(&amount); err != nil {
		return err
	}
	rec := &kgo.Record{
		Topic: "payments", Key: []byte(orderID), Value: fmt.Appendf(nil, "{\"order_id\":%q,\"amount\":%d}", orderID, amount),
		Headers: []kgo.RecordHeader{{Key: "event-id", Value: []byte(orderID)}},
	}
` + body + `
}
`)}}
}

// A caller judges what is published by what stands in the topic, and is never kept
// waiting for ever.
func TestProducer(t *testing.T) {
	t.Parallel()
	e, ok := exercises.Open(exercises.Builtin(), nil).Exercise("core/stable-event-id")
	if !ok {
		t.Fatal("core/stable-event-id is missing")
	}
	for name, c := range map[string]struct {
		body, want string
		kind       verdict.Kind // "": it passes
	}{
		"Sends":              {"return cl.ProduceSync(ctx, rec).FirstErr()", "", ""},
		"SendsTwice":         {"cl.ProduceSync(ctx, rec)\n\treturn cl.ProduceSync(ctx, &kgo.Record{Topic: rec.Topic, Key: rec.Key, Value: rec.Value, Headers: rec.Headers}).FirstErr()", "", ""},
		"WithoutIdempotence": {"cl.Close()\n\tcl, err = kgo.NewClient(append(kafka, kgo.DisableIdempotentWrite())...)\n\tif err != nil {\n\t\treturn err\n\t}\n\tdefer cl.Close()\n\treturn cl.ProduceSync(ctx, rec).FirstErr()", "", ""},
		"NeverSends":         {"_ = rec\n\tdefer cl.Close()\n\treturn nil", "has no event", verdict.Lost},
		"AlwaysFails":        {"_ = rec\n\tdefer cl.Close()\n\treturn fmt.Errorf(\"not today\")", "not today", verdict.Stuck},
		"WaitsForItsContext": {"_ = rec\n\tdefer cl.Close()\n\t<-ctx.Done()\n\treturn ctx.Err()", "context deadline exceeded", verdict.Stuck},
		"WaitsForNothing":    {"defer cl.Close()\n\tfor {\n\t\tcl.ProduceSync(context.Background(), rec)\n\t\tselect {}\n\t}", "all goroutines are asleep", verdict.Timeout},
		"LeavesAGoroutine":   {"go cl.ProduceSync(context.Background(), rec)\n\treturn nil", "After Publish had returned", verdict.Leaked},
		"FloodsTheTopic":     {"for range 1_000_000 {\n\t\tif err := cl.ProduceSync(ctx, rec).FirstErr(); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n\treturn nil", "far more records", verdict.Timeout},
		"LeavesClients":      {"return cl.ProduceSync(ctx, rec).FirstErr()", "", ""},
		"Panics":             {"_, _ = cl, rec\n\tpanic(\"boom\")", "boom", verdict.Crash},
	} {
		t.Run(name, func(t *testing.T) {
			v := grade(t, newGrader(t, 0), grader.Request{Exercise: e, Files: publisher(c.body)})
			switch {
			case c.kind == "" && v.Outcome != verdict.Passed:
				t.Errorf("%s: %s\n%s", v.Outcome, v.Summary, shortStory(v))
			case c.kind != "" && (len(v.Findings) == 0 || v.Findings[0].Kind != c.kind || !strings.Contains(v.Findings[0].Message+v.Findings[0].Explanation, c.want)):
				t.Errorf("%s: %s\n%+v\n%s", v.Outcome, v.Summary, v.Findings, shortStory(v))
			}
		})
	}
}
