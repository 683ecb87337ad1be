package c

// #include <stdlib.h>
// #include "shim.h"
import "C"
import "unsafe"

func group(g ProcessGroup) *C.tdm_process_group { return (*C.tdm_process_group)(unsafe.Pointer(g)) }
func work(w Work) *C.tdm_work                   { return (*C.tdm_work)(unsafe.Pointer(w)) }

// GroupOptions are tdm_process_group_options; empty strings and negative numbers are its defaults.
type GroupOptions struct {
	Backend, InitMethod, Interface, Name string
	Rank, WorldSize                      int
	TimeoutMS                            int64
	DeviceKind, DeviceIndex              int32
}

// LaunchPlace is what the environment says of this process; -1 is unknown, and launcher "" is none.
func LaunchPlace() (rank, worldSize, localRank, localWorldSize, nodeRank int, launcher string, err *Failure) {
	if err = Load(); err != nil {
		return
	}
	var numbers [5]C.int32_t
	var name *C.tdm_string
	if err = failure(C.tdm_launch_place(&numbers[0], &numbers[1], &numbers[2], &numbers[3], &numbers[4], &name)); err != nil {
		return
	}
	return int(numbers[0]), int(numbers[1]), int(numbers[2]), int(numbers[3]), int(numbers[4]), text(name), nil
}

func CreateGroup(o GroupOptions, s Store) (ProcessGroup, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	options, freeOptions := groupOptions(o)
	defer freeOptions()
	var g *C.tdm_process_group
	err := failure(C.tdm_process_group_create(options, store(s), &g))
	return ProcessGroup(unsafe.Pointer(g)), err
}

// groupOptions are in C's memory, since they hold pointers.
func groupOptions(o GroupOptions) (options *C.tdm_process_group_options, freeAll func()) {
	if o.InitMethod == "" {
		o.InitMethod = "env://"
	}
	options = (*C.tdm_process_group_options)(C.calloc(1, C.sizeof_tdm_process_group_options))
	options.struct_size = C.sizeof_tdm_process_group_options
	options.backend, options.init_method = cString(o.Backend), cString(o.InitMethod)
	options.interface_name, options.name = cString(o.Interface), cString(o.Name)
	options.rank, options.world_size = C.int32_t(o.Rank), C.int32_t(o.WorldSize)
	options.timeout_ms = C.int64_t(o.TimeoutMS)
	options.device._type, options.device.index = C.tdm_device_type(o.DeviceKind), C.int32_t(o.DeviceIndex)
	return options, func() {
		free(options.backend)
		free(options.init_method)
		free(options.interface_name)
		free(options.name)
		C.free(unsafe.Pointer(options))
	}
}

func FreeGroup(g ProcessGroup)           { C.tdm_process_group_free(group(g)) }
func GroupRank(g ProcessGroup) int       { return int(C.tdm_process_group_rank(group(g))) }
func GroupSize(g ProcessGroup) int       { return int(C.tdm_process_group_size(group(g))) }
func GroupBackend(g ProcessGroup) string { return C.GoString(C.tdm_process_group_backend(group(g))) }
func AbortGroup(g ProcessGroup) *Failure { return failure(C.tdm_process_group_abort(group(g))) }

func GroupName(g ProcessGroup) string { return C.GoString(C.tdm_process_group_name(group(g))) }

func GlobalRank(g ProcessGroup, rank int) int {
	return int(C.tdm_process_group_global_rank(group(g), C.int32_t(rank)))
}
func RankOf(g ProcessGroup, globalRank int) int {
	return int(C.tdm_process_group_rank_of(group(g), C.int32_t(globalRank)))
}

// SplitGroup gives the new group that this rank is in, nil when it is in none.
func SplitGroup(g ProcessGroup, groups [][]int, name string) (ProcessGroup, *Failure) {
	var ranks []int32
	var sizes []C.size_t
	for _, one := range groups {
		for _, rank := range one {
			ranks = append(ranks, int32(rank))
		}
		sizes = append(sizes, C.size_t(len(one)))
	}
	cName := cString(name)
	defer free(cName)
	var made *C.tdm_process_group
	var err *Failure
	if len(groups) == 1 { // named without a number
		err = failure(C.tdm_process_group_new_group(group(g), int32s(ranks), C.size_t(len(ranks)), cName, &made))
	} else {
		err = failure(C.tdm_process_group_split(group(g), int32s(ranks), C.size_t(len(ranks)), unsafe.SliceData(sizes),
			C.size_t(len(sizes)), cName, &made))
	}
	return ProcessGroup(unsafe.Pointer(made)), err
}

func NewSubgroups(g ProcessGroup, size int, name string) (ProcessGroup, *Failure) {
	cName := cString(name)
	defer free(cName)
	var made *C.tdm_process_group
	err := failure(C.tdm_process_group_new_subgroups(group(g), C.int32_t(size), cName, &made))
	return ProcessGroup(unsafe.Pointer(made)), err
}

func int32s(s []int32) *C.int32_t { return (*C.int32_t)(unsafe.Pointer(unsafe.SliceData(s))) }
