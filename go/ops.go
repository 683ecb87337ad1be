package gotorch

import (
	"runtime"

	"tandem.example/gotorch/internal/bridge"
)

// Operators as methods. They follow torch.Tensor's methods of the same names, panic with *[Error] on misuse, and give
// a new tensor each.

// Add is t + other, broadcast.
func (t *Tensor) Add(other *Tensor) *Tensor {
	return begin(opAdd).tensor(t).tensor(other).one(t, other)
}

// AddScalar is t + other.
func (t *Tensor) AddScalar(other Scalar) *Tensor {
	return begin(opAddScalar).tensor(t).scalar(other).one(t, nil)
}

// Sub is t - other, broadcast.
func (t *Tensor) Sub(other *Tensor) *Tensor {
	return begin(opSub).tensor(t).tensor(other).one(t, other)
}

// SubScalar is t - other.
func (t *Tensor) SubScalar(other Scalar) *Tensor {
	return begin(opSubScalar).tensor(t).scalar(other).one(t, nil)
}

// Mul is t * other, element by element, broadcast.
func (t *Tensor) Mul(other *Tensor) *Tensor {
	return begin(opMul).tensor(t).tensor(other).one(t, other)
}

// MulScalar is t * other.
func (t *Tensor) MulScalar(other Scalar) *Tensor {
	return begin(opMulScalar).tensor(t).scalar(other).one(t, nil)
}

// Div is t / other, element by element, broadcast; of integers it is a float.
func (t *Tensor) Div(other *Tensor) *Tensor {
	return begin(opDiv).tensor(t).tensor(other).one(t, other)
}

// DivScalar is t / other.
func (t *Tensor) DivScalar(other Scalar) *Tensor {
	return begin(opDivScalar).tensor(t).scalar(other).one(t, nil)
}

// Eq is t == other, element by element, of type [Bool].
func (t *Tensor) Eq(other *Tensor) *Tensor {
	return begin(opEq).tensor(t).tensor(other).one(t, other)
}

// EqScalar is t == other, element by element, of type [Bool].
func (t *Tensor) EqScalar(other Scalar) *Tensor {
	return begin(opEqScalar).tensor(t).scalar(other).one(t, nil)
}

// Ne is t != other, element by element, of type [Bool].
func (t *Tensor) Ne(other *Tensor) *Tensor {
	return begin(opNe).tensor(t).tensor(other).one(t, other)
}

// NeScalar is t != other, element by element, of type [Bool].
func (t *Tensor) NeScalar(other Scalar) *Tensor {
	return begin(opNeScalar).tensor(t).scalar(other).one(t, nil)
}

// Lt is t < other, element by element, of type [Bool].
func (t *Tensor) Lt(other *Tensor) *Tensor {
	return begin(opLt).tensor(t).tensor(other).one(t, other)
}

// LtScalar is t < other, element by element, of type [Bool].
func (t *Tensor) LtScalar(other Scalar) *Tensor {
	return begin(opLtScalar).tensor(t).scalar(other).one(t, nil)
}

// Le is t <= other, element by element, of type [Bool].
func (t *Tensor) Le(other *Tensor) *Tensor {
	return begin(opLe).tensor(t).tensor(other).one(t, other)
}

// LeScalar is t <= other, element by element, of type [Bool].
func (t *Tensor) LeScalar(other Scalar) *Tensor {
	return begin(opLeScalar).tensor(t).scalar(other).one(t, nil)
}

// Gt is t > other, element by element, of type [Bool].
func (t *Tensor) Gt(other *Tensor) *Tensor {
	return begin(opGt).tensor(t).tensor(other).one(t, other)
}

// GtScalar is t > other, element by element, of type [Bool].
func (t *Tensor) GtScalar(other Scalar) *Tensor {
	return begin(opGtScalar).tensor(t).scalar(other).one(t, nil)
}

// Ge is t >= other, element by element, of type [Bool].
func (t *Tensor) Ge(other *Tensor) *Tensor {
	return begin(opGe).tensor(t).tensor(other).one(t, other)
}

// GeScalar is t >= other, element by element, of type [Bool].
func (t *Tensor) GeScalar(other Scalar) *Tensor {
	return begin(opGeScalar).tensor(t).scalar(other).one(t, nil)
}

