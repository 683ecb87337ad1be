package gotorch_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"tandem.example/gotorch"
)

// waitForTensors has the collector run until at most so many tensor handles are alive.
func waitForTensors(t *testing.T, most int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); gotorch.LiveCounts()["tensor"] > most; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d tensor handles are alive, not at most %d", gotorch.LiveCounts()["tensor"], most)
		}
		runtime.GC()
	}
}

func TestSmallTensorsOutsideScopesAreFreedTogether(t *testing.T) {
	const perShelf = 8
	one, sum := gotorch.Ones([]int{4}), gotorch.Zeros([]int{4})
	runtime.GC()
	before := gotorch.LiveCounts()["tensor"]
	var kept []*gotorch.Tensor
	for i := range 50 * perShelf {
		sum.AddI(one)
		if x := sum.Add(one); i%50 == 0 {
			kept = append(kept, x)
		}
	}
	waitForTensors(t, before+perShelf*len(kept))
	for i, x := range kept {
		if values := gotorch.Data[float32](x); values[3] != float32(50*i+2) {
			t.Fatalf("tensor %d is %v after its neighbours were collected", i, values)
		}
	}
	kept[0].Close()
	if err := gotorch.Try(func() { kept[0].Neg() }); !errors.Is(err, gotorch.ErrClosed) {
		t.Fatal(err)
	}
	runtime.KeepAlive(kept)
	kept = nil
	waitForTensors(t, before)
	runtime.KeepAlive([]*gotorch.Tensor{one, sum})
}

func TestNeighboursOnAShelfAreClosedByAnyGoroutine(t *testing.T) {
	base := gotorch.Zeros([]int{4})
	runtime.GC()
	before := gotorch.LiveCounts()["tensor"]
	var wait sync.WaitGroup
	for range 64 {
		x := base.Neg()
		wait.Go(x.Close)
	}
	wait.Wait()
	waitForTensors(t, before)
	runtime.KeepAlive(base)
}

// As leaktest counts: what is kept from before the first count must not keep what is made after it.
func TestCountsOfTensorsAreNotBlurredByNeighbours(t *testing.T) {
	one := gotorch.Ones([]int{4})
	kept := one.Neg()
	runtime.GC()
	before := gotorch.LiveCounts()["tensor"]
	one.Neg()
	one.Neg()
	waitForTensors(t, before)
	runtime.KeepAlive([]*gotorch.Tensor{one, kept})
}

// A small view keeps all of a large tensor alive: it must not be kept by neighbours.
func TestSmallViewsOfLargeTensorsAreFreedAlone(t *testing.T) {
	var kept []*gotorch.Tensor
	two := gotorch.Ones([]int{2})
	runtime.GC()
	before := gotorch.LiveCounts()["tensor"]
	for range 10 {
		kept = append(kept, two.Neg())
		gotorch.Zeros([]int{8, 1 << 13}).Diagonal()
	}
	waitForTensors(t, before+len(kept))
	runtime.KeepAlive(append(kept, two))
}
