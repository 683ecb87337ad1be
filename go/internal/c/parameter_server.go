package c

// #include <stdlib.h>
// #include "shim.h"
import "C"
import (
	"runtime"
	"unsafe"
)

func parameterServer(s ParameterServer) *C.tdm_parameter_server {
	return (*C.tdm_parameter_server)(unsafe.Pointer(s))
}

func parameterClient(p ParameterClient) *C.tdm_parameter_client {
	return (*C.tdm_parameter_client)(unsafe.Pointer(p))
}

// CreateParameterServer with room for that many bytes; 0: what the machine has.
func CreateParameterServer(mostBytes int64) (ParameterServer, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	options := C.tdm_parameter_server_options{struct_size: C.sizeof_tdm_parameter_server_options, most_bytes: C.int64_t(mostBytes)}
	var s *C.tdm_parameter_server
	err := failure(C.tdm_parameter_server_create(&options, &s))
	return ParameterServer(unsafe.Pointer(s)), err
}

func FreeParameterServer(s ParameterServer) { C.tdm_parameter_server_free(parameterServer(s)) }

// WaitParameterServer tells whether no trainer is left.
func WaitParameterServer(s ParameterServer, timeoutMS int64) (bool, *Failure) {
	var done C.int32_t
	err := failure(C.tdm_parameter_server_wait(parameterServer(s), C.int64_t(timeoutMS), &done))
	return done != 0, err
}

// ParameterServerStatistics are tdm_parameter_server_statistics, with the names of trainers and tables.
type ParameterServerStatistics struct {
	Updates, Pushes, Waits, RowsRead, RowsPushed, MostAhead, Bytes int64
	Trainers, Tables                                               []string
}

func ParameterServerStatisticsOf(s ParameterServer) (ParameterServerStatistics, *Failure) {
	var counted C.tdm_parameter_server_statistics
	counted.struct_size = C.sizeof_tdm_parameter_server_statistics
	if err := failure(C.tdm_parameter_server_get_statistics(parameterServer(s), &counted)); err != nil {
		return ParameterServerStatistics{}, err
	}
	var trainers, tables *C.tdm_strings
	if err := failure(C.tdm_parameter_server_trainers(parameterServer(s), &trainers)); err != nil {
		return ParameterServerStatistics{}, err
	}
	names := texts(trainers)
	if err := failure(C.tdm_parameter_server_tables(parameterServer(s), &tables)); err != nil {
		return ParameterServerStatistics{}, err
	}
	return ParameterServerStatistics{int64(counted.updates), int64(counted.pushes), int64(counted.waits),
		int64(counted.rows_read), int64(counted.rows_pushed), int64(counted.most_ahead), int64(counted.bytes), names,
		texts(tables)}, nil
}

// EmbeddingTable is a tdm_embedding_table without options.
type EmbeddingTable struct {
	Name, Optimizer   string
	Rows, Width       int
	DType             int32
	ByRange           bool
	Initial           Tensor // nil: none
	StandardDeviation float64
	Seed              uint64
}

// ParameterClientOptions are tdm_parameter_client_options without options of optimizers.
type ParameterClientOptions struct {
	Servers             []string
	Trainers, Staleness int
	TimeoutMS           int64
	DenseOptimizer      string
	Synchronous, Leave  bool
	Names               []string // of the dense parameters
	Parameters          []Tensor
	Tables              []EmbeddingTable
	OptionCounts        []int64 // of the frame: of the dense optimizer, then of each table
}