// MatMul is the matrix product: of matrices, of vectors, or of batches of matrices.
func (t *Tensor) MatMul(other *Tensor) *Tensor {
	return begin(opMatMul).tensor(t).tensor(other).one(t, other)
}

// PowScalar is t to the power of exponent.
func (t *Tensor) PowScalar(exponent Scalar) *Tensor {
	return begin(opPowScalar).tensor(t).scalar(exponent).one(t, nil)
}

// Neg is -t.
func (t *Tensor) Neg() *Tensor {
	return begin(opNeg).tensor(t).one(t, nil)
}

// Abs is |t|.
func (t *Tensor) Abs() *Tensor {
	return begin(opAbs).tensor(t).one(t, nil)
}

// Exp is e to the power of t.
func (t *Tensor) Exp() *Tensor {
	return begin(opExp).tensor(t).one(t, nil)
}

// Log is the natural logarithm.
func (t *Tensor) Log() *Tensor {
	return begin(opLog).tensor(t).one(t, nil)
}

// Sqrt is the square root.
func (t *Tensor) Sqrt() *Tensor {
	return begin(opSqrt).tensor(t).one(t, nil)
}

// Tanh is the hyperbolic tangent.
func (t *Tensor) Tanh() *Tensor {
	return begin(opTanh).tensor(t).one(t, nil)
}

// Sigmoid is 1 / (1 + exp(-t)).
func (t *Tensor) Sigmoid() *Tensor {
	return begin(opSigmoid).tensor(t).one(t, nil)
}

// ReLU is max(t, 0).
func (t *Tensor) ReLU() *Tensor {
	return begin(opReLU).tensor(t).one(t, nil)
}

// Detach is the same elements, without their history.
func (t *Tensor) Detach() *Tensor {
	return begin(opDetach).tensor(t).one(t, nil)
}

// Clone is a copy that autograd follows.
func (t *Tensor) Clone() *Tensor {
	return begin(opClone).tensor(t).one(t, nil)
}

// Contiguous is t itself when it is contiguous, else a contiguous copy.
func (t *Tensor) Contiguous() *Tensor {
	return begin(opContiguous).tensor(t).one(t, nil)
}

// All is whether all elements are true.
func (t *Tensor) All() *Tensor {
	return begin(opAll).tensor(t).one(t, nil)
}

// Any is whether any element is true.
func (t *Tensor) Any() *Tensor {
	return begin(opAny).tensor(t).one(t, nil)
}

// Squeeze is t without its dimensions of size 1.
func (t *Tensor) Squeeze() *Tensor {
	return begin(opSqueeze).tensor(t).one(t, nil)
}

// Sum is the sum of all elements.
func (t *Tensor) Sum() *Tensor {
	return begin(opSum).tensor(t).one(t, nil)
}

// SumDim is the sum over those dimensions; keep leaves them with size 1.
func (t *Tensor) SumDim(dims []int, keep bool) *Tensor {
	return begin(opSumDim).tensor(t).ints(dims).bool(keep).one(t, nil)
}

// Mean is the mean of all elements.
func (t *Tensor) Mean() *Tensor {
	return begin(opMean).tensor(t).one(t, nil)
}

// MeanDim is the mean over those dimensions; keep leaves them with size 1.
func (t *Tensor) MeanDim(dims []int, keep bool) *Tensor {
	return begin(opMeanDim).tensor(t).ints(dims).bool(keep).one(t, nil)
}

// Max is the largest element.
func (t *Tensor) Max() *Tensor {
	return begin(opMax).tensor(t).one(t, nil)
}

// Min is the smallest element.
func (t *Tensor) Min() *Tensor {
	return begin(opMin).tensor(t).one(t, nil)
}

// Argmax is where the largest element of each slice along dim is.
func (t *Tensor) Argmax(dim int) *Tensor {
	return begin(opArgmax).tensor(t).int(dim).one(t, nil)
}

// View is the same elements under another shape; one size may be -1.
func (t *Tensor) View(shape ...int) *Tensor {
	return begin(opView).tensor(t).ints(shape).one(t, nil)
}

// Reshape is View where that is possible, else a copy.
func (t *Tensor) Reshape(shape ...int) *Tensor {
	return begin(opReshape).tensor(t).ints(shape).one(t, nil)
}

// Flatten merges dimensions start to end, both included, into one; -1 is the last.
func (t *Tensor) Flatten(start, end int) *Tensor {
	return begin(opFlatten).tensor(t).int(start).int(end).one(t, nil)
}

