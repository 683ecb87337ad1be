package gotorch_test

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"

	"tandem.example/gotorch"
)

func dropout(x *gotorch.Tensor) *gotorch.Tensor {
	return gotorch.Call("aten::dropout", "", x, 0.5, true)[0].(*gotorch.Tensor)
}

func TestCheckpointGivesTheGradientsOfAPassWithout(t *testing.T) {
	settle(t, 0)
	gotorch.Scope(func() {
		var gradients, afterwards [2][]float32
		runs := 0
		for i := range 2 {
			if err := gotorch.ManualSeed(7); err != nil {
				t.Fatal(err)
			}
			x, w := gotorch.RandN([]int{8, 8}), gotorch.RandN([]int{8, 8}).SetRequiresGrad(true)
			block := func(inputs []*gotorch.Tensor) []*gotorch.Tensor {
				runs++
				return []*gotorch.Tensor{dropout(dropout(inputs[0].MatMul(w)).Tanh().MatMul(w))}
			}
			var out *gotorch.Tensor
			if i == 0 {
				out = block([]*gotorch.Tensor{x})[0]
			} else {
				out = gotorch.Checkpoint(block, x)[0]
			}
			backward(t, out.Sum())
			gradients[i] = gotorch.ToSlice[float32](w.Grad())
			afterwards[i] = gotorch.ToSlice[float32](gotorch.Rand([]int{4}))
		}
		equal(t, gradients[1], gradients[0])
		equal(t, afterwards[1], afterwards[0])
		if runs != 3 {
			t.Errorf("the function ran %d times", runs)
		}
	})
	if n := gotorch.LiveCounts()["callback"]; n != 0 {
		t.Errorf("%d callbacks outlived their graph", n)
	}
}

func TestCheckpointNestsAndTakesGrad(t *testing.T) {
	gotorch.Scope(func() {
		x := parameter(2)
		square := func(inputs []*gotorch.Tensor) []*gotorch.Tensor {
			return []*gotorch.Tensor{inputs[0].Mul(inputs[0])}
		}
		fourth := func(inputs []*gotorch.Tensor) []*gotorch.Tensor {
			return gotorch.Checkpoint(square, gotorch.Checkpoint(square, inputs...)...)
		}
		out := gotorch.Checkpoint(fourth, x)[0]
		var derivatives []float64
		for range 3 {
			grads, err := gotorch.Grad([]*gotorch.Tensor{out}, []*gotorch.Tensor{x}, gotorch.GradOptions{CreateGraph: true})
			if err != nil {
				t.Fatal(err)
			}
			out = grads[0]
			derivatives = append(derivatives, out.Item())
		}
		equal(t, derivatives, []float64{32, 48, 48})
	})
}

func TestCheckpointKeepsAutocast(t *testing.T) {
	gotorch.Scope(func() {
		x, w := gotorch.From([]float32{1, 2}, 1, 2), gotorch.From([]float32{3, 4}, 2, 1).SetRequiresGrad(true)
		var dtypes []gotorch.DType
		var out *gotorch.Tensor
		gotorch.Autocast(gotorch.CPU, gotorch.BFloat16, func() {
			out = gotorch.Checkpoint(func(inputs []*gotorch.Tensor) []*gotorch.Tensor {
				product := inputs[0].MatMul(w)
				dtypes = append(dtypes, product.DType())
				return []*gotorch.Tensor{product.Mul(product)}
			}, x)[0]
		})
		backward(t, out)
		equal(t, dtypes, []gotorch.DType{gotorch.BFloat16, gotorch.BFloat16})
		equal(t, gotorch.ToSlice[float32](w.Grad()), []float32{22, 44})
	})
}

