package nn

// Layers without parameters.

// Dropout zeroes elements at random while it trains. Source: torch.nn.Dropout.
type Dropout struct{ *Native }

// NewDropout zeroes each element with probability p.
func NewDropout(p float64) *Dropout { return &Dropout{newOptions().double("p", p).create("Dropout")} }

// PoolOptions of pooling layers. Stride unset is the window's size.
type PoolOptions struct {
	Stride, Padding []int
	CeilMode        bool
}

// MaxPool2d is the largest element of each window. Source: torch.nn.MaxPool2d.
type MaxPool2d struct{ *Native }

// NewMaxPool2d with windows of that size.
func NewMaxPool2d[S Size](kernel S, options ...PoolOptions) *MaxPool2d {
	return &MaxPool2d{newPool("MaxPool2d", sizeOf(kernel), first(options))}
}

// AvgPool2d is the mean of each window. Source: torch.nn.AvgPool2d.
type AvgPool2d struct{ *Native }

// NewAvgPool2d with windows of that size.
func NewAvgPool2d[S Size](kernel S, options ...PoolOptions) *AvgPool2d {
	return &AvgPool2d{newPool("AvgPool2d", sizeOf(kernel), first(options))}
}

func newPool(kind string, kernel []int, o PoolOptions) *Native {
	return newOptions().ints("kernel_size", kernel).setInts("stride", o.Stride).setInts("padding", o.Padding).
		bool("ceil_mode", o.CeilMode).create(kind)
}

// AdaptiveAvgPool2d is the mean of as many windows as give the output's size. Source: torch.nn.AdaptiveAvgPool2d.
type AdaptiveAvgPool2d struct{ *Native }

// NewAdaptiveAvgPool2d to that height and width.
func NewAdaptiveAvgPool2d[S Size](output S) *AdaptiveAvgPool2d {
	return &AdaptiveAvgPool2d{newOptions().ints("output_size", sizeOf(output)).create("AdaptiveAvgPool2d")}
}

// Flatten merges dimensions. Source: torch.nn.Flatten.
type Flatten struct{ *Native }

// FlattenOptions of [NewFlatten].
type FlattenOptions struct{ StartDim, EndDim Opt[int] }

// NewFlatten merges all dimensions but the first.
func NewFlatten(options ...FlattenOptions) *Flatten {
	o := first(options)
	return &Flatten{newOptions().optInt("start_dim", o.StartDim).optInt("end_dim", o.EndDim).create("Flatten")}
}

// ReLU is max(x, 0). Source: torch.nn.ReLU.
type ReLU struct{ *Native }

// NewReLU gives a new tensor each time.
func NewReLU() *ReLU { return &ReLU{newOptions().create("ReLU")} }

// GELU is x · Φ(x). Source: torch.nn.GELU.
type GELU struct{ *Native }

// NewGELU is the exact one.
func NewGELU() *GELU { return &GELU{newOptions().create("GELU")} }

// Tanh is the hyperbolic tangent. Source: torch.nn.Tanh.
type Tanh struct{ *Native }

// NewTanh has no options.
func NewTanh() *Tanh { return &Tanh{newOptions().create("Tanh")} }

// Sigmoid is 1 / (1 + exp(-x)). Source: torch.nn.Sigmoid.
type Sigmoid struct{ *Native }

// NewSigmoid has no options.
func NewSigmoid() *Sigmoid { return &Sigmoid{newOptions().create("Sigmoid")} }

// Softmax along a dimension. Source: torch.nn.Softmax.
type Softmax struct{ *Native }

// NewSoftmax along dim.
func NewSoftmax(dim int) *Softmax { return &Softmax{newOptions().int("dim", dim).create("Softmax")} }

// LogSoftmax is the logarithm of the softmax. Source: torch.nn.LogSoftmax.
type LogSoftmax struct{ *Native }

// NewLogSoftmax along dim.
func NewLogSoftmax(dim int) *LogSoftmax {
	return &LogSoftmax{newOptions().int("dim", dim).create("LogSoftmax")}
}
