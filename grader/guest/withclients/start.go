//go:build wasip1

// Package withclients starts a program that makes its Kafka clients itself: the
// entries consumer and producer.
package withclients

import (
	"context"
	"database/sql"

	"github.com/twmb/franz-go/pkg/kgo"

	"redeliver/grader/guest/host"
	"redeliver/grader/guest/sdk"
)

// RunFunc is Run, which a submission defines.
type RunFunc = func(ctx context.Context, kafka []kgo.Opt, db *sql.DB) error

// PublishFunc is Publish, which a submission defines.
type PublishFunc = func(ctx context.Context, kafka []kgo.Opt, db *sql.DB, orderID string) error

// broker is the address of the exercise's cluster, as the real client would need it.
const broker = "kafka:9092"

// StartConsumer is sdk.Start for the entry consumer.
func StartConsumer(run RunFunc) {
	host.MakeClients()
	sdk.StartRun(func(ctx context.Context, db *sql.DB) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		host.OnStop(cancel)
		return run(ctx, []kgo.Opt{kgo.SeedBrokers(broker)}, db)
	})
}

// StartProducer is sdk.Start for the entry producer.
func StartProducer(publish PublishFunc) {
	host.MakeClients()
	sdk.StartPublish(func(ctx context.Context, db *sql.DB, key string) error {
		return publish(ctx, []kgo.Opt{kgo.SeedBrokers(broker)}, db, key)
	})
}
