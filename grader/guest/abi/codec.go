package abi

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// Tags of a value. false and true are tags of their own.
const (
	tagNil = iota
	tagInt
	tagFloat
	tagString
	tagBytes
	tagFalse
	tagTrue
	tagTime
)

// Zones of a time.
const (
	zoneUTC = iota
	zoneOther
)

// AppendUint appends n as a uvarint.
func AppendUint(b []byte, n uint64) []byte { return binary.AppendUvarint(b, n) }

// AppendInt appends n as a zig-zag varint.
func AppendInt(b []byte, n int64) []byte { return binary.AppendVarint(b, n) }

// AppendBool appends one byte, 0 or 1.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// AppendString appends the length of s and s.
func AppendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// AppendBytes appends p so that Reader.Bytes gives it back, nil as nil: the
// length plus one, or 0 for nil, then the bytes.
func AppendBytes(b, p []byte) []byte {
	if p == nil {
		return append(b, 0)
	}
	return append(binary.AppendUvarint(b, uint64(len(p))+1), p...)
}

// AppendTime appends an instant with its zone; the monotonic reading is lost.
// The zone is UTC, or a name and an offset. The name of the host's local zone
// is left out, so that a verdict does not depend on where the server stands.
func AppendTime(b []byte, t time.Time) []byte {
	b = AppendInt(b, t.Unix())
	b = AppendUint(b, uint64(t.Nanosecond()))
	if t.Location() == time.UTC {
		return append(b, zoneUTC)
	}
	name, offset := t.Zone()
	if t.Location() == time.Local {
		name = ""
	}
	return AppendInt(AppendString(append(b, zoneOther), name), int64(offset))
}

// AppendValue appends a value as database/sql/driver knows it: nil, int64,
// float64, string, []byte, bool or time.Time. It panics on any other type,
// which would be a mistake of ours.
func AppendValue(b []byte, v driver.Value) []byte {
	switch x := v.(type) {
	case nil:
		return append(b, tagNil)
	case int64:
		return AppendInt(append(b, tagInt), x)
	case float64:
		return binary.LittleEndian.AppendUint64(append(b, tagFloat), math.Float64bits(x))
	case string:
		return AppendString(append(b, tagString), x)
	case []byte:
		return AppendBytes(append(b, tagBytes), x)
	case bool:
		if x {
			return append(b, tagTrue)
		}
		return append(b, tagFalse)
	case time.Time:
		return AppendTime(append(b, tagTime), x)
	default:
		panic(fmt.Sprintf("abi: %T is not a driver.Value", v))
	}
}

var (
	errShort     = errors.New("abi: the message is shorter than it says")
	errMalformed = errors.New("abi: the message is malformed")
	errTrailing  = errors.New("abi: bytes are left after the message")
)

// Reader takes a message apart. After the first mistake in the bytes every
// method returns its zero value and Err says what was wrong, so a caller reads
// a whole message and checks once. What it returns never shares memory with
// the message.
type Reader struct {
	b   []byte
	err error
}

// NewReader reads b, which must not change until the message is read.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// Err is the first mistake found in the bytes, or nil.
func (r *Reader) Err() error { return r.err }

// End reports what Err does, and bytes that no method has read.
func (r *Reader) End() error {
	if r.err == nil && len(r.b) > 0 {
		r.fail(errTrailing)
	}
	return r.err
}

func (r *Reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.b = nil
}

// Uint reads what AppendUint wrote.
func (r *Reader) Uint() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.failVarint(size)
		return 0
	}
	r.b = r.b[size:]
	return n
}

// Int reads what AppendInt wrote.
func (r *Reader) Int() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.failVarint(size)
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *Reader) failVarint(size int) {
	if size < 0 {
		r.fail(errMalformed)
		return
	}
	r.fail(errShort)
}

// int reads an Int that must lie between low and high.
func (r *Reader) int(low, high int64) int64 {
	n := r.Int()
	if n < low || n > high {
		r.fail(errMalformed)
		return 0
	}
	return n
}

// Count reads the number of elements that follow. Each takes at least one byte,
// so a larger number than there are bytes is a mistake: nobody allocates for it.
func (r *Reader) Count() int {
	n := r.Uint()
	if n > uint64(len(r.b)) {
		r.fail(errShort)
		return 0
	}
	return int(n)
}

// byte reads one byte.
func (r *Reader) byte() byte {
	if len(r.b) == 0 {
		r.fail(errShort)
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

// take returns the next n bytes of the message itself.
func (r *Reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail(errShort)
		return nil
	}
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

// Bool reads what AppendBool wrote.
func (r *Reader) Bool() bool {
	switch r.byte() {
	case 0:
		return false
	case 1:
		return true
	default:
		r.fail(errMalformed)
		return false
	}
}

// String reads what AppendString wrote.
func (r *Reader) String() string { return string(r.take(r.Uint())) }

// Bytes reads what AppendBytes wrote.
func (r *Reader) Bytes() []byte {
	n := r.Uint()
	if n == 0 {
		return nil
	}
	p := r.take(n - 1)
	if r.err != nil {
		return nil
	}
	return append(make([]byte, 0, len(p)), p...)
}

// Time reads what AppendTime wrote. A zone without a name and without an
// offset becomes time.Local, which in the guest is UTC: that is what time.Parse
// gives a process that runs in UTC, and so what the real driver returns there.
func (r *Reader) Time() time.Time {
	sec := r.Int()
	nsec := r.Uint()
	zone := r.byte()
	if nsec >= 1e9 || zone > zoneOther {
		r.fail(errMalformed)
	}
	if r.err != nil {
		return time.Time{}
	}
	t := time.Unix(sec, int64(nsec))
	if zone == zoneUTC {
		return t.UTC()
	}
	name := r.String()
	offset := int(r.int(-1<<20, 1<<20))
	switch {
	case r.err != nil:
		return time.Time{}
	case offset == 0 && (name == "" || name == "UTC"):
		return t
	default:
		return t.In(time.FixedZone(name, offset))
	}
}

// Value reads what AppendValue wrote.
func (r *Reader) Value() driver.Value {
	switch tag := r.byte(); tag {
	case tagNil:
		return nil
	case tagInt:
		return r.Int()
	case tagFloat:
		p := r.take(8)
		if r.err != nil {
			return nil
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(p))
	case tagString:
		return r.String()
	case tagBytes:
		return r.Bytes()
	case tagFalse, tagTrue:
		return tag == tagTrue
	case tagTime:
		return r.Time()
	default:
		r.fail(errMalformed)
		return nil
	}
}
