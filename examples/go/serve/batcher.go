package main

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"tandem.example/gotorch"
)

// batcher computes requests that arrive together as one batch, on one goroutine.
type batcher struct {
	model   *model
	wait    time.Duration
	queue   chan *request
	stopped chan struct{}

	requests, batches, largest atomic.Int64 // computed; rows of the largest batch
}

type request struct {
	ctx    context.Context
	rows   *gotorch.Tensor
	answer chan answer // has room for one
}

type answer struct {
	rows json.RawMessage
	err  error
}

// newBatcher for at most so many requests at once, the first of which waits so long for others.
func newBatcher(m *model, most int, wait time.Duration) *batcher {
	b := &batcher{model: m, wait: wait, queue: make(chan *request, most), stopped: make(chan struct{})}
	go b.run()
	return b
}

// close ends it after what is in the queue. Nobody may call predict any more.
func (b *batcher) close() {
	close(b.queue)
	<-b.stopped
}

// predict gives the results of rows, which must stay open meanwhile: it returns only when nobody reads them any more.
func (b *batcher) predict(ctx context.Context, rows *gotorch.Tensor) (json.RawMessage, error) {
	r := &request{ctx, rows, make(chan answer, 1)}
	b.queue <- r
	got := <-r.answer
	return got.rows, got.err
}

func (b *batcher) run() {
	defer close(b.stopped)
	var next *request
	for {
		if next == nil {
			var open bool
			if next, open = <-b.queue; !open {
				return
			}
		}
		var batch []*request
		batch, next = b.gather(next)
		b.compute(batch)
	}
}

// gather takes requests until the batch is full or the time is over. What did not fit begins the next batch.
func (b *batcher) gather(first *request) (batch []*request, next *request) {
	batch = []*request{first}
	over := time.NewTimer(b.wait)
	defer over.Stop()
	for count := first.rows.Size(0); count < b.model.most; {
		select {
		case one, open := <-b.queue:
			if !open {
				return batch, nil
			}
			if count += one.rows.Size(0); count > b.model.most {
				return batch, one
			}
			batch = append(batch, one)
		case <-over.C:
			return batch, nil
		}
	}
	return batch, nil
}

func (b *batcher) compute(batch []*request) {
	var present []*request
	var rows []*gotorch.Tensor
	count := 0
	for _, one := range batch {
		if err := one.ctx.Err(); err != nil { // the client has gone
			one.answer <- answer{err: err}
			continue
		}
		present, rows, count = append(present, one), append(rows, one.rows), count+one.rows.Size(0)
	}
	if len(present) == 0 {
		return
	}
	results, err := b.model.predict(rows)
	b.requests.Add(int64(len(present)))
	b.batches.Add(1)
	b.largest.Store(max(b.largest.Load(), int64(count)))
	for i, one := range present {
		switch {
		case err == nil:
			one.answer <- answer{rows: results[i]}
		case len(present) == 1:
			one.answer <- answer{err: err}
		default: // what is wrong with one request is no fault of the others
			alone, err := b.model.predict(rows[i : i+1])
			if err != nil {
				one.answer <- answer{err: err}
			} else {
				one.answer <- answer{rows: alone[0]}
			}
		}
	}
}
