package grader_test

import (
	"slices"
	"strings"
	"testing"

	"redeliver/exercises"
	"redeliver/grader/schedule"
	"redeliver/grader/verdict"
)

// What Redis forgets is forgotten in the phase clock-jumps: after as long as the
// handler has said, before a record comes again and while an instance stands
// still.
func TestKeysExpire(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, files string
		finds       string // in the explanation of a finding of clock-jumps; "": none
	}{
		{"AKeyOfTenMinutes", `
func Handle(ctx context.Context, db *sql.DB, rdb *redis.Client, rec *kgo.Record) error {
	n, err := rdb.Exists(ctx, "done:"+string(rec.Value)).Result()
	if err != nil || n > 0 {
		return err
	}
	if _, err := db.ExecContext(ctx, "INSERT INTO seen VALUES (CAST(? AS INTEGER), 0)", string(rec.Value)); err != nil {
		return err
	}
	return rdb.Set(ctx, "done:"+string(rec.Value), "1", 10*time.Minute).Err()
}
`, "left its key in Redis for 10 minutes. 10 minutes passed, the key expired, and the record came again."},
		{"ALeaseOfTenMinutes", `
func Handle(ctx context.Context, db *sql.DB, rdb *redis.Client, rec *kgo.Record) error {
	key := "lease:" + string(rec.Value)
	ok, err := rdb.SetNX(ctx, key, "1", 10*time.Minute).Result()
	if err != nil || !ok {
		return errors.Join(err, errors.New("another instance has it"))
	}
	var n int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM seen WHERE n = CAST(? AS INTEGER)", string(rec.Value)).Scan(&n); err != nil {
		return err
	}
	if n == 0 {
		if _, err := db.ExecContext(ctx, "INSERT INTO seen VALUES (CAST(? AS INTEGER), 0)", string(rec.Value)); err != nil {
			return err
		}
	}
	return rdb.Del(ctx, key).Err()
}
`, "the key expired, and B took it with SET lease:"},
		{"ADatabaseThatDecides", `
func Handle(ctx context.Context, db *sql.DB, rdb *redis.Client, rec *kgo.Record) error {
	if err := inTx(ctx, db, func(tx *sql.Tx) error { return once(ctx, tx, string(rec.Value)) }); err != nil {
		return err
	}
	return rdb.Set(ctx, "done:"+string(rec.Value), "1", time.Minute).Err()
}
`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := entryExercise("handler+redis")
			e.Phases = []string{schedule.HappyPath, schedule.ClockJumps}
			head := strings.Replace(entryHead, `"errors"`, "\"errors\"\n\t\"time\"\n\n\t\"github.com/redis/go-redis/v9\"", 1)
			v := gradeOnce(t, newGrader(t, 1), e, []exercises.File{{Name: "handler.go", Content: []byte(head + c.files)}})
			if i := slices.IndexFunc(v.Coverage, func(p verdict.Coverage) bool { return p.Phase == schedule.ClockJumps && p.Note != "" }); i < 0 {
				t.Errorf("the coverage does not say that keys expired: %+v", v.Coverage)
			}
			if c.finds == "" {
				if v.Outcome != verdict.Passed {
					t.Errorf("%s: %s", v.Outcome, v.Summary)
				}
				return
			}
			if !slices.ContainsFunc(v.Findings, func(f verdict.Finding) bool {
				return f.Phase == schedule.ClockJumps && f.Kind == verdict.Duplicate && strings.Contains(f.Explanation, c.finds)
			}) {
				t.Errorf("no finding says %q: %s", c.finds, v.Summary)
				for _, f := range v.Findings {
					t.Log(f.Phase, f.Explanation)
				}
			}
		})
	}
}
