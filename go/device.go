package gotorch

import (
	"runtime"
	"time"

	"tandem.example/gotorch/internal/c"
)

// CurrentDevice is the device of that kind that operations of this goroutine use where none is named. ErrUnsupported
// where there is no GPU. Source: torch.cuda.current_device.
func CurrentDevice(kind DeviceKind) (Device, error) {
	index, err := c.CurrentDevice(int32(kind))
	return Device{kind, int(index)}, errorOf(err)
}

// OnDevice calls body with that device as the current one. It panics with *[Error] of code ErrUnsupported where there is
// no GPU, ErrOutOfRange where there are fewer. Source: torch.cuda.device.
func OnDevice(device Device, body func()) {
	inMode(func() (c.Mode, *c.Failure) { return c.EnterDevice(int32(device.Kind), int32(device.Index)) }, body)
}

// Synchronize waits until all work that was queued on the device is done; the CPU's is done when a call returns.
// Source: torch.cuda.synchronize.
func Synchronize(device Device) error {
	return errorOf(c.SynchronizeDevice(int32(device.Kind), int32(device.Index)))
}

// MemoryStats of a GPU, in bytes.
type MemoryStats struct {
	Allocated, PeakAllocated int64 // by tensors
	Reserved, PeakReserved   int64 // taken from the driver, free blocks that LibTorch keeps among them
	Free, Total              int64 // of the device, other processes counted in
	Retries                  int64 // allocations that had to give kept blocks back first
	Failures                 int64 // that found no memory even then
}

// Memory of a GPU. ErrUnsupported for the CPU, and where there is no GPU. Source: torch.cuda.memory_stats.
func Memory(device Device) (MemoryStats, error) {
	m, err := c.GetDeviceMemory(int32(device.Kind), int32(device.Index))
	return MemoryStats(m), errorOf(err)
}

// ResetPeakMemory has peaks begin again at what is there now.
func ResetPeakMemory(device Device) error {
	return errorOf(c.ResetPeakMemory(int32(device.Kind), int32(device.Index)))
}

// EmptyCache gives the blocks that LibTorch keeps on GPUs back to the driver. Source: torch.cuda.empty_cache.
func EmptyCache() error { return errorOf(c.EmptyCache()) }

// Stream is a queue of a GPU's work; streams run beside one another. Source: torch.cuda.Stream.
type Stream struct{ native c.Stream }

func newStream(device Device, which int) (*Stream, error) {
	native, err := c.GetStream(int32(device.Kind), int32(device.Index), which)
	if err != nil {
		return nil, errorOf(err)
	}
	s := &Stream{native}
	runtime.AddCleanup(s, func(native c.Stream) { c.FreeStream(native) }, native)
	return s, nil
}

// NewStream takes a stream of the device from LibTorch's pool. ErrUnsupported for the CPU, and where there is no GPU.
func NewStream(device Device) (*Stream, error) { return newStream(device, c.NewStream) }

// NewPriorityStream is [NewStream] for work that goes before other streams'.
func NewPriorityStream(device Device) (*Stream, error) { return newStream(device, c.NewPriorityStream) }

// CurrentStream is the one that operations of this goroutine go to.
func CurrentStream(device Device) (*Stream, error) { return newStream(device, c.CurrentStream) }

// DefaultStream is the one that operations go to unless another one is chosen.
func DefaultStream(device Device) (*Stream, error) { return newStream(device, c.DefaultStream) }

// Use calls body with its work on the stream's device going to the stream.
func (s *Stream) Use(body func()) {
	inMode(func() (c.Mode, *c.Failure) { return c.EnterStream(s.native) }, body)
	runtime.KeepAlive(s)
}

// Done tells whether all that was queued is done.
func (s *Stream) Done() (bool, error) {
	done, err := c.QueryStream(s.native)
	runtime.KeepAlive(s)
	return done, errorOf(err)
}

// Synchronize waits until all that was queued is done.
func (s *Stream) Synchronize() error {
	err := c.SynchronizeStream(s.native)
	runtime.KeepAlive(s)
	return errorOf(err)
}

// Wait has work that is queued from now on begin after the event.
func (s *Stream) Wait(event *Event) error {
	err := c.StreamWaitEvent(s.native, event.native)
	runtime.KeepAlive(s)
	runtime.KeepAlive(event)
	return errorOf(err)
}

