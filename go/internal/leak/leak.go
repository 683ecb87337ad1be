// Package leak tells of objects that the collector finds and must not free: process groups, stores, data-parallel
// wrappers, loaders. Freeing them at a time that differs between ranks would have the ranks diverge.
package leak

import (
	"log"
	"runtime"
	"sync"
	"sync/atomic"
)

// Report is called when an object was collected that was not closed. Tests replace it.
var Report = func(kind, where string) {
	log.Printf("gotorch: a %s made in %s became unreachable without Close; its native side stays until the process ends",
		kind, where)
}

// Watch belongs to one object.
type Watch struct {
	kind   string
	place  uintptr
	closed atomic.Bool
}

var open struct {
	sync.Mutex
	watches map[*Watch]struct{}
}

// Open lists the objects that are not closed, reachable or not: "dist.DDP made in main.train".
func Open() (list []string) {
	open.Lock()
	defer open.Unlock()
	for w := range open.watches {
		list = append(list, w.kind+" made in "+w.maker())
	}
	return list
}

// Track has Report called when object becomes unreachable before Done. Its maker's caller is what is reported.
func Track[T any](object *T, kind string) *Watch {
	watch := &Watch{kind: kind}
	var places [1]uintptr
	if runtime.Callers(3, places[:]) == 1 {
		watch.place = places[0]
	}
	open.Lock()
	if open.watches == nil {
		open.watches = map[*Watch]struct{}{}
	}
	open.watches[watch] = struct{}{}
	open.Unlock()
	runtime.AddCleanup(object, func(w *Watch) { w.collected() }, watch)
	return watch
}

func (w *Watch) collected() {
	if w.closed.Load() {
		return
	}
	Report(w.kind, w.maker())
}

func (w *Watch) maker() string {
	frame, _ := runtime.CallersFrames([]uintptr{w.place}).Next()
	return frame.Function
}

// Done says that the object was closed; false when it had been before.
func (w *Watch) Done() bool {
	open.Lock()
	delete(open.watches, w)
	open.Unlock()
	return !w.closed.Swap(true)
}

// Closed tells whether Done was called.
func (w *Watch) Closed() bool { return w.closed.Load() }