// Transpose swaps two dimensions.
func (t *Tensor) Transpose(dim0, dim1 int) *Tensor {
	return begin(opTranspose).tensor(t).int(dim0).int(dim1).one(t, nil)
}

// Permute puts the dimensions into that order.
func (t *Tensor) Permute(dims ...int) *Tensor {
	return begin(opPermute).tensor(t).ints(dims).one(t, nil)
}

// Unsqueeze inserts a dimension of size 1 before dim.
func (t *Tensor) Unsqueeze(dim int) *Tensor {
	return begin(opUnsqueeze).tensor(t).int(dim).one(t, nil)
}

// Expand repeats dimensions of size 1 without a copy; -1 leaves one as it is.
func (t *Tensor) Expand(shape ...int) *Tensor {
	return begin(opExpand).tensor(t).ints(shape).one(t, nil)
}

// Slice is elements start to end, the latter excluded, of a dimension, as a view.
func (t *Tensor) Slice(dim, start, end int) *Tensor {
	return begin(opSlice).tensor(t).int(dim).int(start).int(end).one(t, nil)
}

// Select is element index of a dimension, as a view without that dimension.
func (t *Tensor) Select(dim, index int) *Tensor {
	return begin(opSelect).tensor(t).int(dim).int(index).one(t, nil)
}

// IndexSelect is the elements of a dimension whose numbers are in index, a vector of [Int64].
func (t *Tensor) IndexSelect(dim int, index *Tensor) *Tensor {
	return begin(opIndexSelect).tensor(t).int(dim).tensor(index).one(t, index)
}

// Index is t[indices], an index tensor (or nil: all) for each of the first dimensions.
func (t *Tensor) Index(indices ...*Tensor) *Tensor {
	k := begin(opIndex).tensor(t)
	addArgument(k.frame, indices, k.op.Name)
	result := k.one(t, nil)
	runtime.KeepAlive(indices)
	return result
}

// Gather takes, along dim, the elements whose numbers are in index, a tensor of [Int64].
func (t *Tensor) Gather(dim int, index *Tensor) *Tensor {
	return begin(opGather).tensor(t).int(dim).tensor(index).one(t, index)
}

// Softmax is the softmax along dim.
func (t *Tensor) Softmax(dim int) *Tensor {
	return begin(opSoftmax).tensor(t).int(dim).one(t, nil)
}

// LogSoftmax is the logarithm of the softmax along dim.
func (t *Tensor) LogSoftmax(dim int) *Tensor {
	return begin(opLogSoftmax).tensor(t).int(dim).one(t, nil)
}

// To converts the elements; t itself when they are of that type already.
func (t *Tensor) To(dtype DType) *Tensor {
	return begin(opToDType).tensor(t).dtype(dtype).one(t, nil)
}

// ToDevice moves the elements; t itself when they are there already.
func (t *Tensor) ToDevice(device Device) *Tensor {
	return begin(opToDevice).tensor(t).device(device).dtype(t.DType()).one(t, nil)
}

// AddInPlace is Add that overwrites t. It returns t.
func (t *Tensor) AddInPlace(other *Tensor) *Tensor {
	begin(opAddInPlace).tensor(t).tensor(other).one(t, other).Close()
	return t
}

// AddScalarInPlace is AddScalar that overwrites t. It returns t.
func (t *Tensor) AddScalarInPlace(other Scalar) *Tensor {
	begin(opAddScalarInPlace).tensor(t).scalar(other).one(t, nil).Close()
	return t
}

// SubInPlace is Sub that overwrites t. It returns t.
func (t *Tensor) SubInPlace(other *Tensor) *Tensor {
	begin(opSubInPlace).tensor(t).tensor(other).one(t, other).Close()
	return t
}

// SubScalarInPlace is SubScalar that overwrites t. It returns t.
func (t *Tensor) SubScalarInPlace(other Scalar) *Tensor {
	begin(opSubScalarInPlace).tensor(t).scalar(other).one(t, nil).Close()
	return t
}

// MulInPlace is Mul that overwrites t. It returns t.
func (t *Tensor) MulInPlace(other *Tensor) *Tensor {
	begin(opMulInPlace).tensor(t).tensor(other).one(t, other).Close()
	return t
}

