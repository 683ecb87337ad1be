package gotorch

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"tandem.example/gotorch/internal/c"
)

// Memory of tensors outside of scopes. Go's collector sees only a few words of each tensor and would let gigabytes
// pile up: their bytes are counted, and past a limit it is called.
var outside struct {
	bytes      atomic.Int64
	limit      atomic.Int64
	collecting sync.Mutex

	// Of the last collection:
	thread  int
	trimmed time.Time
}

const (
	handleBytes = 512       // what a tensor costs beside its elements
	leastSlack  = 6 << 20   // of garbage that is let pile up
	mostSlack   = 256 << 20 // the same, when much is alive

	cleanupPatience = 2 * time.Second
	trimInterval    = 100 * time.Millisecond
)

func init() { outside.limit.Store(leastSlack) }

func account(bytes int64) {
	if outside.bytes.Add(bytes) > outside.limit.Load() {
		collect()
	}
}

func collect() {
	if !outside.collecting.TryLock() {
		return
	}
	defer outside.collecting.Unlock()

	// The goroutine is to come back on its thread: each thread that computes keeps memory of its own in malloc's
	// arenas.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	// Cleanups are queued by the collection and run by a goroutine after it: the limit is to follow from what is
	// alive then.
	runtime.GC()
	queued, _ := cleanups()
	for end := time.Now().Add(cleanupPatience); time.Now().Before(end); {
		if _, executed := cleanups(); executed >= queued {
			break
		}
		time.Sleep(50 * time.Microsecond)
	}
	// What a thread freed stays with its arena: when another one computes now, give that back, or memory would grow
	// with every thread that the goroutine visits.
	if thread := syscall.Gettid(); thread != outside.thread && time.Since(outside.trimmed) > trimInterval {
		c.TrimMemory()
		outside.thread, outside.trimmed = thread, time.Now()
	}
	live := outside.bytes.Load()
	outside.limit.Store(live + max(leastSlack, min(live, mostSlack)))
}

// cleanups that the collector has found due so far, and those of them that were called.
func cleanups() (queued, executed uint64) {
	samples := []metrics.Sample{{Name: "/gc/cleanups/queued:cleanups"}, {Name: "/gc/cleanups/executed:cleanups"}}
	metrics.Read(samples)
	if samples[0].Value.Kind() != metrics.KindUint64 || samples[1].Value.Kind() != metrics.KindUint64 {
		return 0, 0
	}
	return samples[0].Value.Uint64(), samples[1].Value.Uint64()
}
