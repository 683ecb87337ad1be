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
}

// PipelineTensors are those of a rank's stages, with the number of the stage of each.
type PipelineTensors struct {
	Parameters      []Tensor
	Names           []string
	ParameterStages []int32
	Tied            []byte // 1: other stages have it, too
	Buffers         []Tensor
	BufferStages    []int32
}

// CreatePipeline has compute called for each micro-batch, with the stage as Replica, and with hasLoss for the loss.
func CreatePipeline(g ProcessGroup, of PipelineTensors, o PipelineOptions, hasLoss bool, compute Callback) (Pipeline, *Failure) {
	names, done := cStrings(of.Names)
	defer done()
	schedule := cString(o.Schedule)
	defer free(schedule)
	options := C.tdm_pipeline_options{schedule: schedule, micro_batches: C.int32_t(o.MicroBatches),
		stages_per_rank: C.int32_t(o.StagesPerRank), average_losses: boolean(o.AverageLosses),
		device: nativeDevice(o.Device), replicas: group(o.Replicas), everyone: group(o.Everyone),
		bucket_cap_mb: C.double(o.BucketCapMB), broadcast_buffers: boolean(o.BroadcastBuffers),
		find_unused_parameters:  boolean(o.FindUnusedParameters),
		gradient_as_bucket_view: boolean(o.GradientAsBucketView)}
	options.struct_size = C.sizeof_tdm_pipeline_options
	var tied *C.uint8_t
	if len(of.Tied) > 0 {
		tied = (*C.uint8_t)(unsafe.Pointer(&of.Tied[0]))
	}
	var p *C.tdm_pipeline
	err := register(compute, func(handle C.uintptr_t) *C.tdm_error {
		return C.tg_pipeline_create(group(g), handles(of.Parameters), names, int32s(of.ParameterStages), tied,
			C.size_t(len(of.Parameters)), handles(of.Buffers), int32s(of.BufferStages), C.size_t(len(of.Buffers)),
			&options, boolean(hasLoss), handle, &p)
	})
	return Pipeline(unsafe.Pointer(p)), err
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
