//go:build wasip1

// Package withredis starts a program whose handler is given a Redis client.
package withredis

import (
	"context"
	"database/sql"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/grader/guest/abi"
	"redeliver/grader/guest/host"
	"redeliver/grader/guest/redis"
	"redeliver/grader/guest/sdk"
)

// Handler is the function of the entry "handler" with the service "redis".
type Handler = func(context.Context, *sql.DB, *redis.Client, *kgo.Record) error

// Start is sdk.Start for such a handler.
func Start(h Handler) {
	client := redis.New(roundTrip)
	sdk.Start(func(ctx context.Context, db *sql.DB, rec *kgo.Record) error { return h(ctx, db, client, rec) })
	ctx := context.Background()
	host.Offline(func(uint32) []byte {
		return abi.AppendRedisReply(nil, abi.RedisReply{Values: []abi.RedisValue{{Kind: abi.RedisText, Text: "OK"}}})
	}, func() {
		_, _ = client.Get(ctx, "x").Result()
		_, _ = client.SetNX(ctx, "x", "x", time.Hour).Result()
	})
}

func roundTrip(ctx context.Context, req abi.RedisRequest) (abi.RedisReply, error) {
	if err := host.Ended(ctx); err != nil {
		return abi.RedisReply{}, err
	}
	req.At = host.Position()
	r := host.Call(abi.OpRedis, func(b []byte) []byte { return abi.AppendRedisRequest(b, req) })
	reply := r.RedisReply()
	if err := r.End(); err != nil {
		return abi.RedisReply{}, host.Broken(err)
	}
	return reply, nil
}
