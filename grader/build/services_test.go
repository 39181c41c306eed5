package build_test

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/exercises"
	"redeliver/grader/build/buildtest"
	handler "redeliver/grader/build/conformance/redis"
	"redeliver/grader/guest/abi"
	"redeliver/grader/redis"
)

// A program sees the same replies and error texts in the sandbox, where its calls
// leave as messages, as with the real client in its own process.
func TestRedisConformance(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("conformance/redis/programs.go")
	if err != nil {
		t.Fatal(err)
	}
	guest := loadProgram(t, buildFor(t, "handler+redis", string(source)))
	logging.Disable() // of durations that are rounded up
	for _, name := range handler.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := nativeRedis(t, name)
			h := newHost(t, "")
			h.redis = newRedis(t)
			if err := guest.deliver(h, abi.Record{Key: []byte(name)}); err != nil {
				t.Fatal(err)
			}
			ours := strings.Split(h.ret.Text, "\n")
			for i, line := range strings.Split(want, "\n") {
				if i >= len(ours) || ours[i] != line {
					t.Fatalf("line %d with the real client\n%s\nand in the sandbox\n%s", i+1, line, strings.Join(ours[min(i, len(ours)):], "\n"))
				}
			}
		})
	}
}

func newRedis(t *testing.T) *redis.Server {
	t.Helper()
	s := redis.Start()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Reset(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	return s
}

// nativeRedis runs a program with the real client.
func nativeRedis(t *testing.T, name string) string {
	t.Helper()
	server := miniredis.NewMiniRedis()
	server.SetTime(start)
	t.Cleanup(server.Close)
	rdb := goredis.NewClient(&goredis.Options{
		Dialer:     func(context.Context, string, string) (net.Conn, error) { return server.Dial() },
		MaxRetries: -1,
	})
	defer rdb.Close()
	err := handler.Handle(t.Context(), nil, rdb, &kgo.Record{Key: []byte(name)})
	if err == nil {
		t.Fatal("the program returned nil")
	}
	return err.Error()
}

const redisHandler = `package handler

import (
	"context"
	"database/sql"

	"github.com/redis/go-redis/v9"
	"github.com/twmb/franz-go/pkg/kgo"
)

func Handle(ctx context.Context, db *sql.DB, rdb *redis.Client, rec *kgo.Record) error {
	return rdb.Set(ctx, "k", "v", 0).Err()
}
`

const gatewayHandler = `package handler

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/gateway"
)

func Handle(ctx context.Context, db *sql.DB, gw gateway.Client, rec *kgo.Record) error {
	said := ""
	for _, req := range []gateway.Request{
		{Account: "a", Amount: 5, IdempotencyKey: "k"}, {Account: "a", Amount: 5, IdempotencyKey: "k"},
		{Account: "a", Amount: 6, IdempotencyKey: "k"}, {Account: "a", Amount: 5}, {Account: "a"},
	} {
		receipt, err := gw.Charge(ctx, req)
		said += fmt.Sprintf("%q %t %t\n", receipt.ID, errors.Is(err, gateway.ErrKeyReused), errors.Is(err, gateway.ErrInvalid))
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	_, err := gw.Charge(ctx, gateway.Request{Account: "a", Amount: 5})
	return fmt.Errorf("%s%w", said, err)
}
`

// What the sandbox does not have is refused with words that say so, and a handler
// of one service is not taken for one of another.
func TestServiceFindings(t *testing.T) {
	t.Parallel()
	const signature = "func Handle has the wrong signature. It must be: func Handle(ctx context.Context, db *sql.DB, "
	for name, c := range map[string]struct{ signature, source, want string }{
		"Function":      {"handler+redis", strings.Replace(redisHandler, "return rdb", "_ = redis.NewClient\n\treturn rdb", 1), "compile handler.go:12:12 redis.NewClient is not available in this exercise"},
		"Method":        {"handler+redis", strings.Replace(redisHandler, "return rdb", "rdb.HSet(ctx, \"k\")\n\treturn rdb", 1), "compile handler.go:12:6 redis.Client.HSet is not available in this exercise"},
		"Type":          {"handler+redis", redisHandler + "\nvar opts *redis.Options\n", "compile handler.go:15:17 redis.Options is not available in this exercise"},
		"WithoutRedis":  {"handler", redisHandler, "compile handler.go:11:6 " + signature + "rec *kgo.Record) error"},
		"OtherService":  {"handler+redis", gatewayHandler, "compile handler.go:14:6 " + signature + "rdb *redis.Client, rec *kgo.Record) error"},
		"OtherService2": {"handler+gateway", redisHandler, "compile handler.go:11:6 " + signature + "gw gateway.Client, rec *kgo.Record) error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, findings, err := buildtest.Compiler(t).Build(t.Context(), c.signature, []exercises.File{{Name: "handler.go", Content: []byte(c.source)}})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(lines(findings), "\n"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestGatewayInTheSandbox(t *testing.T) {
	t.Parallel()
	h := newHost(t, "")
	if err := loadProgram(t, buildFor(t, "handler+gateway", gatewayHandler)).deliver(h, abi.Record{}); err != nil {
		t.Fatal(err)
	}
	want := "\"r-1\" false false\n\"r-1\" false false\n\"\" true false\n\"r-2\" false false\n\"\" false true\ncontext canceled"
	if h.ret.Text != want {
		t.Errorf("got  %s\nwant %s", h.ret.Text, want)
	}
	if got := strings.Join(h.calls, " "); !strings.HasPrefix(got, "charge handler.go:20 ") || len(h.calls) != 5 {
		t.Errorf("calls %s", got)
	}
}

// A network error of the real clients is a time-out, and says so to those who ask.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signature, source string
		reply             []byte
	}{
		"Redis":   {"handler+redis", redisHandler, abi.AppendRedisReply(nil, abi.RedisReply{Lost: "read tcp: i/o timeout"})},
		"Gateway": {"handler+gateway", gatewayHandler, abi.AppendChargeReply(nil, abi.ChargeReply{Result: abi.NoAnswer, Text: "read tcp: i/o timeout"})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := strings.Replace(c.source, "\nfunc Handle(", "\nfunc Handle(ctx context.Context, db *sql.DB, x "+clientOf[c.signature]+", rec *kgo.Record) error {\n"+
				"\terr := handle(ctx, db, x, rec)\n\tvar timeout interface{ Timeout() bool }\n"+
				"\treturn fmt.Errorf(\"%v %t %t\", err, errors.As(err, &timeout), errors.Is(err, os.ErrDeadlineExceeded))\n}\n\nfunc handle(", 1)
			source = strings.Replace(source, "import (", "import (\n\t\"os\"", 1)
			if name == "Redis" {
				source = strings.Replace(source, "import (", "import (\n\t\"errors\"\n\t\"fmt\"", 1)
			} else {
				source = strings.Replace(source, "receipt, err := gw.Charge(ctx, req)", "receipt, err := gw.Charge(ctx, req)\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}", 1)
			}
			h := newHost(t, "")
			base := h.call
			h.answer = func(op uint32, in []byte) []byte {
				if op == abi.OpRedis || op == abi.OpCharge {
					return c.reply
				}
				return base(op, in)
			}
			if err := loadProgram(t, buildFor(t, c.signature, source)).deliver(h, abi.Record{}); err != nil {
				t.Fatal(err)
			}
			if h.ret.Text != "read tcp: i/o timeout true true" {
				t.Error(h.ret.Text)
			}
		})
	}
}

var clientOf = map[string]string{"handler+redis": "*redis.Client", "handler+gateway": "gateway.Client"}
