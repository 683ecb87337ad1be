package c

// #include "shim.h"
import "C"
import "strings"

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
	var metadata *C.tdm_string
	if err := failure(C.tdm_safetensors_load(cPath, &list, &metadata)); err != nil {
		return nil, nil, err
	}
	pairs := map[string]string{}
	lines := strings.Split(strings.TrimSuffix(text(metadata), "\n"), "\n")
	plain := strings.NewReplacer(`\\`, `\`, `\n`, "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		pairs[plain.Replace(lines[i])] = plain.Replace(lines[i+1])
	}
	all, err := named(list)
	return all, pairs, err
}
