package packcheck

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"redeliver/exercises"
	"redeliver/grader/invariant"
	"redeliver/grader/ledger"
)

var placeholder = regexp.MustCompile(`\{([a-z][a-z0-9_]*)\}`)

// checkQueries tries the SQL of the exercise on tables in which nothing has
// happened: schema, setup, histories, and each invariant, whose columns its
// messages name.
func (c *checker) checkQueries(ctx context.Context, e *exerciseCheck) (err error) {
	l, err := ledger.Open(ctx, c.Dir, ledger.Limits{}, func() time.Time { return time.Unix(0, 0) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	events, err := e.Events.Draw(Seed, time.Unix(0, 0))
	if err != nil {
		return fmt.Errorf("draw the events of %s: %w", e.Name(), err)
	}
	err = l.Prepare(ctx, ledger.Schema{SQL: schemaOf(e.Exercise)}, setupOf(e.Exercise, events))
	if wrong := (*ledger.PackError)(nil); errors.As(err, &wrong) {
		e.problem("%v.", wrong)
		return nil
	}
	if err != nil {
		return err
	}
	for _, h := range e.Histories {
		if _, err := l.QueryPack(ctx, `SELECT t."`+strings.Join(h.Columns, `", t."`)+`" FROM main."`+h.Table+`" t`); err != nil {
			e.problem("The history %s cannot be kept: %v.", h.Name, err)
		}
	}
	facts := factsOf(e.Exercise, events)
	for _, inv := range e.Invariants {
		if err := l.Reset(Seed); err != nil { // the tables of the last query are gone
			return err
		}
		columns, err := invariant.Columns(ctx, l, facts, inv)
		if wrong := (*invariant.QueryError)(nil); errors.As(err, &wrong) {
			e.report.Problems = append(e.report.Problems, at(inv, "The query of %q does not work: %v.", inv.Name, wrong))
			continue
		}
		if err != nil {
			return err
		}
		e.checkColumns(inv, columns)
	}
	return nil
}

// at places a problem where the query of an invariant stands.
func at(inv exercises.Invariant, format string, args ...any) string {
	p := inv.Place
	p.Message = fmt.Sprintf(format, args...)
	return p.String()
}

func (e *exerciseCheck) checkColumns(inv exercises.Invariant, columns []string) {
	if !slices.Contains(columns, "object") {
		e.report.Problems = append(e.report.Problems, at(inv, "The query of %q has no column called object.", inv.Name))
		return
	}
	for _, lang := range slices.Sorted(maps.Keys(inv.Message)) {
		for _, match := range placeholder.FindAllStringSubmatch(inv.Message[lang], -1) {
			if !slices.Contains(columns, match[1]) {
				e.report.Problems = append(e.report.Problems,
					at(inv, "The message in %s of %q names {%s}; the query has the columns %s.", lang, inv.Name, match[1], strings.Join(columns, ", ")))
			}
		}
	}
}

// schemaOf is the starter's where candidates write it themselves.
func schemaOf(e *exercises.Exercise) string {
	for _, f := range e.Starter {
		if f.Name == "schema.sql" {
			return string(f.Content)
		}
	}
	return e.Schema
}

func setupOf(e *exercises.Exercise, events []exercises.Event) []ledger.Statement {
	var out []ledger.Statement
	for _, s := range e.Events.Setup(events) {
		st := ledger.Statement{SQL: s.SQL}
		for i, a := range s.Args {
			st.Args = append(st.Args, driver.NamedValue{Name: a.Name, Ordinal: i + 1, Value: a.Value})
		}
		out = append(out, st)
	}
	return out
}

// factsOf are those of a schedule in which nothing was delivered.
func factsOf(e *exercises.Exercise, events []exercises.Event) invariant.Facts {
	facts := invariant.Facts{Tables: map[string]invariant.Table{}}
	expected := e.Events.Expected(events)
	for _, c := range expected.Columns {
		facts.Expected.Columns = append(facts.Expected.Columns, c.Name)
	}
	for _, row := range expected.Rows {
		values := make([]driver.Value, len(row))
		for i, v := range row {
			values[i] = v
		}
		facts.Expected.Rows = append(facts.Expected.Rows, values)
	}
	for _, h := range e.Histories {
		facts.Tables[h.Name] = invariant.Table{Columns: append([]string{"at"}, h.Columns...)}
	}
	if len(e.Events.Outputs) > 0 {
		facts.Tables[invariant.OutputTable] = invariant.Table{Columns: invariant.OutputColumns()}
	}
	if slices.Contains(e.Services, "gateway") {
		facts.Tables[invariant.ChargesTable] = invariant.Table{Columns: invariant.ChargesColumns()}
	}
	return facts
}
