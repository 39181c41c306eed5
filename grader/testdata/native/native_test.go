// Package handler is what a careful candidate would write without Redeliver: one
// crash between the handler and the offset commit, with the real clients and a
// database file. handler.go is not here: the benchmark lays the submission that
// it grades over this folder (go test -overlay).
package handler

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	_ "modernc.org/sqlite"
)

const topic = "payments"

func TestCrashBeforeOffsetCommit(t *testing.T) {
	db := database(t)
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, topic))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	produce(t, cluster)

	first := consumer(t, cluster)
	handled := handleOne(t, first, db)
	first.Close() // without a commit: the process is gone

	second := consumer(t, cluster)
	t.Cleanup(second.Close)
	again := handleOne(t, second, db)
	if err := second.CommitRecords(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if handled.Offset != again.Offset {
		t.Fatalf("offset %d was handled, then %d: there was no redelivery", handled.Offset, again.Offset)
	}
	var charges, balance int64
	if err := db.QueryRowContext(t.Context(), `SELECT (SELECT COUNT(*) FROM charges), balance FROM accounts`).Scan(&charges, &balance); err != nil {
		t.Fatal(err)
	}
	if charges != 1 || balance != 45100 {
		t.Errorf("%d charges, balance %d; want 1 and 45100", charges, balance)
	}
}

func database(t *testing.T) *sql.DB {
	t.Helper()
	schema, err := os.ReadFile(filepath.FromSlash("../../../exercises/packs/core/charge-once/schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "payments.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), string(schema)+`; INSERT INTO accounts (id, balance) VALUES ('acc-1', 50000)`); err != nil {
		t.Fatal(err)
	}
	return db
}

func produce(t *testing.T, cluster *kfake.Cluster) {
	t.Helper()
	producer, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ProducerLinger(0))
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	err = producer.ProduceSync(t.Context(), &kgo.Record{
		Topic: topic, Key: []byte("acc-1"), Value: []byte(`{"payment_id":"p-1","account":"acc-1","amount":4900}`),
		Headers: []kgo.RecordHeader{{Key: "event-id", Value: []byte("7f3f6b0c-2d1e-4c55-9d3f-6a1f0c9b2e11")}},
	}).FirstErr()
	if err != nil {
		t.Fatal(err)
	}
}

func consumer(t *testing.T, cluster *kfake.Cluster) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(
		kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ConsumerGroup("billing"), kgo.ConsumeTopics(topic),
		kgo.DisableAutoCommit(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func handleOne(t *testing.T, c *kgo.Client, db *sql.DB) *kgo.Record {
	t.Helper()
	fetches := c.PollRecords(t.Context(), 1)
	if err := fetches.Err(); err != nil {
		t.Fatal(err)
	}
	records := fetches.Records()
	if len(records) != 1 {
		t.Fatalf("%d records", len(records))
	}
	if err := Handle(t.Context(), db, records[0]); err != nil {
		t.Fatal(err)
	}
	return records[0]
}