// CreateParameterClient with a frame of options, which it releases.
func CreateParameterClient(o ParameterClientOptions, f *Frame) (ParameterClient, *Failure) {
	defer f.Release()
	memory := []unsafe.Pointer{C.calloc(1, C.sizeof_tdm_parameter_client_options),
		C.calloc(C.size_t(max(len(o.Tables), 1)), C.sizeof_tdm_embedding_table)}
	defer func() {
		for _, block := range memory {
			C.free(block)
		}
	}()
	text := func(s string) *C.char {
		if s == "" {
			return nil
		}
		made := C.CString(s)
		memory = append(memory, unsafe.Pointer(made))
		return made
	}
	options, first := (*C.tdm_parameter_client_options)(memory[0]), (*C.tdm_embedding_table)(memory[1])
	servers, serversDone := cStrings(o.Servers)
	defer serversDone()
	names, namesDone := cStrings(o.Names)
	defer namesDone()
	options.struct_size = C.sizeof_tdm_parameter_client_options
	options.servers, options.server_count = servers, C.size_t(len(o.Servers))
	options.trainers, options.staleness = C.int64_t(o.Trainers), C.int64_t(o.Staleness)
	options.timeout_ms, options.dense_optimizer = C.int64_t(o.TimeoutMS), text(o.DenseOptimizer)
	options.synchronous, options.lost_trainers = boolean(o.Synchronous), C.TDM_LOST_TRAINERS_FAIL
	if o.Leave {
		options.lost_trainers = C.TDM_LOST_TRAINERS_LEAVE
	}
	tables := unsafe.Slice(first, len(o.Tables))
	for i, one := range o.Tables {
		to := &tables[i]
		name := C.CString(one.Name)
		memory = append(memory, unsafe.Pointer(name))
		to.name, to.optimizer = name, text(one.Optimizer)
		to.rows, to.width, to.dtype = C.int64_t(one.Rows), C.int64_t(one.Width), C.tdm_dtype(one.DType)
		if one.ByRange {
			to.placement = C.TDM_ROW_PLACEMENT_RANGE
		}
		to.initial = tensor(one.Initial)
		to.standard_deviation, to.seed = C.double(one.StandardDeviation), C.uint64_t(one.Seed)
	}
	values, count, pool := f.arguments()
	var p *C.tdm_parameter_client
	err := failure(C.tg_parameter_client_create(options, names, handles(o.Parameters), C.size_t(len(o.Parameters)), first,
		C.size_t(len(o.Tables)), f.optionNames(), values, count, (*C.int64_t)(unsafe.Pointer(&o.OptionCounts[0])), pool, &p))
	runtime.KeepAlive(o)
	return ParameterClient(unsafe.Pointer(p)), err
}

func FreeParameterClient(p ParameterClient) { C.tdm_parameter_client_free(parameterClient(p)) }
func StepParameterClient(p ParameterClient) *Failure {
	return failure(C.tdm_parameter_client_step(parameterClient(p)))
}
func LeaveParameterClient(p ParameterClient) *Failure {
	return failure(C.tdm_parameter_client_leave(parameterClient(p)))
}
func StepsOfParameterClient(p ParameterClient) int64 {
	return int64(C.tdm_parameter_client_steps(parameterClient(p)))
}

func EmbeddingOfParameterClient(p ParameterClient, table string, indices Tensor) (Made, *Failure) {
	cTable := C.CString(table)
	defer free(cTable)
	return made(C.tg_parameter_client_embedding(parameterClient(p), cTable, tensor(indices)))
}

// SetParameterOption sets the frame's one option, and releases the frame.
func SetParameterOption(p ParameterClient, table string, f *Frame) *Failure {
	defer f.Release()
	cTable := C.CString(table)
	defer free(cTable)
	values, _, pool := f.arguments()
	return failure(C.tg_parameter_client_set_option(parameterClient(p), cTable, f.optionNames(), values, pool))
}

// OwnTensor is one of tdm_own_tensors.
type OwnTensor struct {
	Section, Name string
	Tensor        Made
	Whole, Begin  []int64 // empty where it is no part
}

// ParameterClientState is what a checkpoint has of the tables: part `part` of `parts`.
func ParameterClientState(p ParameterClient, part, parts int) ([]OwnTensor, *Failure) {
	var list *C.tdm_own_tensors
	if err := failure(C.tdm_parameter_client_state(parameterClient(p), C.int32_t(part), C.int32_t(parts), &list)); err != nil {
		return nil, err
	}
	defer C.tdm_own_tensors_free(list)
	all := make([]OwnTensor, int(C.tdm_own_tensors_size(list)))
	for i := range all {
		at := C.size_t(i)
		t, err := made(C.tg_own_tensors_get(list, at))
		if err != nil {
			for _, one := range all[:i] {
				Free(one.Tensor.Handle)
			}
			return nil, err
		}
		all[i] = OwnTensor{Section: C.GoString(C.tdm_own_tensors_section(list, at)), Name: C.GoString(C.tdm_own_tensors_name(list, at)),
			Tensor: t}
		if whole := C.tdm_own_tensors_whole(list, at); whole != nil {
			ndim := int(C.tdm_tensor_dim(tensor(t.Handle)))
			all[i].Whole, all[i].Begin = int64sOf(whole, ndim), int64sOf(C.tdm_own_tensors_begin(list, at), ndim)
		}
	}
	return all, nil
}

func int64sOf(first *C.int64_t, count int) []int64 {
	list := make([]int64, count)
	copy(list, unsafe.Slice((*int64)(unsafe.Pointer(first)), count))
	return list
}

// Tables is a client whose tables are in a checkpoint, and the part of them that this process reads.
type Tables struct {
	Client      ParameterClient // nil: none
	Part, Parts int
}

// LoadTables gives the servers what the checkpoint has of the tables.
func (l *LoadedCheckpoint) LoadTables(t Tables) *Failure {
	return failure(C.tdm_parameter_client_load(parameterClient(t.Client), (*C.tdm_checkpoint)(l.handle), C.int32_t(t.Part), C.int32_t(t.Parts)))
}
