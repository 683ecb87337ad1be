package c

// #include <stdlib.h>
// #include "shim.h"
import "C"
import (
	"slices"
	"unsafe"
)

// CheckpointTensor is a tdm_checkpoint_tensor. Whole and Begin are empty where it is no part.
type CheckpointTensor struct {
	Section, Name string
	Tensor        Tensor
	Own           bool
	Whole, Begin  []int64
}

func checkpoints(f CheckpointFolder) *C.tdm_checkpoint_folder {
	return (*C.tdm_checkpoint_folder)(unsafe.Pointer(f))
}

// CreateCheckpointFolder of a group, nil for one process.
func CreateCheckpointFolder(path string, keep int64, g ProcessGroup) (CheckpointFolder, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	cPath := C.CString(path)
	defer free(cPath)
	options := C.tdm_checkpoint_folder_options{struct_size: C.sizeof_tdm_checkpoint_folder_options, keep: C.int64_t(keep)}
	var f *C.tdm_checkpoint_folder
	err := failure(C.tdm_checkpoint_folder_create(cPath, &options, group(g), &f))
	return CheckpointFolder(unsafe.Pointer(f)), err
}

func FreeCheckpointFolder(f CheckpointFolder) { C.tdm_checkpoint_folder_free(checkpoints(f)) }
func SavingCheckpoint(f CheckpointFolder) bool {
	return C.tdm_checkpoint_folder_saving(checkpoints(f)) != 0
}
func WaitCheckpoint(f CheckpointFolder) *Failure {
	return failure(C.tdm_checkpoint_folder_wait(checkpoints(f)))
}

// CloseCheckpoint waits, but not for ranks whose processes stand still.
func CloseCheckpoint(f CheckpointFolder) *Failure {
	return failure(C.tdm_checkpoint_folder_close(checkpoints(f)))
}

// SaveCheckpoint, beside training where it is async.
func SaveCheckpoint(f CheckpointFolder, step int64, tensors []CheckpointTensor, values string, async bool) *Failure {
	list, freeList := checkpointTensors(tensors)
	defer freeList()
	cValues := C.CString(values)
	defer free(cValues)
	if async {
		return failure(C.tdm_checkpoint_folder_save_async(checkpoints(f), C.int64_t(step), list, C.size_t(len(tensors)), cValues))
	}
	return failure(C.tdm_checkpoint_folder_save(checkpoints(f), C.int64_t(step), list, C.size_t(len(tensors)), cValues))
}

// FailCheckpoint tells the other ranks, which save, why this one cannot make what it would save.
func FailCheckpoint(f CheckpointFolder, step int64, async bool, reason string) *Failure {
	cReason := C.CString(reason)
	defer free(cReason)
	beside := C.int32_t(0)
	if async {
		beside = 1
	}
	return failure(C.tdm_checkpoint_folder_save_failed(checkpoints(f), C.int64_t(step), beside, cReason))
}

// checkpointTensors are in C's memory, since they hold pointers.
func checkpointTensors(tensors []CheckpointTensor) (list *C.tdm_checkpoint_tensor, freeAll func()) {
	if len(tensors) == 0 {
		return nil, func() {}
	}
	memory := []unsafe.Pointer{C.calloc(C.size_t(len(tensors)), C.sizeof_tdm_checkpoint_tensor)}
	text := func(s string) *C.char {
		made := C.CString(s)
		memory = append(memory, unsafe.Pointer(made))
		return made
	}
	numbers := func(numbers []int64) *C.int64_t {
		if len(numbers) == 0 {
			return nil
		}
		made := C.calloc(C.size_t(len(numbers)), C.sizeof_int64_t)
		memory = append(memory, made)
		copy(unsafe.Slice((*int64)(made), len(numbers)), numbers)
		return (*C.int64_t)(made)
	}
	list = (*C.tdm_checkpoint_tensor)(memory[0])
	for i, one := range tensors {
		to := &unsafe.Slice(list, len(tensors))[i]
		to.section, to.name, to.tensor = text(one.Section), text(one.Name), tensor(one.Tensor)
		if one.Own {
			to.own = 1
		}
		to.ndim, to.whole, to.begin = C.int32_t(len(one.Whole)), numbers(one.Whole), numbers(one.Begin)
	}
	return list, func() {
		for _, block := range memory {
			C.free(block)
		}
	}
}

// CheckpointSteps are those that are there, rising.
func CheckpointSteps(f CheckpointFolder) ([]int64, *Failure) {
	for room := 64; ; {
		steps := make([]int64, room)
		count := C.size_t(room)
		if err := failure(C.tdm_checkpoint_folder_steps(checkpoints(f), (*C.int64_t)(unsafe.SliceData(steps)), &count)); err != nil {
			return nil, err
		}
		if int(count) <= room {
			return steps[:count], nil
		}
		room = int(count)
	}
}

