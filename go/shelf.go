package gotorch

import (
	"runtime"
	"sync"
	"sync/atomic"

	"tandem.example/gotorch/internal/c"
)

// shelf holds small results of operators, without gradients, that no scope frees. The collector frees them together, once
// none of them is reachable: looking after each of them alone costs as much as computing it. So one that is kept can keep
// a few others from being freed; what those can hold is bounded, by c.LightBytes each.
type shelf struct {
	tensors [perShelf]Tensor
	used    int
	age     uint32
	content *content
}

const perShelf = 8

// content is what the tensors of a shelf own.
type content struct {
	tensors [perShelf]guarded
	next    *content // of those that are to be freed
}

// shelves are those that still have room. The collector drops them as well.
var shelves sync.Pool

// shelfAge counts how often shelves were left as they are: of another age, they take no more tensors.
var shelfAge atomic.Uint32

// leaveShelves has tensors that are made from now on be kept by none that was made before.
func leaveShelves() { shelfAge.Add(1) }

func newShelf() *shelf {
	s := &shelf{content: new(content), age: shelfAge.Load()}
	runtime.AddCleanup(s, delayFree, s.content)
	return s
}

// shelve takes a new handle of a light tensor.
func shelve(m c.Made) *Tensor {
	s, _ := shelves.Get().(*shelf)
	if s == nil || s.age != shelfAge.Load() {
		if delayed.first.Load() != nil {
			freeDelayed()
		}
		s = newShelf()
	}
	t, g := &s.tensors[s.used], &s.content.tensors[s.used]
	s.used++
	g.native, g.bytes = m.Handle, m.Bytes+handleBytes
	t.native, t.guarded = m.Handle, g
	if s.used < perShelf {
		shelves.Put(s)
	}
	account(g.bytes)
	return t
}
