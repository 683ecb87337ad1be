package gotorch

import (
	"runtime"

	"tandem.example/gotorch/internal/c"
)

// Tensor is a reference to a LibTorch tensor. It may be used from any goroutine, one at a time; calls that write to it
// are as unsafe beside other uses as with any variable.
//
// Its methods panic with *[Error]: on arguments that do not fit (ErrInvalidArgument), and on a tensor that was closed
// or whose [Scope] returned (ErrClosed).
type Tensor struct {
	native  c.Tensor // nil after Close
	scope   uint64   // that frees it; 0: none, the collector does
	guarded *guarded // what the collector frees after it
}

// guarded is what a tensor outside of scopes owns.
type guarded struct {
	native  c.Tensor        // nil after Close
	bytes   int64           // that count against the limit of memory outside of scopes
	cleanup runtime.Cleanup // zero on a shelf, which has one for all
}

// wrap takes a new handle.
func wrap(m c.Made) *Tensor {
	if m.Light {
		return shelve(m)
	}
	t := &Tensor{native: m.Handle, scope: m.Scope}
	if m.Scope == 0 {
		t.guard(m.Bytes)
	}
	return t
}

// adopt takes a new handle out of all scopes.
func adopt(m c.Made) *Tensor {
	if m.Scope != 0 {
		m.Scope = c.Keep(m.Handle, true)
	}
	return wrap(m)
}

// guard has the collector free the tensor.
func (t *Tensor) guard(bytes int64) {
	g := &guarded{native: t.native, bytes: bytes + handleBytes}
	g.cleanup = runtime.AddCleanup(t, reclaim, g)
	t.guarded = g
	account(g.bytes)
}

func reclaim(g *guarded) {
	c.Free(g.native)
	outside.bytes.Add(-g.bytes)
}

// handle for a call named op; panics when there is none.
func (t *Tensor) handle(op string) c.Tensor {
	if t != nil && t.scope == 0 && t.native != nil {
		return t.native
	}
	return t.scoped(op)
}

// scoped is handle for all that takes a closer look.
func (t *Tensor) scoped(op string) c.Tensor {
	if t == nil {
		panic(invalid(op, "the tensor is nil"))
	}
	if t.native == nil {
		panic(&Error{ErrClosed, op, "the tensor was closed (Close) before this use"})
	}
	if !scopeIsOpen(t.scope) {
		panic(&Error{ErrClosed, op, "the tensor was freed when its Scope returned; Keep it to use it afterwards"})
	}
	return t.native
}

// Close frees the tensor at once. A second Close does nothing; any other use afterwards is ErrClosed.
func (t *Tensor) Close() {
	if t == nil || t.native == nil {
		return
	}
	native := t.native
	t.native = nil
	if t.scope == 0 {
		g := t.guarded
		g.cleanup.Stop()
		outside.bytes.Add(-g.bytes)
		g.native, g.bytes = nil, 0
		c.Free(native)
	} else if scopeIsOpen(t.scope) {
		c.Free(native)
	}
	runtime.KeepAlive(t)
}

// Keep hands the tensor to the scope around its own, or to the caller when there is none, and returns it.
func (t *Tensor) Keep() *Tensor {
	native := t.handle("Tensor.Keep")
	for t.scope != 0 {
		before := t.scope
		if t.scope = c.Keep(native, false); t.scope == 0 {
			t.guard(int64(c.NBytes(native)))
		} else if t.scope == before || scopeIsOpen(t.scope) {
			break
		}
		// A scope that only native code has open, where the tensor could not be used: on to the one around it.
	}
	return t
}

// Share is a second reference to the same tensor, which belongs to the scope that is open here and is closed on its
// own.
func (t *Tensor) Share() *Tensor {
	made, err := c.Share(t.handle("Tensor.Share"))
	runtime.KeepAlive(t)
	must(err)
	return wrap(made)
}

// ask reads what the native tensor knows without a failure; op names the question when t is closed.
func ask[T any](t *Tensor, op string, question func(c.Tensor) T) T {
	answer := question(t.handle(op))
	runtime.KeepAlive(t)
	return answer
}

// Shape of the tensor, its sizes from the outermost dimension to the innermost.
func (t *Tensor) Shape() []int { return ask(t, "shape", c.Shape) }

// Strides, in elements; nil for a sparse tensor.
func (t *Tensor) Strides() []int { return ask(t, "strides", c.Strides) }

// Size of one dimension; negative ones count from the last.
func (t *Tensor) Size(dim int) int {
	native := t.handle("Tensor.Size")
	n := c.Dim(native)
	if dim < -n || dim >= n {
		panic(&Error{ErrOutOfRange, "size", outOfRange(dim, n)})
	}
	size := c.Size(native, (dim+n)%n)
	runtime.KeepAlive(t)
	return size
}

// Dim is the number of dimensions.
func (t *Tensor) Dim() int { return ask(t, "dim", c.Dim) }

// Numel is the number of elements.
func (t *Tensor) Numel() int { return ask(t, "numel", c.Numel) }

// NBytes is the number of elements times their size.
func (t *Tensor) NBytes() int { return ask(t, "nbytes", c.NBytes) }

// DType is the type of the elements.
func (t *Tensor) DType() DType { return DType(ask(t, "dtype", c.TypeOf)) }

// Device is where the elements lie.
func (t *Tensor) Device() Device {
	kind, index := c.DeviceOf(t.handle("Tensor.Device"))
	runtime.KeepAlive(t)
	return Device{DeviceKind(kind), int(index)}
}

// Layout is how the elements are stored; -1 for one that is not among the package's.
func (t *Tensor) Layout() Layout { return Layout(ask(t, "layout", c.LayoutOf)) }

// IsContiguous tells whether the elements lie in C order without gaps.
func (t *Tensor) IsContiguous() bool { return ask(t, "is_contiguous", c.IsContiguous) }

// IsSame tells whether both are references to the same tensor.
func (t *Tensor) IsSame(other *Tensor) bool {
	is := c.IsSame(t.handle("Tensor.IsSame"), other.handle("Tensor.IsSame"))
	runtime.KeepAlive(t)
	runtime.KeepAlive(other)
	return is
}

// Item is the only element, as a float64.
func (t *Tensor) Item() float64 {
	item, err := c.ItemDouble(t.handle("Tensor.Item"))
	runtime.KeepAlive(t)
	must(err)
	return item
}

// ItemInt is the only element, as an int: exact where float64 would round.
func (t *Tensor) ItemInt() int {
	item, err := c.ItemInt64(t.handle("Tensor.Item"))
	runtime.KeepAlive(t)
	must(err)
	return int(item)
}
