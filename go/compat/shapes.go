package gotorch

import (
	core "tandem.example/gotorch"
)

// Permute puts the dimensions in another order. Source: torch.permute.
func (a *Tensor) Permute(dims []int64) Tensor {
	return one("Permute", *a, func(t *core.Tensor) *core.Tensor { return t.Permute(ints(dims)...) })
}

// ExpandAs repeats a, without copies, to other's shape. Source: torch.Tensor.expand_as.
func ExpandAs(a, other Tensor) Tensor { return two("ExpandAs", a, other, (*core.Tensor).ExpandAs) }

// ExpandAs repeats a, without copies, to other's shape.
func (a Tensor) ExpandAs(other Tensor) Tensor { return ExpandAs(a, other) }

// Flatten makes one dimension of those from startDim through endDim. Source: torch.flatten.
func Flatten(a Tensor, startDim, endDim int64) Tensor {
	return one("Flatten", a, func(t *core.Tensor) *core.Tensor { return t.Flatten(int(startDim), int(endDim)) })
}

// IndexSelect has, along dim, what index numbers. Source: torch.index_select.
func IndexSelect(a Tensor, dim int64, index Tensor) Tensor {
	return two("IndexSelect", a, index, func(t, at *core.Tensor) *core.Tensor { return t.IndexSelect(int(dim), at) })
}

// IndexSelect has, along dim, what index numbers.
func (a Tensor) IndexSelect(dim int64, index Tensor) Tensor { return IndexSelect(a, dim, index) }

// Stack puts tensors of one shape beside each other along a new dimension. Source: torch.stack.
func Stack(tensors []Tensor, dim int64) Tensor {
	return made(func() *core.Tensor {
		list := make([]*core.Tensor, len(tensors))
		for i, t := range tensors {
			list[i] = t.unwrap("Stack")
		}
		return core.Stack(list, int(dim))
	})
}

// Squeeze is [Tensor.Squeeze].
func Squeeze(t Tensor, dim ...int64) Tensor { return t.Squeeze(dim...) }

// Squeeze leaves out the dimensions of size one, or the given one if it is. Source: torch.squeeze.
func (a Tensor) Squeeze(dim ...int64) Tensor {
	return one("Squeeze", a, func(t *core.Tensor) *core.Tensor {
		switch len(dim) {
		case 0:
			return t.Squeeze()
		case 1:
			return t.SqueezeDim(int(dim[0]))
		}
		panic("Squeeze: it takes one dimension, or none for all")
	})
}

// Transpose swaps two dimensions. Source: torch.transpose.
func Transpose(a Tensor, dim0, dim1 int64) Tensor {
	return one("Transpose", a, func(t *core.Tensor) *core.Tensor { return t.Transpose(int(dim0), int(dim1)) })
}

// Transpose swaps two dimensions.
func (a Tensor) Transpose(dim0, dim1 int64) Tensor { return Transpose(a, dim0, dim1) }

// View has the same elements in another shape, of which one size may be -1. Source: torch.Tensor.view.
func View(a Tensor, shape ...int64) Tensor {
	return one("View", a, func(t *core.Tensor) *core.Tensor { return t.View(ints(shape)...) })
}

// View has the same elements in another shape, of which one size may be -1.
func (a Tensor) View(shape ...int64) Tensor { return View(a, shape...) }
