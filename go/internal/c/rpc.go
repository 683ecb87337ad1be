package c

// #include <stdlib.h>
// #include "shim.h"
import "C"
import (
	"runtime"
	"runtime/cgo"
	"unsafe"
)

func rpcFuture(f RPCFuture) *C.tdm_rpc_future { return (*C.tdm_rpc_future)(unsafe.Pointer(f)) }
func rref(r RRef) *C.tdm_rref                 { return (*C.tdm_rref)(unsafe.Pointer(r)) }

func distributedOptimizer(o DistributedOptimizer) *C.tdm_distributed_optimizer {
	return (*C.tdm_distributed_optimizer)(unsafe.Pointer(o))
}

// RPCOptions are tdm_rpc_options.
type RPCOptions struct {
	InitMethod, Address         string
	Rank, WorldSize             int
	TimeoutMS, CallTimeoutMS    int64
	MostOutstanding, NumThreads int
	MostThreads                 int
	DeviceMaps                  []RPCDeviceMap
}

// RPCDeviceMap is a tdm_rpc_device_map.
type RPCDeviceMap struct {
	Worker   string
	From, To Device
}

// InitRPC joins the job's workers; s may be nil.
func InitRPC(name string, o RPCOptions, s Store) *Failure {
	if err := Load(); err != nil {
		return err
	}
	cName, method, address := C.CString(name), cString(o.InitMethod), cString(o.Address)
	defer free(cName)
	defer free(method)
	defer free(address)
	options := C.tdm_rpc_options{init_method: method, rank: C.int32_t(o.Rank), world_size: C.int32_t(o.WorldSize),
		timeout_ms: C.int64_t(o.TimeoutMS), rpc_timeout_ms: C.int64_t(o.CallTimeoutMS),
		most_outstanding: C.int64_t(o.MostOutstanding), address: address, num_worker_threads: C.int32_t(o.NumThreads),
		most_worker_threads: C.int32_t(o.MostThreads)}
	options.struct_size = C.sizeof_tdm_rpc_options
	if len(o.DeviceMaps) > 0 {
		block := C.calloc(C.size_t(len(o.DeviceMaps)), C.sizeof_tdm_rpc_device_map)
		defer C.free(block)
		options.device_maps, options.device_map_count = (*C.tdm_rpc_device_map)(block), C.size_t(len(o.DeviceMaps))
		for i, one := range o.DeviceMaps {
			worker := C.CString(one.Worker)
			defer free(worker)
			unsafe.Slice(options.device_maps, len(o.DeviceMaps))[i] = C.tdm_rpc_device_map{worker, nativeDevice(one.From), nativeDevice(one.To)}
		}
	}
	return failure(C.tdm_rpc_init(cName, &options, store(s)))
}

// WaitingInRPC waits by a means of Go's: where this goroutine runs a function that another worker called, that makes room for
// another one meanwhile.
func WaitingInRPC(wait func()) {
	if Load() != nil || C.tdm_rpc_wait_begin() == 0 {
		wait()
		return
	}
	defer C.tdm_rpc_wait_end() // on the same thread, to which the goroutine is bound
	wait()
}

func ShutdownRPC(graceful bool, timeoutMS int64) *Failure {
	if err := Load(); err != nil {
		return err
	}
	return failure(C.tdm_rpc_shutdown(boolean(graceful), C.int64_t(timeoutMS)))
}

func RPCIsInitialized() bool { return Load() == nil && C.tdm_rpc_is_initialized() != 0 }

func RPCWorkers() ([]string, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	var list *C.tdm_strings
	if err := failure(C.tdm_rpc_workers(&list)); err != nil {
		return nil, err
	}
	return texts(list), nil
}

func RPCWorkerID() (int, *Failure) {
	if err := Load(); err != nil {
		return -1, err
	}
	var id C.int32_t
	err := failure(C.tdm_rpc_worker_id(&id))
	return int(id), err
}

// RPCFunction is called when a worker calls it, in a native scope, with values that are its own. It gives a frame of one
// value, nil for none, and what owns that value's handles.
type RPCFunction func(scope uint64, arguments []Value) (result *Frame, owner any, err error)

//export tgRPCFunction
func tgRPCFunction(handle C.uintptr_t, scope C.uint64_t, arguments *C.tdm_value, count C.size_t,
	result *C.tdm_rpc_result) (failed *C.tdm_error) {
	defer func() {
		if problem := recover(); problem != nil {
			failed = thrown(ErrorOfPanic(problem))
		}
	}()
	frame, owner, err := cgo.Handle(handle).Value().(RPCFunction)(uint64(scope), takeElements(unsafe.Pointer(arguments), uintptr(count)))
	if err != nil {
		return thrown(err)
	}
	if frame == nil {
		return nil
	}
	defer frame.Release()
	values, _, pool := frame.arguments()
	failed = C.tg_rpc_result_set(result, values, pool)
	runtime.KeepAlive(owner)
	return failed
}

