package c

// #include "shim.h"
import "C"

// Named is a tensor with its name, in a list of a fixed order.
type Named struct {
	Name   string
	Tensor Made
}

// named takes an owned list.
func named(list *C.tdm_named_tensors) ([]Named, *Failure) {
	defer C.tdm_named_tensors_free(list)
	all := make([]Named, int(C.tdm_named_tensors_size(list)))
	for i := range all {
		t, err := made(C.tg_named_tensors_get(list, C.size_t(i)))
		if err != nil {
			for _, one := range all[:i] {
				Free(one.Tensor.Handle)
			}
			return nil, err
		}
		all[i] = Named{C.GoString(C.tdm_named_tensors_name(list, C.size_t(i))), t}
	}
	return all, nil
}

// SaveTensors writes a safetensors file.
func SaveTensors(path string, names []string, tensors []Tensor, keys, values []string) *Failure {
	if err := Load(); err != nil {
		return err
	}
	cPath := C.CString(path)
	defer free(cPath)
	cNames, freeNames := cStrings(names)
	defer freeNames()
	cKeys, freeKeys := cStrings(keys)
	defer freeKeys()
	cValues, freeValues := cStrings(values)
	defer freeValues()
	return failure(C.tdm_safetensors_save(cPath, cNames, handles(tensors), C.size_t(len(tensors)), cKeys, cValues,
		C.size_t(len(keys))))
}

// LoadTensors reads a safetensors file.
func LoadTensors(path string) ([]Named, map[string]string, *Failure) {
	if err := Load(); err != nil {
		return nil, nil, err
	}
	cPath := C.CString(path)
	defer free(cPath)
	var list *C.tdm_named_tensors
	var keys, values *C.tdm_strings
	if err := failure(C.tdm_safetensors_load(cPath, &list, &keys, &values)); err != nil {
		return nil, nil, err
	}
	metadata := map[string]string{}
	valueOf := texts(values)
	for i, key := range texts(keys) {
		metadata[key] = valueOf[i]
	}
	all, err := named(list)
	return all, metadata, err
}
