package abi

// RedisRequest is one round trip to Redis: a command, or those of a pipeline.
type RedisRequest struct {
	At Position
	// Tx wraps the commands in MULTI and EXEC.
	Tx       bool
	Commands [][]string // each its name and its arguments, at least the name
}

// AppendRedisRequest appends m.
func AppendRedisRequest(b []byte, m RedisRequest) []byte {
	b = AppendBool(AppendPosition(b, m.At), m.Tx)
	b = AppendUint(b, uint64(len(m.Commands)))
	for _, c := range m.Commands {
		b = AppendUint(b, uint64(len(c)))
		for _, arg := range c {
			b = AppendString(b, arg)
		}
	}
	return b
}

// RedisRequest reads what AppendRedisRequest wrote. One without a command, or
// with a command that has no name, is malformed.
func (r *Reader) RedisRequest() RedisRequest {
	m := RedisRequest{At: r.Position(), Tx: r.Bool()}
	for range r.Count() {
		var c []string
		for range r.Count() {
			c = append(c, r.String())
		}
		if len(c) == 0 {
			r.fail(errMalformed)
		}
		m.Commands = append(m.Commands, c)
	}
	if len(m.Commands) == 0 {
		r.fail(errMalformed)
	}
	return m
}

// RedisKind says what a RedisValue is.
type RedisKind byte

// The kinds of values that a Redis server answers with, as far as the commands
// of the exercises know them. A status and a bulk string are both RedisText.
const (
	RedisNil RedisKind = iota
	RedisInt
	RedisText
	RedisError // an error of the server, with its text
	RedisList
)

// maxRedisDepth is how deep lists may lie in lists.
const maxRedisDepth = 8

// RedisValue is one reply of a Redis server.
type RedisValue struct {
	Kind RedisKind
	Int  int64        // RedisInt
	Text string       // RedisText, RedisError
	List []RedisValue // RedisList
}

// AppendRedisValue appends v.
func AppendRedisValue(b []byte, v RedisValue) []byte {
	b = append(b, byte(v.Kind))
	switch v.Kind {
	case RedisInt:
		return AppendInt(b, v.Int)
	case RedisText, RedisError:
		return AppendString(b, v.Text)
	case RedisList:
		b = AppendUint(b, uint64(len(v.List)))
		for _, e := range v.List {
			b = AppendRedisValue(b, e)
		}
		return b
	default:
		return b
	}
}

func (r *Reader) redisValue(depth int) RedisValue {
	v := RedisValue{Kind: RedisKind(r.byte())}
	switch {
	case v.Kind == RedisNil:
	case v.Kind == RedisInt:
		v.Int = r.Int()
	case v.Kind == RedisText, v.Kind == RedisError:
		v.Text = r.String()
	case v.Kind == RedisList && depth < maxRedisDepth:
		for range r.Count() {
			v.List = append(v.List, r.redisValue(depth+1))
		}
	default:
		r.fail(errMalformed)
		return RedisValue{}
	}
	return v
}

// RedisReply answers a RedisRequest: one value per command, or an error that
// left the client without an answer.
type RedisReply struct {
	// Lost, when not "", is the text of a network error: the client does not know
	// whether the commands were executed.
	Lost string
	// Discarded, when not "", is the text of the error with which the server refused
	// to execute a transaction.
	Discarded string
	Values    []RedisValue
}

// AppendRedisReply appends m.
func AppendRedisReply(b []byte, m RedisReply) []byte {
	b = AppendString(AppendString(b, m.Lost), m.Discarded)
	b = AppendUint(b, uint64(len(m.Values)))
	for _, v := range m.Values {
		b = AppendRedisValue(b, v)
	}
	return b
}

// RedisReply reads what AppendRedisReply wrote.
func (r *Reader) RedisReply() RedisReply {
	m := RedisReply{Lost: r.String(), Discarded: r.String()}
	for range r.Count() {
		m.Values = append(m.Values, r.redisValue(0))
	}
	return m
}
