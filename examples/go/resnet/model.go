package main

import (
	"math"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
)

// ResNet18 is the network of 18 layers of He, Zhang, Ren and Sun, "Deep residual learning for image recognition", 2015. Its
// tensors have torchvision's names, so that either loads the other's weights.
type ResNet18 struct {
	nn.Base
	Conv1                          *nn.Conv2d
	BN1                            *nn.BatchNorm2d
	MaxPool                        *nn.MaxPool2d
	Layer1, Layer2, Layer3, Layer4 *nn.Sequential
	AvgPool                        *nn.AdaptiveAvgPool2d
	FC                             *nn.Linear
}

// Block is two convolutions, which are added to what goes in.
type Block struct {
	nn.Base
	Conv1, Conv2 *nn.Conv2d
	BN1, BN2     *nn.BatchNorm2d
	Downsample   *nn.Sequential // of what goes in, where the shape changes
}

// NewResNet18 for so many classes, with random weights. Convolutions keep the size of gradients: normal with variance
// 2 / (outputs · elements of the kernel).
func NewResNet18(classes int) *ResNet18 {
	n := &ResNet18{
		Conv1: convolution(3, 64, 7, 2), BN1: nn.NewBatchNorm2d(64),
		MaxPool: nn.NewMaxPool2d(3, nn.MaxPoolOptions{Stride: []int{2}, Padding: []int{1}}),
		Layer1:  stage(64, 64, 1), Layer2: stage(64, 128, 2), Layer3: stage(128, 256, 2), Layer4: stage(256, 512, 2),
		AvgPool: nn.NewAdaptiveAvgPool2d(1), FC: nn.NewLinear(512, classes),
	}
	gotorch.NoGrad(func() {
		for _, p := range nn.Parameters(n) {
			if p.Dim() == 4 {
				p.NormalI(gotorch.NormalIOptions{Std: gotorch.Some(math.Sqrt(2 / float64(p.Size(0)*p.Size(2)*p.Size(3))))})
			}
		}
	})
	return n
}

// convolution that keeps height and width, but for the stride.
func convolution(in, out, kernel, stride int) *nn.Conv2d {
	return nn.NewConv2d(in, out, kernel,
		nn.ConvOptions{Stride: []int{stride}, Padding: []int{kernel / 2}, Bias: nn.Some(false)})
}

func stage(in, out, stride int) *nn.Sequential {
	return nn.NewSequential(newBlock(in, out, stride), newBlock(out, out, 1))
}

func newBlock(in, out, stride int) *Block {
	b := &Block{Conv1: convolution(in, out, 3, stride), BN1: nn.NewBatchNorm2d(out),
		Conv2: convolution(out, out, 3, 1), BN2: nn.NewBatchNorm2d(out)}
	if stride != 1 || in != out {
		b.Downsample = nn.NewSequential(convolution(in, out, 1, stride), nn.NewBatchNorm2d(out))
	}
	return b
}

// Forward maps pictures [batch, 3, height, width] to a score for each class [batch, classes].
func (n *ResNet18) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	x = n.MaxPool.Forward(n.BN1.Forward(n.Conv1.Forward(x)).ReLU())
	x = n.Layer4.Forward(n.Layer3.Forward(n.Layer2.Forward(n.Layer1.Forward(x))))
	return n.FC.Forward(n.AvgPool.Forward(x).Flatten(1, -1))
}

// Forward maps [batch, in, height, width] to [batch, out, …].
func (b *Block) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	y := b.BN1.Forward(b.Conv1.Forward(x)).ReLU()
	y = b.BN2.Forward(b.Conv2.Forward(y))
	if b.Downsample != nil {
		x = b.Downsample.Forward(x)
	}
	return y.Add(x).ReLU()
}
