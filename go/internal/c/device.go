package c

// #include "shim.h"
import "C"
import "unsafe"

func device(kind, index int32) C.tdm_device {
	return C.tdm_device{_type: C.tdm_device_type(kind), index: C.int32_t(index)}
}

func stream(s Stream) *C.tdm_stream { return (*C.tdm_stream)(unsafe.Pointer(s)) }
func event(e Event) *C.tdm_event    { return (*C.tdm_event)(unsafe.Pointer(e)) }

// loaded runs a call that has no handle, and so may be the first.
func loaded(call func() *C.tdm_error) *Failure {
	if err := Load(); err != nil {
		return err
	}
	return failure(call())
}

// CurrentDevice of a kind on this thread, by its index.
func CurrentDevice(kind int32) (index int32, err *Failure) {
	var current C.tdm_device
	err = loaded(func() *C.tdm_error { return C.tdm_device_current(C.tdm_device_type(kind), &current) })
	return int32(current.index), err
}

func EnterDevice(kind, index int32) (Mode, *Failure) {
	return enterMode(func(m *unsafe.Pointer) *C.tdm_error {
		return C.tdm_mode_enter_device(device(kind, index), modeSlot(m))
	})
}

func EnterStream(s Stream) (Mode, *Failure) {
	return enterMode(func(m *unsafe.Pointer) *C.tdm_error { return C.tdm_mode_enter_stream(stream(s), modeSlot(m)) })
}

func SynchronizeDevice(kind, index int32) *Failure {
	return loaded(func() *C.tdm_error { return C.tdm_device_synchronize(device(kind, index)) })
}

// DeviceMemory is tdm_device_memory.
type DeviceMemory struct {
	Allocated, PeakAllocated, Reserved, PeakReserved, Free, Total, Retries, Failures int64
}

func GetDeviceMemory(kind, index int32) (DeviceMemory, *Failure) {
	var m C.tdm_device_memory
	m.struct_size = C.sizeof_tdm_device_memory
	err := loaded(func() *C.tdm_error { return C.tdm_device_get_memory(device(kind, index), &m) })
	return DeviceMemory{int64(m.allocated), int64(m.peak_allocated), int64(m.reserved), int64(m.peak_reserved),
		int64(m.free), int64(m.total), int64(m.retries), int64(m.failures)}, err
}

func ResetPeakMemory(kind, index int32) *Failure {
	return loaded(func() *C.tdm_error { return C.tdm_device_reset_peak_memory(device(kind, index)) })
}

func EmptyCache() *Failure {
	return loaded(func() *C.tdm_error { return C.tdm_cuda_empty_cache() })
}

// Which stream of a device.
const (
	NewStream = iota
	NewPriorityStream
	CurrentStream
	DefaultStream
)

func GetStream(kind, index int32, which int) (Stream, *Failure) {
	var s *C.tdm_stream
	err := loaded(func() *C.tdm_error {
		switch which {
		case CurrentStream:
			return C.tdm_stream_current(device(kind, index), &s)
		case DefaultStream:
			return C.tdm_stream_default(device(kind, index), &s)
		}
		return C.tdm_stream_create(device(kind, index), boolean(which == NewPriorityStream), &s)
	})
	return Stream(unsafe.Pointer(s)), err
}

func FreeStream(s Stream) { C.tdm_stream_free(stream(s)) }
func QueryStream(s Stream) (bool, *Failure) {
	var done C.int32_t
	err := failure(C.tdm_stream_query(stream(s), &done))
	return done != 0, err
}
func SynchronizeStream(s Stream) *Failure { return failure(C.tdm_stream_synchronize(stream(s))) }
func StreamWaitEvent(s Stream, e Event) *Failure {
	return failure(C.tdm_stream_wait_event(stream(s), event(e)))
}
func StreamRecordTensor(s Stream, t Tensor) *Failure {
	return failure(C.tdm_stream_record_tensor(stream(s), tensor(t)))
}

func CreateEvent(kind int32, timing bool) (Event, *Failure) {
	var e *C.tdm_event
	err := loaded(func() *C.tdm_error { return C.tdm_event_create(C.tdm_device_type(kind), boolean(timing), &e) })
	return Event(unsafe.Pointer(e)), err
}

func FreeEvent(e Event) { C.tdm_event_free(event(e)) }

// RecordEvent on a stream, the current one for the zero handle.
func RecordEvent(e Event, s Stream) *Failure { return failure(C.tdm_event_record(event(e), stream(s))) }
func QueryEvent(e Event) (bool, *Failure) {
	var done C.int32_t
	err := failure(C.tdm_event_query(event(e), &done))
	return done != 0, err
}
func SynchronizeEvent(e Event) *Failure { return failure(C.tdm_event_synchronize(event(e))) }
func ElapsedMS(start, end Event) (float64, *Failure) {
	var elapsed C.double
	err := failure(C.tdm_event_elapsed_ms(event(start), event(end), &elapsed))
	return float64(elapsed), err
}

// CUDASettings are tdm_cuda_settings: 0, 1, or -1 to leave one.
type CUDASettings struct{ CuDNNBenchmark, CuDNNDeterministic, TF32MatMul, TF32CuDNN int32 }

func GetCUDASettings() (CUDASettings, *Failure) {
	var s C.tdm_cuda_settings
	s.struct_size = C.sizeof_tdm_cuda_settings
	err := loaded(func() *C.tdm_error { return C.tdm_cuda_get_settings(&s) })
	return CUDASettings{int32(s.cudnn_benchmark), int32(s.cudnn_deterministic), int32(s.tf32_matmul),
		int32(s.tf32_cudnn)}, err
}

func SetCUDASettings(s CUDASettings) *Failure {
	native := C.tdm_cuda_settings{cudnn_benchmark: C.int32_t(s.CuDNNBenchmark),
		cudnn_deterministic: C.int32_t(s.CuDNNDeterministic), tf32_matmul: C.int32_t(s.TF32MatMul),
		tf32_cudnn: C.int32_t(s.TF32CuDNN)}
	native.struct_size = C.sizeof_tdm_cuda_settings
	return loaded(func() *C.tdm_error { return C.tdm_cuda_set_settings(&native) })
}

func SetDeterminism(n int32) *Failure {
	return loaded(func() *C.tdm_error { return C.tdm_set_determinism(C.tdm_determinism(n)) })
}

func GetDeterminism() (int32, *Failure) {
	var n C.tdm_determinism
	err := loaded(func() *C.tdm_error { return C.tdm_get_determinism(&n) })
	return int32(n), err
}

func SetNumInteropThreads(n int) *Failure {
	return loaded(func() *C.tdm_error { return C.tdm_set_num_interop_threads(C.int32_t(n)) })
}

func NumInteropThreads() (int, *Failure) {
	var n C.int32_t
	err := loaded(func() *C.tdm_error { return C.tdm_get_num_interop_threads(&n) })
	return int(n), err
}
