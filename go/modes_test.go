package gotorch_test

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"tandem.example/gotorch"
)

// records tells whether an operation on a parameter is recorded here.
func records() bool {
	x := gotorch.From([]float32{1}).SetRequiresGrad(true)
	defer x.Close()
	y := x.MulScalar(2)
	defer y.Close()
	return y.RequiresGrad()
}

func TestModesNest(t *testing.T) {
	gotorch.NoGrad(func() {
		if records() || gotorch.IsGradEnabled() {
			t.Error("NoGrad records")
		}
		gotorch.EnableGrad(func() {
			if !records() {
				t.Error("EnableGrad does not record")
			}
			gotorch.InferenceMode(func() {
				if records() || !gotorch.IsInferenceMode() {
					t.Error("InferenceMode records")
				}
			})
			if !records() || gotorch.IsInferenceMode() {
				t.Error("InferenceMode did not end")
			}
		})
		if records() {
			t.Error("EnableGrad did not end")
		}
	})
	if !records() {
		t.Error("NoGrad did not end")
	}
}

func TestModesEndWithAPanic(t *testing.T) {
	for range 3 {
		err := gotorch.Try(func() {
			gotorch.InferenceMode(func() {
				gotorch.Autocast(gotorch.CPU, gotorch.BFloat16, func() {
					gotorch.From([]float32{1, 2}).Add(gotorch.From([]float32{1, 2, 3}))
				})
			})
		})
		if !errors.Is(err, gotorch.ErrInvalidArgument) {
			t.Fatal(err)
		}
		if _, on := gotorch.AutocastDType(gotorch.CPU); on || gotorch.IsInferenceMode() || !records() {
			t.Fatal("a mode is left open")
		}
	}
	// A goroutine that ends inside of a mode takes its thread along, or leaves it clean.
	for range 20 {
		var wait sync.WaitGroup
		wait.Go(func() { gotorch.NoGrad(func() { runtime.Goexit() }) })
		wait.Wait()
		wait.Go(func() {
			if !records() {
				t.Error("a mode outlived its goroutine")
			}
		})
		wait.Wait()
	}
}

// Goroutines that give way inside of a mode are moved to other threads, and other goroutines to theirs, unless they
// are pinned: a mode would be lost, or leak into a neighbour.
func TestModesStayWithTheirGoroutine(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	var wait sync.WaitGroup
	for worker := range 16 {
		wait.Go(func() {
			for range rounds {
				check := func(want bool) {
					runtime.Gosched()
					if got := records(); got != want {
						t.Errorf("worker %d: records %v, want %v", worker, got, want)
					}
				}
				check(true)
				switch worker % 3 {
				case 0:
					gotorch.NoGrad(func() {
						check(false)
						gotorch.EnableGrad(func() { check(true) })
						check(false)
						var inner sync.WaitGroup
						inner.Go(func() { check(true) })
						inner.Wait()
					})
				case 1:
					gotorch.InferenceMode(func() { check(false); check(false) })
				default:
					check(true)
				}
				check(true)
			}
		})
	}
	wait.Wait()
}

func TestAutocast(t *testing.T) {
	x := gotorch.From([]float32{1, 2, 3, 4}, 2, 2)
	w := gotorch.From([]float32{1, 0, 0, 1}, 2, 2).SetRequiresGrad(true)
	gotorch.Autocast(gotorch.CPU, gotorch.BFloat16, func() {
		if dtype, on := gotorch.AutocastDType(gotorch.CPU); !on || dtype != gotorch.BFloat16 {
			t.Error(dtype, on)
		}
		if dtype := x.MatMul(w).DType(); dtype != gotorch.BFloat16 {
			t.Error("matmul gives", dtype)
		}
		if dtype := gotorch.Call("aten::linear", "", x, w)[0].(*gotorch.Tensor).DType(); dtype != gotorch.BFloat16 {
			t.Error("linear gives", dtype)
		}
		gotorch.NoAutocast(gotorch.CPU, func() {
			if dtype := x.MatMul(w).DType(); dtype != gotorch.Float32 {
				t.Error("matmul without autocast gives", dtype)
			}
		})
		gotorch.Autocast(gotorch.CPU, gotorch.Float16, func() {
			if dtype := x.MatMul(w).DType(); dtype != gotorch.Float16 {
				t.Error("matmul in float16 gives", dtype)
			}
		})
	})
	if dtype := x.MatMul(w).DType(); dtype != gotorch.Float32 {
		t.Error("matmul afterwards gives", dtype)
	}
	wantPanic(t, gotorch.ErrInvalidArgument, func() { gotorch.Autocast(gotorch.CPU, gotorch.Int64, func() {}) })
	if n, _ := gotorch.CUDADeviceCount(); n == 0 {
		err := wantPanic(t, gotorch.ErrUnsupported, func() { gotorch.Autocast(gotorch.CUDA(0), gotorch.Float16, func() {}) })
		if !strings.Contains(err.Message, "GPU") {
			t.Error(err)
		}
	}
}

func TestAutocastCastsAChangedParameterAgain(t *testing.T) {
	x := gotorch.From([]float32{1}, 1, 1)
	w := gotorch.From([]float32{1}, 1, 1).SetRequiresGrad(true)
	for _, value := range []float32{1, 7, 9} {
		gotorch.CopyFrom(w, []float32{value})
		gotorch.Autocast(gotorch.CPU, gotorch.BFloat16, func() {
			if got := x.MatMul(w).Item(); got != float64(value) {
				t.Errorf("%v times one is %v", value, got)
			}
		})
	}
}

func TestDetectAnomalyNamesTheOperator(t *testing.T) {
	run := func() error {
		x := gotorch.From([]float32{0}).SetRequiresGrad(true)
		return x.Sqrt().MulScalar(0).Backward()
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	gotorch.DetectAnomaly(func() {
		if err := run(); err == nil || !strings.Contains(err.Error(), "SqrtBackward0' returned nan") {
			t.Error(err)
		}
	})
	if err := run(); err != nil {
		t.Fatal(err)
	}
}
