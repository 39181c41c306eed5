package redis

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"redeliver/grader/guest/abi"
	"redeliver/grader/guest/redis/proto"
)

// Cmder is a command with its reply.
type Cmder interface {
	// Name is the command's name: "set".
	Name() string
	// FullName is Name, with a second word where the command has two.
	FullName() string
	// Args are the name and the arguments.
	Args() []interface{}
	// String writes the command and its reply.
	String() string
	SetErr(err error)
	Err() error

	read(v abi.RedisValue) error
}

type baseCmd struct {
	args []interface{}
	err  error
}

// Name implements Cmder.
func (c *baseCmd) Name() string {
	if len(c.args) == 0 {
		return ""
	}
	name, _ := c.args[0].(string)
	return strings.ToLower(name)
}

// FullName implements Cmder: no command here has two words.
func (c *baseCmd) FullName() string { return c.Name() }

// Args implements Cmder.
func (c *baseCmd) Args() []interface{} { return c.args }

// SetErr implements Cmder.
func (c *baseCmd) SetErr(err error) { c.err = err }

// Err implements Cmder.
func (c *baseCmd) Err() error { return c.err }

// text writes a command with its reply.
func (c *baseCmd) text(val interface{}) string {
	var b strings.Builder
	for i, arg := range c.args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(show(arg))
	}
	switch {
	case c.err != nil:
		b.WriteString(": " + c.err.Error())
	case val != nil:
		b.WriteString(": " + show(val))
	}
	return b.String()
}

// readText reads what the real client reads as a string.
func readText(v abi.RedisValue) (string, error) {
	switch v.Kind {
	case abi.RedisNil:
		return "", Nil
	case abi.RedisText:
		return v.Text, nil
	case abi.RedisInt:
		return strconv.FormatInt(v.Int, 10), nil
	default:
		return "", unexpected("string", v)
	}
}

func readInt(v abi.RedisValue) (int64, error) {
	switch v.Kind {
	case abi.RedisNil:
		return 0, Nil
	case abi.RedisInt:
		return v.Int, nil
	case abi.RedisText:
		return strconv.ParseInt(v.Text, 10, 64)
	default:
		return 0, unexpected("int", v)
	}
}

// StatusCmd is a command that is answered with a status, mostly OK.
type StatusCmd struct {
	baseCmd
	val string
}

// NewStatusCmd returns a command that has not been sent.
func NewStatusCmd(_ context.Context, args ...interface{}) *StatusCmd {
	return &StatusCmd{baseCmd: baseCmd{args: args}}
}

// SetVal sets the reply.
func (c *StatusCmd) SetVal(val string) { c.val = val }

// Val is the reply, "" after an error.
func (c *StatusCmd) Val() string { return c.val }

// Result is the reply and the error.
func (c *StatusCmd) Result() (string, error) { return c.val, c.err }

// Bytes is Result as bytes.
func (c *StatusCmd) Bytes() ([]byte, error) { return []byte(c.val), c.err }

// String implements Cmder.
func (c *StatusCmd) String() string { return c.text(c.val) }

func (c *StatusCmd) read(v abi.RedisValue) (err error) {
	c.val, err = readText(v)
	return err
}

// IntCmd is a command that is answered with a number.
type IntCmd struct {
	baseCmd
	val int64
}

// NewIntCmd returns a command that has not been sent.
func NewIntCmd(_ context.Context, args ...interface{}) *IntCmd {
	return &IntCmd{baseCmd: baseCmd{args: args}}
}

// SetVal sets the reply.
func (c *IntCmd) SetVal(val int64) { c.val = val }

// Val is the reply, 0 after an error.
func (c *IntCmd) Val() int64 { return c.val }

// Result is the reply and the error.
func (c *IntCmd) Result() (int64, error) { return c.val, c.err }

// Uint64 is Result without a sign.
func (c *IntCmd) Uint64() (uint64, error) { return uint64(c.val), c.err }

