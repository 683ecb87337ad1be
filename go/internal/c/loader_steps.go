package c

// #include <stdlib.h>
// #include "shim.h"
import "C"
import "unsafe"

// CreateSchemaDataset takes JSON; "" for what the files carry, and for defaults.
func CreateSchemaDataset(paths []string, schema, decoding, collating string, o OpenRecordsOptions) (Dataset, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	cPaths, freePaths := cStrings(paths)
	defer freePaths()
	texts, freeTexts := cStrings([]string{schema, decoding, collating})
	defer freeTexts()
	list := unsafe.Slice(texts, 3)
	files, freeFiles := o.raw()
	defer freeFiles()
	options := C.tdm_schema_options{decoding: list[1], collating: list[2], files: files}
	options.struct_size = C.sizeof_tdm_schema_options
	if schema != "" {
		options.schema = list[0]
	}
	var d *C.tdm_dataset
	err := failure(C.tdm_dataset_from_schema(cPaths, C.size_t(len(paths)), &options, &d))
	return Dataset(unsafe.Pointer(d)), err
}

// AddTransforms takes JSON.
func AddTransforms(l Loader, transforms string) *Failure {
	text := C.CString(transforms)
	defer free(text)
	return failure(C.tdm_loader_add_transforms(loader(l), text))
}

// AddStep has body called for each batch, with room for as many results as there are tensors and names in adds.
func AddStep(l Loader, adds []string, body Callback) *Failure {
	cAdds, freeAdds := cStrings(adds)
	defer freeAdds()
	return register(body, func(handle C.uintptr_t) *C.tdm_error {
		return C.tg_loader_add_step(loader(l), cAdds, C.size_t(len(adds)), handle)
	})
}

func randomnessOf(call *C.tg_call) []uint64 {
	if call.step == nil {
		return nil
	}
	return append([]uint64(nil), unsafe.Slice((*uint64)(unsafe.Pointer(call.step.randomness)), int(call.step.rows))...)
}

// LoaderStatistics are tdm_loader_statistics; times are in nanoseconds.
type LoaderStatistics struct {
	Batches, Samples, Bytes, MostBytesReady, Threads         int64
	Reading, Decoding, Transforming, Pinning, WaitingForRoom int64
	Copying                                                  int64
	Delivered, Waiting, Computing                            int64
	Bottleneck                                               int32
	Text                                                     string
}

func GetLoaderStatistics(l Loader) (s LoaderStatistics, err *Failure) {
	now := C.tdm_loader_statistics{struct_size: C.sizeof_tdm_loader_statistics}
	if err = failure(C.tdm_loader_get_statistics(loader(l), &now)); err != nil {
		return s, err
	}
	var line *C.tdm_string
	if err = failure(C.tdm_loader_statistics_text(loader(l), &line)); err != nil {
		return s, err
	}
	return LoaderStatistics{Batches: int64(now.batches), Samples: int64(now.samples), Bytes: int64(now.bytes),
		MostBytesReady: int64(now.most_bytes_ready), Threads: int64(now.threads), Reading: int64(now.reading),
		Decoding: int64(now.decoding), Transforming: int64(now.transforming), Pinning: int64(now.pinning),
		WaitingForRoom: int64(now.waiting_for_room), Delivered: int64(now.delivered), Waiting: int64(now.waiting),
		Computing: int64(now.computing), Copying: int64(now.copying), Bottleneck: int32(now.bottleneck), Text: text(line)}, nil
}
