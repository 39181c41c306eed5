// Package labs are the worked examples: small Kafka clusters on which a visitor
// presses buttons. Every button does the real thing: real franz-go clients on a
// real kfake cluster, real SQLite, an in-process Redis. Nothing that a Scene shows
// is written down beforehand; it is read from the log, the group and the tables.
package labs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/grader/cluster"
	"redeliver/grader/labs/scene"
)

// Lab is one visitor's. It is not safe for concurrent use.
type Lab interface {
	// Do carries an action out. The choices are those of the form, by the names of
	// settings; one that is missing keeps its value. Choices that nobody offers
	// are ErrUnknown, an action that is not possible now is ErrNotNow; any other
	// error is ours, and the lab is of no use afterwards.
	Do(ctx context.Context, action string, choices map[string]string) error
	Scene(ctx context.Context) (scene.Scene, error)
	Close()
}

var (
	// ErrUnknown says that a lab has no such action, setting or option.
	ErrUnknown = errors.New("no such action or option")
	// ErrNotNow says that an action is not possible in the state that the lab is in:
	// the page with its button was of an earlier one.
	ErrNotNow = errors.New("the action is not possible now")
)

// start makes a lab with its first settings.
type start func(ctx context.Context) (Lab, error)

var all = []struct {
	slug  string
	start start
}{
	{"lost-ack", startLostAck},
	{"pid-and-sequence", startPIDAndSequence},
	{"crash-before-commit", startCrashBeforeCommit},
	{"two-instances", startTwoInstances},
	{"transactions", startTransactions},
}

// Slugs names the labs in the order in which they build on each other.
func Slugs() []string {
	slugs := make([]string, 0, len(all))
	for _, l := range all {
		slugs = append(slugs, l.slug)
	}
	return slugs
}

// Start starts a lab; one that does not exist is ErrUnknown.
func Start(ctx context.Context, slug string) (Lab, error) {
	for _, l := range all {
		if l.slug == slug {
			lab, err := l.start(ctx)
			if err != nil {
				return nil, fmt.Errorf("start lab %s: %w", slug, err)
			}
			return lab, nil
		}
	}
	return nil, fmt.Errorf("start lab %s: %w", slug, ErrUnknown)
}

// The worked example of the articles: an account, and the price of a ticket.
const (
	opening scene.Cents = 500_00
	price   scene.Cents = 49_00
)

const (
	topic = "payments"
	group = "ticket-service"
)

// The limits of what a scene holds: a page that nobody can read helps nobody.
const (
	maxStory   = 60
	maxRecords = 40
	maxRuns    = 8
)

// stage is what the labs have in common.
type stage struct {
	kafka    *cluster.Cluster
	bank     *bank
	settings []scene.Setting
	story    []scene.Event
	runs     []scene.Run
	run      *scene.Run // the one that is going on, if it is worth a line
}

// open starts what a run needs: a cluster and a database of its own.
func (s *stage) open(ctx context.Context, topics []cluster.Topic, unique bool) (err error) {
	s.close()
	s.story = nil
	if s.kafka, err = cluster.Start(ctx, topics); err != nil {
		return err
	}
	s.bank, err = openBank(ctx, unique)
	return err
}

func (s *stage) close() {
	if s.kafka != nil {
		s.kafka.Close()
		s.kafka = nil
	}
	if s.bank != nil {
		s.bank.close()
		s.bank = nil
	}
}

// chosen is the value of a setting.
func (s *stage) chosen(name string) string {
	for _, setting := range s.settings {
		if setting.Name == name {
			return setting.Chosen
		}
	}
	panic("labs: no setting " + name)
}

// choose takes the choices of a form, all or none, and says whether one is new.
func (s *stage) choose(choices map[string]string) (changed bool, err error) {
	next := slices.Clone(s.settings)
	for name, value := range choices {
		i := slices.IndexFunc(next, func(setting scene.Setting) bool { return setting.Name == name })
		if i < 0 || !slices.Contains(next[i].Options, value) {
			return false, fmt.Errorf("%s = %q: %w", name, value, ErrUnknown)
		}
		changed = changed || next[i].Chosen != value
		next[i].Chosen = value
	}
	s.settings = next
	return changed, nil
}

// renew starts a lab again when that was asked for, or when an action comes with
// other settings: they hold from the beginning of a run. It says whether the
// action was that alone.
func (s *stage) renew(ctx context.Context, action string, choices map[string]string, restart func(context.Context) error) (done bool, err error) {
	changed, err := s.choose(choices)
	if err != nil {
		return false, err
	}
	if action == "restart" || changed {
		err = restart(ctx)
	}
	return action == "restart", err
}

func (s *stage) tell(e scene.Event) {
	s.story = append(s.story, e)
	if over := len(s.story) - maxStory; over > 0 {
		s.story = slices.Delete(s.story, 0, over)
	}
}

// account reads the balance.
func (s *stage) account(ctx context.Context) (*scene.Account, error) {
	balance, err := s.bank.balance(ctx)
	if err != nil {
		return nil, err
	}
	return &scene.Account{Opening: opening, Price: price, Balance: balance}, nil
}

// note brings the line of the run up to date; the first note adds it.
func (s *stage) note(ctx context.Context, r scene.Run) error {
	var err error
	if r.Balance, err = s.bank.balance(ctx); err != nil {
		return err
	}
	r.Debits = int((opening - r.Balance) / price)
	r.Settings = slices.Clone(s.settings)
	if s.run == nil {
		s.runs = slices.Insert(s.runs, 0, scene.Run{})
		s.runs = s.runs[:min(len(s.runs), maxRuns)]
	}
	s.runs[0] = r
	s.run = &s.runs[0]
	return nil
}

// log shows a partition; open says which transactions are not ended yet.
func (s *stage) log(ctx context.Context, topic string) (scene.Log, error) {
	entries, err := s.kafka.Log(ctx, topic, 0)
	if err != nil {
		return scene.Log{}, err
	}
	l := scene.Log{Topic: topic}
	seen := map[string]bool{}
	for i, e := range entries {
		r := scene.Record{
			Offset: e.Offset, Key: e.Key, Value: e.Value, PID: e.ProducerID, Epoch: e.Epoch, Sequence: e.Sequence,
		}
		switch {
		case e.Control != "":
			r.State = e.Control + "-marker"
		case e.Transactional:
			r.State = fate(entries[i+1:], e)
		case seen[e.Key]:
			r.State = "copy"
		}
		seen[e.Key] = true
		l.Records = append(l.Records, r)
	}
	if over := len(l.Records) - maxRecords; over > 0 {
		l.Records = slices.Delete(l.Records, 0, over)
	}
	return l, nil
}

// fate finds the marker that ends the transaction of an entry.
func fate(later []cluster.Entry, e cluster.Entry) string {
	for _, m := range later {
		if m.Control != "" && m.ProducerID == e.ProducerID {
			return map[string]string{"commit": "committed", "abort": "aborted"}[m.Control]
		}
	}
	return "open"
}

func record(topic, key string) *kgo.Record {
	return &kgo.Record{Topic: topic, Key: []byte(key), Value: []byte(strconv.FormatInt(int64(price), 10))}
}

func eventName(n int) string { return "p-" + strconv.Itoa(n) }
