package c

// #include "shim.h"
import "C"
import (
	"slices"
	"unsafe"
)

func writer(w RecordIOWriter) *C.tdm_recordio_writer {
	return (*C.tdm_recordio_writer)(unsafe.Pointer(w))
}
func reader(r RecordIOReader) *C.tdm_recordio_reader {
	return (*C.tdm_recordio_reader)(unsafe.Pointer(r))
}

// WriterOptions are those of the C ABI; zero: its default.
type WriterOptions struct {
	Compressor, Version, Level int32
	ChunkBytes                 uint64
	Alignment                  int
	Schema                     string
	Keys, Values               []string
}

func CreateWriter(path string, o WriterOptions) (RecordIOWriter, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	cPath, schema := C.CString(path), C.CString(o.Schema)
	defer free(cPath)
	defer free(schema)
	keys, freeKeys := cStrings(o.Keys)
	defer freeKeys()
	values, freeValues := cStrings(o.Values)
	defer freeValues()
	options := C.tdm_recordio_writer_options{compressor: C.tdm_compressor(o.Compressor), chunk_bytes: C.uint64_t(o.ChunkBytes),
		version: C.int32_t(o.Version), level: C.int32_t(o.Level), alignment: C.int64_t(o.Alignment), schema: schema,
		metadata_keys: keys, metadata_values: values, metadata_count: C.size_t(len(o.Keys))}
	options.struct_size = C.sizeof_tdm_recordio_writer_options
	var w *C.tdm_recordio_writer
	err := failure(C.tdm_recordio_writer_create(cPath, &options, &w))
	return RecordIOWriter(unsafe.Pointer(w)), err
}

func WriteRecord(w RecordIOWriter, record []byte) *Failure {
	return failure(C.tdm_recordio_writer_write(writer(w), unsafe.Pointer(unsafe.SliceData(record)), C.size_t(len(record))))
}

func CloseWriter(w RecordIOWriter) *Failure { return failure(C.tdm_recordio_writer_close(writer(w))) }
func FreeWriter(w RecordIOWriter)           { C.tdm_recordio_writer_free(writer(w)) }

func CreateReader(path string) (RecordIOReader, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	cPath := C.CString(path)
	defer free(cPath)
	var r *C.tdm_recordio_reader
	err := failure(C.tdm_recordio_reader_create(cPath, &r))
	return RecordIOReader(unsafe.Pointer(r)), err
}

func RecordCount(r RecordIOReader) int { return int(C.tdm_recordio_reader_count(reader(r))) }

// Record appends record index to buffer.
func Record(r RecordIOReader, index int, buffer []byte) ([]byte, *Failure) {
	var data unsafe.Pointer
	var size C.size_t
	if err := failure(C.tdm_recordio_reader_get(reader(r), C.int64_t(index), &data, &size)); err != nil {
		return buffer, err
	}
	begin, end := len(buffer), len(buffer)+int(size)
	buffer = slices.Grow(buffer, int(size))
	err := failure(C.tdm_recordio_reader_copy(reader(r), C.int64_t(index), unsafe.Pointer(unsafe.SliceData(buffer[begin:end])), size))
	if err != nil {
		return buffer[:begin], err
	}
	return buffer[:end], nil
}

func RecordVersion(r RecordIOReader) int { return int(C.tdm_recordio_reader_version(reader(r))) }
func RecordSchema(r RecordIOReader) string {
	return C.GoString(C.tdm_recordio_reader_schema(reader(r)))
}

func RecordMetadata(r RecordIOReader) map[string]string {
	metadata := map[string]string{}
	for i := range C.tdm_recordio_reader_metadata_count(reader(r)) {
		key := C.GoString(C.tdm_recordio_reader_metadata_key(reader(r), i))
		metadata[key] = C.GoString(C.tdm_recordio_reader_metadata_value(reader(r), i))
	}
	return metadata
}

func FreeReader(r RecordIOReader) { C.tdm_recordio_reader_free(reader(r)) }
