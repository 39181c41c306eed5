//go:build wasip1

package sdk

import (
	"database/sql/driver"
	"io"
	"math"
	"reflect"
	"time"

	"redeliver/grader/guest/abi"
)

// rows is a whole result, which came in one reply.
type rows struct {
	columns []abi.Column
	rows    [][]driver.Value
	next    int // index in rows
	late    abi.Error
}

func newRows(m abi.QueryReply) *rows {
	return &rows{columns: m.Columns, rows: m.Rows, late: m.Late}
}

// Columns implements driver.Rows.
func (r *rows) Columns() []string {
	names := make([]string, len(r.columns))
	for i, c := range r.columns {
		names[i] = c.Name
	}
	return names
}

// Close implements driver.Rows.
func (r *rows) Close() error { return nil }

// Next implements driver.Rows.
func (r *rows) Next(dest []driver.Value) error {
	if r.next == len(r.rows) {
		if err := asError(r.late); err != nil {
			return err
		}
		return io.EOF
	}
	for i, v := range r.rows[r.next] {
		// The real driver gives an empty blob as a nil slice.
		if b, ok := v.([]byte); ok && len(b) == 0 {
			v = []byte(nil)
		}
		dest[i] = v
	}
	r.next++
	return nil
}

// value is the value of a column in the current row, the first one before
// Next; nil without a row.
func (r *rows) value(column int) driver.Value {
	if len(r.rows) == 0 {
		return nil
	}
	return r.rows[max(r.next-1, 0)][column]
}

// ColumnTypeDatabaseTypeName implements driver.RowsColumnTypeDatabaseTypeName.
func (r *rows) ColumnTypeDatabaseTypeName(column int) string { return r.columns[column].Type }

// ColumnTypeLength implements driver.RowsColumnTypeLength. Like the real
// driver it tells the type of the current row's value.
func (r *rows) ColumnTypeLength(column int) (int64, bool) {
	switch r.value(column).(type) {
	case string, []byte, time.Time: // a time is a text in the database
		return math.MaxInt64, true
	default:
		return 0, false
	}
}

// ColumnTypeNullable implements driver.RowsColumnTypeNullable.
func (r *rows) ColumnTypeNullable(int) (nullable, ok bool) { return true, true }

// ColumnTypePrecisionScale implements driver.RowsColumnTypePrecisionScale.
func (r *rows) ColumnTypePrecisionScale(int) (precision, scale int64, ok bool) { return 0, 0, false }

// ColumnTypeScanType implements driver.RowsColumnTypeScanType.
func (r *rows) ColumnTypeScanType(column int) reflect.Type {
	switch r.value(column).(type) {
	case nil:
		return nil
	case int64:
		switch r.columns[column].Type {
		case "BOOLEAN":
			return reflect.TypeFor[bool]()
		case "DATE", "DATETIME", "TIME", "TIMESTAMP":
			return reflect.TypeFor[time.Time]()
		default:
			return reflect.TypeFor[int64]()
		}
	case float64:
		return reflect.TypeFor[float64]()
	case []byte:
		return reflect.TypeFor[[]byte]()
	default:
		return reflect.TypeFor[string]()
	}
}
