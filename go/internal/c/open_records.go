package c

// #include <stdlib.h>
// #include "shim.h"
import "C"
import "unsafe"

// OpenRecordsOptions are tdm_open_records_options; "" is NULL.
type OpenRecordsOptions struct {
	Format                           string
	Skip, CacheBytes                 int
	UseIndex                         bool
	Attempts                         int
	CacheFolder                      string
	CacheFolderBytes                 int
	S3Endpoint, S3Region             string
	ConnectTimeoutMS, StallTimeoutMS int64
	MostChunkBytes, LeastSpeed       int   // 0: the defaults
	RequestTimeoutMS                 int64 // likewise
}

// raw is the options in C's memory, as other structs point to them; done frees them.
func (o OpenRecordsOptions) raw() (options *C.tdm_open_records_options, done func()) {
	options = (*C.tdm_open_records_options)(C.calloc(1, C.sizeof_tdm_open_records_options))
	texts := []*C.char{cString(o.Format), cString(o.CacheFolder), cString(o.S3Endpoint), cString(o.S3Region)}
	*options = C.tdm_open_records_options{
		format: texts[0], skip: C.int64_t(o.Skip), cache_bytes: C.uint64_t(o.CacheBytes), use_index: boolean(o.UseIndex),
		attempts: C.int32_t(o.Attempts), cache_folder: texts[1], cache_folder_bytes: C.int64_t(o.CacheFolderBytes),
		s3_endpoint: texts[2], s3_region: texts[3], connect_timeout_ms: C.int64_t(o.ConnectTimeoutMS),
		stall_timeout_ms: C.int64_t(o.StallTimeoutMS), most_chunk_bytes: C.uint64_t(o.MostChunkBytes),
		least_speed: C.int64_t(o.LeastSpeed), request_timeout_ms: C.int64_t(o.RequestTimeoutMS),
	}
	options.struct_size = C.sizeof_tdm_open_records_options
	return options, func() {
		for _, text := range texts {
			free(text)
		}
		C.free(unsafe.Pointer(options))
	}
}
