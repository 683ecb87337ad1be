package gotorch

import (
	"math"
	"runtime"

	"tandem.example/gotorch/internal/c"
)

// Index is what stands between the commas of Python's x[…]: [At], [Slice], [SliceFrom], [SliceTo], [All], [Ellipsis],
// [NewAxis], [AtEach], [When], or a *[Tensor], of integers (places) or bools (a mask).
type Index interface {
	// index for a call named op, with the tensor that was made for it, if any.
	index(op string) (native c.Index, made *Tensor)
}

// Index is Python's t[indices…]. It gives a view of t, which autograd follows, unless one of the indices is a tensor,
// [AtEach] or [When]: these give a copy of the elements. Integers and slices may be negative, counting from the end;
// an integer past the end, and more indices than dimensions, are ErrOutOfRange. Source: torch.Tensor.__getitem__.
//
//	x.Index(gotorch.At(0), gotorch.Slice(1, 5))         // x[0, 1:5]
//	x.Index(gotorch.Ellipsis, gotorch.All.Step(2))      // x[..., ::2]
//	x.Index(gotorch.All, gotorch.NewAxis, mask)         // x[:, None, mask]
//	x.Index(x.GtScalar(0))                              // x[x > 0]
func (t *Tensor) Index(indices ...Index) *Tensor {
	const op = "index"
	native := t.handle(op)
	list, done := natives(op, indices)
	defer done()
	made, err := c.GetIndex(native, list)
	runtime.KeepAlive(t)
	runtime.KeepAlive(indices)
	must(err)
	return wrap(made)
}

// SetIndex is Python's t[indices…] = value, in place: value is broadcast to the shape of t.Index(indices…), and
// converted to t's element type. It returns t. Source: torch.Tensor.__setitem__.
func (t *Tensor) SetIndex(value *Tensor, indices ...Index) *Tensor {
	const op = "set_index"
	f := c.NewFrame()
	f.Tensor(value.handle(op))
	t.setIndex(op, f, indices)
	runtime.KeepAlive(value)
	return t
}

// SetIndexScalar is [Tensor.SetIndex] with a number.
func (t *Tensor) SetIndexScalar(value Scalar, indices ...Index) *Tensor {
	const op = "set_index_scalar"
	f := c.NewFrame()
	if !addScalar(f, value) {
		panic(invalid(op, "%v, a %T, is not a number that an element can be set to", value, value))
	}
	t.setIndex(op, f, indices)
	return t
}

func (t *Tensor) setIndex(op string, f *c.Frame, indices []Index) {
	native := t.handle(op)
	list, done := natives(op, indices)
	defer done()
	err := c.PutIndex(native, list, f)
	runtime.KeepAlive(t)
	runtime.KeepAlive(indices)
	must(err)
}

// natives of indices; done frees the tensors that were made for them.
func natives(op string, indices []Index) (list []c.Index, done func()) {
	var made []*Tensor
	list = make([]c.Index, len(indices))
	for i, index := range indices {
		if index == nil {
			panic(invalid(op, "index %d is nil; give All for a whole dimension, NewAxis for a new one", i))
		}
		native, own := index.index(op)
		if own != nil {
			made = append(made, own)
		}
		list[i] = native
	}
	return list, func() {
		for _, t := range made {
			t.Close()
		}
	}
}

type integer int

// At picks one place of a dimension, which the result then lacks: Python's x[i].
func At(i int) Index { return integer(i) }

func (i integer) index(string) (c.Index, *Tensor) {
	return c.Index{Kind: c.IndexInteger, Start: int64(i)}, nil
}

// SliceIndex picks a part of a dimension. [Slice], [SliceFrom], [SliceTo] and [All] make it.
type SliceIndex struct{ start, stop, step int }

// All is a whole dimension: Python's x[:].
var All = SliceFrom(0)

// Slice picks the places from start to stop, without stop itself: Python's x[start:stop].
func Slice(start, stop int) SliceIndex { return SliceIndex{start, stop, 1} }

// SliceFrom picks the places from start on: Python's x[start:].
func SliceFrom(start int) SliceIndex { return Slice(start, math.MaxInt) }

// SliceTo picks the places before stop: Python's x[:stop].
func SliceTo(stop int) SliceIndex { return Slice(0, stop) }

// Step picks every n-th of the slice's places: Python's x[start:stop:n]. n is at least 1; [Tensor.Flip] turns around.
func (s SliceIndex) Step(n int) SliceIndex { return SliceIndex{s.start, s.stop, n} }

func (s SliceIndex) index(string) (c.Index, *Tensor) {
	return c.Index{Kind: c.IndexSlice, Start: int64(s.start), Stop: int64(s.stop), Step: int64(s.step)}, nil
}

type symbol int32

const (
	ellipsis = symbol(c.IndexEllipsis)
	newAxis  = symbol(c.IndexNone)
)

// Ellipsis stands for all dimensions that the other indices leave: Python's x[..., i]. NewAxis is a new dimension of
// size 1: Python's x[None].
var (
	Ellipsis Index = ellipsis
	NewAxis  Index = newAxis
)

func (s symbol) index(string) (c.Index, *Tensor) { return c.Index{Kind: int32(s)}, nil }

type truth bool

// When is a new dimension of size 1 for true, 0 for false: Python's x[True].
func When(on bool) Index { return truth(on) }

func (b truth) index(string) (c.Index, *Tensor) {
	index := c.Index{Kind: c.IndexBoolean}
	if b {
		index.Boolean = 1
	}
	return index, nil
}

type places []int

// AtEach picks places of a dimension in that order, as an index tensor does: Python's x[[2, 0, 2]].
func AtEach(indices ...int) Index { return places(indices) }

func (p places) index(op string) (c.Index, *Tensor) {
	made := From([]int(p))
	index, _ := made.index(op)
	return index, made
}

func (t *Tensor) index(op string) (c.Index, *Tensor) {
	return c.Index{Kind: c.IndexTensor, Tensor: t.handle(op)}, nil
}
