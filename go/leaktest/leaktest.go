// Package leaktest has tests fail that leave native objects behind: tensors, groups, loaders, hooks, whatever
// gotorch.LiveCounts counts. For a whole package:
//
//	func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }
//
// and for one test:
//
//	func TestStep(t *testing.T) {
//		leaktest.Check(t)
//		…
//	}
package leaktest

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/leak"
)

const (
	patience        = 10 * time.Second // for the collector, and threads that release what they hold
	shutdownTimeout = 30 * time.Second
)

// Run runs a package's tests, and shuts gotorch down. It gives the status for os.Exit: not 0 where a test failed, where
// objects are open although nothing reaches them any more or they are the program's to close, or where native threads
// did not end. What is open is printed.
func Run(m *testing.M) int {
	status := m.Run()
	if left := settle(nil); status == 0 && len(left) > 0 {
		fmt.Fprintln(os.Stderr, "left open after the tests:", left)
		status = 1
	}
	if err := gotorch.Shutdown(shutdownTimeout); err != nil {
		fmt.Fprintln(os.Stderr, "shutdown:", err)
		status = 1
	}
	return status
}

// Check has t fail when it ends with more objects open than there are now. It cannot tell tests apart that run in
// parallel.
func Check(t testing.TB) {
	t.Helper()
	before := settled()
	t.Cleanup(func() {
		if left := settle(before); len(left) > 0 {
			t.Errorf("left open by the test: %v", left)
		}
	})
}

// Open tells what is open, after a collection: "2 × tensor", and for what has to be closed where it was made: "dist.DDP
// made in main.train".
func Open() []string {
	runtime.GC()
	return more(now(), nil)
}

// counts of open objects, by what is told of them.
type counts map[string]int

func now() counts {
	open := counts(gotorch.LiveCounts())
	for _, one := range leak.Open() {
		open[one]++
	}
	return open
}

// more is what there is more of than before.
func more(open, before counts) (list []string) {
	for _, what := range slices.Sorted(maps.Keys(open)) {
		if n := open[what] - before[what]; n > 0 {
			list = append(list, fmt.Sprintf("%d × %s", n, what))
		}
	}
	return list
}

// settled is what is open once the collector has freed what tests before left to it: what several collections leave as it is.
func settled() counts {
	before := now()
	for same := 0; same < 3; same++ {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
		if after := now(); !maps.Equal(before, after) {
			before, same = after, 0
		}
	}
	return before
}

// settle is what there is more of than before once the collector has freed what it may.
func settle(before counts) (left []string) {
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		runtime.GC()
		if left = more(now(), before); len(left) == 0 || time.Now().After(end) {
			return left
		}
	}
}
