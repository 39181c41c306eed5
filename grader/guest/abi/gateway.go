package abi

// Charge asks the payment gateway for one charge.
type Charge struct {
	At      Position
	Account string
	Amount  int64 // cents
	Key     string
}

// AppendCharge appends m.
func AppendCharge(b []byte, m Charge) []byte {
	b = AppendString(AppendPosition(b, m.At), m.Account)
	return AppendString(AppendInt(b, m.Amount), m.Key)
}

// Charge reads what AppendCharge wrote.
func (r *Reader) Charge() Charge {
	return Charge{At: r.Position(), Account: r.String(), Amount: r.Int(), Key: r.String()}
}

// ChargeResult says how the gateway answered.
type ChargeResult byte

// The answers to a charge.
const (
	Charged    ChargeResult = iota // now, or earlier with the same key
	KeyReused                      // the key belongs to another charge
	InvalidReq                     // the request was refused
	NoAnswer                       // nothing came back: a network error
)

// ChargeReply answers a Charge.
type ChargeReply struct {
	Result ChargeResult
	Text   string // Charged: the receipt; NoAnswer: the text of the error; else ""
}

// AppendChargeReply appends m.
func AppendChargeReply(b []byte, m ChargeReply) []byte {
	return AppendString(append(b, byte(m.Result)), m.Text)
}

// ChargeReply reads what AppendChargeReply wrote.
func (r *Reader) ChargeReply() ChargeReply {
	m := ChargeReply{Result: ChargeResult(r.byte()), Text: r.String()}
	if m.Result > NoAnswer {
		r.fail(errMalformed)
		return ChargeReply{}
	}
	return m
}
