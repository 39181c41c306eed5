package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// Step is one effect of a run with two instances, as the search sees it.
type Step struct {
	Lane    int   // 0 or 1
	Enabled []int // the instances that could have gone on here
	// Reads and Writes name what the effect touches. Two effects of different
	// instances are dependent when one writes what the other reads or writes;
	// otherwise their order makes no difference.
	Reads, Writes []string
}

// Choose picks the instance that performs the next effect: so far are the steps
// of this run, enabled the instances that can go on.
type Choose func(soFar []Step, enabled []int) int

// Search finds, for two instances, one schedule for each class of interleavings
// whose dependent effects come in the same order: dynamic partial-order reduction
// with sleep sets, by running again from the start (Flanagan and Godefroid,
// "Dynamic partial-order reduction for model checking software", POPL 2005).
//
// run executes one schedule, asks choose before each effect, and returns every
// step. fresh hears of each run that showed a class which no earlier one did.
// Search ends when nothing is left to try or run says stop. The instances never wait for each other's locks: a second
// writer is answered SQLITE_BUSY, so an acquire and a release are ordinary
// writes of the lock, and no race is hidden behind a blocked instance.
func Search(run func(choose Choose) (steps []Step, stop bool), fresh func(steps []Step)) {
	s := &search{}
	for {
		steps, stop := run(s.choose)
		if stop || len(steps) == 0 {
			return
		}
		if !s.redundant {
			fresh(steps)
		}
		s.addRaces(steps)
		if !s.advance(steps) {
			return
		}
	}
}

// search is the state between runs.
type search struct {
	nodes     []*node
	choices   []int // that lead to the point from which to go on
	redundant bool  // the run in progress repeats a class
}

// node is a point of the search: what was chosen there and what is to be tried.
type node struct {
	enabled []int
	chosen  int
	todo    map[int]bool
	done    map[int]bool
	sleep   map[int]Step // instances whose next effect need not be tried here
}

// choose repeats the choices that lead to the point of interest and then goes on
// with the instance that ran last, unless it is asleep.
func (s *search) choose(soFar []Step, enabled []int) int {
	depth := len(soFar)
	if depth == 0 {
		s.redundant = false
	}
	if depth < len(s.choices) {
		s.nodes[depth].enabled = enabled
		return s.choices[depth]
	}
	n := &node{enabled: enabled, todo: map[int]bool{}, done: map[int]bool{}, sleep: map[int]Step{}}
	if depth > 0 {
		for lane, next := range s.nodes[depth-1].sleep {
			if lane != s.nodes[depth-1].chosen && !dependent(next, soFar[depth-1]) {
				n.sleep[lane] = next
			}
		}
	}
	n.chosen = enabled[0]
	if depth > 0 && slices.Contains(enabled, soFar[depth-1].Lane) {
		n.chosen = soFar[depth-1].Lane
	}
	if _, asleep := n.sleep[n.chosen]; asleep {
		awake := slices.IndexFunc(enabled, func(lane int) bool { _, a := n.sleep[lane]; return !a })
		if awake < 0 {
			s.redundant = true
		} else {
			n.chosen = enabled[awake]
		}
	}
	n.todo[n.chosen], n.done[n.chosen] = true, true
	s.nodes = append(s.nodes[:depth], n)
	return n.chosen
}

// addRaces notes, for each pair of dependent steps of different instances with
// nothing ordered between them, that the later instance must be tried first.
func (s *search) addRaces(steps []Step) {
	nodes, before := s.nodes, happensBefore(steps)
	for j := range steps {
		for i := j - 1; i >= 0; i-- {
			if steps[i].Lane == steps[j].Lane || !dependent(steps[i], steps[j]) || between(before, i, j) {
				continue
			}
			if slices.Contains(nodes[i].enabled, steps[j].Lane) {
				nodes[i].todo[steps[j].Lane] = true
				continue
			}
			for _, lane := range nodes[i].enabled {
				nodes[i].todo[lane] = true
			}
		}
	}
}

// happensBefore gives for each step the steps that are ordered before it.
func happensBefore(steps []Step) [][]bool {
	before := make([][]bool, len(steps))
	for j := range steps {
		before[j] = make([]bool, len(steps))
		for i := j - 1; i >= 0; i-- {
			if !dependent(steps[i], steps[j]) {
				continue
			}
			before[j][i] = true
			for k := range i {
				before[j][k] = before[j][k] || before[i][k]
			}
		}
	}
	return before
}

// between says whether a step stands in order between i and j.
func between(before [][]bool, i, j int) bool {
	for k := i + 1; k < j; k++ {
		if before[k][i] && before[j][k] {
			return true
		}
	}
	return false
}

// advance goes back to the deepest node with something left to try; false when
// there is none.
func (s *search) advance(steps []Step) bool {
	for k := len(steps) - 1; k >= 0; k-- {
		n := s.nodes[k]
		n.sleep[n.chosen] = steps[k]
		for _, lane := range []int{0, 1} {
			if !n.todo[lane] || n.done[lane] {
				continue
			}
			n.done[lane] = true
			if _, asleep := n.sleep[lane]; asleep {
				continue
			}
			n.chosen = lane
			s.nodes = s.nodes[:k+1]
			s.choices = s.choices[:0]
			for _, m := range s.nodes {
				s.choices = append(s.choices, m.chosen)
			}
			return true
		}
	}
	return false
}

func dependent(a, b Step) bool {
	return a.Lane == b.Lane || overlap(a.Writes, b.Writes) || overlap(a.Writes, b.Reads) || overlap(a.Reads, b.Writes)
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}

// Class is the order of the dependent steps of a run: two runs of one class give
// every effect the same answer. Each step is named by its instance and its place
// among that instance's steps.
func Class(steps []Step) string {
	names, counts := make([]string, len(steps)), [2]int{}
	for i, s := range steps {
		counts[s.Lane]++
		names[i] = fmt.Sprintf("%c%d", 'A'+s.Lane, counts[s.Lane])
	}
	pairs := []string{fmt.Sprintf("%d+%d", counts[0], counts[1])}
	for j := range steps {
		for i := range j {
			if steps[i].Lane != steps[j].Lane && dependent(steps[i], steps[j]) {
				pairs = append(pairs, names[i]+"<"+names[j])
			}
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, " ")
}

// Switches writes the steps of a run as deviations: where another instance went
// on although the one before could have. first is the instance that begins when
// nothing is said.
func Switches(steps []Step, first int) []Deviation {
	var out []Deviation
	current := first
	for i, s := range steps {
		if s.Lane != current && slices.Contains(s.Enabled, current) {
			out = append(out, Deviation{i, Switch})
		}
		current = s.Lane
	}
	return out
}
