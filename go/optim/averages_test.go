package optim_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/optim"
)

// averaged are parameters and buffers as in tests/cpp/optim/reference.py, but for the complex ones.
type averaged struct{ a, c, d *gotorch.Tensor }

func newAveraged() averaged {
	return averaged{gotorch.Zeros([]int{2, 2}, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Float64)}).SetRequiresGrad(true),
		gotorch.Zeros([]int{3}, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Float64)}), gotorch.Zeros([]int{}, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Int64)})}
}

func (m averaged) fill(step int) {
	value := func(element int) float64 { return float64((step*5+element*3)%7-2) / 4 }
	gotorch.NoGrad(func() {
		m.a.CopyI(gotorch.From([]float64{value(0), value(1), value(2), value(3)}, 2, 2))
		m.c.CopyI(gotorch.From([]float64{value(8), value(9), value(10)}, 3))
		m.d.FillScalarI(step * 10)
	})
}

func (m averaged) averages(kind string, decay float64, useBuffers bool) *optim.Averages {
	buffers := []*gotorch.Tensor{m.c, m.d}
	if kind == "ema" {
		return optim.EMA([]*gotorch.Tensor{m.a}, buffers, decay, optim.AveragesOptions{UseBuffers: useBuffers})
	}
	return optim.SWA([]*gotorch.Tensor{m.a}, buffers, optim.AveragesOptions{UseBuffers: useBuffers})
}

func TestAveragesAreThoseOfPython(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "tests", "cpp", "optim", "averages.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Average    string
		Decay      float64
		UseBuffers bool `json:"use_buffers"`
		Steps      [][]float64
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, one := range cases {
		model := newAveraged()
		averages := model.averages(one.Average, one.Decay, one.UseBuffers)
		for step, want := range one.Steps {
			if step == 5 { // goes on from what was saved
				state, err := averages.State()
				if err != nil {
					t.Fatal(err)
				}
				averages = model.averages(one.Average, one.Decay, one.UseBuffers)
				if err := averages.LoadState(state); err != nil {
					t.Fatal(err)
				}
			}
			model.fill(step)
			if err := averages.Update(); err != nil {
				t.Fatal(err)
			}
			parameters, err := averages.Parameters()
			if err != nil {
				t.Fatal(err)
			}
			buffers, err := averages.Buffers()
			if err != nil {
				t.Fatal(err)
			}
			got := append(gotorch.ToSlice[float64](parameters[0]), gotorch.ToSlice[float64](buffers[0])...)
			expected := append(append([]float64{}, want[:4]...), want[8:11]...)
			for i := range got {
				if !near(got[i], expected[i]) {
					t.Fatalf("%s of %v, step %d: %v, not %v", one.Average, one.Decay, step, got, expected)
				}
			}
		}
	}
	if len(cases) != 5 {
		t.Error(len(cases), "cases")
	}
}

func TestAveragesSwap(t *testing.T) {
	x := parameter(1)
	ema := optim.EMA([]*gotorch.Tensor{x}, nil, 0.75)
	update := func(value float64) {
		gotorch.NoGrad(func() { x.FillScalarI(value) })
		if err := ema.Update(); err != nil {
			t.Fatal(err)
		}
	}
	update(1)
	update(3)
	for _, want := range []float64{1.5, 3} {
		if err := ema.Swap(); err != nil || x.Item() != want {
			t.Fatal(err, x.Item(), "not", want)
		}
	}
	if !x.RequiresGrad() {
		t.Error("the parameter lost its gradient")
	}
	err := gotorch.Try(func() { optim.EMA([]*gotorch.Tensor{x}, nil, 1.5) })
	if !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), "optim.EMA: decay is 1.5") {
		t.Error(err)
	}
	if err := ema.LoadState(map[string]*gotorch.Tensor{}); err == nil || !strings.Contains(err.Error(), "state 'n_averaged' is missing") {
		t.Error(err)
	}
}
