// Package models has networks for images, with the signatures of wangkuiyi/gotorch.
package models

import (
	torch "tandem.example/gotorch/compat"
	"tandem.example/gotorch/compat/nn"
)

// MLPModule is three linear layers with tanh between them, for images of 28 by 28 and ten classes.
type MLPModule struct {
	nn.Module
	FC1, FC2, FC3 *nn.LinearModule
}

// MLP makes an MLPModule.
func MLP() *MLPModule {
	m := &MLPModule{FC1: nn.Linear(28*28, 512, true), FC2: nn.Linear(512, 512, true), FC3: nn.Linear(512, 10, true)}
	m.Init(m)
	return m
}

// Forward gives the logarithms of probabilities, [batch, 10].
func (n *MLPModule) Forward(x torch.Tensor) torch.Tensor {
	x = torch.Tanh(n.FC1.Forward(x.View(-1, 28*28)))
	x = torch.Tanh(n.FC2.Forward(x))
	return n.FC3.Forward(x).LogSoftmax(1)
}