func TestCheckpointThatFails(t *testing.T) {
	gotorch.Scope(func() {
		x := parameter(2)
		runs := 0
		out := gotorch.Checkpoint(func(inputs []*gotorch.Tensor) []*gotorch.Tensor {
			if runs++; runs > 1 {
				panic(errOfHook)
			}
			return []*gotorch.Tensor{inputs[0].Mul(inputs[0])}
		}, x)[0]
		if err := out.Backward(); !errors.Is(err, errOfHook) || !strings.Contains(err.Error(), "a checkpointed function failed") {
			t.Error(err)
		}
		out = gotorch.Checkpoint(func(inputs []*gotorch.Tensor) []*gotorch.Tensor {
			square := inputs[0].Mul(inputs[0])
			if runs++; runs > 3 {
				square = square.Mul(square)
			}
			return []*gotorch.Tensor{square}
		}, x)[0]
		if err := out.Backward(); err == nil || !strings.Contains(err.Error(), "saved 4 tensors instead of 2") {
			t.Error(err)
		}
		// A panic in the first run comes out of Checkpoint, and leaves nothing open.
		wantPanic(t, gotorch.ErrInvalidArgument, func() {
			gotorch.Checkpoint(func(inputs []*gotorch.Tensor) []*gotorch.Tensor {
				return []*gotorch.Tensor{inputs[0].Mul(gotorch.From([]float32{1, 2})).Add(gotorch.From([]float32{1, 2, 3}))}
			}, x)
		})
		y := x.Mul(x)
		backward(t, y)
	})
	if n := gotorch.LiveCounts()["callback"]; n != 0 {
		t.Errorf("%d callbacks outlived their graph", n)
	}
}

func TestCheckpointsUnderGoroutines(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	w := parameter(3)
	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Go(func() {
			for range 30 {
				gotorch.Scope(func() {
					x := parameter(2)
					block := func(inputs []*gotorch.Tensor) []*gotorch.Tensor {
						runtime.Gosched()
						return []*gotorch.Tensor{inputs[0].Mul(inputs[0]).Mul(w)}
					}
					var out *gotorch.Tensor
					if worker%2 == 0 {
						out = gotorch.Checkpoint(block, x)[0]
					} else {
						out = block([]*gotorch.Tensor{x})[0]
					}
					backward(t, out)
					if got := x.Grad().Item(); got != 12 {
						t.Errorf("gradient is %v, want 12", got)
					}
				})
			}
		})
	}
	wait.Wait()
}

// Large work of a thread without a pool is done by another thread, which has to save what the checkpoint says.
func TestCheckpointOfLargeWorkOnAnyThread(t *testing.T) {
	threads, err := gotorch.NumThreads()
	if err != nil {
		t.Fatal(err)
	}
	if err := gotorch.SetNumThreads(2); err != nil {
		t.Fatal(err)
	}
	defer gotorch.SetNumThreads(threads)
	gotorch.Scope(func() {
		large := []int{256, 256}
		gotorch.Ones(large).MatMul(gotorch.Ones(large)) // this thread is the first, if no other was
		x, w := gotorch.RandN(large), gotorch.RandN(large).SetRequiresGrad(true)
		block := func(inputs []*gotorch.Tensor) []*gotorch.Tensor {
			return []*gotorch.Tensor{inputs[0].MatMul(w).Tanh().MatMul(w).Sigmoid()}
		}
		backward(t, block([]*gotorch.Tensor{x})[0].Sum())
		want := gotorch.ToSlice[float32](w.Grad())
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				gotorch.Scope(func() {
					grads, err := gotorch.Grad([]*gotorch.Tensor{gotorch.Checkpoint(block, x)[0].Sum()}, []*gotorch.Tensor{w})
					if err != nil {
						t.Error(err)
						return
					}
					// One thread or two add up in another order.
					for i, got := range gotorch.ToSlice[float32](grads[0]) {
						if math.Abs(float64(got-want[i])) > 1e-3 {
							t.Errorf("gradient %d is %g, want %g", i, got, want[i])
							return
						}
					}
				})
			})
		}
		all.Wait()
	})
}
