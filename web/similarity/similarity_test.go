package similarity_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"redeliver/exercises"
	"redeliver/web/similarity"
)

func filesOf(list []exercises.File) (out []similarity.File) {
	for _, f := range list {
		out = append(out, similarity.File(f))
	}
	return out
}

func core(t testing.TB) []*exercises.Exercise {
	t.Helper()
	var list []*exercises.Exercise
	catalog := exercises.Open(exercises.Builtin(), nil)
	for _, h := range catalog.All() {
		if e, ok := catalog.Exercise(h.Name()); ok && h.Pack == "core" {
			list = append(list, e)
		}
	}
	return list
}

func share(t testing.TB, e *exercises.Exercise, a, b []similarity.File, others [][]similarity.File) (percent, of int, ok bool) {
	t.Helper()
	known := similarity.Shared(others...)
	if err := known.Add(filesOf(e.Starter)); err != nil {
		t.Fatal(err)
	}
	pa, err1 := similarity.Of(a)
	pb, err2 := similarity.Of(b)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	r := similarity.Compare(pa.Beyond(known), pb.Beyond(known))
	percent, ok = r.Percent()
	return percent, r.Of, ok
}

// The solutions of the core pack solve the same tasks in different ways. What others
// than the pair have in common is known, as a report knows what all have in common.
func TestIndependentSolutions(t *testing.T) {
	t.Parallel()
	for _, e := range core(t) {
		var figures []int
		short := 0
		for i, a := range e.Solutions {
			for k, b := range e.Solutions {
				if i == k {
					continue
				}
				var others [][]similarity.File
				for j, s := range e.Solutions {
					if j != i && j != k {
						others = append(others, filesOf(s.Files))
					}
				}
				percent, _, ok := share(t, e, filesOf(a.Files), filesOf(b.Files), others)
				if !ok {
					short++
					continue
				}
				figures = append(figures, percent)
				if percent >= similarity.Threshold {
					t.Errorf("%s: %d %% of %s is in %s", e.Name(), percent, a.Name, b.Name)
				}
			}
		}
		slices.Sort(figures)
		t.Logf("%s: %v, and %d too short", e.Name(), figures, short)
	}
}

const source = `package handler

import (
	"context"
	"database/sql"
)

// Handle stores one payment.
func Handle(ctx context.Context, db *sql.DB, id string, cents int64) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	res, err := tx.ExecContext(ctx, "INSERT INTO processed VALUES (?) ON CONFLICT DO NOTHING", id)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	if err := charge(ctx, tx, id, cents); err != nil {
		return err
	}
	return tx.Commit()
}

func charge(ctx context.Context, tx *sql.Tx, account string, cents int64) error {
	rows, err := tx.QueryContext(ctx, "SELECT cents FROM accounts WHERE id = ?", account)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var have int64
		if err := rows.Scan(&have); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE accounts SET cents = ? WHERE id = ?", have-cents, account); err != nil {
			return err
		}
	}
	return rows.Err()
}
`

// disguised has other names, another layout, another order, other comments and texts.
func disguised() string {
	head, rest, _ := strings.Cut(source, "// Handle stores one payment.\n")
	first, second, _ := strings.Cut(rest, "\nfunc charge")
	text := head + "func charge" + second + "\n// Work!\n" + first
	for _, pair := range [][2]string{{"charge", "withdraw"}, {"account,", "customer,"}, {"account string", "customer string"}, {", account)", ", customer)"}, {"cents", "amount"}, {"rows", "found"}, {"have", "x"}, {"tx", "t"}, {"\n\t", "\n\n\t\t"}} {
		text = strings.ReplaceAll(text, pair[0], pair[1])
	}
	return text
}

func goFile(text string) []similarity.File {
	return []similarity.File{{Name: "handler.go", Content: []byte(text)}, {Name: "schema.sql", Content: []byte("not Go")}}
}

func printsOf(t testing.TB, text string) similarity.Prints {
	t.Helper()
	p, err := similarity.Of(goFile(text))
	if err != nil {
		t.Fatal(err)
	}
	return p.Beyond(nil)
}

func TestDisguised(t *testing.T) {
	t.Parallel()
	a, b := printsOf(t, source), printsOf(t, disguised())
	r := similarity.Compare(a, b)
	if percent, ok := r.Percent(); !ok || percent < 95 {
		t.Errorf("%d %% of %d fingerprints", percent, r.Of)
	}
	lines := map[int]bool{}
	for _, p := range r.Passages {
		if p.A.File != "handler.go" || p.A.From < 1 || p.A.To < p.A.From || p.B.From < 1 || p.B.To > strings.Count(disguised(), "\n") {
			t.Errorf("passage %+v", p)
		}
		for line := p.A.From; line <= p.A.To; line++ {
			lines[line] = true
		}
	}
	if len(lines) < 28 {
		t.Errorf("only the lines %v are in passages", lines)
	}
	// What is known says nothing, also in another order.
	known := similarity.Known{}
	if err := known.Add(goFile(disguised())); err != nil {
		t.Fatal(err)
	}
	if left := len(a.Beyond(known).List); left > 1 {
		t.Errorf("%d fingerprints beyond the starter", left)
	}
}

func TestWithoutFigure(t *testing.T) {
	t.Parallel()
	if _, err := similarity.Of(goFile("package handler\nfunc {")); !errors.Is(err, similarity.ErrSyntax) {
		t.Errorf("no Go: %v", err)
	}
	if _, err := similarity.Of(goFile("package handler\nvar x = " + strings.Repeat("1+", similarity.MaxTokens) + "1")); !errors.Is(err, similarity.ErrTooLong) {
		t.Errorf("too long: %v", err)
	}
	if _, ok := similarity.Compare(printsOf(t, "package handler\n\nfunc f() {}\n"), printsOf(t, source)).Percent(); ok {
		t.Error("there is a figure about a short source")
	}
}

func BenchmarkOf(b *testing.B) {
	for b.Loop() {
		if _, err := similarity.Of(goFile(source)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	x, y := printsOf(b, source), printsOf(b, disguised())
	for b.Loop() {
		similarity.Compare(x, y)
	}
}

// A report compares a text with those of 500 others: Warm, when their fingerprints are
// kept, Cold, when each has to be parsed.
func BenchmarkReport(b *testing.B) {
	e := core(b)[0]
	known := similarity.Known{}
	if err := known.Add(filesOf(e.Starter)); err != nil {
		b.Fatal(err)
	}
	prints := func(i int) similarity.Prints {
		p, err := similarity.Of(filesOf(e.Solutions[i%len(e.Solutions)].Files))
		if err != nil {
			b.Fatal(err)
		}
		return p.Beyond(known)
	}
	const others = 500
	b.Run("Warm", func(b *testing.B) {
		mine := prints(0)
		var kept []similarity.Prints
		for i := range others {
			kept = append(kept, prints(i))
		}
		for b.Loop() {
			for _, theirs := range kept {
				similarity.Compare(mine, theirs)
			}
		}
	})
	b.Run("Cold", func(b *testing.B) {
		for b.Loop() {
			mine := prints(0)
			for i := range others {
				similarity.Compare(mine, prints(i))
			}
		}
	})
}
