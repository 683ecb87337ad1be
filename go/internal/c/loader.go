package c

// #include "shim.h"
import "C"
import "unsafe"

func loader(l Loader) *C.tdm_loader { return (*C.tdm_loader)(unsafe.Pointer(l)) }

// LoaderOptions are tdm_loader_options.
type LoaderOptions struct {
	BatchSize                   int
	GlobalBatch, Shuffle        bool
	Rank, WorldSize             int
	Seed                        uint64
	Tail                        int32
	Threads, Prefetch           int
	ShuffleBlock, ShuffleWindow int
	PrefetchBytes               int
	Sampler                     Sampler // nil: none
	PinMemory                   bool
	Device                      Device
	OnIOError                   int32
	IORetryMS, TimeoutMS        int64 // 0: the defaults; -1: none
}

// The C options, struct_size and all.
func (o LoaderOptions) raw() C.tdm_loader_options {
	options := C.tdm_loader_options{
		batch_size: C.int64_t(o.BatchSize), rank: C.int32_t(o.Rank), world_size: C.int32_t(o.WorldSize),
		shuffle: boolean(o.Shuffle), seed: C.uint64_t(o.Seed), tail: C.tdm_tail(o.Tail),
		threads: C.int32_t(o.Threads), prefetch: C.int32_t(o.Prefetch), global_batch: boolean(o.GlobalBatch),
		shuffle_block: C.int64_t(o.ShuffleBlock), shuffle_window: C.int64_t(o.ShuffleWindow),
		prefetch_bytes: C.int64_t(o.PrefetchBytes), sampler: sampler(o.Sampler), pin_memory: boolean(o.PinMemory),
		device: nativeDevice(o.Device), on_io_error: C.tdm_on_io_error(o.OnIOError),
		io_retry_ms: C.int64_t(o.IORetryMS), timeout_ms: C.int64_t(o.TimeoutMS),
	}
	options.struct_size = C.sizeof_tdm_loader_options
	return options
}

func CreateLoader(d Dataset, o LoaderOptions) (Loader, *Failure) {
	options := o.raw()
	var l *C.tdm_loader
	err := failure(C.tdm_loader_create_from(dataset(d), &options, &l))
	return Loader(unsafe.Pointer(l)), err
}

func FreeLoader(l Loader)             { C.tdm_loader_free(loader(l)) }
func LoaderSamples(l Loader) int      { return int(C.tdm_loader_sample_count(loader(l))) }
func LoaderBatches(l Loader) int      { return int(C.tdm_loader_batch_count(loader(l))) }
func LoaderCurrentEpoch(l Loader) int { return int(C.tdm_loader_current_epoch(loader(l))) }

func StartEpoch(l Loader, epoch, firstBatch int) *Failure {
	return failure(C.tdm_loader_start_epoch(loader(l), C.int64_t(epoch), C.int64_t(firstBatch)))
}

// LoaderBatch is tdm_loader_batch.
type LoaderBatch struct {
	Epoch, Number, Rows, LocalCount, GlobalCount, Skipped int
	Samples                                               []int
	Randomness                                            []uint64
}

// Next fills batch, one handle a field; nil at the end of the epoch, or of the step.
func Next(l Loader, batch []Made) (*LoaderBatch, *Failure) {
	raw := make([]Tensor, len(batch))
	var has C.int32_t
	if err := failure(C.tdm_loader_next(loader(l), handles(raw), C.size_t(len(raw)), &has)); err != nil || has == 0 {
		return nil, err
	}
	for i, h := range raw {
		batch[i], _ = made(C.tg_describe(tensor(h)))
	}
	about := C.tdm_loader_batch{struct_size: C.sizeof_tdm_loader_batch}
	if err := failure(C.tdm_loader_get_batch(loader(l), &about)); err != nil {
		return nil, err
	}
	return loaderBatch(&about), nil
}

func loaderBatch(about *C.tdm_loader_batch) *LoaderBatch {
	count := int(about.local_count)
	return &LoaderBatch{Epoch: int(about.epoch), Number: int(about.number), Rows: int(about.rows),
		LocalCount: count, GlobalCount: int(about.global_count), Skipped: int(about.skipped),
		Samples:    append([]int(nil), unsafe.Slice((*int)(unsafe.Pointer(about.samples)), count)...),
		Randomness: append([]uint64(nil), unsafe.Slice((*uint64)(unsafe.Pointer(about.randomness)), count)...)}
}

func CommitLoader(l Loader) *Failure { return failure(C.tdm_loader_commit(loader(l), nil)) }

// AbortLoader may be called while another thread is in Next.
func AbortLoader(l Loader) *Failure { return failure(C.tdm_loader_abort(loader(l))) }

func LoaderState(l Loader) ([]byte, *Failure) {
	var state *C.tdm_string
	if err := failure(C.tdm_loader_get_state(loader(l), &state)); err != nil {
		return nil, err
	}
	defer C.tdm_string_free(state)
	return C.GoBytes(unsafe.Pointer(C.tdm_string_data(state)), C.int(C.tdm_string_size(state))), nil
}

func RestoreLoader(l Loader, state []byte) *Failure {
	return failure(C.tdm_loader_restore(loader(l), unsafe.Pointer(unsafe.SliceData(state)), C.size_t(len(state))))
}
