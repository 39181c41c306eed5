package grader

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"

	"redeliver/grader/gateway"
	"redeliver/grader/guest/abi"
	"redeliver/grader/invariant"
	"redeliver/grader/ledger"
	"redeliver/grader/trace"
)

// chargeEffect is one request to the payment gateway.
type chargeEffect struct{ req abi.Charge }

func readCharge(q request) (chargeEffect, error) {
	r := abi.NewReader(q.in)
	e := chargeEffect{r.Charge()}
	if err := r.End(); err != nil {
		return chargeEffect{}, fmt.Errorf("%w: %w", errMalformed, err)
	}
	return e, nil
}

func (e chargeEffect) position() abi.Position { return e.req.At }

func (e chargeEffect) event() string { return trace.Charge }

func (e chargeEffect) text() string { return gateway.Text(e.req) }

const chargeNoun = "the charge at the gateway"

func (e chargeEffect) noun() string { return chargeNoun }

func (e chargeEffect) perform(_ context.Context, w *world, _ string) (outcome, error) {
	if w.gateway == nil {
		return e.noAnswer("the exercise has no gateway"), nil
	}
	a := w.gateway.Charge(e.req)
	out := outcome{
		reply: abi.AppendChargeReply(nil, a.Reply), result: a.Result(),
		access: ledger.Access{Writes: a.Writes, Durable: a.Made != nil},
	}
	if c := a.Made; c != nil {
		out.changes = []string{fmt.Sprintf("+%s(%s, %s, %d, %s)", invariant.ChargesTable,
			ledger.Format(c.Receipt), ledger.Format(c.Account), c.Amount, ledger.Format(c.Key))}
	}
	return out, nil
}

// fault is the network error of a client that waited in vain for the answer. It
// says the same whether the account was charged or not.
func (e chargeEffect) fault(what string) outcome {
	const text = "gateway: no answer: i/o timeout"
	out := e.noAnswer(text)
	out.result, out.fault = "error: "+text+" ("+what+")", true
	return out
}

func (chargeEffect) abandon(*world, string) error { return nil }

func (chargeEffect) noAnswer(text string) outcome {
	return outcome{reply: abi.AppendChargeReply(nil, abi.ChargeReply{Result: abi.NoAnswer, Text: text}), result: "error: " + text}
}

// gatewayCharges is the service behind the submission's gateway client.
type gatewayCharges struct{ gateway.Gateway }

func (c *gatewayCharges) reset(context.Context, *recordSet) error {
	c.Reset()
	return nil
}

func (*gatewayCharges) kill(string) error { return nil }

func (c *gatewayCharges) state(_ context.Context, w io.Writer) error {
	_, err := io.WriteString(w, c.State())
	return err
}

func (c *gatewayCharges) tables(context.Context) (map[string]invariant.Table, error) {
	t := invariant.Table{Columns: invariant.ChargesColumns()}
	for _, made := range c.Charges() {
		t.Rows = append(t.Rows, []driver.Value{made.Receipt, made.Account, made.Amount, made.Key})
	}
	return map[string]invariant.Table{invariant.ChargesTable: t}, nil
}
