package redis

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// encode writes the arguments of a command as the real client sends them.
func encode(args []interface{}) ([]string, error) {
	out := make([]string, len(args))
	for i, arg := range args {
		text, err := encodeArg(arg)
		if err != nil {
			return nil, err
		}
		out[i] = text
	}
	return out, nil
}

func encodeArg(arg interface{}) (string, error) {
	switch x := arg.(type) {
	case nil:
		return "", nil
	case string:
		return x, nil
	case []byte:
		return string(x), nil
	case bool:
		if x {
			return "1", nil
		}
		return "0", nil
	case time.Time:
		return x.Format(time.RFC3339Nano), nil
	case time.Duration:
		return strconv.FormatInt(x.Nanoseconds(), 10), nil
	case *time.Time: // before its method MarshalBinary is looked at
		if x == nil {
			x = &time.Time{}
		}
		return encodeArg(*x)
	case encoding.BinaryMarshaler:
		b, err := x.MarshalBinary()
		return string(b), err
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, uintptr:
		return fmt.Sprintf("%d", x), nil
	case float32:
		return strconv.FormatFloat(float64(x), 'f', -1, 64), nil
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64), nil
	}
	if v := reflect.ValueOf(arg); v.Kind() == reflect.Pointer && basic(v.Type().Elem()) {
		if v.IsNil() {
			v = reflect.New(v.Type().Elem())
		}
		return encodeArg(v.Elem().Interface())
	}
	return "", fmt.Errorf("redis: can't marshal %T (implement encoding.BinaryMarshaler)", arg)
}

// basic says whether a pointer to t is sent as what it points to: Go's own types
// and time.Duration, not types made of them.
func basic(t reflect.Type) bool {
	if t == reflect.TypeFor[time.Duration]() {
		return true
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64, reflect.Uintptr,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return t.PkgPath() == ""
	default:
		return false
	}
}

// show writes a value as the String method of a command does.
func show(v interface{}) string {
	switch x := v.(type) {
	case nil:
		return "<nil>"
	case []byte:
		return string(x)
	case time.Time:
		return x.Format(time.RFC3339Nano)
	case float32:
		return strconv.FormatFloat(float64(x), 'f', -1, 64)
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}
