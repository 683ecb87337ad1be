package gotorch

import (
	"time"

	"tandem.example/gotorch/internal/c"
)

// Load opens libtandem, which opens LibTorch. Calling it is optional: the first use does the same, and panics where
// it does not return errors. Errors have code [ErrLibrary] and say what is missing, where it was looked for and what
// to do.
func Load() error { return errorOf(c.Load()) }

// LibraryPath is the libtandem that was loaded, "" before.
func LibraryPath() string { return c.Path() }

// LibTorchVersion is the version of LibTorch in use, such as "2.11.0"; "" before loading.
func LibTorchVersion() string { return c.LibTorchVersion() }

// LoadLibrary loads a library whose TORCH_LIBRARY blocks register operators; [Call] and [FindOp] then find these. The
// path has a slash in it: "./libmine.so". [ErrNotFound]: no such file; [ErrLibrary]: it does not load, such as one that
// was built against another LibTorch. It is never unloaded. Source: torch.ops.load_library.
func LoadLibrary(path string) error { return errorOf(c.LoadLibrary(path)) }

// Shutdown aborts process groups, stops loaders and waits for native threads to end, at most timeout. Afterwards
// nothing else may be called. dist.Main does it; a program without it may call Shutdown before it leaves main.
func Shutdown(timeout time.Duration) error { return errorOf(c.Shutdown(timeout.Milliseconds())) }

// ManualSeed seeds the random generators of all devices. Source: torch.manual_seed.
func ManualSeed(seed uint64) error { return errorOf(c.ManualSeed(seed)) }

// SetNumThreads sets how many threads one operator uses. Source: torch.set_num_threads.
func SetNumThreads(n int) error { return errorOf(c.SetNumThreads(n)) }

// NumThreads is how many threads one operator uses.
func NumThreads() (int, error) {
	n, err := c.NumThreads()
	return n, errorOf(err)
}

// CUDADeviceCount is how many GPUs this process can use.
func CUDADeviceCount() (int, error) {
	n, err := c.CUDADeviceCount()
	return n, errorOf(err)
}

// liveKinds are the types of native objects, as tandem.h names them.
var liveKinds = []string{"tensor", "module", "optimizer", "store", "process_group", "work", "ddp", "recordio_writer",
	"recordio_reader", "loader", "scope", "named_tensors", "string", "strings", "mode", "hook", "callback", "generator",
	"stream", "event", "grad_scaler", "model_averager", "summary_writer", "data_parallel", "dataset", "sampler",
	"lr_scheduler", "averaged_parameters", "checkpoint_folder", "checkpoint", "pipeline", "device_mesh",
	"rref", "distributed_optimizer", "rpc_future", "rpc_result", "parameter_server", "parameter_client", "own_tensors", "error"}

// LiveCounts counts the native objects of this process that are open, by type: "tensor", "module", "optimizer",
// "store", "process_group", "work", "ddp", "recordio_writer", "recordio_reader", "loader", "scope", "mode", "hook",
// "callback" (functions that native code holds), "generator", "stream", "event", "grad_scaler", "model_averager",
// "summary_writer", "data_parallel", "dataset", "lr_scheduler", "averaged_parameters", "checkpoint_folder", "pipeline",
// "device_mesh", "rref", "distributed_optimizer", "rpc_future", "parameter_server", "parameter_client", and what lives only during a call: "sampler", "checkpoint",
// "named_tensors", "string", "strings", "rpc_result", "error". For tests of leaks; package leaktest has some.
func LiveCounts() map[string]int {
	loaded := c.Path() != ""
	if loaded {
		leaveShelves() // who compares two counts is to see what was made in between go
	}
	counts := make(map[string]int, len(liveKinds))
	for _, kind := range liveKinds {
		counts[kind] = 0
		if loaded {
			counts[kind] = int(c.LiveCount(kind))
		}
	}
	return counts
}
