package c

// #include "shim.h"
import "C"
import (
	"runtime"
	"runtime/cgo"
	"runtime/debug"
	"unsafe"
)

// Callback is a Go function that native code calls, on any thread. It runs in a native scope, which frees the tensors
// that it is given and makes; its results, at most Room of them, belong to that scope too. An error, or a panic, ends
// what led to the call.
type Callback func(Invocation) ([]Tensor, error)

// Invocation is what a callback is given.
type Invocation struct {
	Scope  uint64
	Inputs []Made // the zero Made where there is none
	Room   int

	// Of the backward of a function: what was saved, and which results are needed. Of the loss of a pipeline: the targets.
	Saved []Made
	Needs []bool

	Bucket *Bucket // of a communication hook

	Replica int // of a data-parallel module; of a pipeline the stage, -1: the loss

	Rate *RateCall // of a scheduler

	Data       *DataCall // of a data set or sampler
	Randomness []uint64  // of a loader's step: for each row
}

// RateCall is what a scheduler asks for: the factor of a group at a number of steps, or of a cycle.
type RateCall struct {
	Group  int
	At     float64
	Factor float64 // for C
}

// DataCall is what a data set or sampler is asked for.
type DataCall struct {
	What    DataRequest
	Seed    uint64
	Epoch   int
	Number  int   // of the sample to get; of the samples to skip; of the first position to list
	Stream  int   // that is gone through, as opening it gave
	Samples []int // to list, in C's memory
	Result  int   // for C: the stream that was opened; 1: there is a next sample; how many were skipped
}

// DataRequest is one of TG_GET and those after it.
type DataRequest int32

const (
	DataGet   DataRequest = C.TG_GET
	DataMap   DataRequest = C.TG_MAP
	DataOpen  DataRequest = C.TG_OPEN
	DataNext  DataRequest = C.TG_NEXT
	DataSkip  DataRequest = C.TG_SKIP
	DataClose DataRequest = C.TG_CLOSE
	DataList  DataRequest = C.TG_LIST
)

// owned is a callback, and what is to happen when native code releases it: in the middle of another call, so it must
// not wait.
type owned struct {
	body     Callback
	released func()
}

// PanicError makes the error of a callback that panicked with something that is no error, or that Go itself had panic, and
// where it did. Package gotorch sets it.
var PanicError func(value any, stack []byte) error

//export tgCallback
func tgCallback(handle C.uintptr_t, call *C.tg_call) (failed *C.tdm_error) {
	defer func() {
		if problem := recover(); problem != nil {
			failed = thrown(ErrorOfPanic(problem))
		}
	}()
	value := cgo.Handle(handle).Value()
	body, ok := value.(Callback)
	if !ok {
		body = value.(owned).body
	}
	data := dataCallOf(call)
	var rate *RateCall
	if call.rate != nil {
		rate = &RateCall{Group: int(call.rate.group), At: float64(call.rate.at)}
	}
	results, err := body(Invocation{
		Scope:  uint64(call.scope),
		Inputs: describe(call.inputs, call.input_count),
		Room:   int(call.result_count),
		Saved:  describe(call.saved, call.saved_count),
		Needs:  flags(call.needs, call.result_count),
		Bucket: bucketOf(call),

		Replica: int(call.replica),
		Rate:    rate,
		Data:    data,

		Randomness: randomnessOf(call),
	})
	if err != nil {
		return thrown(err)
	}
	if rate != nil {
		call.rate.factor = C.double(rate.Factor)
	}
	if data != nil {
		call.data.result = C.int64_t(data.Result)
	}
	if call.output_count != nil {
		*call.output_count = C.size_t(len(results))
	}
	copy(unsafe.Slice((*Tensor)(unsafe.Pointer(call.results)), int(call.result_count)), results)
	return nil
}

//export tgRelease
func tgRelease(handle C.uintptr_t) {
	value := cgo.Handle(handle).Value()
	cgo.Handle(handle).Delete()
	if callback, ok := value.(owned); ok {
		callback.released()
	}
}

func dataCallOf(call *C.tg_call) *DataCall {
	data := call.data
	if data == nil {
		return nil
	}
	return &DataCall{What: DataRequest(data.what), Seed: uint64(data.seed), Epoch: int(data.epoch),
		Number: int(data.number), Stream: int(data.stream),
		Samples: unsafe.Slice((*int)(unsafe.Pointer(data.samples)), int(data.sample_count))}
}

func describe(list **C.tdm_tensor, count C.size_t) []Made {
	if count == 0 {
		return nil
	}
	all := make([]Made, int(count))
	for i, t := range unsafe.Slice(list, int(count)) {
		all[i], _ = made(C.tg_describe(t))
	}
	return all
}

