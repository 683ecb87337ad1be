package c

// #include "shim.h"
import "C"
import "unsafe"

// one takes a tensor that C made.
func one(call func(**C.tdm_tensor) *C.tdm_error) (Made, *Failure) {
	var t *C.tdm_tensor
	if err := failure(call(&t)); err != nil {
		return Made{}, err
	}
	return made(C.tg_describe(t))
}

// several takes as many as there are ranks.
func several(size int, call func(**C.tdm_tensor) *C.tdm_error) ([]Made, *Failure) {
	list := make([]*C.tdm_tensor, size)
	if err := failure(call(unsafe.SliceData(list))); err != nil {
		return nil, err
	}
	all := make([]Made, size)
	for i, t := range list {
		all[i], _ = made(C.tg_describe(t))
	}
	return all, nil
}

func DifferentiableBroadcast(g ProcessGroup, t Tensor, root int) (Made, *Failure) {
	return one(func(out **C.tdm_tensor) *C.tdm_error {
		return C.tdm_differentiable_broadcast(group(g), tensor(t), C.int32_t(root), out)
	})
}

func DifferentiableAllReduce(g ProcessGroup, t Tensor, op int32) (Made, *Failure) {
	return one(func(out **C.tdm_tensor) *C.tdm_error {
		return C.tdm_differentiable_all_reduce(group(g), tensor(t), C.tdm_reduce_op(op), out)
	})
}

func DifferentiableReduce(g ProcessGroup, t Tensor, root int, op int32) (Made, *Failure) {
	return one(func(out **C.tdm_tensor) *C.tdm_error {
		return C.tdm_differentiable_reduce(group(g), tensor(t), C.int32_t(root), C.tdm_reduce_op(op), out)
	})
}

func DifferentiableGather(g ProcessGroup, t Tensor, root, size int) ([]Made, *Failure) {
	return several(size, func(out **C.tdm_tensor) *C.tdm_error {
		return C.tdm_differentiable_gather(group(g), tensor(t), C.int32_t(root), out, C.size_t(size))
	})
}

func DifferentiableScatter(g ProcessGroup, tensors []Tensor, root int) (Made, *Failure) {
	return one(func(out **C.tdm_tensor) *C.tdm_error {
		return C.tdm_differentiable_scatter(group(g), handles(tensors), C.size_t(len(tensors)), C.int32_t(root), out)
	})
}

func DifferentiableAllGather(g ProcessGroup, t Tensor, size int) ([]Made, *Failure) {
	return several(size, func(out **C.tdm_tensor) *C.tdm_error {
		return C.tdm_differentiable_all_gather(group(g), tensor(t), out, C.size_t(size))
	})
}

func DifferentiableReduceScatter(g ProcessGroup, tensors []Tensor, op int32) (Made, *Failure) {
	return one(func(out **C.tdm_tensor) *C.tdm_error {
		return C.tdm_differentiable_reduce_scatter(group(g), handles(tensors), C.size_t(len(tensors)),
			C.tdm_reduce_op(op), out)
	})
}

func DifferentiableAllToAll(g ProcessGroup, tensors []Tensor, size int) ([]Made, *Failure) {
	return several(size, func(out **C.tdm_tensor) *C.tdm_error {
		return C.tdm_differentiable_all_to_all(group(g), handles(tensors), C.size_t(len(tensors)), out, C.size_t(size))
	})
}

func DifferentiableAllToAllSingle(g ProcessGroup, t Tensor, outputSplits, inputSplits []int) (Made, *Failure) {
	return one(func(out **C.tdm_tensor) *C.tdm_error {
		return C.tdm_differentiable_all_to_all_single(group(g), tensor(t), sizes(outputSplits),
			C.size_t(len(outputSplits)), sizes(inputSplits), C.size_t(len(inputSplits)), out)
	})
}
