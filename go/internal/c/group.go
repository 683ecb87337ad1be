package c

// #include <stdlib.h>
// #include "shim.h"
import "C"
import "unsafe"

func group(g ProcessGroup) *C.tdm_process_group { return (*C.tdm_process_group)(unsafe.Pointer(g)) }
func work(w Work) *C.tdm_work                   { return (*C.tdm_work)(unsafe.Pointer(w)) }

// GroupOptions are tdm_process_group_options; empty strings and negative numbers are its defaults.
type GroupOptions struct {
	Backend, InitMethod, Interface, Name string
	Rank, WorldSize                      int
	TimeoutMS                            int64
	DeviceKind, DeviceIndex              int32
}

func CreateGroup(o GroupOptions, s Store) (ProcessGroup, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	if o.InitMethod == "" {
		o.InitMethod = "env://"
	}
	options := (*C.tdm_process_group_options)(C.calloc(1, C.sizeof_tdm_process_group_options))
	defer C.free(unsafe.Pointer(options))
	options.struct_size = C.sizeof_tdm_process_group_options
	options.backend, options.init_method = cString(o.Backend), cString(o.InitMethod)
	options.interface_name, options.name = cString(o.Interface), cString(o.Name)
	defer free(options.backend)
	defer free(options.init_method)
	defer free(options.interface_name)
	defer free(options.name)
	options.rank, options.world_size = C.int32_t(o.Rank), C.int32_t(o.WorldSize)
	options.timeout_ms = C.int64_t(o.TimeoutMS)
	options.device._type, options.device.index = C.tdm_device_type(o.DeviceKind), C.int32_t(o.DeviceIndex)
	var g *C.tdm_process_group
	err := failure(C.tdm_process_group_create(options, store(s), &g))
	return ProcessGroup(unsafe.Pointer(g)), err
}

func FreeGroup(g ProcessGroup)           { C.tdm_process_group_free(group(g)) }
func GroupRank(g ProcessGroup) int       { return int(C.tdm_process_group_rank(group(g))) }
func GroupSize(g ProcessGroup) int       { return int(C.tdm_process_group_size(group(g))) }
func GroupBackend(g ProcessGroup) string { return C.GoString(C.tdm_process_group_backend(group(g))) }
func AbortGroup(g ProcessGroup) *Failure { return failure(C.tdm_process_group_abort(group(g))) }

// start runs a collective; async: it gives the work to wait for.
func start(async bool, call func(**C.tdm_work) *C.tdm_error) (Work, *Failure) {
	if !async {
		return nil, failure(call(nil))
	}
	var w *C.tdm_work
	err := failure(call(&w))
	return Work(unsafe.Pointer(w)), err
}

func Broadcast(g ProcessGroup, t Tensor, root int, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_broadcast(group(g), tensor(t), C.int32_t(root), w)
	})
}

func AllReduce(g ProcessGroup, t Tensor, op int32, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_all_reduce(group(g), tensor(t), C.tdm_reduce_op(op), w)
	})
}

func Reduce(g ProcessGroup, t Tensor, root int, op int32, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_reduce(group(g), tensor(t), C.int32_t(root), C.tdm_reduce_op(op), w)
	})
}

func AllGather(g ProcessGroup, outputs []Tensor, input Tensor, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error {
		return C.tdm_all_gather(group(g), handles(outputs), C.size_t(len(outputs)), tensor(input), w)
	})
}

func Barrier(g ProcessGroup, async bool) (Work, *Failure) {
	return start(async, func(w **C.tdm_work) *C.tdm_error { return C.tdm_barrier(group(g), w) })
}

func WaitWork(w Work, timeoutMS int64) *Failure {
	return failure(C.tdm_work_wait(work(w), C.int64_t(timeoutMS)))
}
func WorkIsCompleted(w Work) bool { return C.tdm_work_is_completed(work(w)) != 0 }
func FreeWork(w Work)             { C.tdm_work_free(work(w)) }
