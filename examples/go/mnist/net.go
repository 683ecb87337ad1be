package main

import (
	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
)

// Net is a small convolutional network for digits of 28 by 28 pixels.
type Net struct {
	nn.Base
	Conv1, Conv2 *nn.Conv2d
	Pool         *nn.MaxPool2d
	Dropout      *nn.Dropout
	FC1, FC2     *nn.Linear
}

// NewNet with random weights.
func NewNet() *Net {
	return &Net{
		Conv1:   nn.NewConv2d(1, 32, 3),
		Conv2:   nn.NewConv2d(32, 64, 3),
		Pool:    nn.NewMaxPool2d(2),
		Dropout: nn.NewDropout(0.25),
		FC1:     nn.NewLinear(64*12*12, 128),
		FC2:     nn.NewLinear(128, 10),
	}
}

// Forward maps images [batch, 1, 28, 28] to a score for each digit [batch, 10].
func (n *Net) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	x = n.Conv1.Forward(x).ReLU()
	x = n.Conv2.Forward(x).ReLU()
	x = n.Dropout.Forward(n.Pool.Forward(x))
	x = n.FC1.Forward(x.Flatten(1, -1)).ReLU()
	return n.FC2.Forward(x)
}
