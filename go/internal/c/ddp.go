package c

// #include <stdlib.h>
// #include "shim.h"
import "C"
import "unsafe"

func ddp(d DDP) *C.tdm_ddp { return (*C.tdm_ddp)(unsafe.Pointer(d)) }

// DDPOptions are tdm_ddp_options. Dtypes of 0 mean unchanged.
type DDPOptions struct {
	BucketCapMB, FirstBucketMB                                                          float64
	BroadcastBuffers, FindUnusedParameters, GradientAsBucketView, StaticGraph, InitSync bool
	SkipAllReduceUnusedParams, AverageBySamples                                         bool
	ParamDType, ReduceDType, BufferDType                                                int32
	SparseGradients                                                                     []bool // of each parameter
}

func CreateDDP(g ProcessGroup, parameters []Tensor, names []string, buffers []Tensor, o DDPOptions) (DDP, *Failure) {
	cNames, done := cStrings(names)
	defer done()
	options := C.tdm_ddp_options{
		bucket_cap_mb: C.double(o.BucketCapMB), broadcast_buffers: boolean(o.BroadcastBuffers),
		find_unused_parameters:  boolean(o.FindUnusedParameters),
		gradient_as_bucket_view: boolean(o.GradientAsBucketView), static_graph: boolean(o.StaticGraph),
		init_sync: boolean(o.InitSync), first_bucket_mb: C.double(o.FirstBucketMB),
		skip_all_reduce_unused_params: boolean(o.SkipAllReduceUnusedParams),
		average_by_samples:            boolean(o.AverageBySamples),
		param_dtype:                   C.tdm_dtype(o.ParamDType), reduce_dtype: C.tdm_dtype(o.ReduceDType),
		buffer_dtype: C.tdm_dtype(o.BufferDType),
	}
	options.struct_size = C.sizeof_tdm_ddp_options
	if len(o.SparseGradients) > 0 {
		flags := make([]byte, len(o.SparseGradients))
		for i, sparse := range o.SparseGradients {
			if sparse {
				flags[i] = 1
			}
		}
		block := C.CBytes(flags)
		defer C.free(block)
		options.sparse_gradients = (*C.uint8_t)(block)
	}
	var d *C.tdm_ddp
	err := failure(C.tdm_ddp_create(group(g), handles(parameters), cNames, C.size_t(len(parameters)), handles(buffers),
		C.size_t(len(buffers)), &options, &d))
	return DDP(unsafe.Pointer(d)), err
}

func FreeDDP(d DDP) { C.tdm_ddp_free(ddp(d)) }

// PrepareForward is told of the tensors among forward's inputs, zero handles for those that are not there. With casts
// it gives what to use instead of them.
func PrepareForward(d DDP, training bool, inputs []Tensor, casts bool) ([]Made, *Failure) {
	if len(inputs) == 0 {
		return nil, failure(C.tdm_ddp_prepare_forward(ddp(d), boolean(training), nil, 0, nil))
	}
	f := NewFrame()
	f.Tensors(inputs)
	var prepared [1]C.tdm_value
	out := &prepared[0]
	if !casts {
		out = nil
	}
	values, count, pool := f.arguments()
	err := failure(C.tg_ddp_prepare_forward(ddp(d), boolean(training), values, count, pool, out))
	f.Release()
	if err != nil {
		return nil, err
	}
	return takeTensors(prepared[:])
}

// PrepareBackward gives what to use instead of the tensors that forward gave.
func PrepareBackward(d DDP, outputs []Tensor) ([]Made, *Failure) {
	f := NewFrame()
	f.Tensors(outputs)
	var prepared [1]C.tdm_value
	values, count, pool := f.arguments()
	err := failure(C.tg_ddp_prepare_backward(ddp(d), values, count, pool, &prepared[0]))
	f.Release()
	if err != nil {
		return nil, err
	}
	return takeTensors(prepared[:])
}

func takeTensors(list []C.tdm_value) ([]Made, *Failure) {
	values, err := take(list)
	tensors, _ := values[0].([]Made)
	return tensors, err
}

// PrepareBackwardOne is PrepareBackward for one tensor.
func PrepareBackwardOne(d DDP, output Tensor) (Made, *Failure) {
	return made(C.tg_ddp_prepare_backward_one(ddp(d), tensor(output)))
}

func CancelForward(d DDP) *Failure { return failure(C.tdm_ddp_cancel_forward(ddp(d))) }