// MulScalarInPlace is MulScalar that overwrites t. It returns t.
func (t *Tensor) MulScalarInPlace(other Scalar) *Tensor {
	begin(opMulScalarInPlace).tensor(t).scalar(other).one(t, nil).Close()
	return t
}

// DivInPlace is Div that overwrites t. It returns t.
func (t *Tensor) DivInPlace(other *Tensor) *Tensor {
	begin(opDivInPlace).tensor(t).tensor(other).one(t, other).Close()
	return t
}

// DivScalarInPlace is DivScalar that overwrites t. It returns t.
func (t *Tensor) DivScalarInPlace(other Scalar) *Tensor {
	begin(opDivScalarInPlace).tensor(t).scalar(other).one(t, nil).Close()
	return t
}

// FillInPlace overwrites all elements with value. It returns t.
func (t *Tensor) FillInPlace(value Scalar) *Tensor {
	begin(opFillInPlace).tensor(t).scalar(value).one(t, nil).Close()
	return t
}

// CopyInPlace overwrites t with the elements of source, broadcast, converted and moved. It returns t.
func (t *Tensor) CopyInPlace(source *Tensor) *Tensor {
	begin(opCopyInPlace).tensor(t).tensor(source).one(t, source).Close()
	return t
}

// ZeroInPlace overwrites all elements with zero. It returns t.
func (t *Tensor) ZeroInPlace() *Tensor {
	begin(opZeroInPlace).tensor(t).one(t, nil).Close()
	return t
}

// Cat joins tensors along a dimension that they have.
func Cat(tensors []*Tensor, dim int) *Tensor {
	result := begin(opCat).tensors(tensors).int(dim).one(nil, nil)
	runtime.KeepAlive(tensors)
	return result
}

// Stack joins tensors along a new dimension.
func Stack(tensors []*Tensor, dim int) *Tensor {
	result := begin(opStack).tensors(tensors).int(dim).one(nil, nil)
	runtime.KeepAlive(tensors)
	return result
}

// AllClose tells whether |t - other| <= absolute + relative * |other| holds for all elements.
func (t *Tensor) AllClose(other *Tensor, relative, absolute float64) bool {
	k := begin(opAllClose).tensor(t).tensor(other).double(relative).double(absolute)
	close := k.op.All(k.frame)[0].(bool)
	runtime.KeepAlive(t)
	runtime.KeepAlive(other)
	return close
}

// Equal tells whether both tensors have the same shape and elements.
func (t *Tensor) Equal(other *Tensor) bool {
	k := begin(opEqual).tensor(t).tensor(other)
	equal := k.op.All(k.frame)[0].(bool)
	runtime.KeepAlive(t)
	runtime.KeepAlive(other)
	return equal
}

// MaxDim gives the largest elements along a dimension and where they are.
func (t *Tensor) MaxDim(dim int, keep bool) (values, indices *Tensor) {
	k := begin(opMaxDim).tensor(t).int(dim).bool(keep)
	results := k.op.All(k.frame)
	runtime.KeepAlive(t)
	return resultOf(results[0]).(*Tensor), resultOf(results[1]).(*Tensor)
}