func flags(list *C.uint8_t, count C.size_t) []bool {
	if list == nil {
		return nil
	}
	all := make([]bool, int(count))
	for i, flag := range unsafe.Slice(list, int(count)) {
		all[i] = flag != 0
	}
	return all
}

// ErrorOfPanic is what was panicked with, when that is an error that the program made.
func ErrorOfPanic(problem any) error {
	err, ok := problem.(error)
	if _, own := problem.(runtime.Error); ok && !own {
		return err
	}
	return PanicError(problem, debug.Stack())
}

// CodedError is an error of a callback with the code that the C ABI is told; Err is the program's own.
type CodedError struct {
	Code int32
	Err  error
}

// Error is that of Err.
func (e *CodedError) Error() string { return e.Err.Error() }

// Unwrap is Err.
func (e *CodedError) Unwrap() error { return e.Err }

func thrown(err error) *C.tdm_error {
	code := int32(C.TDM_ERROR_CALLBACK)
	if coded, ok := err.(*CodedError); ok {
		code, err = coded.Code, coded.Err
	}
	message := C.CString(err.Error())
	defer free(message)
	return C.tg_error(C.int32_t(code), message, C.uintptr_t(cgo.NewHandle(err)))
}

// register gives body to native code, which holds it until it calls tgRelease; after an error it does not.
func register(body Callback, call func(handle C.uintptr_t) *C.tdm_error) *Failure {
	return registerValue(body, call)
}

// registerValue is register for a Callback or an owned one.
func registerValue(body any, call func(handle C.uintptr_t) *C.tdm_error) *Failure {
	handle := cgo.NewHandle(body)
	err := failure(call(C.uintptr_t(handle)))
	if err != nil {
		handle.Delete()
	}
	return err
}

func RegisterHook(t Tensor, body Callback) (Hook, *Failure) {
	var hook *C.tdm_hook
	err := register(body, func(handle C.uintptr_t) *C.tdm_error {
		return C.tg_register_hook(tensor(t), handle, &hook)
	})
	return Hook(unsafe.Pointer(hook)), err
}

func RegisterPostAccumulateGradHook(t Tensor, body Callback) (Hook, *Failure) {
	var hook *C.tdm_hook
	err := register(body, func(handle C.uintptr_t) *C.tdm_error {
		return C.tg_register_post_accumulate_grad_hook(tensor(t), handle, &hook)
	})
	return Hook(unsafe.Pointer(hook)), err
}

func RemoveHook(h Hook) { C.tdm_hook_remove((*C.tdm_hook)(unsafe.Pointer(h))) }
func FreeHook(h Hook)   { C.tdm_hook_free((*C.tdm_hook)(unsafe.Pointer(h))) }

// FunctionRecord is what tdm_function says of tensors.
type FunctionRecord struct {
	Name                                             string
	Inputs, Outputs, Saved, Dirty, NonDifferentiable []Tensor
	MaterializeGrads                                 bool
}

// RecordFunction gives a new handle for each output.
func RecordFunction(r FunctionRecord, backward Callback) ([]Made, *Failure) {
	name := C.CString(r.Name)
	defer free(name)
	results := make([]Tensor, len(r.Outputs))
	if err := register(backward, func(handle C.uintptr_t) *C.tdm_error {
		return C.tg_function_record(name, handles(r.Inputs), C.size_t(len(r.Inputs)),
			handles(r.Outputs), C.size_t(len(r.Outputs)), handles(r.Saved), C.size_t(len(r.Saved)),
			handles(r.Dirty), C.size_t(len(r.Dirty)), handles(r.NonDifferentiable), C.size_t(len(r.NonDifferentiable)),
			boolean(r.MaterializeGrads), handle, handles(results))
	}); err != nil {
		return nil, err
	}
	list := make([]Made, len(results))
	for i, h := range results {
		list[i], _ = made(C.tg_describe(tensor(h)))
	}
	return list, nil
}

// EnterCheckpoint opens a mode in which nothing is kept for backward, which calls recompute instead.
func EnterCheckpoint(inputs []Tensor, preserveRandom bool, recompute Callback) (Mode, *Failure) {
	var mode *C.tdm_mode
	err := register(recompute, func(handle C.uintptr_t) *C.tdm_error {
		return C.tg_enter_checkpoint(handles(inputs), C.size_t(len(inputs)), boolean(preserveRandom), handle, &mode)
	})
	return Mode(unsafe.Pointer(mode)), err
}
