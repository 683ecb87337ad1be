// Package functional has operations on tensors that are no methods of theirs, as torch.nn.functional does. They panic
// with *gotorch.Error on shapes and options that do not fit.
package functional

import (
	"runtime"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// Reduction of a loss over the batch.
type Reduction int

// The reductions.
const (
	Mean Reduction = iota + 1
	Sum
	None // a loss for each sample
)

// number is LibTorch's: none 0, mean 1, sum 2; unset is the mean.
func (r Reduction) number() int64 {
	switch r {
	case Sum:
		return 2
	case None:
		return 0
	}
	return 1
}

// LossOptions of losses over classes.
type LossOptions struct {
	Weight         *gotorch.Tensor // of each class
	Reduction      Reduction       // unset: Mean
	IgnoreIndex    gotorch.Opt[int]
	LabelSmoothing float64 // CrossEntropy only
}

func first[T any](options []T) (chosen T) {
	if len(options) > 0 {
		chosen = options[0]
	}
	return chosen
}

type frame struct {
	*c.Frame
	op *bridge.Operator
}

func begin(op *bridge.Operator, tensors ...*gotorch.Tensor) frame {
	f := frame{c.NewFrame(), op}
	for _, t := range tensors {
		if t == nil {
			f.None()
		} else {
			f.Tensor(bridge.Handle(t, op.Name))
		}
	}
	return f
}

func (f frame) one(keep ...*gotorch.Tensor) *gotorch.Tensor {
	made := f.op.One(f.Frame)
	runtime.KeepAlive(keep)
	return bridge.Wrap(made).(*gotorch.Tensor)
}

// CrossEntropy of logits [batch, classes, …] and targets: class numbers [batch, …] of Int64, or probabilities of the
// logits' shape. Source: torch.nn.functional.cross_entropy.
func CrossEntropy(logits, target *gotorch.Tensor, options ...LossOptions) *gotorch.Tensor {
	o := first(options)
	f := begin(crossEntropy, logits, target, o.Weight)
	f.Int(o.Reduction.number())
	f.Int(int64(o.IgnoreIndex.Or(-100)))
	f.Double(o.LabelSmoothing)
	return f.one(logits, target, o.Weight)
}

// NLLLoss of log-probabilities [batch, classes, …] and class numbers. Source: torch.nn.functional.nll_loss.
func NLLLoss(logProbabilities, target *gotorch.Tensor, options ...LossOptions) *gotorch.Tensor {
	o := first(options)
	f := begin(nllLoss, logProbabilities, target, o.Weight)
	f.Int(o.Reduction.number())
	f.Int(int64(o.IgnoreIndex.Or(-100)))
	return f.one(logProbabilities, target, o.Weight)
}

// MSELoss is the mean, or sum, of squared differences. Source: torch.nn.functional.mse_loss.
func MSELoss(input, target *gotorch.Tensor, reduction ...Reduction) *gotorch.Tensor {
	f := begin(mseLoss, input, target)
	f.Int(first(reduction).number())
	return f.one(input, target)
}

// ReLU is max(x, 0).
func ReLU(x *gotorch.Tensor) *gotorch.Tensor { return x.ReLU() }

// GELU is x · Φ(x). Source: torch.nn.functional.gelu.
func GELU(x *gotorch.Tensor) *gotorch.Tensor { return begin(gelu, x).one(x) }

// Softmax along dim.
func Softmax(x *gotorch.Tensor, dim int) *gotorch.Tensor { return x.Softmax(dim) }

// LogSoftmax along dim.
func LogSoftmax(x *gotorch.Tensor, dim int) *gotorch.Tensor { return x.LogSoftmax(dim) }

// Dropout zeroes elements with probability p when training, and scales the others. Source:
// torch.nn.functional.dropout.
func Dropout(x *gotorch.Tensor, p float64, training bool) *gotorch.Tensor {
	f := begin(dropout, x)
	f.Double(p)
	f.Bool(training)
	return f.one(x)
}

// PoolOptions of [MaxPool2d]. Stride unset is the window's size.
type PoolOptions struct {
	Stride, Padding, Dilation []int
	CeilMode                  bool
}

// MaxPool2d is the largest element of each window; kernel has one or two numbers. Source:
// torch.nn.functional.max_pool2d.
func MaxPool2d(x *gotorch.Tensor, kernel []int, options ...PoolOptions) *gotorch.Tensor {
	o := first(options)
	f := begin(maxPool2d, x)
	f.Ints(kernel)
	f.Ints(o.Stride)
	f.Ints(or(o.Padding, 0))
	f.Ints(or(o.Dilation, 1))
	f.Bool(o.CeilMode)
	return f.one(x)
}

func or(list []int, fallback int) []int {
	if len(list) == 0 {
		return []int{fallback, fallback}
	}
	return list
}

// Linear is x Wᵀ + b; bias may be nil. Source: torch.nn.functional.linear.
func Linear(x, weight, bias *gotorch.Tensor) *gotorch.Tensor {
	return begin(linear, x, weight, bias).one(x, weight, bias)
}

// ConvOptions of [Conv2d].
type ConvOptions struct {
	Stride, Padding, Dilation []int
	Groups                    int // 0: 1
}

// Conv2d convolves [batch, channels, height, width] with weight [out, in, height, width]; bias may be nil. Source:
// torch.nn.functional.conv2d.
func Conv2d(x, weight, bias *gotorch.Tensor, options ...ConvOptions) *gotorch.Tensor {
	o := first(options)
	f := begin(conv2d, x, weight, bias)
	f.Ints(or(o.Stride, 1))
	f.Ints(or(o.Padding, 0))
	f.Ints(or(o.Dilation, 1))
	f.Int(int64(max(o.Groups, 1)))
	return f.one(x, weight, bias)
}

// Embedding looks up the rows of weight whose numbers are in index. Source: torch.nn.functional.embedding.
func Embedding(index, weight *gotorch.Tensor) *gotorch.Tensor {
	return begin(embedding, weight, index).one(index, weight)
}

var (
	crossEntropy = bridge.NewOperator("aten::cross_entropy_loss", "")
	nllLoss      = bridge.NewOperator("aten::nll_loss_nd", "")
	mseLoss      = bridge.NewOperator("aten::mse_loss", "")
	gelu         = bridge.NewOperator("aten::gelu", "")
	dropout      = bridge.NewOperator("aten::dropout", "")
	maxPool2d    = bridge.NewOperator("aten::max_pool2d", "")
	linear       = bridge.NewOperator("aten::linear", "")
	conv2d       = bridge.NewOperator("aten::conv2d", "")
	embedding    = bridge.NewOperator("aten::embedding", "")
)
