package members

import "github.com/twmb/franz-go/pkg/kerr"

// Scenario is a script: what happens while A, in its first delivery, is paused.
// Afterwards the instances process what is left until all is committed.
type Scenario struct {
	Name string

	eager        bool // range balancer: a rebalance takes everything from everybody first
	blocks       bool // kgo.BlockRebalanceOnPoll: the handler's end comes before the rebalance
	beforeCommit bool // A pauses before its offset commit, whatever Options.At says
	steps        []step
	refused      *kerr.Error // what the broker answers to A's late commit; nil: it accepts
	deliveries   int         // of offset 0, when no handler refuses
	generations  int32       // at least so many
}

// Scenarios are all there are, in a fixed order.
func Scenarios() []Scenario {
	return []Scenario{
		{ // A is too slow and is put out; B is given the same record; A's commit is refused.
			Name: "evicted-while-processing", blocks: true,
			steps:   []step{evictA, startB, assignB, oneByB, finishA, rejoinA},
			refused: kerr.UnknownMemberID, deliveries: 2, generations: 2,
		},
		{ // A stands still (a long pause, a frozen machine) for longer than its session.
			Name: "session-timeout", blocks: true,
			steps:   []step{freezeA, startB, assignB, oneByB, thawA, finishA, rejoinA},
			refused: kerr.UnknownMemberID, deliveries: 2, generations: 2,
		},
		{ // All effects are done, the commit is refused, and B does it all again.
			Name: "fenced-commit", blocks: true, beforeCommit: true,
			steps:   []step{evictA, startB, assignB, finishA, rejoinA, oneByB},
			refused: kerr.UnknownMemberID, deliveries: 2, generations: 2,
		},
		{ // The partition moves to B under A's feet. A is a member still, so its late
			// commit is accepted, and moves the group back.
			Name: "eager-rebalance", eager: true,
			steps:      []step{startB, revokeA, assignB, allByB, finishA},
			deliveries: 2, generations: 2,
		},
		{ // B joins and A keeps its partition: nothing comes twice.
			Name:       "cooperative-rebalance",
			steps:      []step{startB, settle, finishA, leaveA},
			deliveries: 1, generations: 2,
		},
		{ // A's process dies; nobody says goodbye, so B waits for the session's end.
			Name: "crash-of-a-member", blocks: true,
			steps:      []step{crashA, startB, assignB},
			deliveries: 2, generations: 2,
		},
		{ // The broker stores A's commit and A dies before it hears of it: nothing comes twice.
			Name: "lost-commit-answer", blocks: true, beforeCommit: true,
			steps:      []step{loseCommitOfA, startB, assignB},
			deliveries: 1, generations: 2,
		},
	}
}
