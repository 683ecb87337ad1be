// Package models has those of docs/benchmarks.md, with the names of parameters that peers/models.py has.
package models

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
)

// byName makes one of them.
var byName = map[string]func() nn.Layer{"mlp": newMLP, "mlp-small": newSmallMLP, "cnn": newCNN, "lstm": newLSTM,
	"resnet18": newResNet18, "gpt10m": newGPT}

// Load makes the model of that name, with the weights that prepare.py wrote into the folder.
func Load(name, folder string) (nn.Layer, error) {
	build, ok := byName[name]
	if !ok {
		return nil, fmt.Errorf("--model %q: there are %s", name, strings.Join(slices.Sorted(maps.Keys(byName)), ", "))
	}
	model := build()
	return model, nn.Load(filepath.Join(folder, "init.safetensors"), model)
}

type mlp struct {
	nn.Base
	FC1, FC2, FC3 *nn.Linear
}

func newMLP() nn.Layer {
	return &mlp{FC1: nn.NewLinear(784, 1024), FC2: nn.NewLinear(1024, 1024), FC3: nn.NewLinear(1024, 10)}
}

func (m *mlp) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	return m.FC3.Forward(m.FC2.Forward(m.FC1.Forward(x).ReLU()).ReLU())
}

type smallMLP struct {
	nn.Base
	FC1, FC2 *nn.Linear
}

func newSmallMLP() nn.Layer { return &smallMLP{FC1: nn.NewLinear(64, 64), FC2: nn.NewLinear(64, 10)} }

func (m *smallMLP) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	return m.FC2.Forward(m.FC1.Forward(x).ReLU())
}

type cnn struct {
	nn.Base
	Conv1, Conv2 *nn.Conv2d
	Pool         *nn.MaxPool2d
	FC1, FC2     *nn.Linear
}

func newCNN() nn.Layer {
	return &cnn{
		Conv1: nn.NewConv2d(1, 32, 3), Conv2: nn.NewConv2d(32, 64, 3), Pool: nn.NewMaxPool2d(2),
		FC1: nn.NewLinear(64*12*12, 128), FC2: nn.NewLinear(128, 10),
	}
}

func (m *cnn) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	x = m.Conv2.Forward(m.Conv1.Forward(x).ReLU()).ReLU()
	x = m.Pool.Forward(x).Flatten(1, -1)
	return m.FC2.Forward(m.FC1.Forward(x).ReLU())
}

type lstm struct {
	nn.Base
	Embedding *nn.Embedding
	LSTM      *nn.LSTM
	Linear    *nn.Linear
}

func newLSTM() nn.Layer {
	return &lstm{
		Embedding: nn.NewEmbedding(256, 64),
		LSTM:      nn.NewLSTM(64, 512, nn.LSTMOptions{BatchFirst: true}),
		Linear:    nn.NewLinear(512, 256),
	}
}

func (m *lstm) Forward(tokens *gotorch.Tensor) *gotorch.Tensor {
	return m.Linear.Forward(m.LSTM.Forward(m.Embedding.Forward(tokens))).Flatten(0, 1)
}

// block is a residual block of two 3×3 convolutions.
type block struct {
	nn.Base
	Conv1      *nn.Conv2d
	BN1        *nn.BatchNorm2d
	Conv2      *nn.Conv2d
	BN2        *nn.BatchNorm2d
	Downsample *nn.Sequential
	Activation *nn.Native
}

func conv(in, out, kernel, stride, padding int) *nn.Conv2d {
	return nn.NewConv2d(in, out, kernel, nn.ConvOptions{
		Stride: []int{stride, stride}, Padding: []int{padding, padding}, Bias: nn.Some(false),
	})
}

func newReLU() *nn.Native { return nn.New("ReLU", map[string]any{"inplace": true}) }

func newBlock(in, out, stride int) *block {
	b := &block{
		Conv1: conv(in, out, 3, stride, 1), BN1: nn.NewBatchNorm2d(out),
		Conv2: conv(out, out, 3, 1, 1), BN2: nn.NewBatchNorm2d(out), Activation: newReLU(),
	}
	if stride != 1 || in != out {
		b.Downsample = nn.NewSequential(conv(in, out, 1, stride, 0), nn.NewBatchNorm2d(out))
	}
	return b
}

func (b *block) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	shortcut := x
	if b.Downsample != nil {
		shortcut = b.Downsample.Forward(x)
	}
	x = b.Activation.Forward(b.BN1.Forward(b.Conv1.Forward(x)))
	return b.Activation.Forward(b.BN2.Forward(b.Conv2.Forward(x)).AddI(shortcut))
}

type resNet18 struct {
	nn.Base
	Conv1                          *nn.Conv2d
	BN1                            *nn.BatchNorm2d
	Activation                     *nn.Native
	Pool                           *nn.MaxPool2d
	Layer1, Layer2, Layer3, Layer4 *nn.Sequential
	AvgPool                        *nn.AdaptiveAvgPool2d
	FC                             *nn.Linear
}

func newResNet18() nn.Layer {
	stage := func(in, out, stride int) *nn.Sequential {
		return nn.NewSequential(newBlock(in, out, stride), newBlock(out, out, 1))
	}
	return &resNet18{
		Conv1: conv(3, 64, 7, 2, 3), BN1: nn.NewBatchNorm2d(64), Activation: newReLU(),
		Pool:   nn.NewMaxPool2d(3, nn.MaxPoolOptions{Stride: []int{2, 2}, Padding: []int{1, 1}}),
		Layer1: stage(64, 64, 1), Layer2: stage(64, 128, 2), Layer3: stage(128, 256, 2), Layer4: stage(256, 512, 2),
		AvgPool: nn.NewAdaptiveAvgPool2d(1), FC: nn.NewLinear(512, 1000),
	}
}

func (m *resNet18) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	x = m.Pool.Forward(m.Activation.Forward(m.BN1.Forward(m.Conv1.Forward(x))))
	x = m.Layer4.Forward(m.Layer3.Forward(m.Layer2.Forward(m.Layer1.Forward(x))))
	return m.FC.Forward(m.AvgPool.Forward(x).Flatten(1, -1))
}
