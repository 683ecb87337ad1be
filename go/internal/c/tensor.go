package c

// #include "shim.h"
import "C"
import "unsafe"

// FromData copies bytes at data into a new CPU tensor.
func FromData(data unsafe.Pointer, bytes int, dtype int32, shape []int) (Made, *Failure) {
	if err := Load(); err != nil {
		return Made{}, err
	}
	return made(C.tg_tensor_from_data(data, C.size_t(bytes), C.tdm_dtype(dtype), sizes(shape), C.int64_t(len(shape))))
}

func Share(t Tensor) (Made, *Failure) { return made(C.tg_tensor_share(tensor(t))) }
func Free(t Tensor)                   { C.tdm_tensor_free(tensor(t)) }

// FreeAll frees several handles; zero ones are left out.
func FreeAll(list []Tensor) { C.tg_tensor_free_all(handles(list), C.size_t(len(list))) }

// TrimMemory has malloc give free memory back to the system.
func TrimMemory() { C.tg_trim_memory() }

// Grad is a handle to the gradient, the zero Made when there is none.
func Grad(t Tensor) (Made, *Failure) { return made(C.tg_tensor_grad(tensor(t))) }

func SetGrad(t, grad Tensor) *Failure { return failure(C.tdm_tensor_set_grad(tensor(t), tensor(grad))) }
func SetRequiresGrad(t Tensor, on bool) *Failure {
	return failure(C.tdm_tensor_set_requires_grad(tensor(t), boolean(on)))
}

// Shape copies the sizes.
func Shape(t Tensor) []int {
	dim := int(C.tdm_tensor_dim(tensor(t)))
	return append(make([]int, 0, dim), unsafe.Slice((*int)(unsafe.Pointer(C.tdm_tensor_sizes(tensor(t)))), dim)...)
}

// Strides copies the strides, nil for a sparse tensor.
func Strides(t Tensor) []int {
	strides := C.tdm_tensor_strides(tensor(t))
	if strides == nil {
		return nil
	}
	dim := int(C.tdm_tensor_dim(tensor(t)))
	return append(make([]int, 0, dim), unsafe.Slice((*int)(unsafe.Pointer(strides)), dim)...)
}

// Size of one dimension; dim must be in range.
func Size(t Tensor, dim int) int {
	return unsafe.Slice((*int)(unsafe.Pointer(C.tdm_tensor_sizes(tensor(t)))), dim+1)[dim]
}

func Dim(t Tensor) int           { return int(C.tdm_tensor_dim(tensor(t))) }
func Numel(t Tensor) int         { return int(C.tdm_tensor_numel(tensor(t))) }
func NBytes(t Tensor) int        { return int(C.tdm_tensor_nbytes(tensor(t))) }
func TypeOf(t Tensor) int32      { return int32(C.tdm_tensor_get_dtype(tensor(t))) }
func RequiresGrad(t Tensor) bool { return C.tdm_tensor_requires_grad(tensor(t)) != 0 }
func IsLeaf(t Tensor) bool       { return C.tdm_tensor_is_leaf(tensor(t)) != 0 }
func IsContiguous(t Tensor) bool { return C.tdm_tensor_is_contiguous(tensor(t)) != 0 }
func IsSame(a, b Tensor) bool    { return C.tdm_tensor_is_same(tensor(a), tensor(b)) != 0 }
func LayoutOf(t Tensor) int32    { return int32(C.tdm_tensor_get_layout(tensor(t))) }
func DeviceOf(t Tensor) (kind, index int32) {
	device := C.tdm_tensor_get_device(tensor(t))
	return int32(device._type), int32(device.index)
}

// Data is the address of a CPU tensor's first element.
func Data(t Tensor) (unsafe.Pointer, *Failure) {
	var data unsafe.Pointer
	err := failure(C.tdm_tensor_data(tensor(t), &data))
	return data, err
}

func CopyTo(t Tensor, destination unsafe.Pointer, bytes int) *Failure {
	return failure(C.tdm_tensor_copy_to(tensor(t), destination, C.size_t(bytes)))
}

func CopyFrom(t Tensor, source unsafe.Pointer, bytes int) *Failure {
	return failure(C.tdm_tensor_copy_from(tensor(t), source, C.size_t(bytes)))
}

func ItemDouble(t Tensor) (float64, *Failure) {
	item := C.tg_tensor_item_double(tensor(t))
	return float64(item.value), failure(item.error)
}

func ItemInt64(t Tensor) (int64, *Failure) {
	item := C.tg_tensor_item_int64(tensor(t))
	return int64(item.value), failure(item.error)
}

func String(t Tensor) (string, *Failure) {
	var s *C.tdm_string
	if err := failure(C.tdm_tensor_to_string(tensor(t), &s)); err != nil {
		return "", err
	}
	return text(s), nil
}

// GradFnName is what autograd recorded the tensor as a result of, "" for nothing.
func GradFnName(t Tensor) (string, *Failure) {
	var s *C.tdm_string
	if err := failure(C.tdm_tensor_grad_fn_name(tensor(t), &s)); err != nil || s == nil {
		return "", err
	}
	return text(s), nil
}

// EnterScope opens a scope on this thread and gives its identity.
func EnterScope() (Scope, uint64, *Failure) {
	if err := Load(); err != nil {
		return nil, 0, err
	}
	s := C.tg_scope_enter()
	return Scope(unsafe.Pointer(s.scope)), uint64(s.id), failure(s.error)
}

func ExitScope(s Scope) { C.tdm_scope_exit((*C.tdm_scope)(unsafe.Pointer(s))) }

// Keep hands the tensor to the scope around its own, or out of all of them, and gives the owner it has now.
func Keep(t Tensor, allTheWay bool) uint64 {
	return uint64(C.tg_scope_keep(tensor(t), boolean(allTheWay)))
}

// Backward runs autograd from tensors; gradients may be nil, as may its elements.
func Backward(tensors, gradients []Tensor, retainGraph, createGraph bool) *Failure {
	return failure(C.tdm_autograd_backward(handles(tensors), handles(gradients), C.size_t(len(tensors)),
		boolean(retainGraph), boolean(createGraph)))
}

func BackwardOne(t, gradient Tensor, retainGraph, createGraph bool) *Failure {
	return failure(C.tg_backward_one(tensor(t), tensor(gradient), boolean(retainGraph), boolean(createGraph)))
}

// AutogradGrad gives the gradients of inputs, the zero Made where one is unused.
func AutogradGrad(outputs, gradOutputs, inputs []Tensor, retainGraph, createGraph, allowUnused bool) ([]Made, *Failure) {
	results := make([]Tensor, len(inputs))
	if err := failure(C.tdm_autograd_grad(handles(outputs), handles(gradOutputs), C.size_t(len(outputs)),
		handles(inputs), C.size_t(len(inputs)), boolean(retainGraph), boolean(createGraph), boolean(allowUnused),
		handles(results))); err != nil {
		return nil, err
	}
	list := make([]Made, len(results))
	for i, h := range results {
		list[i], _ = made(C.tg_describe(tensor(h)))
	}
	return list, nil
}

func ManualSeed(seed uint64) *Failure {
	if err := Load(); err != nil {
		return err
	}
	return failure(C.tdm_manual_seed(C.uint64_t(seed)))
}

func SetNumThreads(n int) *Failure {
	if err := Load(); err != nil {
		return err
	}
	return failure(C.tdm_set_num_threads(C.int32_t(n)))
}

func NumThreads() (int, *Failure) {
	if err := Load(); err != nil {
		return 0, err
	}
	var n C.int32_t
	err := failure(C.tdm_get_num_threads(&n))
	return int(n), err
}
