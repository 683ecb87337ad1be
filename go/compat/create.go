package gotorch

import (
	core "tandem.example/gotorch"
)

// create makes a tensor of float32 on the CPU, as all functions here do.
func create(requiresGrad bool, make func() *core.Tensor) Tensor {
	return made(func() *core.Tensor {
		t := make()
		if requiresGrad {
			t.SetRequiresGrad(true)
		}
		return t
	})
}

var floats = core.TensorOptions{DType: core.Some(core.Float32)}

// RandN has normally distributed elements. Source: torch.randn.
func RandN(shape []int64, requiresGrad bool) Tensor {
	return create(requiresGrad, func() *core.Tensor { return core.RandN(ints(shape)) })
}

// Rand has elements evenly from [0, 1). Source: torch.rand.
func Rand(shape []int64, requireGrad bool) Tensor {
	return create(requireGrad, func() *core.Tensor { return core.Rand(ints(shape)) })
}

// Empty has whatever its memory had. Source: torch.empty.
func Empty(shape []int64, requiresGrad bool) Tensor {
	return create(requiresGrad, func() *core.Tensor { return core.Empty(ints(shape)) })
}

// Ones has ones. Source: torch.ones.
func Ones(shape []int64, requiresGrad bool) Tensor {
	return create(requiresGrad, func() *core.Tensor { return core.Ones(ints(shape)) })
}

// Eye has n rows, m columns, and ones where both are the same. Source: torch.eye.
func Eye(n, m int64, requiresGrad bool) Tensor {
	return create(requiresGrad, func() *core.Tensor { return core.EyeM(int(n), int(m)) })
}

// Full has one value. Source: torch.full.
func Full(shape []int64, value float32, requiresGrad bool) Tensor {
	return create(requiresGrad, func() *core.Tensor { return core.Full(ints(shape), value, floats) })
}

// Arange has begin, begin + step and so on, before end. Source: torch.arange.
func Arange(begin, end, step float32, requiresGrad bool) Tensor {
	return create(requiresGrad, func() *core.Tensor { return core.ArangeStartStep(begin, end, step, floats) })
}

// Linspace has steps numbers in equal distances, begin first and end last. Source: torch.linspace.
func Linspace(begin, end float32, steps int64, requiresGrad bool) Tensor {
	return create(requiresGrad, func() *core.Tensor { return core.Linspace(begin, end, int(steps), floats) })
}

// Logspace has the powers of base by what Linspace has. Source: torch.logspace.
func Logspace(begin, end float32, steps int64, base float64, requiresGrad bool) Tensor {
	return create(requiresGrad, func() *core.Tensor {
		return core.Logspace(begin, end, int(steps), core.LogspaceOptions{Base: core.Some(base), DType: floats.DType})
	})
}
