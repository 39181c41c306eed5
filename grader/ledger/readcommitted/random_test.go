package readcommitted_test

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	programs = flag.Int("programs", 300, "random programs to compare with PostgreSQL") //nolint:gochecknoglobals // a flag
	seed     = flag.Uint64("seed", 0, "of the random programs; 0: a new one")          //nolint:gochecknoglobals // a flag
)

// pool are the statements of the random programs.
func pool() []string {
	return []string{
		"select bal from acc where id = 1",
		"select count(*) from processed where id = 'p'",
		"select count(*) from bag",
		"select id, bal from acc where id = 1 for update",
		"select id, bal from acc where bal < 10 for update",
		"insert into processed (id) values ('p')",
		"insert into processed (id) values ('q')",
		"insert into processed (id) values ('p') on conflict do nothing",
		"insert into processed (id) values ('q') on conflict (id) do nothing",
		"insert into processed (id) values ('p'), ('q')",
		"insert into processed (id) select 'p' where not exists (select 1 from processed where id = 'p')",
		"insert into bag (id) values ('p')",
		"insert into bag (id) select 'p' where not exists (select 1 from bag where id = 'p')",
		"insert into outbox (v) values ('x')",
		"insert into outbox (v) values ('y') returning id",
		"insert into outbox (v) select id from processed order by id",
		"insert into acc (id, bal) values (3, 7) on conflict (id) do update set bal = acc.bal + excluded.bal",
		"insert into acc (id, bal) values (1, 7) on conflict (id) do update set bal = acc.bal + excluded.bal",
		"insert into acc (id, bal) values (2, 1)",
		"insert into pair (id, code) values (1, 'x')",
		"insert into pair (id, code) values (2, 'x')",
		"insert into pair (id, code) values (1, null)",
		"update pair set code = 'y' where id = 1",
		"update acc set bal = bal + 10 where id = 1",
		"update acc set bal = 5 where id = 2",
		"update acc set bal = bal + 1 where bal >= 5",
		"update acc set bal = 9 where id = 1 and bal = 0",
		"update acc set bal = bal + (select count(*) from processed) where id = 1",
		"update acc set bal = bal + 10 where bal < 10",
		"delete from processed where id = 'p'",
		"delete from bag where id = 'p'",
		"delete from acc where bal = 10",
		"delete from acc where id = 1",
	}
}

// program draws two transactions and the order of their statements. Who waits
// misses its turns, so both are ended at last.
func program(r *rand.Rand) []string {
	pool := pool()
	var left [2][]string
	for i := range left {
		left[i] = append(left[i], "begin")
		for range 1 + r.IntN(5) {
			left[i] = append(left[i], pool[r.IntN(len(pool))])
		}
		left[i] = append(left[i], []string{"commit", "commit", "commit", "rollback"}[r.IntN(4)])
	}
	var steps []string
	for len(left[0])+len(left[1]) > 0 {
		i := r.IntN(2)
		if len(left[i]) == 0 {
			i = 1 - i
		}
		steps = append(steps, string(rune('A'+i))+" "+left[i][0])
		left[i] = left[i][1:]
	}
	return steps
}

// Random pairs of transactions give the same answers and leave the same rows in
// the model and in PostgreSQL, or the model says that it cannot tell.
func TestRandomPrograms(t *testing.T) {
	s := connect(t)
	first := *seed
	if first == 0 {
		first = rand.Uint64()
	}
	t.Logf("seed %d", first)
	r := rand.New(rand.NewPCG(first, 0))
	m := open(t, schema)
	waited, outside := 0, 0
	for n := range *programs {
		steps := program(r)
		check(t, m.d.Reset(t.Context()))
		m.begin()
		got := transcript(m, steps)
		p := s.start()
		want := transcript(p, steps)
		p.end()
		if strings.Contains(want, waits) {
			waited++
		}
		if m.outside != "" {
			outside++
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("program %d of seed %d: PostgreSQL (-), model (+):\n%s", n, first, diff)
		}
	}
	t.Logf("%d programs, %d with a wait, %d outside the model", *programs, waited, outside)
	if waited < *programs/10 || outside > *programs/20 {
		t.Errorf("of %d programs %d waited and %d were outside the model", *programs, waited, outside)
	}
}