func SetGradSync(d DDP, on bool) *Failure {
	return failure(C.tdm_ddp_set_require_backward_grad_sync(ddp(d), boolean(on)))
}

func SetBatchSamples(d DDP, samples int) *Failure {
	return failure(C.tdm_ddp_set_batch_samples(ddp(d), C.int64_t(samples)))
}

func SetDDPBuffers(d DDP, buffers []Tensor) *Failure {
	return failure(C.tdm_ddp_set_buffers(ddp(d), handles(buffers), C.size_t(len(buffers))))
}

func DDPState(d DDP) ([]Named, *Failure) {
	var list *C.tdm_named_tensors
	if err := failure(C.tdm_ddp_state(ddp(d), &list)); err != nil {
		return nil, err
	}
	return named(list)
}

func LoadDDPState(d DDP, names []string, tensors []Tensor) *Failure {
	cNames, done := cStrings(names)
	defer done()
	return failure(C.tdm_ddp_load_state(ddp(d), cNames, handles(tensors), C.size_t(len(tensors))))
}

func SetOptimizerInBackward(d DDP, o Optimizer) *Failure {
	return failure(C.tdm_ddp_set_optimizer_in_backward(ddp(d), optimizer(o)))
}

// BeginJoin with an optimizer that a rank without batches steps, nil for none.
func BeginJoin(d DDP, divideByInitialWorldSize, throwOnEarlyTermination bool, o Optimizer) *Failure {
	options := C.tdm_ddp_join_options{
		divide_by_initial_world_size: boolean(divideByInitialWorldSize),
		throw_on_early_termination:   boolean(throwOnEarlyTermination), optimizer: optimizer(o),
	}
	options.struct_size = C.sizeof_tdm_ddp_join_options
	return failure(C.tdm_ddp_begin_join(ddp(d), &options))
}

func EndJoin(d DDP) *Failure    { return failure(C.tdm_ddp_end_join(ddp(d))) }
func CancelJoin(d DDP) *Failure { return failure(C.tdm_ddp_cancel_join(ddp(d))) }

// CommHookOptions are tdm_comm_hook_options.
type CommHookOptions struct {
	CompressDType                                           int32
	ChannelSize, MatrixApproximationRank, StartPowerSGDIter int64
	MinCompressionRate, OrthogonalizationEpsilon            float64
	UseErrorFeedback, WarmStart, PostLocalGradientAllReduce bool
	RandomSeed                                              uint64
	Subgroup                                                ProcessGroup
	StartLocalSGDIter                                       int64
}

func SetCommHook(d DDP, hook int32, o CommHookOptions) *Failure {
	options := C.tdm_comm_hook_options{
		compress_dtype: C.tdm_dtype(o.CompressDType), channel_size: C.int64_t(o.ChannelSize),
		matrix_approximation_rank: C.int64_t(o.MatrixApproximationRank),
		start_power_sgd_iter:      C.int64_t(o.StartPowerSGDIter),
		min_compression_rate:      C.double(o.MinCompressionRate), use_error_feedback: boolean(o.UseErrorFeedback),
		warm_start: boolean(o.WarmStart), orthogonalization_epsilon: C.double(o.OrthogonalizationEpsilon),
		random_seed: C.uint64_t(o.RandomSeed), subgroup: group(o.Subgroup),
		start_local_sgd_iter:          C.int64_t(o.StartLocalSGDIter),
		post_local_gradient_allreduce: boolean(o.PostLocalGradientAllReduce),
	}
	options.struct_size = C.sizeof_tdm_comm_hook_options
	return failure(C.tdm_ddp_set_comm_hook(ddp(d), C.tdm_comm_hook(hook), &options))
}

// RegisterCommHook has body called twice a bucket, see Invocation.Bucket.
func RegisterCommHook(d DDP, body Callback) *Failure {
	return register(body, func(handle C.uintptr_t) *C.tdm_error {
		return C.tg_ddp_register_comm_hook(ddp(d), handle)
	})
}

// Bucket is what a communication hook is called for.
type Bucket struct {
	Index                 int
	IsLast                bool
	Finishes              bool // the work that was set is done; the result is the one result of the callback
	Buffer                Made
	Gradients, Parameters []Made
	work                  **C.tdm_work
}

// SetWork says which collective to wait for; the handle stays the caller's.
func (b *Bucket) SetWork(w Work) { *b.work = work(w) }

