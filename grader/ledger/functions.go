package ledger

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"

	"modernc.org/sqlite"
)

// nowFormat is how SQLite reads a moment with milliseconds, in UTC.
const nowFormat = "2006-01-02 15:04:05.000"

// dateFunctions are SQLite's functions that can mean "now", with the index of
// their first time value. https://sqlite.org/lang_datefunc.html
var dateFunctions = map[string]int{ //nolint:gochecknoglobals // a constant table
	"date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1,
}

// registerFunctions puts the schedule's clock and randomness in place of
// SQLite's, for the submission's connections alone. Date functions are still
// SQLite's own: only a missing time value and the word now are replaced.
func (l *Ledger) registerFunctions(ctx context.Context) error {
	reg := func(name string, args int32, fn func([]driver.Value) (driver.Value, error)) error {
		return l.driver.RegisterScalarFunction(name, args, func(_ *sqlite.FunctionContext, a []driver.Value) (driver.Value, error) {
			return fn(a)
		})
	}
	for name, at := range dateFunctions {
		if err := reg(name, -1, func(a []driver.Value) (driver.Value, error) { return l.date(ctx, name, at, a) }); err != nil {
			return fmt.Errorf("register %s: %w", name, err)
		}
	}
	for name, fn := range map[string]string{"current_timestamp": "datetime", "current_date": "date", "current_time": "time"} {
		if err := reg(name, 0, func([]driver.Value) (driver.Value, error) { return l.date(ctx, fn, 0, nil) }); err != nil {
			return fmt.Errorf("register %s: %w", name, err)
		}
	}
	if err := reg("random", 0, func([]driver.Value) (driver.Value, error) { return int64(l.rand.Uint64()), nil }); err != nil {
		return fmt.Errorf("register random: %w", err)
	}
	return reg("randomblob", 1, l.randomBlob)
}

func (l *Ledger) randomBlob(a []driver.Value) (driver.Value, error) {
	n, _ := a[0].(int64)
	n = min(max(n, 1), int64(l.limits.Bytes)) // SQLite makes at least one byte
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(l.rand.Uint32())
	}
	return b, nil
}

// date evaluates one of SQLite's date functions on a connection that has no
// replacements, with now filled in. at is the index of the time value.
func (l *Ledger) date(ctx context.Context, name string, at int, args []driver.Value) (driver.Value, error) {
	now := l.now().UTC().Format(nowFormat)
	args = append([]driver.Value(nil), args...)
	if len(args) == at {
		args = append(args, now)
	}
	named := make([]driver.NamedValue, len(args))
	for i, v := range args {
		if s, ok := v.(string); ok && i == at && strings.EqualFold(s, "now") {
			v = now
		}
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	marks := strings.TrimSuffix(strings.Repeat("?,", len(args)), ",")
	rows, err := l.read(ctx, l.calc, "SELECT "+name+"("+marks+")", named)
	if err != nil {
		return nil, err
	}
	return rows.Rows[0][0], nil
}