var (
	opAdd              = bridge.NewOperator("aten::add", "Tensor")
	opAddScalar        = bridge.NewOperator("aten::add", "Scalar")
	opSub              = bridge.NewOperator("aten::sub", "Tensor")
	opSubScalar        = bridge.NewOperator("aten::sub", "Scalar")
	opMul              = bridge.NewOperator("aten::mul", "Tensor")
	opMulScalar        = bridge.NewOperator("aten::mul", "Scalar")
	opDiv              = bridge.NewOperator("aten::div", "Tensor")
	opDivScalar        = bridge.NewOperator("aten::div", "Scalar")
	opEq               = bridge.NewOperator("aten::eq", "Tensor")
	opEqScalar         = bridge.NewOperator("aten::eq", "Scalar")
	opNe               = bridge.NewOperator("aten::ne", "Tensor")
	opNeScalar         = bridge.NewOperator("aten::ne", "Scalar")
	opLt               = bridge.NewOperator("aten::lt", "Tensor")
	opLtScalar         = bridge.NewOperator("aten::lt", "Scalar")
	opLe               = bridge.NewOperator("aten::le", "Tensor")
	opLeScalar         = bridge.NewOperator("aten::le", "Scalar")
	opGt               = bridge.NewOperator("aten::gt", "Tensor")
	opGtScalar         = bridge.NewOperator("aten::gt", "Scalar")
	opGe               = bridge.NewOperator("aten::ge", "Tensor")
	opGeScalar         = bridge.NewOperator("aten::ge", "Scalar")
	opMatMul           = bridge.NewOperator("aten::matmul", "")
	opPowScalar        = bridge.NewOperator("aten::pow", "Tensor_Scalar")
	opNeg              = bridge.NewOperator("aten::neg", "")
	opAbs              = bridge.NewOperator("aten::abs", "")
	opExp              = bridge.NewOperator("aten::exp", "")
	opLog              = bridge.NewOperator("aten::log", "")
	opSqrt             = bridge.NewOperator("aten::sqrt", "")
	opTanh             = bridge.NewOperator("aten::tanh", "")
	opSigmoid          = bridge.NewOperator("aten::sigmoid", "")
	opReLU             = bridge.NewOperator("aten::relu", "")
	opDetach           = bridge.NewOperator("aten::detach", "")
	opClone            = bridge.NewOperator("aten::clone", "")
	opContiguous       = bridge.NewOperator("aten::contiguous", "")
	opAll              = bridge.NewOperator("aten::all", "")
	opAny              = bridge.NewOperator("aten::any", "")
	opSqueeze          = bridge.NewOperator("aten::squeeze", "")
	opSum              = bridge.NewOperator("aten::sum", "")
	opSumDim           = bridge.NewOperator("aten::sum", "dim_IntList")
	opMean             = bridge.NewOperator("aten::mean", "")
	opMeanDim          = bridge.NewOperator("aten::mean", "dim")
	opMax              = bridge.NewOperator("aten::max", "")
	opMin              = bridge.NewOperator("aten::min", "")
	opArgmax           = bridge.NewOperator("aten::argmax", "")
	opView             = bridge.NewOperator("aten::view", "")
	opReshape          = bridge.NewOperator("aten::reshape", "")
	opFlatten          = bridge.NewOperator("aten::flatten", "using_ints")
	opTranspose        = bridge.NewOperator("aten::transpose", "int")
	opPermute          = bridge.NewOperator("aten::permute", "")
	opUnsqueeze        = bridge.NewOperator("aten::unsqueeze", "")
	opExpand           = bridge.NewOperator("aten::expand", "")
	opSlice            = bridge.NewOperator("aten::slice", "Tensor")
	opSelect           = bridge.NewOperator("aten::select", "int")
	opIndexSelect      = bridge.NewOperator("aten::index_select", "")
	opIndex            = bridge.NewOperator("aten::index", "Tensor")
	opGather           = bridge.NewOperator("aten::gather", "")
	opSoftmax          = bridge.NewOperator("aten::softmax", "int")
	opLogSoftmax       = bridge.NewOperator("aten::log_softmax", "int")
	opToDType          = bridge.NewOperator("aten::to", "dtype")
	opToDevice         = bridge.NewOperator("aten::to", "device")
	opAddInPlace       = bridge.NewOperator("aten::add_", "Tensor")
	opAddScalarInPlace = bridge.NewOperator("aten::add_", "Scalar")
	opSubInPlace       = bridge.NewOperator("aten::sub_", "Tensor")
	opSubScalarInPlace = bridge.NewOperator("aten::sub_", "Scalar")
	opMulInPlace       = bridge.NewOperator("aten::mul_", "Tensor")
	opMulScalarInPlace = bridge.NewOperator("aten::mul_", "Scalar")
	opDivInPlace       = bridge.NewOperator("aten::div_", "Tensor")
	opDivScalarInPlace = bridge.NewOperator("aten::div_", "Scalar")
	opFillInPlace      = bridge.NewOperator("aten::fill_", "Scalar")
	opCopyInPlace      = bridge.NewOperator("aten::copy_", "")
	opZeroInPlace      = bridge.NewOperator("aten::zero_", "")
	opCat              = bridge.NewOperator("aten::cat", "")
	opStack            = bridge.NewOperator("aten::stack", "")
	opAllClose         = bridge.NewOperator("aten::allclose", "")
	opEqual            = bridge.NewOperator("aten::equal", "")
	opMaxDim           = bridge.NewOperator("aten::max", "dim")
)