func bucketOf(call *C.tg_call) *Bucket {
	if call.bucket == nil {
		return nil
	}
	b := &Bucket{Index: int(call.bucket.index), IsLast: call.bucket.is_last != 0, Finishes: call.work == nil,
		Gradients:  describe(call.bucket.gradients, call.bucket.gradient_count),
		Parameters: describe(call.bucket.parameters, call.bucket.parameter_count), work: call.work}
	b.Buffer, _ = made(C.tg_describe(call.bucket.buffer))
	return b
}

// DDPStatistics are tdm_ddp_statistics; times are in nanoseconds.
type DDPStatistics struct {
	Iterations, ForwardCompute, BackwardCompute, BackwardCommunication, Overlap        int64
	Step, Communication, ExposedCommunication, StepWithoutExchange, CommunicationAlone int64
	BucketsRebuilt                                                                     bool
	BucketBytes                                                                        []int64
	BucketParameters                                                                   [][]string
}

// DDPIteration is a tdm_ddp_iteration with its buckets; times are in nanoseconds.
type DDPIteration struct {
	Number, Begun, ForwardExchange, Forward, BackwardBegun, Backward, Wait, Total, Communication int64
	Separate                                                                                     bool
	Buckets                                                                                      []BucketTimes
}

// BucketTimes are those of a bucket's exchange.
type BucketTimes struct{ Bytes, Begun, Done int64 }

func GetDDPIterations(d DDP) ([]DDPIteration, *Failure) {
	var count C.int64_t
	if err := failure(C.tdm_ddp_get_iteration_count(ddp(d), &count)); err != nil {
		return nil, err
	}
	all := make([]DDPIteration, count)
	for i := range all {
		var one C.tdm_ddp_iteration
		one.struct_size = C.sizeof_tdm_ddp_iteration
		if err := failure(C.tdm_ddp_get_iteration(ddp(d), C.int64_t(i), &one)); err != nil {
			return nil, err
		}
		all[i] = DDPIteration{Number: int64(one.number), Begun: int64(one.begun),
			ForwardExchange: int64(one.forward_exchange), Forward: int64(one.forward),
			BackwardBegun: int64(one.backward_begun), Backward: int64(one.backward), Wait: int64(one.wait),
			Total: int64(one.total), Communication: int64(one.communication), Separate: one.separate != 0}
		for bucket := range one.bucket_count {
			var bytes, begun, done C.int64_t
			if err := failure(C.tdm_ddp_get_iteration_bucket(ddp(d), C.int64_t(i), bucket, &bytes, &begun,
				&done)); err != nil {
				return nil, err
			}
			all[i].Buckets = append(all[i].Buckets, BucketTimes{int64(bytes), int64(begun), int64(done)})
		}
	}
	return all, nil
}

// BucketTrial is one of a tdm_bucket_advice; the step in nanoseconds.
type BucketTrial struct {
	BucketCapMB   float64
	Buckets, Step int64
}

// TryBucketSizes with the default sizes where there are none.
func TryBucketSizes(d DDP, sizes []float64, iterations, rounds int) *Failure {
	options := C.tdm_bucket_trial_options{iterations: C.int64_t(iterations), rounds: C.int64_t(rounds)}
	options.struct_size = C.sizeof_tdm_bucket_trial_options
	if sizes != nil {
		block := C.malloc(C.size_t(8 * (len(sizes) + 1)))
		defer C.free(block)
		copy(unsafe.Slice((*float64)(block), len(sizes)), sizes)
		options.sizes_mb, options.size_count = (*C.double)(block), C.size_t(len(sizes))
	}
	return failure(C.tdm_ddp_try_bucket_sizes(ddp(d), &options))
}

func GetBucketAdvice(d DDP) (done bool, bucketCapMB float64, trials []BucketTrial, err *Failure) {
	var advice C.tdm_bucket_advice
	advice.struct_size = C.sizeof_tdm_bucket_advice
	if err = failure(C.tdm_ddp_get_bucket_advice(ddp(d), &advice)); err != nil {
		return false, 0, nil, err
	}
	for i := range advice.trial_count {
		var size C.double
		var buckets, step C.int64_t
		if err = failure(C.tdm_ddp_get_bucket_trial(ddp(d), i, &size, &buckets, &step)); err != nil {
			return false, 0, nil, err
		}
		trials = append(trials, BucketTrial{float64(size), int64(buckets), int64(step)})
	}
	return advice.done != 0, float64(advice.bucket_cap_mb), trials, nil
}