// Record says that the stream uses a tensor that was made on another one, so that its memory waits. Source:
// torch.Tensor.record_stream.
func (s *Stream) Record(t *Tensor) error {
	return Try(func() {
		err := c.StreamRecordTensor(s.native, t.handle("Stream.RecordTensor"))
		runtime.KeepAlive(s)
		runtime.KeepAlive(t)
		must(err)
	})
}

// Event is a mark in a stream. Source: torch.cuda.Event.
type Event struct{ native c.Event }

// NewEvent makes an event for GPUs; with timing, [Event.Until] can tell the time between two. ErrUnsupported where there
// is no GPU.
func NewEvent(timing bool) (*Event, error) {
	native, err := c.CreateEvent(int32(CUDADevice), timing)
	if err != nil {
		return nil, errorOf(err)
	}
	e := &Event{native}
	runtime.AddCleanup(e, func(native c.Event) { c.FreeEvent(native) }, native)
	return e, nil
}

// Record puts the mark after what is queued on the stream now, on this goroutine's current stream for nil.
func (e *Event) Record(stream *Stream) error {
	var native c.Stream
	if stream != nil {
		native = stream.native
	}
	err := c.RecordEvent(e.native, native)
	runtime.KeepAlive(e)
	runtime.KeepAlive(stream)
	return errorOf(err)
}

// Done tells whether the stream is past the mark.
func (e *Event) Done() (bool, error) {
	done, err := c.QueryEvent(e.native)
	runtime.KeepAlive(e)
	return done, errorOf(err)
}

// Synchronize waits until the stream is past the mark.
func (e *Event) Synchronize() error {
	err := c.SynchronizeEvent(e.native)
	runtime.KeepAlive(e)
	return errorOf(err)
}

// Until is the time that the GPU took from e to end, both with timing and done.
func (e *Event) Until(end *Event) (time.Duration, error) {
	ms, err := c.ElapsedMS(e.native, end.native)
	runtime.KeepAlive(e)
	runtime.KeepAlive(end)
	return time.Duration(ms * float64(time.Millisecond)), errorOf(err)
}

// CUDASettings of the process; what is not set stays as it is. Source: torch.backends.
type CUDASettings struct {
	CuDNNBenchmark     Opt[bool] // try out convolution algorithms for each new shape
	CuDNNDeterministic Opt[bool]
	TF32MatMul         Opt[bool] // float32 products in TF32
	TF32CuDNN          Opt[bool]
}

// SetCUDA changes settings. ErrUnsupported where there is no GPU.
func SetCUDA(settings CUDASettings) error {
	number := func(o Opt[bool]) int32 {
		on, set := o.Get()
		switch {
		case !set:
			return -1
		case on:
			return 1
		}
		return 0
	}
	return errorOf(c.SetCUDASettings(c.CUDASettings{
		CuDNNBenchmark: number(settings.CuDNNBenchmark), CuDNNDeterministic: number(settings.CuDNNDeterministic),
		TF32MatMul: number(settings.TF32MatMul), TF32CuDNN: number(settings.TF32CuDNN),
	}))
}

// CurrentCUDA gives the settings as they are, all of them set. ErrUnsupported where there is no GPU.
func CurrentCUDA() (CUDASettings, error) {
	s, err := c.GetCUDASettings()
	if err != nil {
		return CUDASettings{}, errorOf(err)
	}
	return CUDASettings{Some(s.CuDNNBenchmark != 0), Some(s.CuDNNDeterministic != 0), Some(s.TF32MatMul != 0),
		Some(s.TF32CuDNN != 0)}, nil
}

// Determinism is what happens to operators that do not give the same bits each time.
type Determinism int32

// The degrees of determinism. The numbers are those of tandem.h.
const (
	DeterminismOff  Determinism = 0
	DeterminismWarn Determinism = 1 // an operator that has no deterministic form prints a warning
	DeterminismOn   Determinism = 2 // or fails
)

// SetDeterminism is the process's, on the CPU too. Source: torch.use_deterministic_algorithms.
func SetDeterminism(d Determinism) error { return errorOf(c.SetDeterminism(int32(d))) }

// CurrentDeterminism of the process.
func CurrentDeterminism() (Determinism, error) {
	d, err := c.GetDeterminism()
	return Determinism(d), errorOf(err)
}

// SetNumInteropThreads sets how many operators run beside one another; once, before the first do. Source:
// torch.set_num_interop_threads.
func SetNumInteropThreads(n int) error { return errorOf(c.SetNumInteropThreads(n)) }

// NumInteropThreads is how many operators run beside one another.
func NumInteropThreads() (int, error) {
	n, err := c.NumInteropThreads()
	return n, errorOf(err)
}
