package gateway_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"redeliver/grader/gateway"
	"redeliver/grader/guest/abi"
)

// step is a request, the answer, and the receipts of all charges afterwards.
type step struct {
	req    abi.Charge
	result abi.ChargeResult
	text   string
	all    string
}

func TestCharge(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 256)
	for name, steps := range map[string][]step{
		"SameKeySameReceipt": {
			{abi.Charge{Account: "a", Amount: 5, Key: "k"}, abi.Charged, "r-1", "r-1"},
			{abi.Charge{Account: "a", Amount: 5, Key: "k"}, abi.Charged, "r-1", "r-1"},
			{abi.Charge{Account: "a", Amount: 5, Key: "l"}, abi.Charged, "r-2", "r-1 r-2"},
		},
		"SameKeyOtherCharge": {
			{abi.Charge{Account: "a", Amount: 5, Key: "k"}, abi.Charged, "r-1", "r-1"},
			{abi.Charge{Account: "b", Amount: 5, Key: "k"}, abi.KeyReused, "", "r-1"},
			{abi.Charge{Account: "a", Amount: 6, Key: "k"}, abi.KeyReused, "", "r-1"},
		},
		"NoKeyChargesEachTime": {
			{abi.Charge{Account: "a", Amount: 5}, abi.Charged, "r-1", "r-1"},
			{abi.Charge{Account: "a", Amount: 5}, abi.Charged, "r-2", "r-1 r-2"},
		},
		"Invalid": {
			{abi.Charge{Amount: 5, Key: "k"}, abi.InvalidReq, "", ""},
			{abi.Charge{Account: "a", Key: "k"}, abi.InvalidReq, "", ""},
			{abi.Charge{Account: "a", Amount: -5, Key: "k"}, abi.InvalidReq, "", ""},
			{abi.Charge{Account: long, Amount: 5, Key: "k"}, abi.InvalidReq, "", ""},
			{abi.Charge{Account: "a", Amount: 5, Key: long}, abi.InvalidReq, "", ""},
			{abi.Charge{Account: "a", Amount: 5, Key: long[1:]}, abi.Charged, "r-1", "r-1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var g gateway.Gateway
			for i, s := range steps {
				before := g.State()
				a := g.Charge(s.req)
				if a.Reply.Result != s.result || a.Reply.Text != s.text {
					t.Errorf("step %d: answer %+v", i, a.Reply)
				}
				if (a.Made != nil) != (g.State() != before) {
					t.Errorf("step %d: made %v, but the state changed is %t", i, a.Made, g.State() != before)
				}
				if d := cmp.Diff(s.all, receipts(g)); d != "" {
					t.Errorf("step %d: charges (-want +got):\n%s", i, d)
				}
			}
			g.Reset()
			if g.State() != "" || len(g.Charges()) > 0 {
				t.Error("something is left after the reset")
			}
		})
	}
}

func receipts(g gateway.Gateway) string {
	var all []string
	for _, c := range g.Charges() {
		all = append(all, c.Receipt)
	}
	return strings.Join(all, " ")
}

func TestTexts(t *testing.T) {
	t.Parallel()
	var g gateway.Gateway
	req := abi.Charge{Account: "acc-1", Amount: 4900, Key: "e-1"}
	for i, want := range []string{
		`Charge "acc-1", 4900 cents, idempotency key "e-1" → receipt r-1`,
		`Charge "acc-1", 4900 cents, idempotency key "e-1" → receipt r-1 of the first request with this key; nothing is charged`,
	} {
		if got := gateway.Text(req) + " → " + g.Charge(req).Result(); got != want {
			t.Errorf("%d: got  %s\nwant %s", i, got, want)
		}
	}
	req.Key = ""
	if got := gateway.Text(req); got != `Charge "acc-1", 4900 cents, no idempotency key` {
		t.Error(got)
	}
}
