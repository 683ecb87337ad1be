package c

// #include "shim.h"
import "C"

// SaveTensors writes a safetensors file or, where shardBytes is not 0, several into a folder.
func SaveTensors(path string, names []string, tensors []Tensor, keys, values []string, shardBytes int64) *Failure {
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
	count, keyCount := C.size_t(len(tensors)), C.size_t(len(keys))
	if shardBytes != 0 {
		return failure(C.tdm_safetensors_save_sharded(cPath, cNames, handles(tensors), count, cKeys, cValues, keyCount,
			C.int64_t(shardBytes)))
	}
	return failure(C.tdm_safetensors_save(cPath, cNames, handles(tensors), count, cKeys, cValues, keyCount))
}

// LoadTensors reads what SaveTensors wrote, or maps it.
func LoadTensors(path string, mapped bool) ([]Named, map[string]string, *Failure) {
	if err := Load(); err != nil {
		return nil, nil, err
	}
	cPath := C.CString(path)
	defer free(cPath)
	var options C.tdm_safetensors_load_options
	C.tdm_safetensors_load_options_init(&options, C.sizeof_tdm_safetensors_load_options)
	options.mapped = boolean(mapped)
	var list *C.tdm_named_tensors
	var keys, values *C.tdm_strings
	if err := failure(C.tdm_safetensors_load(cPath, &options, &list, &keys, &values)); err != nil {
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

// PtOptions are those of LoadPt.
type PtOptions struct {
	MostValues     int64 // 0: the default
	Copy, CheckCRC bool
}

// LoadPt reads a file of torch.save.
func LoadPt(path string, options PtOptions) (Value, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	cPath := C.CString(path)
	defer free(cPath)
	var native C.tdm_pt_load_options
	C.tdm_pt_load_options_init(&native, C.sizeof_tdm_pt_load_options)
	native.copy, native.check_crc = boolean(options.Copy), boolean(options.CheckCRC)
	if options.MostValues != 0 {
		native.most_values = C.int64_t(options.MostValues)
	}
	var value C.tdm_value
	if err := failure(C.tdm_pt_load(cPath, &native, &value)); err != nil {
		return nil, err
	}
	return takeValue(&value), nil
}

// SavePt writes the one value of the frame, and releases the frame.
func SavePt(path string, f *Frame) *Failure {
	defer f.Release()
	if err := Load(); err != nil {
		return err
	}
	cPath := C.CString(path)
	defer free(cPath)
	value, _, pool := f.arguments()
	return failure(C.tg_pt_save(cPath, value, pool))
}

// ReplaceNames by rules.
func ReplaceNames(names, patterns, replacements []string) ([]string, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	cNames, freeNames := cStrings(names)
	defer freeNames()
	cPatterns, freePatterns := cStrings(patterns)
	defer freePatterns()
	cReplacements, freeReplacements := cStrings(replacements)
	defer freeReplacements()
	var list *C.tdm_strings
	if err := failure(C.tdm_names_replace(cNames, C.size_t(len(names)), cPatterns, cReplacements,
		C.size_t(len(patterns)), &list)); err != nil {
		return nil, err
	}
	return texts(list), nil
}

// CopyByName copies tensors into those of the same names; it gives the names that were missing and unexpected.
func CopyByName(intoNames []string, into []Tensor, fromNames []string, from []Tensor, strict, convert bool) (missing,
	unexpected []string, failed *Failure) {
	if err := Load(); err != nil {
		return nil, nil, err
	}
	cInto, freeInto := cStrings(intoNames)
	defer freeInto()
	cFrom, freeFrom := cStrings(fromNames)
	defer freeFrom()
	var missingList, unexpectedList *C.tdm_strings
	if err := failure(C.tdm_tensors_load(cInto, handles(into), C.size_t(len(into)), cFrom, handles(from),
		C.size_t(len(from)), boolean(strict), boolean(convert), &missingList, &unexpectedList)); err != nil {
		return nil, nil, err
	}
	return texts(missingList), texts(unexpectedList), nil
}

// ShareParameters puts tensors into memory that processes share; it tells whether they are what is in it.
func ShareParameters(names []string, tensors []Tensor, model string, timeoutMS int64) (made bool, failed *Failure) {
	if err := Load(); err != nil {
		return false, err
	}
	cNames, done := cStrings(names)
	defer done()
	cModel := cString(model)
	defer free(cModel)
	var is C.int32_t
	err := failure(C.tdm_share_parameters(cNames, handles(tensors), C.size_t(len(tensors)), cModel, C.int64_t(timeoutMS), &is))
	return is != 0, err
}
