package c

// #include <stdlib.h>
// #include "shim.h"
import "C"
import "unsafe"

func dataset(d Dataset) *C.tdm_dataset { return (*C.tdm_dataset)(unsafe.Pointer(d)) }

// Field is tdm_field.
type Field struct {
	Name            string
	DType, OutDType int32
	Sizes           []int
	Mean, Std       float64
	Scale           float64
}

func CreateRecordDataset(paths []string, fields []Field, o OpenRecordsOptions) (Dataset, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	cPaths, freePaths := cStrings(paths)
	defer freePaths()

	// Fields hold addresses: they, and what they point to, lie in C's memory.
	total := 0
	for _, field := range fields {
		total += len(field.Sizes)
	}
	block := C.calloc(1, C.size_t(len(fields))*C.sizeof_tdm_field+C.size_t(total)*8+8)
	defer C.free(block)
	cFields := unsafe.Slice((*C.tdm_field)(block), len(fields))
	numbers := unsafe.Slice((*C.int64_t)(unsafe.Add(block, len(fields)*C.sizeof_tdm_field)), total+1)
	for i, field := range fields {
		for j, n := range field.Sizes {
			numbers[j] = C.int64_t(n)
		}
		name := C.CString(field.Name)
		defer free(name)
		cFields[i] = C.tdm_field{
			name: name, dtype: C.tdm_dtype(field.DType), sizes: &numbers[0], ndim: C.int64_t(len(field.Sizes)),
			out_dtype: C.tdm_dtype(field.OutDType), mean: C.double(field.Mean), std: C.double(field.Std),
			scale: C.double(field.Scale),
		}
		numbers = numbers[len(field.Sizes):]
	}
	options, freeOptions := o.raw()
	defer freeOptions()
	var d *C.tdm_dataset
	err := failure(C.tdm_dataset_from_records(cPaths, C.size_t(len(paths)), (*C.tdm_field)(block),
		C.size_t(len(fields)), options, &d))
	return Dataset(unsafe.Pointer(d)), err
}

func FreeDataset(d Dataset)     { C.tdm_dataset_free(dataset(d)) }
func DatasetSize(d Dataset) int { return int(C.tdm_dataset_size(dataset(d))) }

func DatasetNames(d Dataset) []string {
	names := make([]string, int(C.tdm_dataset_field_count(dataset(d))))
	for i := range names {
		names[i] = C.GoString(C.tdm_dataset_field_name(dataset(d), C.size_t(i)))
	}
	return names
}

func DatasetGet(d Dataset, index, fields int) ([]Made, *Failure) {
	raw := make([]Tensor, fields)
	if err := failure(C.tdm_dataset_get(dataset(d), C.int64_t(index), handles(raw), C.size_t(fields))); err != nil {
		return nil, err
	}
	list := make([]Made, fields)
	for i, h := range raw {
		list[i], _ = made(C.tg_describe(tensor(h)))
	}
	return list, nil
}

func CreateTensorDataset(tensors []Tensor, names []string) (Dataset, *Failure) {
	cNames, freeNames := cStrings(names)
	defer freeNames()
	var d *C.tdm_dataset
	err := failure(C.tdm_dataset_from_tensors(handles(tensors), C.size_t(len(tensors)), cNames, &d))
	return Dataset(unsafe.Pointer(d)), err
}

func ConcatDatasets(parts []Dataset) (Dataset, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	var d *C.tdm_dataset
	err := failure(C.tdm_dataset_concat((**C.tdm_dataset)(unsafe.Pointer(unsafe.SliceData(parts))),
		C.size_t(len(parts)), &d))
	return Dataset(unsafe.Pointer(d)), err
}

func SubsetDataset(base Dataset, samples []int) (Dataset, *Failure) {
	var d *C.tdm_dataset
	err := failure(C.tdm_dataset_subset(dataset(base), sizes(samples), C.size_t(len(samples)), &d))
	return Dataset(unsafe.Pointer(d)), err
}

func SplitDataset(base Dataset, counts []int, seed uint64) ([]Dataset, *Failure) {
	parts := make([]Dataset, len(counts)+1) // one more, so that there is an address
	err := failure(C.tdm_dataset_random_split(dataset(base), sizes(counts), C.size_t(len(counts)), C.uint64_t(seed),
		(**C.tdm_dataset)(unsafe.Pointer(unsafe.SliceData(parts)))))
	return parts[:len(counts)], err
}

func SplitSizes(base Dataset, fractions []float64) ([]int, *Failure) {
	counts := make([]int, len(fractions)+1) // one more, so that there is an address
	err := failure(C.tdm_dataset_split_sizes(dataset(base), (*C.double)(unsafe.SliceData(fractions)),
		C.size_t(len(fractions)), sizes(counts)))
	return counts[:len(fractions)], err
}

func CreateDataset(size int, names []string, fingerprint uint64, get Callback) (Dataset, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	cNames, freeNames := cStrings(names)
	defer freeNames()
	var d *C.tdm_dataset
	err := register(get, func(handle C.uintptr_t) *C.tdm_error {
		return C.tg_dataset_create(C.int64_t(size), cNames, C.size_t(len(names)), C.uint64_t(fingerprint), handle, &d)
	})
	return Dataset(unsafe.Pointer(d)), err
}

func MapDataset(base Dataset, names []string, body Callback) (Dataset, *Failure) {
	cNames, freeNames := cStrings(names)
	defer freeNames()
	var d *C.tdm_dataset
	err := register(body, func(handle C.uintptr_t) *C.tdm_error {
		return C.tg_dataset_map(dataset(base), cNames, C.size_t(len(names)), handle, &d)
	})
	return Dataset(unsafe.Pointer(d)), err
}

// CreateIterable for size samples an epoch; -1: unknown.
func CreateIterable(size int, names []string, fingerprint uint64, body Callback) (Dataset, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	cNames, freeNames := cStrings(names)
	defer freeNames()
	var d *C.tdm_dataset
	err := register(body, func(handle C.uintptr_t) *C.tdm_error {
		return C.tg_dataset_from_iterable(C.int64_t(size), cNames, C.size_t(len(names)), C.uint64_t(fingerprint),
			handle, &d)
	})
	return Dataset(unsafe.Pointer(d)), err
}
