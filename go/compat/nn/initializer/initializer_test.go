package initializer_test

import (
	"testing"

	torch "tandem.example/gotorch/compat"
	"tandem.example/gotorch/compat/nn/initializer"
)

func TestManualSeed(t *testing.T) {
	initializer.ManualSeed(1)
	x := torch.RandN([]int64{1}, false)
	if got := x.Item(); got != float32(0.66135216) { // Python's
		t.Error(got)
	}
}

func TestFilling(t *testing.T) {
	for name, c := range map[string]struct {
		fill      func(*torch.Tensor)
		low, high float32
	}{
		"Zeros":          {initializer.Zeros, 0, 0},
		"Ones":           {initializer.Ones, 1, 1},
		"Uniform":        {func(x *torch.Tensor) { initializer.Uniform(x, 3, 4) }, 3, 4},
		"Normal":         {func(x *torch.Tensor) { initializer.Normal(x, 100, 0.1) }, 99, 101},
		"KaimingUniform": {func(x *torch.Tensor) { initializer.KaimingUniform(x, 0, "fan_out", "relu") }, -1, 1},
	} {
		x := torch.Full([]int64{6, 2}, 50, true)
		c.fill(&x)
		for i := range int64(6) {
			if v := x.Index(i, 1).Item().(float32); v < c.low || v > c.high {
				t.Errorf("%s: %v", name, v)
			}
		}
		for _, none := range []*torch.Tensor{nil, {}} {
			func() {
				defer func() {
					if _, ok := recover().(string); !ok {
						t.Errorf("%s: no panic on %v", name, none)
					}
				}()
				c.fill(none)
			}()
		}
	}
}

func TestCalculateFanInAndFanOut(t *testing.T) {
	in, out := initializer.CalculateFanInAndFanOut(torch.Ones([]int64{5, 4, 3, 2}, false))
	if in != 24 || out != 30 {
		t.Error(in, out)
	}
}
