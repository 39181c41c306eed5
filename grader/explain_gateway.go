package grader

import (
	"fmt"
	"strconv"
	"strings"

	"redeliver/grader/trace"
)

// chargeKey is the idempotency key of a request to the gateway; "" when it has
// none. See gateway.Text.
func (a *act) chargeKey() string {
	_, quoted, _ := strings.Cut(a.text, "idempotency key ")
	key, err := strconv.Unquote(quoted)
	if err != nil {
		return ""
	}
	return key
}

// chargedWithTwoKeys: the gateway was asked twice for one payment and could not
// tell, because the second request carried another key, or none did.
func chargedWithTwoKeys(e *evidence) *story {
	first, second := e.repeated()
	if first == nil || first.system != trace.Charge {
		return nil
	}
	one, two := first.chargeKey(), second.chargeKey()
	s := &story{name: "two keys", acts: []*act{first, second}, key: keyOf(first, second)}
	a, b := first.delivery, second.delivery
	var came string
	switch {
	case a == b && first.lost:
		came = fmt.Sprintf("%s took place, but its answer was lost, and the handler asked again.", capital(first.label))
		s.short = "the answer of the gateway was lost, and the handler asked again"
	case a == b:
		came = "In one delivery the handler asked the gateway twice."
		s.short = "the handler asked the gateway twice"
	case first.lost:
		came = sentences(fmt.Sprintf("%s took place, but its answer was lost.", capital(first.label)), e.again(a, b))
		s.short = "the answer of the gateway was lost, and the record came again"
	default:
		came = e.again(a, b)
		s.short = lower(strings.TrimSuffix(came, "."))
	}
	check := e.emptyCheck(second)
	asked := ""
	if check != nil && a != b {
		asked = fmt.Sprintf("%s %s, so the handler asked the gateway again.", capital(check.label), check.found())
		s.acts = []*act{first, check, second}
	}
	var keys string
	switch {
	case one == "" && two == "":
		keys = "Neither request carried an idempotency key, so the gateway could not tell the second from a new charge."
		s.short += "; neither request carried an idempotency key"
	case one == two:
		return nil
	default:
		keys = fmt.Sprintf("The first request carried the idempotency key %q and the second %q: for the gateway these are two charges.", one, two)
		s.short += "; the second request carried another idempotency key"
		switch {
		case a.Offset != b.Offset && follows(one, two, a.Offset, b.Offset):
			keys += " The key is made from the offset, and the copy has another one."
		case e.schedule.Jumps():
			keys += " The key changes with the time of the attempt."
		}
	}
	s.text = sentences(came, asked, keys)
	return s
}

// noRefusal says what the error of a request to the gateway means, for those who
// took it for a "no".
func noRefusal(a *act) string {
	if a.system != trace.Charge || !strings.Contains(a.answer, "no answer") {
		return ""
	}
	return "A time-out is no refusal: the account may be charged or not, and only the same request with the same key tells."
}