// String implements Cmder.
func (c *IntCmd) String() string { return c.text(c.val) }

func (c *IntCmd) read(v abi.RedisValue) (err error) {
	c.val, err = readInt(v)
	return err
}

// DurationCmd is a command that is answered with a time to live.
type DurationCmd struct {
	baseCmd
	val       time.Duration
	precision time.Duration
}

// NewDurationCmd returns a command that has not been sent; precision is the
// unit of its reply.
func NewDurationCmd(_ context.Context, precision time.Duration, args ...interface{}) *DurationCmd {
	return &DurationCmd{baseCmd: baseCmd{args: args}, precision: precision}
}

// SetVal sets the reply.
func (c *DurationCmd) SetVal(val time.Duration) { c.val = val }

// Val is the reply: -1 for a key that does not expire, -2 for no key.
func (c *DurationCmd) Val() time.Duration { return c.val }

// Result is the reply and the error.
func (c *DurationCmd) Result() (time.Duration, error) { return c.val, c.err }

// String implements Cmder.
func (c *DurationCmd) String() string { return c.text(c.val) }

func (c *DurationCmd) read(v abi.RedisValue) error {
	n, err := readInt(v)
	if err != nil {
		return err
	}
	c.val = time.Duration(n)
	if n >= 0 {
		c.val *= c.precision
	}
	return nil
}

// BoolCmd is a command that is answered with yes or no.
type BoolCmd struct {
	baseCmd
	val bool
}

// NewBoolCmd returns a command that has not been sent.
func NewBoolCmd(_ context.Context, args ...interface{}) *BoolCmd {
	return &BoolCmd{baseCmd: baseCmd{args: args}}
}

// SetVal sets the reply.
func (c *BoolCmd) SetVal(val bool) { c.val = val }

// Val is the reply, false after an error.
func (c *BoolCmd) Val() bool { return c.val }

// Result is the reply and the error.
func (c *BoolCmd) Result() (bool, error) { return c.val, c.err }

// String implements Cmder.
func (c *BoolCmd) String() string { return c.text(c.val) }

// read takes no value, as SET NX answers when the key is there, for false.
func (c *BoolCmd) read(v abi.RedisValue) error {
	if v.Kind == abi.RedisNil {
		c.val = false
		return nil
	}
	text, err := readText(v)
	c.val = text == "OK" || text == "1" || text == "true"
	return err
}

// StringCmd is a command that is answered with a value, or with the error Nil.
type StringCmd struct {
	baseCmd
	val string
}

// NewStringCmd returns a command that has not been sent.
func NewStringCmd(_ context.Context, args ...interface{}) *StringCmd {
	return &StringCmd{baseCmd: baseCmd{args: args}}
}

// SetVal sets the reply.
func (c *StringCmd) SetVal(val string) { c.val = val }

// Val is the reply, "" after an error.
func (c *StringCmd) Val() string { return c.val }

// Result is the reply and the error.
func (c *StringCmd) Result() (string, error) { return c.val, c.err }

// Bytes is Result as bytes.
func (c *StringCmd) Bytes() ([]byte, error) { return []byte(c.val), c.err }

// Bool reads the reply as a bool.
func (c *StringCmd) Bool() (bool, error) { return parsed(c, strconv.ParseBool) }

// Int reads the reply as a number.
func (c *StringCmd) Int() (int, error) { return parsed(c, strconv.Atoi) }

// Int64 reads the reply as a number.
func (c *StringCmd) Int64() (int64, error) {
	return parsed(c, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
}

// Uint64 reads the reply as a number.
func (c *StringCmd) Uint64() (uint64, error) {
	return parsed(c, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) })
}

