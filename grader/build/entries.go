package build

// entry is a kind of exercise: which function a submission defines, and how
// the sandbox's runtime takes it.
type entry struct {
	Func      string // its name
	Signature string // as the candidate must write it
	Start     string // the function of package sdk that takes it
}

// entryOf returns the entry with the name that exercises use.
func entryOf(name string) (entry, bool) {
	switch name {
	case "handler":
		return entry{
			Func:      "Handle",
			Signature: "func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error",
			Start:     "Start",
		}, true
	default:
		return entry{}, false
	}
}