// LoadedCheckpoint is all of a tdm_checkpoint.
type LoadedCheckpoint struct {
	Step      int64
	WorldSize int
	Values    string
	Refused   []string
	Sections  map[string][]Named

	handle unsafe.Pointer // for LoadTables; nil: there are none
}

// Free what LoadTables needs. A nil receiver has nothing.
func (l *LoadedCheckpoint) Free() {
	if l != nil && l.handle != nil {
		C.tdm_checkpoint_free((*C.tdm_checkpoint)(l.handle))
		l.handle = nil
	}
}

// AbortCheckpoint ends a save beside training that waits.
func AbortCheckpoint(f CheckpointFolder) *Failure {
	return failure(C.tdm_checkpoint_folder_abort(checkpoints(f)))
}

// AgreeOnCheckpoint tells all ranks why this one could not use what it loaded; "": it could.
func AgreeOnCheckpoint(f CheckpointFolder, reason string) *Failure {
	if reason == "" {
		return failure(C.tdm_checkpoint_folder_agree(checkpoints(f), nil))
	}
	cReason := C.CString(reason)
	defer free(cReason)
	return failure(C.tdm_checkpoint_folder_agree(checkpoints(f), cReason))
}

// CheckpointSelection is a tdm_checkpoint_selection.
type CheckpointSelection struct {
	Step                        int64 // -1: the newest
	Sections, Without, Prefixes []string
	Tables                      Tables // whose sections are read for LoadTables alone
}

// LoadCheckpoint gives nil where there is none. With a result, too, it may have failed: then the other ranks know
// nothing of that.
func LoadCheckpoint(f CheckpointFolder, selection CheckpointSelection) (*LoadedCheckpoint, *Failure) {
	raw := (*C.tdm_checkpoint_selection)(C.calloc(1, C.sizeof_tdm_checkpoint_selection))
	defer C.free(unsafe.Pointer(raw))
	raw.struct_size, raw.step = C.sizeof_tdm_checkpoint_selection, C.int64_t(selection.Step)
	var freeSections, freeWithout, freePrefixes func()
	raw.sections, freeSections = cStrings(selection.Sections)
	defer freeSections()
	raw.without, freeWithout = cStrings(selection.Without)
	defer freeWithout()
	raw.prefixes, freePrefixes = cStrings(selection.Prefixes)
	defer freePrefixes()
	raw.section_count, raw.without_count = C.size_t(len(selection.Sections)), C.size_t(len(selection.Without))
	raw.prefix_count = C.size_t(len(selection.Prefixes))
	var handle *C.tdm_checkpoint
	if t := selection.Tables; t.Client != nil {
		err := failure(C.tdm_parameter_client_read(parameterClient(t.Client), checkpoints(f), raw, C.int32_t(t.Part),
			C.int32_t(t.Parts), &handle))
		if err != nil || handle == nil {
			return nil, err
		}
		loaded, err := checkpointOf(handle, TablesSection, TableOptimizersSection)
		loaded.handle = unsafe.Pointer(handle)
		return loaded, err
	}
	err := failure(C.tdm_checkpoint_folder_load_part(checkpoints(f), raw, &handle))
	if err != nil || handle == nil {
		return nil, err
	}
	defer C.tdm_checkpoint_free(handle)
	return checkpointOf(handle)
}

// TablesSection and TableOptimizersSection are those of parameter servers.
const TablesSection, TableOptimizersSection = "tables", "table_optimizers"

// checkpointOf is what the handle has, but for some sections; with a failure, too, which may be of a part.
func checkpointOf(handle *C.tdm_checkpoint, without ...string) (*LoadedCheckpoint, *Failure) {
	loaded := &LoadedCheckpoint{Step: int64(C.tdm_checkpoint_step(handle)), WorldSize: int(C.tdm_checkpoint_world_size(handle)),
		Values: C.GoString(C.tdm_checkpoint_values(handle)), Sections: map[string][]Named{}}
	var refused, names *C.tdm_strings
	if err := failure(C.tdm_checkpoint_refused(handle, &refused)); err != nil {
		return loaded, err
	}
	loaded.Refused = texts(refused)
	if err := failure(C.tdm_checkpoint_sections(handle, &names)); err != nil {
		return loaded, err
	}
	for _, name := range texts(names) {
		if slices.Contains(without, name) {
			continue
		}
		tensors, err := checkpointSection(handle, name)
		if err != nil {
			return loaded, err
		}
		loaded.Sections[name] = tensors
	}
	return loaded, nil
}

func checkpointSection(handle *C.tdm_checkpoint, name string) ([]Named, *Failure) {
	cName := C.CString(name)
	defer free(cName)
	var list *C.tdm_named_tensors
	if err := failure(C.tdm_checkpoint_tensors(handle, cName, &list)); err != nil {
		return nil, err
	}
	return named(list)
}
