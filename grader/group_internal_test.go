package grader

import (
	"testing"

	"redeliver/grader/cluster/members"
	"redeliver/grader/schedule"
)

// The plan and the engine know the same scenarios.
func TestScenarios(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, sc := range members.Scenarios() {
		known[sc.Name] = true
	}
	for _, a := range schedule.Scenarios() {
		if !known[string(a)] {
			t.Errorf("no scenario is called %s", a)
		}
	}
	if len(known) != len(schedule.Scenarios()) {
		t.Errorf("%d scenarios, %d are planned", len(known), len(schedule.Scenarios()))
	}
}
