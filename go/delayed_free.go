package gotorch

import (
	"sync/atomic"
	"time"

	"tandem.example/gotorch/internal/c"
)

// delayed are shelves that the collector has found due. Who makes tensors frees what was on them, so that memory goes back
// to the core that uses it next: a cleanup runs on any core, and what it frees the next operator would fetch from that
// one's cache. Where nobody makes any, a timer does it.
var delayed struct{ first atomic.Pointer[content] }

const delayedPatience = 10 * time.Millisecond

// delayFree is the cleanup of a shelf.
func delayFree(shelf *content) {
	for {
		shelf.next = delayed.first.Load()
		if delayed.first.CompareAndSwap(shelf.next, shelf) {
			break
		}
	}
	if shelf.next == nil {
		time.AfterFunc(delayedPatience, freeDelayed)
	}
}

// freeDelayed frees what all of them hold.
func freeDelayed() {
	const most = 64 * perShelf
	var handles [most]c.Tensor
	used, bytes := 0, int64(0)
	for shelf := delayed.first.Swap(nil); shelf != nil; shelf = shelf.next {
		for _, g := range shelf.tensors {
			handles[used] = g.native
			used++
			bytes += g.bytes
		}
		if used == most || shelf.next == nil {
			c.FreeAll(handles[:used])
			outside.bytes.Add(-bytes)
			used, bytes = 0, 0
		}
	}
}