func DDPStatisticsTable(d DDP) (string, *Failure) {
	var text *C.tdm_string
	if err := failure(C.tdm_ddp_statistics_table(ddp(d), &text)); err != nil {
		return "", err
	}
	defer C.tdm_string_free(text)
	return C.GoString(C.tdm_string_data(text)), nil
}

func SetDDPSeparateExchanges(d DDP, every int) *Failure {
	return failure(C.tdm_ddp_set_separate_exchanges(ddp(d), C.int64_t(every)))
}

func GetDDPStatistics(d DDP) (s DDPStatistics, err *Failure) {
	var now C.tdm_ddp_statistics
	now.struct_size = C.sizeof_tdm_ddp_statistics
	if err = failure(C.tdm_ddp_get_statistics(ddp(d), &now)); err != nil {
		return s, err
	}
	s = DDPStatistics{Iterations: int64(now.iterations), ForwardCompute: int64(now.forward_compute),
		BackwardCompute:       int64(now.backward_compute),
		BackwardCommunication: int64(now.backward_communication), Overlap: int64(now.overlap),
		Step: int64(now.step), Communication: int64(now.communication),
		ExposedCommunication: int64(now.exposed_communication),
		StepWithoutExchange:  int64(now.step_without_exchange),
		CommunicationAlone:   int64(now.communication_alone), BucketsRebuilt: now.buckets_rebuilt != 0}
	for i := range now.bucket_count {
		var bytes C.int64_t
		var names *C.tdm_strings
		if err = failure(C.tdm_ddp_get_bucket(ddp(d), i, &bytes, &names)); err != nil {
			return s, err
		}
		s.BucketBytes = append(s.BucketBytes, int64(bytes))
		s.BucketParameters = append(s.BucketParameters, texts(names))
	}
	return s, nil
}

func SetDDPSampleRate(d DDP, iterations int) *Failure {
	return failure(C.tdm_ddp_set_statistics_sample_rate(ddp(d), C.int64_t(iterations)))
}

func SynchronizeBatchNorm(m Module, g ProcessGroup) *Failure {
	return failure(C.tdm_module_synchronize_batch_norm(module(m), group(g)))
}

func averager(a ModelAverager) *C.tdm_model_averager {
	return (*C.tdm_model_averager)(unsafe.Pointer(a))
}

func CreatePeriodicAverager(g ProcessGroup, period, warmup int) (ModelAverager, *Failure) {
	var a *C.tdm_model_averager
	err := failure(C.tdm_periodic_model_averager_create(group(g), C.int64_t(period), C.int64_t(warmup), &a))
	return ModelAverager(unsafe.Pointer(a)), err
}

func CreateHierarchicalAverager(periods []int64, groups []ProcessGroup, warmup int) (ModelAverager, *Failure) {
	var a *C.tdm_model_averager
	err := failure(C.tdm_hierarchical_model_averager_create((*C.int64_t)(unsafe.SliceData(periods)),
		(**C.tdm_process_group)(unsafe.Pointer(unsafe.SliceData(groups))), C.size_t(len(periods)), C.int64_t(warmup), &a))
	return ModelAverager(unsafe.Pointer(a)), err
}

func FreeAverager(a ModelAverager) { C.tdm_model_averager_free(averager(a)) }

func AverageModel(a ModelAverager, parameters []Tensor) (averaged bool, err *Failure) {
	var did C.int32_t
	err = failure(C.tdm_model_averager_average(averager(a), handles(parameters), C.size_t(len(parameters)), &did))
	return did != 0, err
}

func CreatePostLocalSGD(o Optimizer, a ModelAverager) (Optimizer, *Failure) {
	var made *C.tdm_optimizer
	err := failure(C.tdm_post_local_sgd_optimizer_create(optimizer(o), averager(a), &made))
	return Optimizer(unsafe.Pointer(made)), err
}

// CreateZero makes a ZeroRedundancyOptimizer from a frame of options, and releases the frame.
func CreateZero(g ProcessGroup, kind string, parameters []Tensor, f *Frame) (Optimizer, *Failure) {
	defer f.Release()
	cKind := C.CString(kind)
	defer free(cKind)
	values, count, pool := f.arguments()
	var o *C.tdm_optimizer
	err := failure(C.tg_zero_create(group(g), cKind, handles(parameters), C.size_t(len(parameters)), f.optionNames(),
		values, count, pool, &o))
	return Optimizer(unsafe.Pointer(o)), err
}

func ConsolidateZero(o Optimizer, to int) *Failure {
	return failure(C.tdm_zero_redundancy_optimizer_consolidate(optimizer(o), C.int32_t(to)))
}
