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

func CreateRecordDataset(paths []string, fields []Field) (Dataset, *Failure) {
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
	var d *C.tdm_dataset
	err := failure(C.tdm_dataset_from_records(cPaths, C.size_t(len(paths)), (*C.tdm_field)(block),
		C.size_t(len(fields)), &d))
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
