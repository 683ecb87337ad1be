package gotorch_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/testmain"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

// poolThreads counts the threads that Go did not make: those of OpenMP, and Tandem's compute thread.
func poolThreads() int {
	tasks, _ := os.ReadDir("/proc/self/task")
	return len(tasks) - pprof.Lookup("threadcreate").Count()
}

// trainOnGoroutines prints by how much 10,000 steps grow the process after the first 500, and the threads of pools.
func trainOnGoroutines(goroutines int) {
	const steps, warmup = 10000, 500
	runtime.GOMAXPROCS(8)
	var taken, start atomic.Int64
	var ready, done sync.WaitGroup
	ready.Add(goroutines)
	for range goroutines {
		done.Go(func() {
			net := nn.NewSequential(nn.NewLinear(784, 8), nn.NewReLU(), nn.NewLinear(8, 10))
			sgd := optim.SGD(nn.Parameters(net), 0.01)
			images, labels := gotorch.Rand([]int{48, 784}), gotorch.RandInt(10, []int{48})
			step := func() {
				if err := sgd.Minimize(functional.CrossEntropy(net.Forward(images), labels)); err != nil {
					panic(err)
				}
			}
			// All models, and as many threads as there can be, are there before memory is looked at: a scope holds its own.
			gotorch.Scope(func() {
				step()
				ready.Done()
				ready.Wait()
			})
			for n := taken.Add(1); n <= steps; n = taken.Add(1) {
				if n == warmup {
					start.Store(int64(residentMemory()))
				}
				gotorch.Scope(step)
			}
		})
	}
	done.Wait()
	fmt.Println(int64(residentMemory())-start.Load(), poolThreads())
}

func TestGoroutinesDoNotGatherPools(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector keeps memory of its own")
	}
	const threads = 2
	for _, name := range []string{"8 goroutines", "64 goroutines"} {
		t.Run(name, func(t *testing.T) {
			output, err := testmain.Command(t, name, fmt.Sprintf("OMP_NUM_THREADS=%d", threads)).Output()
			if err != nil {
				if exit, ok := err.(*exec.ExitError); ok {
					t.Fatalf("%v: %s%s", err, output, exit.Stderr)
				}
				t.Fatal(err)
			}
			var grown, pools int
			if _, err := fmt.Sscan(string(output), &grown, &pools); err != nil {
				t.Fatalf("%v: %q", err, output)
			}
			t.Logf("10,000 steps: %.1f MB more than after 500, %d threads of pools", float64(grown)/1e6, pools)
			if grown > 16<<20 {
				t.Errorf("10,000 steps grew resident memory by %d bytes after step 500", grown)
			}
			if pools > 2*threads {
				t.Errorf("%d threads of pools, for %d that an operator may use", pools, threads)
			}
		})
	}
}
