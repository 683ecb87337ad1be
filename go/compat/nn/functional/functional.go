// Package functional has layers and losses as functions, with the signatures of wangkuiyi/gotorch. A weight or bias that
// may be left out is the zero Tensor then.
package functional

import (
	"fmt"

	core "tandem.example/gotorch"
	torch "tandem.example/gotorch/compat"
	"tandem.example/gotorch/compat/internal/panics"
	F "tandem.example/gotorch/nn/functional"
)

// made wraps what op computes.
func made(op func() *core.Tensor) torch.Tensor {
	defer panics.AsText()
	return torch.Wrap(op())
}

func ints(values []int64) []int {
	list := make([]int, len(values))
	for i, v := range values {
		list[i] = int(v)
	}
	return list
}

// BatchNorm normalizes each channel, by its own mean and variance in training, else by the running ones. Source:
// torch.nn.functional.batch_norm.
func BatchNorm(input, runningMean, runningVar, weight, bias torch.Tensor,
	training bool, momentum, eps float64) torch.Tensor {
	return made(func() *core.Tensor {
		return F.BatchNorm(input.Unwrap(), weight.Unwrap(), bias.Unwrap(), runningMean.Unwrap(), runningVar.Unwrap(), training,
			momentum, eps, true)
	})
}

// Conv2d convolves [batch, channels, height, width]. Source: torch.nn.functional.conv2d.
func Conv2d(input, weight, bias torch.Tensor, stride, padding, dilation []int64, groups int64) torch.Tensor {
	return made(func() *core.Tensor {
		return F.Conv2d(input.Unwrap(), weight.Unwrap(), bias.Unwrap(), F.Conv2dOptions{Stride: ints(stride),
			Padding: ints(padding), Dilation: ints(dilation), Groups: int(groups)})
	})
}

// ConvTranspose2d is the transposed convolution. Source: torch.nn.functional.conv_transpose2d.
func ConvTranspose2d(input, weight, bias torch.Tensor, stride, padding, outputPadding []int64,
	groups int64, dilation []int64) torch.Tensor {
	return made(func() *core.Tensor {
		return F.ConvTranspose2d(input.Unwrap(), weight.Unwrap(), bias.Unwrap(), F.ConvTranspose2dOptions{Stride: ints(stride),
			Padding: ints(padding), OutputPadding: ints(outputPadding), Groups: int(groups), Dilation: ints(dilation)})
	})
}

// LogSoftmax is the logarithm of softmax over dim. A negative one stands for 0 where input has 0, 1 or 3 dimensions, else
// for 1. Source: torch.nn.functional.log_softmax.
func LogSoftmax(input torch.Tensor, dim int64) torch.Tensor {
	if dim < 0 {
		dim = 1
		if n := input.Dim(); n == 0 || n == 1 || n == 3 {
			dim = 0
		}
	}
	return input.LogSoftmax(dim)
}

// reductionOf is "none", "mean" or "sum".
func reductionOf(name string) core.Opt[F.Reduction] {
	switch name {
	case "none":
		return core.Some(F.None)
	case "mean":
		return core.Some(F.Mean)
	case "sum":
		return core.Some(F.Sum)
	}
	panic(fmt.Sprintf("the reduction %q is unknown; give none, mean or sum", name))
}

// NllLoss is the loss of logarithms of probabilities [batch, classes, …] and class numbers [batch, …]. Source:
// torch.nn.functional.nll_loss.
func NllLoss(input, target, weight torch.Tensor, ignoreIndex int64, reduction string) torch.Tensor {
	return made(func() *core.Tensor {
		return F.NLLLoss(input.Unwrap(), target.Unwrap(), F.NLLLossOptions{Weight: weight.Unwrap(),
			Reduction: reductionOf(reduction), IgnoreIndex: core.Some(int(ignoreIndex))})
	})
}

// BinaryCrossEntropy is the loss of probabilities and targets of one shape. Source:
// torch.nn.functional.binary_cross_entropy.
func BinaryCrossEntropy(input, target, weight torch.Tensor, reduction string) torch.Tensor {
	return made(func() *core.Tensor {
		return F.BinaryCrossEntropy(input.Unwrap(), target.Unwrap(), F.BinaryCrossEntropyOptions{Weight: weight.Unwrap(),
			Reduction: reductionOf(reduction)})
	})
}

// CrossEntropy is the loss of logits [batch, classes, …] and class numbers [batch, …]. Source:
// torch.nn.functional.cross_entropy.
func CrossEntropy(input, target, weight torch.Tensor, ignoreIndex int64, reduction string) torch.Tensor {
	return made(func() *core.Tensor {
		return F.CrossEntropy(input.Unwrap(), target.Unwrap(), F.CrossEntropyOptions{Weight: weight.Unwrap(),
			Reduction: reductionOf(reduction), IgnoreIndex: core.Some(int(ignoreIndex))})
	})
}

// Relu is x, and 0 below zero; inplace overwrites input. Source: torch.nn.functional.relu.
func Relu(input torch.Tensor, inplace bool) torch.Tensor {
	return made(func() *core.Tensor {
		if inplace {
			return input.Unwrap().ReLUI()
		}
		return input.Unwrap().ReLU()
	})
}

// LeakyRelu is x, and negativeSlope * x below zero; inplace overwrites input. Source: torch.nn.functional.leaky_relu.
func LeakyRelu(input torch.Tensor, negativeSlope float64, inplace bool) torch.Tensor {
	return made(func() *core.Tensor {
		options := F.LeakyReLUOptions{NegativeSlope: negativeSlope}
		if inplace {
			return F.LeakyReLUI(input.Unwrap(), options)
		}
		return F.LeakyReLU(input.Unwrap(), options)
	})
}

// Linear is input times weight [out, in], transposed, plus bias. Source: torch.nn.functional.linear.
func Linear(input, weight, bias torch.Tensor) torch.Tensor {
	return made(func() *core.Tensor { return F.Linear(input.Unwrap(), weight.Unwrap(), bias.Unwrap()) })
}

// MaxPool2d is the largest element of each window. Source: torch.nn.functional.max_pool2d.
func MaxPool2d(input torch.Tensor, kernelSize, stride, padding, dilation []int64, ceilMode bool) torch.Tensor {
	return made(func() *core.Tensor {
		return F.MaxPool2d(input.Unwrap(), ints(kernelSize), F.MaxPool2dOptions{Stride: ints(stride), Padding: ints(padding),
			Dilation: ints(dilation), CeilMode: ceilMode})
	})
}

// AdaptiveAvgPool2d is the mean of windows that are as large as outputSize asks for. Source:
// torch.nn.functional.adaptive_avg_pool2d.
func AdaptiveAvgPool2d(input torch.Tensor, outputSize []int64) torch.Tensor {
	return made(func() *core.Tensor { return F.AdaptiveAvgPool2d(input.Unwrap(), ints(outputSize)...) })
}
