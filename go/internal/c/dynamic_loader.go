package c

// #include "shim.h"
import "C"
import "unsafe"

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
	quarantine *C.char, out **C.tdm_loader) *C.tdm_error) (Loader, *Failure) {
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
	var l *C.tdm_loader
	err := failure(call(&options, unsafe.Pointer(unsafe.SliceData(o.State)), C.size_t(len(o.State)), quarantine, &l))
	return Loader(unsafe.Pointer(l)), err
}

func CreateDynamicLoader(d Dataset, s Store, o DynamicLoaderOptions) (Loader, *Failure) {
	return o.make(func(options *C.tdm_dynamic_loader_options, state unsafe.Pointer, size C.size_t, quarantine *C.char,
		out **C.tdm_loader) *C.tdm_error {
		return C.tdm_loader_create_dynamic(dataset(d), store(s), options, state, size, quarantine, out)
	})
}

// ReplayDynamicLoader runs a log, of a record a step, again.
func ReplayDynamicLoader(d Dataset, log []string, o DynamicLoaderOptions) (Loader, *Failure) {
	records, done := cStrings(log)
	defer done()
	return o.make(func(options *C.tdm_dynamic_loader_options, state unsafe.Pointer, size C.size_t, quarantine *C.char,
		out **C.tdm_loader) *C.tdm_error {
		return C.tdm_loader_create_replay(dataset(d), records, C.size_t(len(log)), options, state, size, quarantine, out)
	})
}

func LoaderCurrentStep(l Loader) int { return int(C.tdm_loader_current_step(loader(l))) }

// LoaderStepCounts are the samples of the open step that this rank, and that all ranks, computed.
func LoaderStepCounts(l Loader) (local, global int) {
	return int(C.tdm_loader_step_local_count(loader(l))), int(C.tdm_loader_step_global_count(loader(l)))
}

// NextStep is false at an epoch's end.
func NextStep(l Loader) (bool, *Failure) {
	var has C.int32_t
	err := failure(C.tdm_loader_next_step(loader(l), &has))
	return has != 0, err
}

func FailPart(l Loader, sample int, reason string) *Failure {
	why := C.CString(reason)
	defer free(why)
	return failure(C.tdm_loader_fail(loader(l), C.int64_t(sample), why))
}

// CommitStep gives the step's record, as JSON.
func CommitStep(l Loader) (string, *Failure) {
	var record *C.tdm_string
	if err := failure(C.tdm_loader_commit(loader(l), &record)); err != nil {
		return "", err
	}
	return text(record), nil
}

// LoaderQuarantine gives JSON.
func LoaderQuarantine(l Loader) (string, *Failure) {
	var quarantine *C.tdm_string
	if err := failure(C.tdm_loader_get_quarantine(loader(l), &quarantine)); err != nil {
		return "", err
	}
	return text(quarantine), nil
}
