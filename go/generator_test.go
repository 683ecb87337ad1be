package gotorch_test

import (
	"slices"
	"testing"

	"tandem.example/gotorch"
)

func TestGenerator(t *testing.T) {
	draw := func(g *gotorch.Generator) []float32 {
		return gotorch.ToSlice[float32](gotorch.Call("aten::rand", "generator", []int{4}, g)[0].(*gotorch.Tensor))
	}
	gotorch.Scope(func() {
		a, b := gotorch.NewGenerator(gotorch.CPU), gotorch.NewGenerator(gotorch.CPU)
		equal(t, draw(a), draw(b))
		first := draw(a.ManualSeed(1))
		if slices.Equal(first, draw(b.ManualSeed(2))) {
			t.Error("two seeds give the same numbers")
		}
		if a.InitialSeed() != 1 || a.Device().Kind != gotorch.CPUDevice {
			t.Error(a.InitialSeed(), a.Device())
		}
		state := a.State()
		second := draw(a)
		b.SetState(state)
		equal(t, draw(b), second)
		if seed := a.Seed(); seed == 1 || seed != a.InitialSeed() {
			t.Error(seed)
		}
		wantPanic(t, gotorch.ErrInvalidArgument, func() { a.SetState(gotorch.From([]float32{1})) })
		wantPanic(t, gotorch.ErrInvalidArgument, func() { gotorch.NewGenerator(gotorch.Device{Kind: gotorch.MetaDevice}) })
	})
}

func TestRNGStateRepeatsRandAndDropout(t *testing.T) {
	gotorch.Scope(func() {
		draw := func() []float32 {
			rand := gotorch.ToSlice[float32](gotorch.Rand([]int{4}))
			return append(rand, gotorch.ToSlice[float32](dropout(gotorch.Ones([]int{64})))...)
		}
		draw()
		state := gotorch.RNGState(gotorch.CPU)
		first := draw()
		if slices.Equal(draw(), first) {
			t.Error("the same numbers twice")
		}
		gotorch.SetRNGState(gotorch.CPU, state)
		equal(t, draw(), first)
	})
}
