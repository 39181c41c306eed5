package handler

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// producer is the process's only client: a new one for each event would ask for a
// producer id each time.
var producer struct {
	once sync.Once
	cl   *kgo.Client
	err  error
}

func client(kafka []kgo.Opt) (*kgo.Client, error) {
	producer.once.Do(func() { producer.cl, producer.err = kgo.NewClient(kafka...) })
	return producer.cl, producer.err
}

// eventID is a function of what the event is about, and of nothing else.
func eventID(kind, orderID string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + orderID))
	return hex.EncodeToString(sum[:16])
}

// Publish sends the event of an order in the background, waits until nothing is on
// its way any more, and looks at what became of it.
func Publish(ctx context.Context, kafka []kgo.Opt, db *sql.DB, orderID string) error {
	var amount int64
	if err := db.QueryRowContext(ctx, `SELECT amount FROM orders WHERE id = ?`, orderID).Scan(&amount); err != nil {
		return fmt.Errorf("read order %s: %w", orderID, err)
	}
	value, err := json.Marshal(map[string]any{"order_id": orderID, "amount": amount})
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	cl, err := client(kafka)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	var sent error
	cl.Produce(ctx, &kgo.Record{
		Topic: "payments", Key: []byte(orderID), Value: value,
		Headers: []kgo.RecordHeader{{Key: "event-id", Value: []byte(eventID("payment-requested", orderID))}},
	}, func(_ *kgo.Record, err error) { sent = err })
	if err := cl.Flush(ctx); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	if sent != nil {
		return fmt.Errorf("send event: %w", sent)
	}
	return nil
}
