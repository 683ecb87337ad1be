package c

// #include "shim.h"
import "C"
import "unsafe"

func dynamicLoader(l DynamicLoader) *C.tdm_dynamic_loader {
	return (*C.tdm_dynamic_loader)(unsafe.Pointer(l))
}

// DynamicLoaderOptions are tdm_dynamic_loader_options, and what goes with them.
type DynamicLoaderOptions struct {
	BatchSize, MicroBatch         int
	Shuffle                       bool
	Tail                          int32
	Seed                          uint64
	ShuffleBlock, ShuffleWindow   int
	Threads, Prefetch             int
	MostFailures, MostQuarantined int
	LostAfterMS, TimeoutMS        int64
	Name                          string
	Generation, Rank, WorldSize   int
	State                         []byte
	Quarantine                    string  // JSON, or none
	Sampler                       Sampler // nil: none
	PrefetchBytes                 int     // 0: 256 MiB
	PinMemory                     bool
	Device                        Device
	OnIOError                     int32
	IORetryMS                     int64 // 0: the default; -1: none
}

func (o DynamicLoaderOptions) make(call func(options *C.tdm_dynamic_loader_options, state unsafe.Pointer, size C.size_t,
	quarantine *C.char, out **C.tdm_dynamic_loader) *C.tdm_error) (DynamicLoader, *Failure) {
	name, quarantine := cString(o.Name), cString(o.Quarantine)
	defer free(name)
	defer free(quarantine)
	options := C.tdm_dynamic_loader_options{
		batch_size: C.int64_t(o.BatchSize), micro_batch: C.int64_t(o.MicroBatch), shuffle: boolean(o.Shuffle),
		tail: C.tdm_tail(o.Tail), seed: C.uint64_t(o.Seed), shuffle_block: C.int64_t(o.ShuffleBlock),
		shuffle_window: C.int64_t(o.ShuffleWindow), threads: C.int32_t(o.Threads), prefetch: C.int32_t(o.Prefetch),
		most_failures: C.int32_t(o.MostFailures), most_quarantined: C.int32_t(o.MostQuarantined),
		lost_after_ms: C.int64_t(o.LostAfterMS), timeout_ms: C.int64_t(o.TimeoutMS), name: name,
		generation: C.int64_t(o.Generation), rank: C.int32_t(o.Rank), world_size: C.int32_t(o.WorldSize),
		sampler: sampler(o.Sampler), prefetch_bytes: C.int64_t(o.PrefetchBytes), pin_memory: boolean(o.PinMemory),
		device: nativeDevice(o.Device), on_io_error: C.tdm_on_io_error(o.OnIOError), io_retry_ms: C.int64_t(o.IORetryMS),
	}
	options.struct_size = C.sizeof_tdm_dynamic_loader_options
	var l *C.tdm_dynamic_loader
	err := failure(call(&options, unsafe.Pointer(unsafe.SliceData(o.State)), C.size_t(len(o.State)), quarantine, &l))
	return DynamicLoader(unsafe.Pointer(l)), err
}

func CreateDynamicLoader(d Dataset, s Store, o DynamicLoaderOptions) (DynamicLoader, *Failure) {
	return o.make(func(options *C.tdm_dynamic_loader_options, state unsafe.Pointer, size C.size_t, quarantine *C.char,
		out **C.tdm_dynamic_loader) *C.tdm_error {
		return C.tdm_dynamic_loader_create(dataset(d), store(s), options, state, size, quarantine, out)
	})
}

// ReplayDynamicLoader runs a log, of a line a step, again.
func ReplayDynamicLoader(d Dataset, log string, o DynamicLoaderOptions) (DynamicLoader, *Failure) {
	lines := C.CString(log)
	defer free(lines)
	return o.make(func(options *C.tdm_dynamic_loader_options, state unsafe.Pointer, size C.size_t, quarantine *C.char,
		out **C.tdm_dynamic_loader) *C.tdm_error {
		return C.tdm_dynamic_loader_replay(dataset(d), lines, options, state, size, quarantine, out)
	})
}

func FreeDynamicLoader(l DynamicLoader) { C.tdm_dynamic_loader_free(dynamicLoader(l)) }

func DynamicLoaderEpoch(l DynamicLoader) int {
	return int(C.tdm_dynamic_loader_epoch(dynamicLoader(l)))
}
func DynamicLoaderStep(l DynamicLoader) int { return int(C.tdm_dynamic_loader_step(dynamicLoader(l))) }

// DynamicLoaderCounts are the samples of the open step that this rank, and that all ranks, computed.
func DynamicLoaderCounts(l DynamicLoader) (local, global int) {
	return int(C.tdm_dynamic_loader_local_count(dynamicLoader(l))), int(C.tdm_dynamic_loader_global_count(dynamicLoader(l)))
}

// NextStep is false at an epoch's end.
func NextStep(l DynamicLoader) (bool, *Failure) {
	var has C.int32_t
	err := failure(C.tdm_dynamic_loader_next_step(dynamicLoader(l), &has))
	return has != 0, err
}

// NextPart fills part, one handle a field; nil at the end of the step.
func NextPart(l DynamicLoader, part []Made) (*LoaderBatch, *Failure) {
	raw := make([]Tensor, len(part))
	var has C.int32_t
	err := failure(C.tdm_dynamic_loader_next(dynamicLoader(l), handles(raw), C.size_t(len(raw)), &has))
	if err != nil || has == 0 {
		return nil, err
	}
	for i, h := range raw {
		part[i], _ = made(C.tg_describe(tensor(h)))
	}
	about := C.tdm_loader_batch{struct_size: C.sizeof_tdm_loader_batch}
	if err := failure(C.tdm_dynamic_loader_get_part(dynamicLoader(l), &about)); err != nil {
		return nil, err
	}
	return loaderBatch(&about), nil
}

func FailPart(l DynamicLoader, sample int, reason string) *Failure {
	why := C.CString(reason)
	defer free(why)
	return failure(C.tdm_dynamic_loader_fail(dynamicLoader(l), C.int64_t(sample), why))
}

// CommitStep gives the step's record, as JSON.
func CommitStep(l DynamicLoader) (string, *Failure) {
	var record *C.tdm_string
	if err := failure(C.tdm_dynamic_loader_commit(dynamicLoader(l), &record)); err != nil {
		return "", err
	}
	return text(record), nil
}

func AbortDynamicLoader(l DynamicLoader) *Failure {
	return failure(C.tdm_dynamic_loader_abort(dynamicLoader(l)))
}

func DynamicLoaderState(l DynamicLoader) (string, *Failure) {
	var state *C.tdm_string
	if err := failure(C.tdm_dynamic_loader_get_state(dynamicLoader(l), &state)); err != nil {
		return "", err
	}
	return text(state), nil
}

// DynamicLoaderQuarantine gives JSON.
func DynamicLoaderQuarantine(l DynamicLoader) (string, *Failure) {
	var quarantine *C.tdm_string
	if err := failure(C.tdm_dynamic_loader_get_quarantine(dynamicLoader(l), &quarantine)); err != nil {
		return "", err
	}
	return text(quarantine), nil
}
