package nn_test

import (
	"slices"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

func namesOf(list []nn.Named) (names []string) {
	for _, one := range list {
		names = append(names, one.Name)
	}
	return names
}

// Values are those of tests/cpp/nn/reference.py; here that names, tensors and training follow.
func TestParametrizedModulesTrain(t *testing.T) {
	type model struct {
		nn.Base
		First, Second *nn.Linear
	}
	m := &model{First: nn.NewLinear(3, 4), Second: nn.NewLinear(4, 1)}
	x := gotorch.Rand([]int{8, 3})
	before := m.First.Forward(x)
	nn.WeightNorm(m.First, "weight", nn.WeightNormOptions{Dim: gotorch.Some(1)})
	if !m.First.Forward(x).AllClose(before) {
		t.Error("weight norm changes what the module computes")
	}
	nn.SpectralNorm(m.Second, "weight", nn.SpectralNormOptions{PowerIterations: 2})
	want := []string{"first.bias", "first.parametrizations.weight.original0", "first.parametrizations.weight.original1",
		"second.bias", "second.parametrizations.weight.original"}
	if got := namesOf(nn.NamedParameters(m)); !slices.Equal(got, want) {
		t.Error(got)
	}
	if got := namesOf(nn.NamedBuffers(m)); len(got) != 2 || got[0] != "second.parametrizations.weight.0._u" {
		t.Error(got)
	}
	if nn.NamedParameters(m)[2].Tensor != m.First.Weight {
		t.Error("original1 is not the weight's tensor")
	}
	sgd := optim.SGD(nn.Parameters(m), 0.1)
	m.Second.Forward(m.First.Forward(x).ReLU()).Sum().Backward()
	if err := sgd.Step(); err != nil {
		t.Fatal(err)
	}
	after := m.First.Forward(x)
	if after.AllClose(before) {
		t.Error("a step changes nothing")
	}
	nn.RemoveParametrizations(m.First, "weight")
	if got := namesOf(nn.NamedParameters(m.First)); !slices.Equal(got, []string{"bias", "weight"}) || !m.First.Forward(x).AllClose(after) {
		t.Error(got)
	}
	if nn.NamedParameters(m.First)[1].Tensor != m.First.Weight {
		t.Error("the weight is another tensor")
	}
}

func TestParametrizationErrors(t *testing.T) {
	linear := nn.NewLinear(3, 4)
	for want, body := range map[string]func(){
		"no parameter 'weights'": func() { nn.WeightNorm(linear, "weights") },
		"is not parametrized":    func() { nn.RemoveParametrizations(linear, "weight") },
		"not both":               func() { nn.WeightNorm(linear, "weight", nn.WeightNormOptions{Dim: gotorch.Some(0), Overall: true}) },
		"a module of LibTorch's": func() { nn.SpectralNorm(nn.NewSequential(linear), "weight") },
	} {
		if err := gotorch.Try(body); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	nn.WeightNorm(linear, "weight", nn.WeightNormOptions{Overall: true})
	if got := nn.NamedParameters(linear)[1].Tensor.Numel(); got != 1 {
		t.Error(got)
	}
}
