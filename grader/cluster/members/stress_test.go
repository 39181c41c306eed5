package members_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"redeliver/grader/cluster/members"
)

func TestStress(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("N"))
	for _, sc := range members.Scenarios() {
		if f := os.Getenv("ONLY"); f != "" && f != sc.Name {
			continue
		}
		got := map[string]int{}
		var max, sum time.Duration
		for range n {
			w := time.Now()
			s, err := members.Run(t.Context(), sc, records(3), members.Options{At: 2, Limit: 5 * time.Second}, process)
			d := time.Since(w)
			sum += d
			if d > max {
				max = d
			}
			if err != nil {
				got[err.Error()]++
				buf := make([]byte, 1<<20)
				os.WriteFile(fmt.Sprintf("/tmp/leak-%d.txt", time.Now().UnixNano()), buf[:runtime.Stack(buf, true)], 0o600)
			} else {
				got[s.String()]++
			}
		}
		fmt.Println(sc.Name, "stories", len(got), "mean", sum/time.Duration(n), "max", max)
		if len(got) > 1 {
			for k, v := range got {
				fmt.Println(v, k)
			}
		}
	}
}
