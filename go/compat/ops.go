package gotorch

import (
	core "tandem.example/gotorch"
)

// one computes by one tensor.
func one(op string, a Tensor, compute func(t *core.Tensor) *core.Tensor) Tensor {
	return made(func() *core.Tensor { return compute(a.unwrap(op)) })
}

// two computes by two tensors.
func two(op string, a, b Tensor, compute func(a, b *core.Tensor) *core.Tensor) Tensor {
	return made(func() *core.Tensor { return compute(a.unwrap(op), b.unwrap(op)) })
}

// Add is a + alpha * other. Source: torch.add.
func Add(a, other Tensor, alpha float32) Tensor {
	return two("Add", a, other, func(a, b *core.Tensor) *core.Tensor { return a.Add(b, core.AddOptions{Alpha: factor(alpha)}) })
}

// factor is a whole number where it can be, which is all that tensors of integers are multiplied by.
func factor(alpha float32) core.Scalar {
	if whole := int(alpha); float32(whole) == alpha {
		return whole
	}
	return alpha
}

// Add is a + alpha * other.
func (a *Tensor) Add(other Tensor, alpha float32) Tensor { return Add(*a, other, alpha) }

// AddI is [Tensor.Add] in place.
func (a *Tensor) AddI(other Tensor, alpha float32) Tensor {
	return two("AddI", *a, other, func(a, b *core.Tensor) *core.Tensor { return a.AddI(b, core.AddOptions{Alpha: factor(alpha)}) })
}

// Sub is a - alpha * other. Source: torch.sub.
func Sub(a, other Tensor, alpha float32) Tensor {
	return two("Sub", a, other, func(a, b *core.Tensor) *core.Tensor { return a.Sub(b, core.SubOptions{Alpha: factor(alpha)}) })
}

// Sub is a - alpha * other.
func (a *Tensor) Sub(other Tensor, alpha float32) Tensor { return Sub(*a, other, alpha) }

// SubI is [Tensor.Sub] in place.
func (a *Tensor) SubI(other Tensor, alpha float32) Tensor {
	return two("SubI", *a, other, func(a, b *core.Tensor) *core.Tensor { return a.SubI(b, core.SubOptions{Alpha: factor(alpha)}) })
}

// Mul is the product of the elements. Source: torch.mul.
func Mul(a, other Tensor) Tensor { return two("Mul", a, other, (*core.Tensor).Mul) }

// Mul is the product of the elements.
func (a *Tensor) Mul(other Tensor) Tensor { return Mul(*a, other) }

// MulI is [Tensor.Mul] in place.
func (a *Tensor) MulI(other Tensor) Tensor { return two("MulI", *a, other, (*core.Tensor).MulI) }

// Div is the quotient of the elements. Source: torch.div.
func Div(a, other Tensor) Tensor { return two("Div", a, other, (*core.Tensor).Div) }

// Div is the quotient of the elements.
func (a *Tensor) Div(other Tensor) Tensor { return Div(*a, other) }

// DivI is [Tensor.Div] in place.
func (a *Tensor) DivI(other Tensor) Tensor { return two("DivI", *a, other, (*core.Tensor).DivI) }

// MM is the product of two matrices. Source: torch.mm.
func MM(a, b Tensor) Tensor { return two("MM", a, b, (*core.Tensor).MM) }

// Eq tells where both have the same element. Source: torch.eq.
func Eq(a, other Tensor) Tensor { return two("Eq", a, other, (*core.Tensor).Eq) }

// Eq tells where both have the same element.
func (a Tensor) Eq(other Tensor) Tensor { return Eq(a, other) }

// LeakyRelu is x, and negativeSlope * x below zero. Source: torch.nn.functional.leaky_relu.
func LeakyRelu(t Tensor, negativeSlope float64) Tensor { return t.LeakyRelu(negativeSlope) }

// LeakyRelu is x, and negativeSlope * x below zero.
func (a *Tensor) LeakyRelu(negativeSlope float64) Tensor {
	return one("LeakyRelu", *a, func(t *core.Tensor) *core.Tensor {
		return core.Call("aten::leaky_relu", "", t, negativeSlope)[0].(*core.Tensor)
	})
}

// LogSoftmax is the logarithm of softmax over a dimension. Source: torch.log_softmax.
func LogSoftmax(t Tensor, dim int64) Tensor { return t.LogSoftmax(dim) }

// LogSoftmax is the logarithm of softmax over a dimension.
func (a Tensor) LogSoftmax(dim int64) Tensor {
	return one("LogSoftmax", a, func(t *core.Tensor) *core.Tensor { return t.LogSoftmax(int(dim)) })
}

// Relu is x, and 0 below zero. Source: torch.relu.
func Relu(t Tensor) Tensor { return t.Relu() }

// Relu is x, and 0 below zero.
func (a *Tensor) Relu() Tensor { return one("Relu", *a, (*core.Tensor).ReLU) }

// Sigmoid is 1 / (1 + exp(-x)). Source: torch.sigmoid.
func Sigmoid(t Tensor) Tensor { return t.Sigmoid() }

// Sigmoid is 1 / (1 + exp(-x)).
func (a Tensor) Sigmoid() Tensor { return one("Sigmoid", a, (*core.Tensor).Sigmoid) }

// Tanh is the hyperbolic tangent. Source: torch.tanh.
func Tanh(t Tensor) Tensor { return t.Tanh() }

// Tanh is the hyperbolic tangent.
func (a Tensor) Tanh() Tensor { return one("Tanh", a, (*core.Tensor).Tanh) }
