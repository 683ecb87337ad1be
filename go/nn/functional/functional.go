// Package functional has operations on tensors that are no methods of theirs, as torch.nn.functional does. They panic
// with *gotorch.Error on shapes and options that do not fit.
package functional

import "tandem.example/gotorch"

// Reduction of a loss over the batch. The numbers are LibTorch's.
type Reduction int

// The reductions.
const (
	None Reduction = iota // a loss for each sample
	Mean
	Sum
)

// ReLU is max(x, 0).
func ReLU(x *gotorch.Tensor) *gotorch.Tensor { return x.ReLU() }

// Tanh is the hyperbolic tangent.
func Tanh(x *gotorch.Tensor) *gotorch.Tensor { return x.Tanh() }

// Sigmoid is 1 / (1 + exp(-x)).
func Sigmoid(x *gotorch.Tensor) *gotorch.Tensor { return x.Sigmoid() }

// Softmax along dim.
func Softmax(x *gotorch.Tensor, dim int) *gotorch.Tensor { return x.Softmax(dim) }

// LogSoftmax along dim.
func LogSoftmax(x *gotorch.Tensor, dim int) *gotorch.Tensor { return x.LogSoftmax(dim) }