func RegisterRPC(name string, body RPCFunction) *Failure {
	if err := Load(); err != nil {
		return err
	}
	cName := C.CString(name)
	defer free(cName)
	return registerValue(body, func(handle C.uintptr_t) *C.tdm_error {
		return C.tg_rpc_register_function(cName, handle)
	})
}

func RegisterRPCModule(name string, m Module) *Failure {
	cName := C.CString(name)
	defer free(cName)
	return failure(C.tdm_rpc_register_module(cName, module(m)))
}

func UnregisterRPC(name string) (existed bool, err *Failure) {
	if err := Load(); err != nil {
		return false, err
	}
	cName := C.CString(name)
	defer free(cName)
	var was C.int32_t
	err = failure(C.tdm_rpc_unregister(cName, &was))
	return was != 0, err
}

// RPCCallOptions are tdm_rpc_call_options.
type RPCCallOptions struct {
	TimeoutMS, Context int64
	Retries            int
}

func (o RPCCallOptions) native() C.tdm_rpc_call_options {
	made := C.tdm_rpc_call_options{timeout_ms: C.int64_t(o.TimeoutMS), context: C.int64_t(o.Context),
		retries: C.int32_t(o.Retries)}
	made.struct_size = C.sizeof_tdm_rpc_call_options
	return made
}

// CallRPC calls without waiting, and releases the frame.
func CallRPC(to, function string, f *Frame, o RPCCallOptions) (RPCFuture, *Failure) {
	defer f.Release()
	cTo, cFunction := C.CString(to), C.CString(function)
	defer free(cTo)
	defer free(cFunction)
	values, count, pool := f.arguments()
	options := o.native()
	var future *C.tdm_rpc_future
	err := failure(C.tg_rpc_async(cTo, cFunction, values, count, pool, &options, &future))
	return RPCFuture(unsafe.Pointer(future)), err
}

// RemoteRPC calls for a reference, and releases the frame.
func RemoteRPC(to, function string, f *Frame, o RPCCallOptions) (RRef, *Failure) {
	defer f.Release()
	cTo, cFunction := C.CString(to), C.CString(function)
	defer free(cTo)
	defer free(cFunction)
	values, count, pool := f.arguments()
	options := o.native()
	var made *C.tdm_rref
	err := failure(C.tg_rpc_remote(cTo, cFunction, values, count, pool, &options, &made))
	return RRef(unsafe.Pointer(made)), err
}

// WaitRPC waits as long as the call may take; each time the value is another one.
func WaitRPC(future RPCFuture) (Value, *Failure) {
	return oneValue(func(out *C.tdm_value) *C.tdm_error { return C.tdm_rpc_future_wait(rpcFuture(future), 0, out) })
}

func RPCIsDone(future RPCFuture) bool { return C.tdm_rpc_future_is_done(rpcFuture(future)) != 0 }
func FreeRPCFuture(future RPCFuture)  { C.tdm_rpc_future_free(rpcFuture(future)) }

//export tgRPCDone
func tgRPCDone(handle C.uintptr_t) { cgo.Handle(handle).Value().(func())() }

// OnRPCDone calls done once, on a thread of C's or within this call; it must not block.
func OnRPCDone(future RPCFuture, done func()) *Failure {
	return registerValue(done, func(handle C.uintptr_t) *C.tdm_error {
		return C.tg_rpc_on_completion(rpcFuture(future), handle)
	})
}

// CreateRRef of the frame's one value, and releases the frame.
func CreateRRef(f *Frame) (RRef, *Failure) {
	defer f.Release()
	values, _, pool := f.arguments()
	var made *C.tdm_rref
	err := failure(C.tg_rref_create(values, pool, &made))
	return RRef(unsafe.Pointer(made)), err
}

func RRefOwner(r RRef) (int, *Failure) {
	var id C.int32_t
	err := failure(C.tdm_rref_owner(rref(r), &id))
	return int(id), err
}

func RRefIsOwner(r RRef) bool     { return C.tdm_rref_is_owner(rref(r)) != 0 }
func RRefIsConfirmed(r RRef) bool { return C.tdm_rref_confirmed_by_owner(rref(r)) != 0 }
func FreeRRef(r RRef)             { C.tdm_rref_free(rref(r)) }

func RRefLocalValue(r RRef) (Value, *Failure) {
	return oneValue(func(out *C.tdm_value) *C.tdm_error { return C.tdm_rref_local_value(rref(r), 0, out) })
}

