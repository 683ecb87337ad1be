package gotorch_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/testmain"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

// compute has goroutines multiply matrices, for ever.
func compute() {
	started := make(chan bool)
	for range 4 {
		go func() {
			x := gotorch.Rand([]int{256, 256})
			for i := 0; ; i++ {
				gotorch.Scope(func() {
					y := x.Clone().SetRequiresGrad(true)
					y.MatMul(x).MatMul(x).Sum().Backward()
				})
				if i == 3 {
					started <- true
				}
			}
		}()
	}
	for range 4 {
		<-started
	}
}

func leaveMainWhileComputing() { compute() }

func shutdownWhileComputing() {
	x := gotorch.Rand([]int{8})
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				gotorch.Scope(func() { x.MulScalar(2) })
			}
		}
	}()
	time.Sleep(10 * time.Millisecond)
	close(stop)
	<-done
	if err := gotorch.Shutdown(10 * time.Second); err != nil {
		fmt.Println("shutdown:", err)
		os.Exit(1)
	}
	err := gotorch.Try(func() { gotorch.Rand([]int{8}) })
	fmt.Println(err)
	x.Close()
}

// A program that ends while native threads compute ends cleanly. Ten times each: a crash would be a matter of luck.
func TestLeavingWhileComputing(t *testing.T) {
	for name, code := range map[string]int{"leave main": 0, "os.Exit": 3} {
		for range 5 {
			command := testmain.Command(t, name)
			output, err := command.CombinedOutput()
			if command.ProcessState.ExitCode() != code || len(output) > 0 {
				t.Fatalf("%s: %v: %s", name, err, output)
			}
		}
	}
}

func TestShutdown(t *testing.T) {
	output, err := testmain.Command(t, "shutdown").CombinedOutput()
	if err != nil || !strings.Contains(string(output), "shut down") {
		t.Fatalf("%v: %s", err, output)
	}
}

func residentMemory() int {
	status, _ := os.ReadFile("/proc/self/statm")
	pages, _ := strconv.Atoi(strings.Fields(string(status))[1])
	return pages * os.Getpagesize()
}

// trainForMemory prints by how much 2,000 steps grow the process between step 500 and the last.
func trainForMemory(scopes bool) {
	net := nn.NewSequential(nn.NewConv2d(1, 8, 3), nn.NewReLU(), nn.NewMaxPool2d(2), nn.NewFlatten(),
		nn.NewLinear(8*13*13, 32), nn.NewReLU(), nn.NewLinear(32, 10))
	adam := optim.Adam(nn.Parameters(net), 1e-3)
	images, labels := gotorch.Rand([]int{16, 1, 28, 28}), gotorch.RandInt(10, []int{16})
	step := func() {
		loss := functional.CrossEntropy(net.Forward(images), labels)
		if err := adam.Minimize(loss); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		if loss.Item() != loss.Item() {
			fmt.Println("the loss is not a number")
			os.Exit(1)
		}
	}
	start := 0
	for i := range 2000 {
		if i == 500 {
			start = residentMemory()
		}
		if scopes {
			gotorch.Scope(step)
		} else {
			step()
		}
	}
	fmt.Println(residentMemory() - start)
}

func TestTrainingDoesNotGrow(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector keeps memory of its own")
	}
	for _, name := range []string{"memory scopes", "memory gc"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			output, err := testmain.Command(t, name, "OMP_NUM_THREADS=1").Output()
			if err != nil {
				if exit, ok := err.(*exec.ExitError); ok {
					t.Fatalf("%v: %s%s", err, output, exit.Stderr)
				}
				t.Fatal(err)
			}
			grown, err := strconv.Atoi(strings.TrimSpace(string(output)))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("2,000 steps: %.1f MB more than after 500", float64(grown)/1e6)
			if grown > 16<<20 {
				t.Fatalf("2,000 steps grew resident memory by %d bytes after step 500", grown)
			}
		})
	}
}
