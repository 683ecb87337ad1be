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

	slack int64 // garbage that is let pile up where little is alive

	// Of the last collection:
	thread  int
	trimmed time.Time
	ended   time.Time
}

const (
	handleBytes = 512       // what a tensor costs beside its elements
	leastSlack  = 3 << 19   // a core's own cache has room for it: more is fetched from further away when it is used again
	mostSlack   = 6 << 20   // where the collector takes long, as with many objects of Go
	mostGarbage = 256 << 20 // where much is alive

	cleanupPatience = 2 * time.Second
	trimInterval    = 100 * time.Millisecond
)

func init() {
	outside.slack = leastSlack
	outside.limit.Store(leastSlack)
}

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
	began := time.Now()
	runtime.GC()
	took := time.Since(began)
	queued, _ := cleanups()
	for end := time.Now().Add(cleanupPatience); time.Now().Before(end); {
		if _, executed := cleanups(); executed >= queued {
			break
		}
		time.Sleep(50 * time.Microsecond)
	}
	freeDelayed()
	// What a thread freed stays with its arena: when another one computes now, give that back, or memory would grow
	// with every thread that the goroutine visits.
	if thread := syscall.Gettid(); thread != outside.thread && time.Since(outside.trimmed) > trimInterval {
		c.TrimMemory()
		outside.thread, outside.trimmed = thread, time.Now()
	}
	outside.slack = slackAfter(outside.slack, took, began.Sub(outside.ended))
	outside.ended = time.Now()
	live := outside.bytes.Load()
	outside.limit.Store(live + max(outside.slack, min(live, mostGarbage)))
}

// slackAfter a collection that took so long, as long after the one before: collecting is to take at most a quarter of
// the time.
func slackAfter(slack int64, took, since time.Duration) int64 {
	switch {
	case 3*took > since:
		return min(2*slack, mostSlack)
	case 6*took < since:
		return max(slack/2, leastSlack)
	}
	return slack
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
