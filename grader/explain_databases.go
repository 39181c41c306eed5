package grader

import "redeliver/grader/verdict"

// shown is what some schedule on a database showed, told or not: an invariant
// that is broken or, for what no invariant says, the message. With neither it is
// anything of that kind.
type shown struct {
	kind      verdict.Kind
	invariant string
	message   string
	database  string
}

// sees notes a failure for the comparison of the databases.
func (x *explorer) sees(f failure) {
	what := shown{kind: f.kind, invariant: f.invariant, database: x.database}
	if f.invariant == "" {
		x.shown[what] = true
		what.message = f.message
	}
	x.shown[what] = true
}

// compareDatabases says of each finding what the other database does.
func (x *explorer) compareDatabases() {
	for i := range x.verdict.Findings {
		f := &x.verdict.Findings[i]
		for _, other := range x.sub.databases() {
			if other != f.Database && !x.cutShort[other] {
				f.Explanation = sentences(f.Explanation, x.otherDatabase(*f, other))
			}
		}
	}
}

// otherDatabase is the sentence for a database on which a finding was not told;
// empty when it shows something that is only like it.
func (x *explorer) otherDatabase(f verdict.Finding, other string) string {
	name := map[string]string{verdict.SQLite: "plain SQLite", verdict.ReadCommitted: "the model of PostgreSQL's READ COMMITTED"}[other]
	what := shown{kind: f.Kind, invariant: f.Invariant, database: other}
	like := x.shown[what]
	if f.Invariant == "" {
		what.message = f.Message
	}
	switch {
	case x.shown[what]:
		return capital(name) + " shows it as well."
	case like:
		return ""
	case !x.concurrent[f.Schedule]:
		return "On " + name + " no schedule shows it."
	case other == verdict.ReadCommitted:
		return "On " + name + " no schedule shows it: a second writer waits there instead of getting SQLITE_BUSY."
	default:
		return "On " + name + " no schedule shows it: a second writer is answered SQLITE_BUSY there, and its record comes again."
	}
}
