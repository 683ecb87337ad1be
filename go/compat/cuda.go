package gotorch

import (
	core "tandem.example/gotorch"
	"tandem.example/gotorch/compat/internal/panics"
)

// CUDAStream is a queue of a GPU's work.
type CUDAStream struct {
	P *core.Stream
}

// Query tells whether all that was queued has been done.
func (s CUDAStream) Query() bool {
	done, err := s.P.Done()
	panics.Must(err)
	return done
}

// Synchronize waits until all that was queued has been done.
func (s CUDAStream) Synchronize() { panics.Must(s.P.Synchronize()) }

// GetCurrentCUDAStream is the stream that work on the device goes to. It panics without a GPU.
func GetCurrentCUDAStream(device Device) CUDAStream {
	stream, err := core.CurrentStream(device.T)
	panics.Must(err)
	return CUDAStream{stream}
}

// NewCUDAStream takes a stream from LibTorch's pool. It panics without a GPU.
func NewCUDAStream(device Device) CUDAStream {
	stream, err := core.NewStream(device.T)
	panics.Must(err)
	return CUDAStream{stream}
}

// SetCurrentCUDAStream panics: here a stream is current for as long as a function runs, stream.P.Use(func() {…}).
func SetCurrentCUDAStream(stream CUDAStream) {
	panic("SetCurrentCUDAStream: a stream is current for as long as a function runs: stream.P.Use(func() { … })")
}
