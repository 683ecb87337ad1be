package gotorch

import (
	"fmt"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"tandem.example/gotorch/internal/c"
)

// Scope calls body and then frees every tensor that body made, but those it passed to Keep. Scopes nest. Parameters,
// their gradients and optimizer state survive. Goroutines that body starts are outside of the scope. While body runs,
// its goroutine is pinned to its thread.
func Scope(body func()) {
	leave := enter()
	defer leave()
	body()
}

// enter opens a scope; the function that it gives closes it.
func enter() (leave func()) {
	runtime.LockOSThread()
	native, id, err := c.EnterScope()
	if err != nil {
		runtime.UnlockOSThread()
		must(err)
	}
	slot := scopeSlot(id)
	slot.Store(id)
	return func() {
		slot.Store(0)
		c.ExitScope(native)
		runtime.UnlockOSThread()
	}
}

// Scoped gives what sequence gives, each step of the loop in a [Scope] of its own, which the value given belongs to:
//
//	for batch, err := range gotorch.Scoped(loader.Epoch(ctx, epoch)) { … }
//
// What is to outlive a step has to be kept.
func Scoped[K, V any](sequence iter.Seq2[K, V]) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		leave := enter()
		defer func() { leave() }()
		sequence(func(key K, value V) bool {
			if !yield(key, value) {
				return false
			}
			leave()
			leave = func() {}
			leave = enter()
			return true
		})
	}
}

// Keep hands a tensor to the scope around its own, or to the caller when there is none, and returns it.
func Keep(t *Tensor) *Tensor { return t.Keep() }

// Which scopes are open, by the slot in their identity's low half: the identity while it is open, then 0. A scope that
// takes the slot over has another generation in its identity's high half.
const slotsPerPage = 256

var openScopes struct {
	pages [4096]atomic.Pointer[[slotsPerPage]atomic.Uint64]
	grow  sync.Mutex
}

func scopeSlot(id uint64) *atomic.Uint64 {
	slot := uint32(id)
	number := slot / slotsPerPage
	if int(number) >= len(openScopes.pages) {
		panic(&Error{ErrInternal, "scope", fmt.Sprintf("scope %#x is past the number of scopes that can be open", id)})
	}
	page := openScopes.pages[number].Load()
	if page == nil {
		openScopes.grow.Lock()
		defer openScopes.grow.Unlock()
		if page = openScopes.pages[number].Load(); page == nil {
			page = new([slotsPerPage]atomic.Uint64)
			openScopes.pages[number].Store(page)
		}
	}
	return &page[slot%slotsPerPage]
}

func scopeIsOpen(id uint64) bool { return scopeSlot(id).Load() == id }
