package c

// #include "shim.h"
import "C"
import "unsafe"

func scheduler(s LRScheduler) *C.tdm_lr_scheduler { return (*C.tdm_lr_scheduler)(unsafe.Pointer(s)) }

// CreateLRScheduler makes a scheduler from a frame of options, and releases the frame. function may be nil.
func CreateLRScheduler(kind string, o Optimizer, f *Frame, function Callback) (LRScheduler, *Failure) {
	defer f.Release()
	cKind := C.CString(kind)
	defer free(cKind)
	values, count, pool := f.arguments()
	var s *C.tdm_lr_scheduler
	create := func(handle C.uintptr_t) *C.tdm_error {
		return C.tg_lr_scheduler_create(cKind, optimizer(o), f.optionNames(), values, count, pool, handle, &s)
	}
	var err *Failure
	if function == nil {
		err = failure(create(0))
	} else {
		err = register(function, create)
	}
	return LRScheduler(unsafe.Pointer(s)), err
}

func schedulers(list []LRScheduler) **C.tdm_lr_scheduler {
	return (**C.tdm_lr_scheduler)(unsafe.Pointer(unsafe.SliceData(list)))
}

func SequentialLR(o Optimizer, list []LRScheduler, milestones []int, lastEpoch int) (LRScheduler, *Failure) {
	var s *C.tdm_lr_scheduler
	err := failure(C.tdm_lr_scheduler_create_sequential(optimizer(o), schedulers(list), C.size_t(len(list)),
		sizes(milestones), C.size_t(len(milestones)), C.int64_t(lastEpoch), &s))
	return LRScheduler(unsafe.Pointer(s)), err
}

func ChainedScheduler(list []LRScheduler) (LRScheduler, *Failure) {
	var s *C.tdm_lr_scheduler
	err := failure(C.tdm_lr_scheduler_create_chained(schedulers(list), C.size_t(len(list)), &s))
	return LRScheduler(unsafe.Pointer(s)), err
}

func FreeLRScheduler(s LRScheduler) { C.tdm_lr_scheduler_free(scheduler(s)) }

func StepLR(s LRScheduler) *Failure { return failure(C.tdm_lr_scheduler_step(scheduler(s))) }
func StepLRMetric(s LRScheduler, metric float64) *Failure {
	return failure(C.tdm_lr_scheduler_step_metric(scheduler(s), C.double(metric)))
}
func StepLRTo(s LRScheduler, epoch float64) *Failure {
	return failure(C.tdm_lr_scheduler_step_to(scheduler(s), C.double(epoch)))
}

func LastLR(s LRScheduler) ([]float64, *Failure) {
	value, err := oneValue(func(out *C.tdm_value) *C.tdm_error { return C.tdm_lr_scheduler_last_lr(scheduler(s), out) })
	rates, _ := value.([]float64)
	return rates, err
}

func LRSchedulerState(s LRScheduler) (Dict, *Failure) {
	value, err := oneValue(func(out *C.tdm_value) *C.tdm_error { return C.tdm_lr_scheduler_state(scheduler(s), out) })
	state, _ := value.(Dict)
	return state, err
}

// LoadLRSchedulerState takes the one dict in the frame, and releases the frame.
func LoadLRSchedulerState(s LRScheduler, f *Frame) *Failure {
	defer f.Release()
	values, _, pool := f.arguments()
	return failure(C.tg_lr_scheduler_load_state(scheduler(s), values, pool))
}
