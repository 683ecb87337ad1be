package nn

import (
	"math"

	torch "tandem.example/gotorch/compat"
	"tandem.example/gotorch/compat/nn/functional"
	"tandem.example/gotorch/compat/nn/initializer"
)

// LinearModule multiplies by a matrix [OutFeatures, InFeatures] and adds a bias.
type LinearModule struct {
	Module
	InFeatures  int64
	OutFeatures int64
	Weight      torch.Tensor
	Bias        torch.Tensor
}

// Linear makes a LinearModule with torch.nn.Linear's starting values.
func Linear(in, out int64, bias bool) *LinearModule {
	l := &LinearModule{InFeatures: in, OutFeatures: out}
	l.Weight, l.Bias = weights([]int64{out, in}, out, bias)
	l.Init(l)
	return l
}

// Forward computes on [..., InFeatures].
func (l *LinearModule) Forward(x torch.Tensor) torch.Tensor {
	return functional.Linear(x, l.Weight, l.Bias)
}

// weights of a linear layer or convolution, with the draws of Python's reset_parameters.
func weights(shape []int64, outputs int64, hasBias bool) (weight, bias torch.Tensor) {
	weight = torch.Empty(shape, true)
	initializer.KaimingUniform(&weight, math.Sqrt(5), "fan_in", "leaky_relu")
	if hasBias {
		bias = torch.Empty([]int64{outputs}, true)
		inputs, _ := initializer.CalculateFanInAndFanOut(weight)
		bound := 1 / math.Sqrt(float64(inputs))
		initializer.Uniform(&bias, -bound, bound)
	}
	return weight, bias
}