func RRefToHere(r RRef, o RPCCallOptions) (Value, *Failure) {
	options := o.native()
	return oneValue(func(out *C.tdm_value) *C.tdm_error { return C.tdm_rref_to_here(rref(r), &options, out) })
}

// RRefCounts are tdm_rref_counts.
type RRefCounts struct{ Owners, Forks, Pending int }

func CountRRefs() (RRefCounts, *Failure) {
	if err := Load(); err != nil {
		return RRefCounts{}, err
	}
	var counts C.tdm_rref_counts
	counts.struct_size = C.sizeof_tdm_rref_counts
	err := failure(C.tdm_rref_get_counts(&counts))
	return RRefCounts{int(counts.owners), int(counts.forks), int(counts.pending)}, err
}

// RPCStatistics are tdm_rpc_statistics.
type RPCStatistics struct {
	Calls, Failed, Outstanding                   int
	BytesSent, BytesReceived, LatencyNanoseconds int64
}

func RPCStatisticsOf(worker string) (RPCStatistics, *Failure) {
	cWorker := C.CString(worker)
	defer free(cWorker)
	var counted C.tdm_rpc_statistics
	counted.struct_size = C.sizeof_tdm_rpc_statistics
	err := failure(C.tdm_rpc_get_statistics(cWorker, &counted))
	return RPCStatistics{int(counted.calls), int(counted.failed), int(counted.outstanding), int64(counted.bytes_sent),
		int64(counted.bytes_received), int64(counted.latency_ns)}, err
}

func NewAutogradContext() (int64, *Failure) {
	if err := Load(); err != nil {
		return -1, err
	}
	var id C.int64_t
	err := failure(C.tdm_dist_autograd_new_context(&id))
	return int64(id), err
}

func ReleaseAutogradContext(id int64) *Failure {
	return failure(C.tdm_dist_autograd_release_context(C.int64_t(id)))
}

// CurrentAutogradContext is the thread's; -1: none.
func CurrentAutogradContext() int64 {
	if Load() != nil {
		return -1
	}
	return int64(C.tdm_dist_autograd_current_context())
}

func DistBackward(id int64, roots []Tensor, retainGraph bool) *Failure {
	return failure(C.tdm_dist_autograd_backward(C.int64_t(id), handles(roots), C.size_t(len(roots)), boolean(retainGraph)))
}

// DistGradients gives the zero Made where there is none.
func DistGradients(id int64, of []Tensor) ([]Made, *Failure) {
	results := make([]Tensor, len(of))
	if err := failure(C.tdm_dist_autograd_gradients(C.int64_t(id), handles(of), C.size_t(len(of)), handles(results))); err != nil {
		return nil, err
	}
	list := make([]Made, len(results))
	for i, h := range results {
		if h != nil {
			list[i], _ = made(C.tg_describe(tensor(h)))
		}
	}
	return list, nil
}

// DistributedOptimizerOptions are tdm_distributed_optimizer_options.
type DistributedOptimizerOptions struct {
	BeforeStep, AfterStep string
	Locked                bool
}

// CreateDistributedOptimizer from a frame of options, which it releases.
func CreateDistributedOptimizer(kind string, parameters []RRef, f *Frame, o DistributedOptimizerOptions) (DistributedOptimizer, *Failure) {
	defer f.Release()
	cKind, before, after := C.CString(kind), cString(o.BeforeStep), cString(o.AfterStep)
	defer free(cKind)
	defer free(before)
	defer free(after)
	options := C.tdm_distributed_optimizer_options{before_step: before, after_step: after, locked: boolean(o.Locked)}
	options.struct_size = C.sizeof_tdm_distributed_optimizer_options
	values, count, pool := f.arguments()
	var first **C.tdm_rref
	if len(parameters) > 0 {
		first = (**C.tdm_rref)(unsafe.Pointer(&parameters[0]))
	}
	var made *C.tdm_distributed_optimizer
	err := failure(C.tg_distributed_optimizer_create(cKind, first, C.size_t(len(parameters)), f.optionNames(), values, count,
		pool, &options, &made))
	runtime.KeepAlive(parameters)
	return DistributedOptimizer(unsafe.Pointer(made)), err
}

func StepDistributedOptimizer(o DistributedOptimizer, context int64) *Failure {
	return failure(C.tdm_distributed_optimizer_step(distributedOptimizer(o), C.int64_t(context)))
}

// SetDistributedOption sets the frame's one option, and releases the frame.
func SetDistributedOption(o DistributedOptimizer, f *Frame) *Failure {
	defer f.Release()
	values, _, pool := f.arguments()
	return failure(C.tg_distributed_optimizer_set_option(distributedOptimizer(o), f.optionNames(), values, pool))
}

func FreeDistributedOptimizer(o DistributedOptimizer) {
	C.tdm_distributed_optimizer_free(distributedOptimizer(o))
}
