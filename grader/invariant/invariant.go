// Package invariant looks into the database after a schedule: it gives the
// queries of an exercise the tables of what was sent, delivered and expected,
// and every row that a query returns is one violation.
package invariant

import (
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"strings"

	"redeliver/exercises"
	"redeliver/grader/ledger"
)

// Sent is one record of the log.
type Sent struct {
	EventID   string
	Topic     string
	Partition int32
	Offset    int64
	Key       []byte
	Value     []byte
	Copies    int // how often the same logical event stands in the log
}

// Delivered is one time that a record was handed to the handler.
type Delivered struct {
	EventID   string
	Topic     string
	Partition int32
	Offset    int64
	Attempt   int
	Instance  string
	Outcome   string
}

// Facts are what the harness knows about a schedule.
type Facts struct {
	Sent      []Sent
	Delivered []Delivered
	// Tables are further ones, by name: the histories of the exercise, and what
	// systems beside the database hold.
	Tables map[string]Table
	// Expected has one row per logical event in the log; the first column is
	// event_id, the others are the exercise's.
	Expected Table
}

// OutputTable is the table of the records that the submission produced, one row
// each, in an exercise that has outputs.
const OutputTable = "output"

// OutputColumns are those of OutputTable: the offset is counted from 0 in each
// schedule, headers are a JSON object, and committed is 0 for a record of a
// transaction that was aborted or is open.
func OutputColumns() []string {
	return []string{"topic", "partition", "offset", "key", "value", "headers", "committed"}
}

// ChargesTable is the table of the charges that the payment gateway made, one row
// each, in an exercise with the service gateway.
const ChargesTable = "gateway_charges"

// ChargesColumns are those of ChargesTable: the amount is in cents, and the key is
// empty when the request had none.
func ChargesColumns() []string {
	return []string{"receipt_id", "account", "amount", "idempotency_key"}
}

// Table is a table as data.
type Table struct {
	Columns []string
	Rows    [][]driver.Value
}

// Violation is one row that an invariant returned.
type Violation struct {
	Invariant string
	Kind      string
	Object    string            // the column "object"
	Values    map[string]string // every column, for the message
	Message   map[string]string // by language, filled in
}

// Database is what Check needs of a ledger: a connection outside the rules.
type Database interface {
	Exec(ctx context.Context, query string, args ...driver.NamedValue) error
	QueryPack(ctx context.Context, query string) (ledger.Rowset, error)
}

// Check makes the tables of the harness as temporary ones, visible only to the
// grader's own connection, and runs the invariants in their order. Violations
// come in the order of invariants and rows. An error is ours, or the pack's.
func Check(ctx context.Context, db Database, facts Facts, invariants []exercises.Invariant) ([]Violation, error) {
	if err := writeFacts(ctx, db, facts); err != nil {
		return nil, err
	}
	var found []Violation
	for _, inv := range invariants {
		rows, err := db.QueryPack(ctx, inv.SQL)
		if err != nil {
			return nil, fmt.Errorf("invariant %q: %w", inv.Name, err)
		}
		for _, row := range rows.Rows {
			found = append(found, violation(inv, rows.Columns, row))
		}
	}
	return found, nil
}

// Columns runs one invariant as Check does and says which columns its rows have.
// An error of the query is a *QueryError.
func Columns(ctx context.Context, db Database, facts Facts, inv exercises.Invariant) ([]string, error) {
	if err := writeFacts(ctx, db, facts); err != nil {
		return nil, err
	}
	rows, err := db.QueryPack(ctx, inv.SQL)
	if err != nil {
		return nil, &QueryError{err}
	}
	names := make([]string, len(rows.Columns))
	for i, c := range rows.Columns {
		names[i] = c.Name
	}
	return names, nil
}

// QueryError says that SQLite does not accept the query of an invariant.
type QueryError struct{ Err error }

func (e *QueryError) Error() string { return e.Err.Error() }

// Unwrap gives SQLite's error.
func (e *QueryError) Unwrap() error { return e.Err }

func violation(inv exercises.Invariant, columns []ledger.Column, row []driver.Value) Violation {
	v := Violation{Invariant: inv.Name, Kind: inv.Kind, Values: map[string]string{}, Message: map[string]string{}}
	var pairs []string
	for i, c := range columns {
		text := plain(row[i])
		v.Values[c.Name] = text
		pairs = append(pairs, "{"+c.Name+"}", text)
		if strings.EqualFold(c.Name, "object") {
			v.Object = text
		}
	}
	fill := strings.NewReplacer(pairs...)
	for lang, template := range inv.Message {
		v.Message[lang] = fill.Replace(template)
	}
	return v
}

// plain writes a value as a sentence needs it: text without quotes.
func plain(v driver.Value) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		return ledger.Shorten(string(x), 80)
	case string:
		return ledger.Shorten(x, 80)
	default:
		return ledger.Format(x)
	}
}

func writeFacts(ctx context.Context, db Database, facts Facts) error {
	sent := Table{Columns: []string{"event_id", "topic", "partition", "offset", "key", "value", "copies"}}
	for _, s := range facts.Sent {
		sent.Rows = append(sent.Rows, []driver.Value{s.EventID, s.Topic, int64(s.Partition), s.Offset, s.Key, s.Value, int64(s.Copies)})
	}
	delivered := Table{Columns: []string{"event_id", "topic", "partition", "offset", "attempt", "instance", "outcome"}}
	for _, d := range facts.Delivered {
		delivered.Rows = append(delivered.Rows, []driver.Value{
			d.EventID, d.Topic, int64(d.Partition), d.Offset, int64(d.Attempt), d.Instance, d.Outcome,
		})
	}
	tables := map[string]Table{"sent": sent, "delivered": delivered, "expected": facts.Expected}
	maps.Copy(tables, facts.Tables)
	for name, t := range tables {
		if err := write(ctx, db, name, t); err != nil {
			return fmt.Errorf("write the table %s: %w", name, err)
		}
	}
	return nil
}

// write fills one temporary table, which may be there from a schedule before. A
// temporary table hides one of the same name that a submission may have made.
func write(ctx context.Context, db Database, name string, t Table) error {
	quoted := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		quoted[i] = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
	}
	for _, text := range []string{
		"CREATE TEMP TABLE IF NOT EXISTS " + name + " (" + strings.Join(quoted, ", ") + ")", "DELETE FROM temp." + name,
	} {
		if err := db.Exec(ctx, text); err != nil {
			return err
		}
	}
	marks := strings.TrimSuffix(strings.Repeat("?,", len(t.Columns)), ",")
	for _, row := range t.Rows {
		args := make([]driver.NamedValue, len(row))
		for i, v := range row {
			args[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
		}
		if err := db.Exec(ctx, "INSERT INTO temp."+name+" VALUES ("+marks+")", args...); err != nil {
			return err
		}
	}
	return nil
}
