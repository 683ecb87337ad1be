package gotorch

import "tandem.example/gotorch/internal/bridge"

// TensorOptions of the functions that make tensors. Unset: Float32 (Int64 where all arguments are integers), CPU.
type TensorOptions struct {
	DType  Opt[DType]
	Device Opt[Device]
}

// options adds dtype, layout, device and pin_memory, which end the schemas of factories.
func (k call) options(given []TensorOptions) call {
	o := first(given)
	if dtype, ok := o.DType.Get(); ok {
		k = k.dtype(dtype)
	} else {
		k = k.none()
	}
	k = k.none()
	if device, ok := o.Device.Get(); ok {
		return k.device(device)
	}
	return k.none()
}

// Zeros is a tensor of zeros.
func Zeros(shape []int, options ...TensorOptions) *Tensor {
	return begin(opZeros).ints(shape).options(options).one(nil, nil)
}

// Ones is a tensor of ones.
func Ones(shape []int, options ...TensorOptions) *Tensor {
	return begin(opOnes).ints(shape).options(options).one(nil, nil)
}

// Empty is a tensor whose elements are not set.
func Empty(shape []int, options ...TensorOptions) *Tensor {
	return begin(opEmpty).ints(shape).options(options).one(nil, nil)
}

// Full is a tensor of that value throughout.
func Full(shape []int, value Scalar, options ...TensorOptions) *Tensor {
	return begin(opFull).ints(shape).scalar(value).options(options).one(nil, nil)
}

// Rand is a tensor of random numbers, uniform in [0, 1).
func Rand(shape []int, options ...TensorOptions) *Tensor {
	return begin(opRand).ints(shape).options(options).one(nil, nil)
}

// Randn is a tensor of random numbers, normal with mean 0 and variance 1.
func Randn(shape []int, options ...TensorOptions) *Tensor {
	return begin(opRandn).ints(shape).options(options).one(nil, nil)
}

// RandInt is a tensor of random integers, uniform in [low, high).
func RandInt(low, high int, shape []int, options ...TensorOptions) *Tensor {
	o := first(options)
	o.DType = Some(o.DType.Or(Int64))
	return begin(opRandInt).int(low).int(high).ints(shape).options([]TensorOptions{o}).one(nil, nil)
}

// Arange is the vector start, start + step, … below end.
func Arange(start, end, step Scalar, options ...TensorOptions) *Tensor {
	return begin(opArange).scalar(start).scalar(end).scalar(step).options(options).one(nil, nil)
}

// Eye is the n by n matrix with ones on its diagonal.
func Eye(n int, options ...TensorOptions) *Tensor {
	return begin(opEye).int(n).options(options).one(nil, nil)
}

var (
	opZeros   = bridge.NewOperator("aten::zeros", "")
	opOnes    = bridge.NewOperator("aten::ones", "")
	opEmpty   = bridge.NewOperator("aten::empty", "memory_format")
	opFull    = bridge.NewOperator("aten::full", "")
	opRand    = bridge.NewOperator("aten::rand", "")
	opRandn   = bridge.NewOperator("aten::randn", "")
	opRandInt = bridge.NewOperator("aten::randint", "low")
	opArange  = bridge.NewOperator("aten::arange", "start_step")
	opEye     = bridge.NewOperator("aten::eye", "")
)
