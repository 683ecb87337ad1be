package c

// #include <stdlib.h>
// #include "shim.h"
import "C"
import "unsafe"

func elastic(e Elastic) *C.tdm_elastic { return (*C.tdm_elastic)(unsafe.Pointer(e)) }

// ElasticOptions are tdm_elastic_options.
type ElasticOptions struct {
	CommitEvery, CheckpointEvery, CheckEvery int64
	CheckpointsKept                          int32
	Checkpoints                              string
	HasSeed                                  bool
	Seed                                     uint64
}

func CreateElastic(g GroupOptions, o ElasticOptions) (Elastic, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	group, freeGroup := groupOptions(g)
	defer freeGroup()
	options := (*C.tdm_elastic_options)(C.calloc(1, C.sizeof_tdm_elastic_options))
	defer C.free(unsafe.Pointer(options))
	options.struct_size = C.sizeof_tdm_elastic_options
	options.commit_every, options.checkpoint_every = C.int64_t(o.CommitEvery), C.int64_t(o.CheckpointEvery)
	options.check_every = C.int64_t(o.CheckEvery)
	options.checkpoints_kept = C.int32_t(o.CheckpointsKept)
	options.checkpoints = cString(o.Checkpoints)
	defer free(options.checkpoints)
	if o.HasSeed {
		options.has_seed, options.seed = 1, C.uint64_t(o.Seed)
	}
	var e *C.tdm_elastic
	err := failure(C.tdm_elastic_create(group, options, &e))
	return Elastic(unsafe.Pointer(e)), err
}

func FreeElastic(e Elastic) { C.tdm_elastic_free(elastic(e)) }

func CommitElastic(e Elastic, tensors []CheckpointTensor, values string) *Failure {
	list, freeList := checkpointTensors(tensors)
	defer freeList()
	cValues := C.CString(values)
	defer free(cValues)
	return failure(C.tdm_elastic_commit(elastic(e), list, C.size_t(len(tensors)), cValues))
}

// ElasticCommitted has tensors whose memory the next commit overwrites.
func ElasticCommitted(e Elastic) (*LoadedCheckpoint, *Failure) {
	var handle *C.tdm_checkpoint
	if err := failure(C.tdm_elastic_committed(elastic(e), &handle)); err != nil {
		return nil, err
	}
	defer C.tdm_checkpoint_free(handle)
	return checkpointOf(handle)
}

// MeetElastic gives nil where nobody needs this process.
func MeetElastic(e Elastic) (ProcessGroup, *Failure) {
	var g *C.tdm_process_group
	err := failure(C.tdm_elastic_meet(elastic(e), &g))
	return ProcessGroup(unsafe.Pointer(g)), err
}

func ElasticHasLeft(e Elastic) bool { return C.tdm_elastic_has_left(elastic(e)) != 0 }
func ElasticEpoch(e Elastic) int64  { return int64(C.tdm_elastic_epoch(elastic(e))) }
func ElasticSteps(e Elastic) int64  { return int64(C.tdm_elastic_steps(elastic(e))) }

// What StepElastic says is next.
const (
	ElasticGoOn   = int(C.TDM_ELASTIC_NEXT_GO_ON)
	ElasticCommit = int(C.TDM_ELASTIC_NEXT_COMMIT)
	ElasticStop   = int(C.TDM_ELASTIC_NEXT_STOP)
	ElasticLeave  = int(C.TDM_ELASTIC_NEXT_LEAVE)
)

func StepElastic(e Elastic) (int, *Failure) {
	var next C.tdm_elastic_next
	err := failure(C.tdm_elastic_step(elastic(e), &next))
	return int(next), err
}

func ElasticHasEnded(e Elastic) (bool, *Failure) {
	var ended C.int32_t
	err := failure(C.tdm_elastic_has_ended(elastic(e), &ended))
	return ended != 0, err
}

func DoneElastic(e Elastic) *Failure   { return failure(C.tdm_elastic_done(elastic(e))) }
func NotifyElastic(e Elastic) *Failure { return failure(C.tdm_elastic_notify(elastic(e))) }
func LeftElastic(e Elastic) *Failure   { return failure(C.tdm_elastic_left(elastic(e))) }
func AbortElastic(e Elastic) *Failure  { return failure(C.tdm_elastic_abort(elastic(e))) }

func DescribeElastic(e Elastic, text string) *Failure {
	cText := C.CString(text)
	defer free(cText)
	return failure(C.tdm_elastic_describe(elastic(e), cText))
}
