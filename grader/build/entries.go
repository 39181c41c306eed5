package build

import "strings"

// entry is a kind of exercise: which functions a submission defines, and how
// the sandbox's runtime takes them.
type entry struct {
	Funcs   []function // in the order in which Start takes them
	Package string     // of the workspace, has Start
	Start   string     // the function that takes them
}

// function is one that a submission defines.
type function struct {
	Name      string
	Signature string // as the candidate must write it
}

var handle = function{"Handle", "func Handle(ctx context.Context, db *sql.DB, rec *kgo.Record) error"}

// entryOf returns the entry with a signature of package exercises: its name, and
// each service after a plus sign.
func entryOf(signature string) (entry, bool) {
	switch signature {
	case "handler":
		return entry{[]function{handle}, sdkPackage, "Start"}, true
	case "handler+kafka":
		return entry{[]function{
			{"Handle", "func Handle(ctx context.Context, db *sql.DB, cl *kgo.Client, rec *kgo.Record) error"},
		}, sdkPackage, "StartKafka"}, true
	case "handler+redis":
		return entry{[]function{
			{"Handle", "func Handle(ctx context.Context, db *sql.DB, rdb *redis.Client, rec *kgo.Record) error"},
		}, redisPackage, "Start"}, true
	case "handler+gateway":
		return entry{[]function{
			{"Handle", "func Handle(ctx context.Context, db *sql.DB, gw gateway.Client, rec *kgo.Record) error"},
		}, chargePackage, "Start"}, true
	case "batch":
		return entry{[]function{
			{"HandleBatch", "func HandleBatch(ctx context.Context, db *sql.DB, recs []*kgo.Record) error"},
		}, sdkPackage, "StartBatch"}, true
	case "offsets":
		return entry{[]function{
			{"StartOffset", "func StartOffset(ctx context.Context, db *sql.DB, topic string, partition int32) (int64, error)"},
			handle,
		}, sdkPackage, "StartOffsets"}, true
	case "relay":
		return entry{[]function{
			handle,
			{"Relay", "func Relay(ctx context.Context, db *sql.DB, cl *kgo.Client) error"},
		}, sdkPackage, "StartRelay"}, true
	case "consumer":
		return entry{[]function{
			{"Run", "func Run(ctx context.Context, kafka []kgo.Opt, db *sql.DB) error"},
		}, clientsPackage, "StartConsumer"}, true
	case "producer":
		return entry{[]function{
			{"Publish", "func Publish(ctx context.Context, kafka []kgo.Opt, db *sql.DB, orderID string) error"},
		}, clientsPackage, "StartProducer"}, true
	default:
		return entry{}, false
	}
}

// names lists the functions as the arguments of Start.
func (e entry) names() string {
	names := make([]string, len(e.Funcs))
	for i, f := range e.Funcs {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}
