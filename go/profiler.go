package gotorch

import (
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// ProfilerOptions of [StartProfiler].
type ProfilerOptions struct {
	CPUOnly bool // no kernels, also where this process has CUDA
	Shapes  bool // of operators' tensors
	Flops   bool // of matrix products and convolutions
}

// StartProfiler has LibTorch's profiler, Kineto, note everything that LibTorch runs in this process from now on, on all
// threads: operators, collectives, and kernels where there is a GPU. With several ranks use dist.ProcessGroup's
// StartProfiler, which puts their files on one clock. It is an error while the profiler is on.
func StartProfiler(options ...ProfilerOptions) error {
	o, err := bridge.One(options)
	if err != nil {
		return err
	}
	return errorOf(c.StartProfiler(nil, o.CPUOnly, o.Shapes, o.Flops))
}

// StopProfiler ends the profile and writes it to a file for Perfetto (ui.perfetto.dev) and chrome://tracing; "": none. It
// gives a table of what took time, a line a name, the most expensive first. After an error of the file the profile is
// lost.
func StopProfiler(path string) (table string, err error) {
	table, failure := c.StopProfiler(path)
	return table, errorOf(failure)
}
