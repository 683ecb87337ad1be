package initialize_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/nn/initialize"
)

// Values are those of tests/cpp/nn/reference.py; here that parameters arrive where they belong.
func TestFillsParametersInPlace(t *testing.T) {
	linear := nn.NewLinear(3, 4)
	if got := initialize.Constant(linear.Weight, 0.25); got != linear.Weight {
		t.Error("Constant gives another tensor")
	}
	if got := gotorch.ToSlice[float32](linear.Weight); !slices.Equal(got, slices.Repeat([]float32{0.25}, 12)) {
		t.Error(got)
	}
	if !linear.Weight.RequiresGrad() || !linear.Weight.IsLeaf() {
		t.Error("the weight is no leaf any more")
	}
	initialize.Zeros(linear.Bias)
	if got := linear.Bias.Abs().Sum().Item(); got != 0 {
		t.Error(got)
	}
}

func TestDrawsFromGenerators(t *testing.T) {
	draw := func(fill func(*gotorch.Tensor, *gotorch.Generator)) *gotorch.Tensor {
		x, g := gotorch.Zeros([]int{8, 5}), gotorch.NewGenerator(gotorch.CPU)
		g.ManualSeed(3)
		fill(x, g)
		return x
	}
	for name, fill := range map[string]func(*gotorch.Tensor, *gotorch.Generator){
		"Uniform": func(x *gotorch.Tensor, g *gotorch.Generator) {
			initialize.Uniform(x, -1, 1, initialize.UniformOptions{Generator: g})
		},
		"TruncNormal": func(x *gotorch.Tensor, g *gotorch.Generator) {
			initialize.TruncNormal(x, 0, 1, initialize.TruncNormalOptions{A: gotorch.Some(-0.5), B: gotorch.Some(0.5), Generator: g})
		},
		"KaimingNormal": func(x *gotorch.Tensor, g *gotorch.Generator) {
			initialize.KaimingNormal(x, initialize.KaimingNormalOptions{Mode: "fan_out", Nonlinearity: "relu", Generator: g})
		},
		"Orthogonal": func(x *gotorch.Tensor, g *gotorch.Generator) {
			initialize.Orthogonal(x, initialize.OrthogonalOptions{Gain: gotorch.Some(2.0), Generator: g})
		},
		"Sparse": func(x *gotorch.Tensor, g *gotorch.Generator) {
			initialize.Sparse(x, 0.5, initialize.SparseOptions{Generator: g})
		},
	} {
		if a, b := draw(fill), draw(fill); !a.Equal(b) || a.Abs().Sum().Item() == 0 {
			t.Error(name, a, b)
		}
	}
}

func TestGainAndErrors(t *testing.T) {
	if got := initialize.CalculateGain("leaky_relu", initialize.CalculateGainOptions{Param: gotorch.Some(1.0)}); got != 1 {
		t.Error(got)
	}
	if got := initialize.CalculateGain("relu"); got != math.Sqrt2 {
		t.Error(got)
	}
	err := gotorch.Try(func() { initialize.XavierUniform(gotorch.Zeros([]int{3})) })
	if err == nil || !strings.Contains(err.Error(), "at least 2 dimensions") {
		t.Error(err)
	}
}
