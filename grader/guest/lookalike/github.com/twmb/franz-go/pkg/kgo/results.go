//go:build wasip1

package kgo

import (
	"context"
	"sync"
)

// ProduceResult is what became of one record.
type ProduceResult struct {
	Record *Record
	Err    error
}

// ProduceResults are those of ProduceSync.
type ProduceResults []ProduceResult

// FirstErr is the first error, or nil.
func (rs ProduceResults) FirstErr() error {
	for _, r := range rs {
		if r.Err != nil {
			return r.Err
		}
	}
	return nil
}

// First is the first record and its error; there must be one.
func (rs ProduceResults) First() (*Record, error) { return rs[0].Record, rs[0].Err }

// FirstErrPromise keeps the first error of many promises.
type FirstErrPromise struct {
	wg   sync.WaitGroup
	mu   sync.Mutex
	err  error
	done bool
	cl   *Client // to abort, or nil
}

// AbortingFirstErrPromise returns one that makes the client give up its other
// records at the first error.
func AbortingFirstErrPromise(cl *Client) *FirstErrPromise { return &FirstErrPromise{cl: cl} }

// Promise returns a promise for one record.
func (f *FirstErrPromise) Promise() func(*Record, error) {
	f.wg.Add(1)
	return f.take
}

func (f *FirstErrPromise) take(_ *Record, err error) {
	defer f.wg.Done()
	f.mu.Lock()
	first := err != nil && !f.done
	if first {
		f.err, f.done = err, true
	}
	f.mu.Unlock()
	if first && f.cl != nil {
		f.wg.Go(func() { _ = f.cl.AbortBufferedRecords(context.Background()) })
	}
}

// Err waits for every promise and returns the first error, or nil.
func (f *FirstErrPromise) Err() error {
	f.wg.Wait()
	return f.err
}
