package c

// #include "shim.h"
import "C"
import "unsafe"

func pipeline(p Pipeline) *C.tdm_pipeline { return (*C.tdm_pipeline)(unsafe.Pointer(p)) }

// PipelineOptions are tdm_pipeline_options.
type PipelineOptions struct {
	Schedule                    string
	MicroBatches, StagesPerRank int
	AverageLosses               bool
	Device                      Device
	Replicas, Everyone          ProcessGroup // nil: none
	BucketCapMB                 float64
	BroadcastBuffers            bool
	FindUnusedParameters        bool
	GradientAsBucketView        bool
	Fault                       string // what this rank found wrong; "": nothing
	FaultCode                   int32
}

// PipelineTensors are those of a rank's stages, with the number of the stage of each.
type PipelineTensors struct {
	Parameters      []Tensor
	Names           []string
	ParameterStages []int32
	Tied, Sparse    []byte // 1: other stages have it, too; its gradients are sparse
	Buffers         []Tensor
	BufferNames     []string
	BufferStages    []int32
	TiedBuffers     []byte
}

// CreatePipeline has compute called for each micro-batch, with the stage as Replica, and with hasLoss for the loss.
func CreatePipeline(g ProcessGroup, of PipelineTensors, o PipelineOptions, hasLoss bool, compute Callback) (Pipeline, *Failure) {
	names, done := cStrings(of.Names)
	defer done()
	bufferNames, bufferNamesDone := cStrings(of.BufferNames)
	defer bufferNamesDone()
	schedule, fault := cString(o.Schedule), cString(o.Fault)
	defer free(schedule)
	defer free(fault)
	options := C.tdm_pipeline_options{schedule: schedule, micro_batches: C.int32_t(o.MicroBatches),
		stages_per_rank: C.int32_t(o.StagesPerRank), average_losses: boolean(o.AverageLosses),
		device: nativeDevice(o.Device), replicas: group(o.Replicas), everyone: group(o.Everyone),
		bucket_cap_mb: C.double(o.BucketCapMB), broadcast_buffers: boolean(o.BroadcastBuffers),
		find_unused_parameters:  boolean(o.FindUnusedParameters),
		gradient_as_bucket_view: boolean(o.GradientAsBucketView),
		fault:                   fault, fault_code: C.int32_t(o.FaultCode)}
	options.struct_size = C.sizeof_tdm_pipeline_options
	var p *C.tdm_pipeline
	err := register(compute, func(handle C.uintptr_t) *C.tdm_error {
		return C.tg_pipeline_create(group(g), handles(of.Parameters), names, int32s(of.ParameterStages), cFlags(of.Tied),
			cFlags(of.Sparse), C.size_t(len(of.Parameters)), handles(of.Buffers), bufferNames, int32s(of.BufferStages),
			cFlags(of.TiedBuffers), C.size_t(len(of.Buffers)), &options, boolean(hasLoss), handle, &p)
	})
	return Pipeline(unsafe.Pointer(p)), err
}

func cFlags(list []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(list))) }

// PipelineSaves tells whether this rank writes a tensor to checkpoints.
func PipelineSaves(p Pipeline, name string, isSpread bool) (bool, *Failure) {
	cName := C.CString(name)
	defer free(cName)
	var saves C.int32_t
	err := failure(C.tdm_pipeline_saves(pipeline(p), cName, boolean(isSpread), &saves))
	return saves != 0, err
}

// PipelineSplit says what is to be split, and how.
type PipelineSplit struct {
	Layers, StagesPerRank, Repeats int
	Tensors, Inputs, Targets       []Tensor
	Everyone                       ProcessGroup // nil: there are no replicas
	Fault                          string       // why this rank gives no layers; "": it does
	FaultCode                      int32
}

// SplitPipelineByTime gives the first layer of each stage. It has compute called for each layer, as Replica, and with hasLoss
// for the loss.
func SplitPipelineByTime(g ProcessGroup, of PipelineSplit, hasLoss bool, compute Callback) ([]int64, *Failure) {
	fault := cString(of.Fault)
	defer free(fault)
	options := C.tdm_pipeline_split_options{stages_per_rank: C.int32_t(of.StagesPerRank), repeats: C.int32_t(of.Repeats),
		everyone: group(of.Everyone), fault: fault, fault_code: C.int32_t(of.FaultCode)}
	options.struct_size = C.sizeof_tdm_pipeline_split_options
	first := make([]int64, max(1, of.Layers))
	count := C.size_t(len(first))
	err := register(compute, func(handle C.uintptr_t) *C.tdm_error {
		return C.tg_pipeline_split_by_time(group(g), C.int64_t(of.Layers), handles(of.Tensors), C.size_t(len(of.Tensors)),
			handles(of.Inputs), C.size_t(len(of.Inputs)), handles(of.Targets), C.size_t(len(of.Targets)), &options,
			boolean(hasLoss), handle, (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(first))), &count)
	})
	if err != nil {
		return nil, err
	}
	return first[:int(count)], nil
}

func FreePipeline(p Pipeline) { C.tdm_pipeline_free(pipeline(p)) }

// StepPipeline gives the loss.
func StepPipeline(p Pipeline, inputs, targets []Tensor) (float64, *Failure) {
	var loss C.double
	err := failure(C.tdm_pipeline_step(pipeline(p), handles(inputs), C.size_t(len(inputs)), handles(targets),
		C.size_t(len(targets)), &loss))
	return float64(loss), err
}

// EvaluatePipeline gives the loss.
func EvaluatePipeline(p Pipeline, inputs, targets []Tensor) (float64, *Failure) {
	var loss C.double
	err := failure(C.tdm_pipeline_evaluate(pipeline(p), handles(inputs), C.size_t(len(inputs)), handles(targets),
		C.size_t(len(targets)), &loss))
	return float64(loss), err
}

// ForwardPipeline gives at most room outputs.
func ForwardPipeline(p Pipeline, inputs []Tensor, room int) ([]Made, *Failure) {
	results := make([]Tensor, room)
	count := C.size_t(room)
	if err := failure(C.tdm_pipeline_forward(pipeline(p), handles(inputs), C.size_t(len(inputs)), handles(results),
		&count)); err != nil {
		return nil, err
	}
	list := make([]Made, int(count))
	for i := range list {
		if results[i] != nil {
			list[i], _ = made(C.tg_describe(tensor(results[i])))
		}
	}
	return list, nil
}
