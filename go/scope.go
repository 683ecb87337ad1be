package gotorch

import (
	"fmt"
	"iter"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"

	"tandem.example/gotorch/internal/c"
)

// Scope calls body and then frees every tensor that body made, but those it passed to Keep. Scopes nest. Parameters,
// their gradients and optimizer state survive. Goroutines that body starts are outside of the scope. While body runs,
// its goroutine is pinned to its thread.
func Scope(body func()) { inScope(func(uint64) { body() }) }

// inScope gives body the scope's identity.
func inScope(body func(id uint64)) {
	leave, id := enter()
	defer leave()
	body(id)
}

// TryScope is [Scope] and [Try] in one: it gives the error that body returns, or the *[Error] that it panicked with.
//
//	err := gotorch.TryScope(func() error { return sgd.Minimize(F.CrossEntropy(model.Forward(x), y)) })
func TryScope(body func() error) error {
	var returned error
	if err := Try(func() { Scope(func() { returned = body() }) }); err != nil {
		return err
	}
	return returned
}

// InScope is [Scope] for a body that gives a value, which outlives the scope: tensors in it are kept, where T is *[Tensor]
// or an array, a slice or a map of them, of any depth. Tensors in structs and other types body keeps itself ([Keep]).
func InScope[T any](body func() T) (value T) {
	inScope(func(id uint64) {
		value = body()
		keepFrom(id, value)
	})
	return value
}

// keepFrom keeps tensors of that scope; one of a scope around it stays there.
func keepFrom(id uint64, value any) {
	keep := func(t *Tensor) {
		if t != nil && t.scope == id {
			t.Keep()
		}
	}
	switch v := value.(type) {
	case *Tensor:
		keep(v)
	case []*Tensor:
		for _, t := range v {
			keep(t)
		}
	case nil:
	default:
		keepIn(reflect.ValueOf(value), keep)
	}
}

// keepIn is for arrays, slices and maps of tensors, or of such.
func keepIn(value reflect.Value, keep func(t *Tensor)) {
	switch value.Kind() {
	case reflect.Pointer:
		if t, ok := value.Interface().(*Tensor); ok {
			keep(t)
		}
	case reflect.Array, reflect.Slice:
		if holdsTensors(value.Type()) {
			for i := range value.Len() {
				keepIn(value.Index(i), keep)
			}
		}
	case reflect.Map:
		if holdsTensors(value.Type()) {
			for each := value.MapRange(); each.Next(); {
				keepIn(each.Value(), keep)
			}
		}
	}
}

// holdsTensors spares a look at each of a million numbers.
func holdsTensors(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array, reflect.Slice, reflect.Map:
		return holdsTensors(t.Elem())
	}
	return t == reflect.TypeFor[*Tensor]()
}

// Steps counts from 0 to n - 1, each step of the loop in a [Scope] of its own:
//
//	for step := range gotorch.Steps(1000) { … }
func Steps(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		Scoped(func(yield func(int, struct{}) bool) {
			for step := range n {
				if !yield(step, struct{}{}) {
					return
				}
			}
		})(func(step int, _ struct{}) bool { return yield(step) })
	}
}

// enter opens a scope; the function that it gives closes it.
func enter() (leave func(), id uint64) {
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
	}, id
}

// Scoped gives what sequence gives, each step of the loop in a [Scope] of its own, which the value given belongs to:
//
//	for batch, err := range gotorch.Scoped(loader.Epoch(ctx, epoch)) { … }
//
// What is to outlive a step has to be kept.
func Scoped[K, V any](sequence iter.Seq2[K, V]) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		leave, _ := enter()
		defer func() { leave() }()
		sequence(func(key K, value V) bool {
			if !yield(key, value) {
				return false
			}
			leave()
			leave = func() {}
			leave, _ = enter()
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