// Float64 reads the reply as a number.
func (c *StringCmd) Float64() (float64, error) {
	return parsed(c, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
}

// Time reads the reply as RFC 3339, which is how a time.Time is written.
func (c *StringCmd) Time() (time.Time, error) {
	return parsed(c, func(s string) (time.Time, error) { return time.Parse(time.RFC3339Nano, s) })
}

func parsed[T any](c *StringCmd, parse func(string) (T, error)) (T, error) {
	if c.err != nil {
		var zero T
		return zero, c.err
	}
	return parse(c.val)
}

// String implements Cmder.
func (c *StringCmd) String() string { return c.text(c.val) }

func (c *StringCmd) read(v abi.RedisValue) (err error) {
	c.val, err = readText(v)
	return err
}

// Cmd is a command whose reply may be anything: that of a script.
type Cmd struct {
	baseCmd
	val interface{}
}

// NewCmd returns a command that has not been sent.
func NewCmd(_ context.Context, args ...interface{}) *Cmd {
	return &Cmd{baseCmd: baseCmd{args: args}}
}

// SetVal sets the reply.
func (c *Cmd) SetVal(val interface{}) { c.val = val }

// Val is the reply: an int64, a string, or a []interface{} of these, of nil and of
// errors.
func (c *Cmd) Val() interface{} { return c.val }

// Result is the reply and the error.
func (c *Cmd) Result() (interface{}, error) { return c.val, c.err }

// Text is a reply that is a string.
func (c *Cmd) Text() (string, error) {
	if c.err != nil {
		return "", c.err
	}
	return asString(c.val)
}

// Int is a reply that is a number or the text of one.
func (c *Cmd) Int() (int, error) {
	n, err := c.number("Int")
	return int(n), err
}

// Int64 is a reply that is a number or the text of one.
func (c *Cmd) Int64() (int64, error) { return c.number("Int64") }

func (c *Cmd) number(as string) (int64, error) {
	if c.err != nil {
		return 0, c.err
	}
	switch val := c.val.(type) {
	case int64:
		return val, nil
	case string:
		if as == "Int" {
			n, err := strconv.Atoi(val)
			return int64(n), err
		}
		return strconv.ParseInt(val, 10, 64)
	default:
		return 0, wrongType(val, as)
	}
}

// Bool is a reply that is a number, or a text that strconv.ParseBool reads.
func (c *Cmd) Bool() (bool, error) {
	if c.err != nil {
		return false, c.err
	}
	switch val := c.val.(type) {
	case int64:
		return val != 0, nil
	case string:
		return strconv.ParseBool(val)
	default:
		return false, wrongType(val, "Bool")
	}
}

// Slice is a reply that is a list.
func (c *Cmd) Slice() ([]interface{}, error) {
	if c.err != nil {
		return nil, c.err
	}
	list, ok := c.val.([]interface{})
	if !ok {
		return nil, wrongType(c.val, "Slice")
	}
	return list, nil
}

// StringSlice is a reply that is a list of strings.
func (c *Cmd) StringSlice() ([]string, error) {
	list, err := c.Slice()
	if err != nil {
		return nil, err
	}
	out := make([]string, len(list))
	for i, e := range list {
		if out[i], err = asString(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// String implements Cmder.
func (c *Cmd) String() string { return c.text(c.val) }

func (c *Cmd) read(v abi.RedisValue) error {
	if v.Kind == abi.RedisNil {
		return Nil
	}
	c.val = asAny(v)
	return nil
}

// asAny is a reply as the real client gives it. In a list, no value is nil and an
// error an element.
func asAny(v abi.RedisValue) interface{} {
	switch v.Kind {
	case abi.RedisInt:
		return v.Int
	case abi.RedisText:
		return v.Text
	case abi.RedisError:
		return proto.RedisError(v.Text)
	case abi.RedisList:
		list := make([]interface{}, len(v.List))
		for i, e := range v.List {
			list[i] = asAny(e)
		}
		return list
	default:
		return nil
	}
}

func asString(val interface{}) (string, error) {
	s, ok := val.(string)
	if !ok {
		return "", wrongType(val, "String")
	}
	return s, nil
}

func wrongType(val interface{}, as string) error {
	return fmt.Errorf("redis: unexpected type=%T for %s", val, as)
}
