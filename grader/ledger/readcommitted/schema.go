package readcommitted

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// table is what the model knows of a table.
type table struct {
	name    string
	columns []string
	// rowid is a name under which rows can be found that no column has; "" for
	// a table WITHOUT ROWID, whose rows are found by their primary key.
	rowid   string
	alias   int   // the column that is the rowid; -1: none
	primary []int // columns; nil: none
	unique  []index
	counter bool // AUTOINCREMENT: ids come from sqlite_sequence
	resolve bool // some ON CONFLICT stands in the table's own definition
}

// index is a unique one.
type index struct {
	columns []int
	// vague: partial, or on an expression. Two rows that look alike here may not
	// be in each other's way.
	vague bool
}

// readSchema looks at every table. What the model cannot have is a *SchemaError.
func (d *Database) readSchema(ctx context.Context) error {
	d.tables = map[string]*table{}
	list, err := d.query(ctx, `SELECT type, name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name`)
	if err != nil {
		return err
	}
	for _, row := range list {
		kind, name, text := fmt.Sprint(row[0]), fmt.Sprint(row[1]), fmt.Sprint(row[2])
		switch kind {
		case "trigger":
			return &SchemaError{"Triggers are not available in the model of READ COMMITTED."}
		case "table":
			t, err := d.readTable(ctx, name, words(text))
			if err != nil {
				return err
			}
			d.tables[strings.ToLower(name)] = t
		}
	}
	return nil
}

func (d *Database) readTable(ctx context.Context, name string, text []word) (*table, error) {
	has := func(w string) bool {
		return slices.ContainsFunc(text, func(x word) bool { return !x.quoted && x.text == w })
	}
	if has("ROLLBACK") || has("VIRTUAL") || has("GENERATED") {
		return nil, &SchemaError{fmt.Sprintf(
			"The table %s has ON CONFLICT ROLLBACK or generated columns, or is virtual; the model of READ COMMITTED has none of these.", name)}
	}
	t := &table{name: name, alias: -1, counter: has("AUTOINCREMENT"), resolve: has("CONFLICT")}
	columns, err := d.query(ctx, `SELECT name, pk, upper(type), hidden FROM pragma_table_xinfo(?)`, name)
	if err != nil {
		return nil, err
	}
	integer := false
	keys := map[int64]int{}
	for i, c := range columns {
		if c[3] != int64(0) {
			return nil, &SchemaError{fmt.Sprintf("The table %s has generated columns; the model of READ COMMITTED has none.", name)}
		}
		t.columns = append(t.columns, fmt.Sprint(c[0]))
		if n, _ := c[1].(int64); n > 0 {
			keys[n], integer = i, c[2] == "INTEGER"
		}
	}
	for n := range len(keys) {
		t.primary = append(t.primary, keys[int64(n+1)])
	}
	own, err := d.readIndexes(ctx, t)
	if err != nil {
		return nil, err
	}
	if without := has("WITHOUT"); !without {
		if t.primary != nil && !own && integer { // https://sqlite.org/lang_createtable.html#rowid
			t.alias = t.primary[0]
		}
		if t.rowid = freeName(t.columns); t.rowid == "" {
			return nil, &SchemaError{fmt.Sprintf("Columns of the table %s take every name of the rowid.", name)}
		}
	}
	if t.primary != nil && !own {
		t.unique = append([]index{{columns: t.primary}}, t.unique...)
	}
	return t, nil
}

// readIndexes collects the unique indexes. own says that the primary key has
// one, which an INTEGER PRIMARY KEY has not.
func (d *Database) readIndexes(ctx context.Context, t *table) (own bool, err error) {
	list, err := d.query(ctx, `SELECT l.name, l.origin, l.partial, i.cid FROM pragma_index_list(?) l, pragma_index_info(l.name) i
		WHERE l."unique" = 1 ORDER BY l.origin = 'pk' DESC, l.name, i.seqno`, t.name)
	if err != nil {
		return false, err
	}
	last := ""
	for _, row := range list {
		if name := fmt.Sprint(row[0]); name != last {
			t.unique, last = append(t.unique, index{vague: row[2] != int64(0)}), name
		}
		own = own || row[1] == "pk"
		at := &t.unique[len(t.unique)-1]
		if cid, _ := row[3].(int64); cid >= 0 {
			at.columns = append(at.columns, int(cid))
		} else {
			at.vague = true // an expression
		}
	}
	return own, nil
}

func freeName(columns []string) string {
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if !slices.ContainsFunc(columns, func(c string) bool { return strings.EqualFold(c, name) }) {
			return name
		}
	}
	return ""
}

// countIDs gives every INTEGER PRIMARY KEY a counter outside of transactions, as
// an identity column of PostgreSQL has. SQLite's own choice, the largest id that
// the transaction sees plus one, would be the same in two transactions.
func (d *Database) countIDs(ctx context.Context) error {
	list, err := d.query(ctx, `SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql IS NOT NULL`)
	if err != nil {
		return err
	}
	for _, q := range []string{
		`CREATE TABLE "counter of ids" (id INTEGER PRIMARY KEY AUTOINCREMENT)`, `DROP TABLE "counter of ids"`, // makes sqlite_sequence
		"PRAGMA writable_schema = ON",
	} {
		if err := d.exec(ctx, q); err != nil {
			return err
		}
	}
	for _, row := range list {
		text := fmt.Sprint(row[1])
		at := counterAt(words(text))
		if at < 0 {
			continue
		}
		text = text[:at] + " AUTOINCREMENT" + text[at:]
		if err := d.exec(ctx, "UPDATE sqlite_master SET sql = ? WHERE type = 'table' AND name = ?", text, row[0]); err != nil {
			return err
		}
	}
	return d.exec(ctx, "PRAGMA writable_schema = RESET")
}

// counterAt is where AUTOINCREMENT belongs in a table's definition; -1 where it
// cannot stand or stands already. WITHOUT ROWID excludes it.
func counterAt(all []word) int {
	at := -1
	for i := range all {
		switch {
		case textAt(all, i) == "AUTOINCREMENT" || textAt(all, i) == "WITHOUT":
			return -1
		case textAt(all, i) == "INTEGER" && textAt(all, i+1) == "PRIMARY" && textAt(all, i+2) == "KEY" && textAt(all, i+3) != "DESC":
			at = all[i+2].end
			if textAt(all, i+3) == "ASC" {
				at = all[i+3].end
			}
			if textAt(all, i+3) == "ON" || textAt(all, i+4) == "ON" {
				return -1 // a conflict clause comes first
			}
		}
	}
	return at
}
