package dist

import (
	"context"
	"sync"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
)

// Work is a collective, a send or a receive that was started. Wait for it: one that nobody waits for or asks may make no
// progress.
type Work struct {
	group  *ProcessGroup
	result []*gotorch.Tensor

	mutex   sync.Mutex
	handle  c.Work
	lent    bool   // a communication hook has given the handle to the core, which may not have read it yet
	late    c.Work // that was ended while it was lent
	watch   *leak.Watch
	outcome error
	source  int
}

func newWork(g *ProcessGroup, handle c.Work, result []*gotorch.Tensor) *Work {
	w := &Work{group: g, handle: handle, result: result, source: -1}
	w.watch = leak.Track(w, "dist.Work")
	return w
}

// Wait until it is done, at most as long as the group's timeout; when ctx ends the group is aborted. A second Wait gives
// the same result.
func (w *Work) Wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { w.group.Abort() })
	defer stop()
	if ctx.Err() != nil {
		w.group.Abort()
	}
	return w.wait(ctx, -1)
}

// WaitTimeout waits at most timeout; gotorch.ErrTimeout leaves the work to be waited for again.
func (w *Work) WaitTimeout(timeout time.Duration) error {
	return w.wait(w.group.ctx, milliseconds(timeout, time.Millisecond))
}

func (w *Work) wait(ctx context.Context, timeoutMS int64) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.handle == nil {
		return w.outcome
	}
	failure := c.WaitWork(w.handle, timeoutMS)
	if ctx.Err() == nil {
		ctx = w.group.ctx
	}
	err := errorOf(ctx, w.group.rank, failure)
	if failure != nil && gotorch.Code(failure.Code) == gotorch.ErrTimeout && timeoutMS >= 0 && !c.WorkIsCompleted(w.handle) {
		return err
	}
	w.free(err)
	return err
}

func (w *Work) free(outcome error) {
	w.watch.Done()
	w.source = c.WorkSourceRank(w.handle)
	if w.lent {
		w.late = w.handle
	} else {
		c.FreeWork(w.handle)
	}
	w.handle, w.outcome = nil, outcome
}

// lend calls give with the handle, which stays valid until takeBack; it returns false for a work that has ended.
func (w *Work) lend(give func(c.Work)) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.handle == nil {
		return false
	}
	w.lent = true
	give(w.handle)
	return true
}

// takeBack ends a work that was lent.
func (w *Work) takeBack() {
	w.mutex.Lock()
	w.lent = false
	if w.late != nil {
		c.FreeWork(w.late)
		w.late = nil
	}
	w.mutex.Unlock()
	w.Close()
}

// IsDone tells whether Wait would not block.
func (w *Work) IsDone() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.handle == nil || c.WorkIsCompleted(w.handle)
}

// Err tells why it failed; nil while it goes on and after success.
func (w *Work) Err() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.handle == nil {
		return w.outcome
	}
	return errorOf(w.group.ctx, w.group.rank, c.WorkError(w.handle))
}

// Result is the tensors that hold the result once it is done, those that were given for it; nil for sends and barriers.
func (w *Work) Result() []*gotorch.Tensor { return w.result }

// Source is the rank that sent what a receive got, once it is done; else -1.
func (w *Work) Source() int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.handle == nil {
		return w.source
	}
	return c.WorkSourceRank(w.handle)
}

// Close waits for the collective and forgets its result; after Wait it does nothing.
func (w *Work) Close() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.handle != nil {
		w.free(closed("work_wait", "work"))
	}
	return nil
}
