package gotorch

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Memory of tensors outside of scopes. Go's collector sees only a few words of each tensor and would let gigabytes
// pile up: their bytes are counted, and past a limit it is called.
var outside struct {
	bytes      atomic.Int64
	limit      atomic.Int64
	collecting sync.Mutex
}

const (
	handleBytes = 512       // what a tensor costs beside its elements
	leastSlack  = 12 << 20  // of garbage that is let pile up
	mostSlack   = 256 << 20 // the same, when much is alive
)

func init() { outside.limit.Store(leastSlack) }

func account(bytes int64) {
	if outside.bytes.Add(bytes) > outside.limit.Load() {
		collect()
	}
}

// sentinel is big enough, and has a pointer, so that it is an object of its own to the collector.
type sentinel struct {
	self *sentinel
	_    [64]byte
}

func collect() {
	if !outside.collecting.TryLock() {
		return
	}
	defer outside.collecting.Unlock()

	// Cleanups run in goroutines after the collection; one more cleanup tells when they are being run.
	done := make(chan struct{})
	runtime.AddCleanup(&sentinel{}, func(done chan struct{}) { close(done) }, done)
	runtime.GC()
	select {
	case <-done:
	case <-time.After(100 * time.Millisecond):
	}
	for before := outside.bytes.Load(); ; {
		runtime.Gosched()
		now := outside.bytes.Load()
		if now >= before {
			break
		}
		before = now
	}
	live := outside.bytes.Load()
	outside.limit.Store(live + max(leastSlack, min(live, mostSlack)))
}
