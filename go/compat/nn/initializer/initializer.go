// Package initializer overwrites tensors with starting values, with the signatures of wangkuiyi/gotorch. Seeded alike,
// random numbers are Python's. Functions panic on a nil or zero Tensor.
package initializer

import (
	"fmt"
	"log"

	core "tandem.example/gotorch"
	torch "tandem.example/gotorch/compat"
	"tandem.example/gotorch/compat/internal/panics"
	"tandem.example/gotorch/nn/initialize"
)

// ManualSeed seeds LibTorch's random numbers.
func ManualSeed(seed int64) { panics.Must(core.ManualSeed(uint64(seed))) }

// fill overwrites a tensor.
func fill(op string, a *torch.Tensor, with func(t *core.Tensor) *core.Tensor) {
	if a == nil || a.Unwrap() == nil {
		log.Panicf("%s: the tensor is nil", op)
	}
	defer panics.AsText()
	with(a.Unwrap())
}

// Zeros fills with zeros. Source: torch.nn.init.zeros_.
func Zeros(a *torch.Tensor) { fill("Zeros", a, initialize.Zeros) }

// Ones fills with ones. Source: torch.nn.init.ones_.
func Ones(a *torch.Tensor) { fill("Ones", a, initialize.Ones) }

// Uniform fills evenly from [low, high). Source: torch.nn.init.uniform_.
func Uniform(a *torch.Tensor, low, high float64) {
	fill("Uniform", a, func(t *core.Tensor) *core.Tensor { return initialize.Uniform(t, low, high) })
}

// Normal fills with normally distributed numbers. Source: torch.nn.init.normal_.
func Normal(a *torch.Tensor, mean, std float64) {
	fill("Normal", a, func(t *core.Tensor) *core.Tensor { return initialize.Normal(t, mean, std) })
}

// KaimingUniform fills evenly, as widely as fanMode, "fan_in" or "fan_out", and nonLinearity, such as "leaky_relu" of
// slope a, ask for. Source: torch.nn.init.kaiming_uniform_.
func KaimingUniform(input *torch.Tensor, a float64, fanMode string, nonLinearity string) {
	fill("KaimingUniform", input, func(t *core.Tensor) *core.Tensor {
		return initialize.KaimingUniform(t, initialize.KaimingUniformOptions{A: a, Mode: fanMode, Nonlinearity: nonLinearity})
	})
}

// CalculateFanInAndFanOut is how many inputs an output of a layer with that weight has, and how many outputs an input.
// Source: torch.nn.init._calculate_fan_in_and_fan_out.
func CalculateFanInAndFanOut(input torch.Tensor) (int64, int64) {
	shape := input.Shape()
	if len(shape) < 2 {
		panic(fmt.Sprintf("CalculateFanInAndFanOut: the weight has %d dimensions; it must have two or more", len(shape)))
	}
	window := int64(1)
	for _, n := range shape[2:] {
		window *= n
	}
	return shape[1] * window, shape[0] * window
}
