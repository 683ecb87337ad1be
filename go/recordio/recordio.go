// Package recordio reads and writes RecordIO files: rows of chunks of records, which are byte strings. Version 1 is that
// of github.com/wangkuiyi/recordio, version 2 Tandem's own, docs/recordio-v2.md.
package recordio

import (
	"fmt"
	"io"
	"iter"
	"maps"
	"net/url"
	"strings"
	"sync"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
)

// Compressor of a file's chunks. The numbers are the format's.
type Compressor int32

// The compressors.
const (
	NoCompression Compressor = 0
	Snappy        Compressor = 1 // of version 1
	Gzip          Compressor = 2 // of version 1
	Zstd          Compressor = 3 // of version 2
)

// WriterOptions of [Create].
type WriterOptions struct {
	Compressor Compressor // unset: none
	ChunkBytes int        // of records in a chunk before compression; unset: 32 MiB
	Version    int        // of RecordIO, 1 or 2; unset: 1

	// Of version 2.
	Level     int               // of zstd, 1 to 19; unset: 3
	Alignment int               // of records, in bytes: 1, 2, 4 to 64; unset: 64
	Schema    string            // JSON that describes the records; unset: none
	Metadata  map[string]string // UTF-8
}

func (o WriterOptions) native() c.WriterOptions {
	native := c.WriterOptions{Compressor: int32(o.Compressor), Version: int32(o.Version), Level: int32(o.Level),
		ChunkBytes: uint64(o.ChunkBytes), Alignment: o.Alignment, Schema: o.Schema}
	for key, value := range o.Metadata {
		native.Keys, native.Values = append(native.Keys, key), append(native.Values, value)
	}
	return native
}

// shown is a path for messages: of a URL no more than its server and path, if it can be told which part these are.
func shown(path string) string {
	scheme, _, isURL := strings.Cut(path, "://")
	if !isURL {
		return path
	}
	if strings.EqualFold(scheme, "s3") {
		return path // which has neither password nor query
	}
	parsed, err := url.Parse(path)
	if err != nil || parsed.Host == "" || parsed.Path == "" || strings.Contains(parsed.Path, "@") && parsed.Port() != "" {
		return scheme + "://..."
	}
	return scheme + "://" + parsed.Host + parsed.EscapedPath()
}

func closed(op, path string) error {
	return &gotorch.Error{Code: gotorch.ErrClosed, Op: op, Message: shown(path) + ": the file was closed before this use"}
}

// Writer writes a file. It may be used from several goroutines.
type Writer struct {
	mutex  sync.Mutex
	path   string
	handle c.RecordIOWriter
	watch  *leak.Watch
}

// Create begins a file, under a temporary name: it appears under its own at Close.
func Create(path string, options ...WriterOptions) (*Writer, error) {
	o, err := bridge.One(options)
	if err != nil {
		return nil, err
	}
	if o.ChunkBytes < 0 {
		return nil, &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "recordio.Create",
			Message: fmt.Sprintf("ChunkBytes is %d; give 1 or more, or 0 for 32 MiB", o.ChunkBytes)}
	}
	if o.ChunkBytes == 0 {
		o.ChunkBytes = 32 << 20
	}
	handle, failure := c.CreateWriter(path, o.native())
	if failure != nil {
		return nil, bridge.Error(failure)
	}
	w := &Writer{path: path, handle: handle}
	w.watch = leak.Track(w, "recordio.Writer")
	return w, nil
}

var _ io.WriteCloser = (*Writer)(nil)

// Write adds one record.
func (w *Writer) Write(record []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.handle == nil {
		return 0, closed("recordio.Write", w.path)
	}
	if failure := c.WriteRecord(w.handle, record); failure != nil {
		return 0, bridge.Error(failure)
	}
	return len(record), nil
}

// Close writes what is pending and gives the file its name; after an error, or [Writer.Discard], there is none. A
// second Close does nothing.
func (w *Writer) Close() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.handle == nil {
		return nil
	}
	failure := c.CloseWriter(w.handle)
	w.free()
	return bridge.Error(failure)
}

// Discard leaves no file. After Close it does nothing, so that it can be deferred.
func (w *Writer) Discard() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.handle != nil {
		w.free()
	}
}

func (w *Writer) free() {
	w.watch.Done()
	c.FreeWriter(w.handle)
	w.handle = nil
}

// Reader reads a file, mapped into memory. It may be used from several goroutines.
type Reader struct {
	mutex    sync.RWMutex
	path     string
	handle   c.RecordIOReader
	count    int
	version  int
	schema   string
	metadata map[string]string
	watch    *leak.Watch
}

// Open finds the file's chunks; each one's checksum is verified at its first use. Errors: gotorch.ErrNotFound,
// gotorch.ErrDataLoss naming file, chunk and offset.
func Open(path string) (*Reader, error) {
	handle, failure := c.CreateReader(path)
	if failure != nil {
		return nil, bridge.Error(failure)
	}
	r := &Reader{path: path, handle: handle, count: c.RecordCount(handle), version: c.RecordVersion(handle),
		schema: c.RecordSchema(handle), metadata: c.RecordMetadata(handle)}
	r.watch = leak.Track(r, "recordio.Reader")
	return r, nil
}

// Version of the file's format, 1 or 2.
func (r *Reader) Version() int { return r.version }

// Schema is JSON that describes the records, "" where the file has none.
func (r *Reader) Schema() string { return r.schema }

// Metadata of a file of version 2; empty in version 1.
func (r *Reader) Metadata() map[string]string { return maps.Clone(r.metadata) }

// Len is the number of records.
func (r *Reader) Len() int { return r.count }

// Record of that number, as a copy.
func (r *Reader) Record(index int) ([]byte, error) { return r.Append(nil, index) }

// Append adds a record's bytes to a buffer.
func (r *Reader) Append(buffer []byte, index int) ([]byte, error) {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	if r.handle == nil {
		return buffer, closed("recordio.Record", r.path)
	}
	buffer, failure := c.Record(r.handle, index, buffer)
	return buffer, bridge.Error(failure)
}

// All gives every record, in a buffer that the next one overwrites. It ends after an error.
func (r *Reader) All() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var buffer []byte
		for i := range r.count {
			var err error
			buffer, err = r.Append(buffer[:0], i)
			if !yield(buffer, err) || err != nil {
				return
			}
		}
	}
}

// Close unmaps the file. A second Close does nothing.
func (r *Reader) Close() error {
	if r.watch.Done() {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		c.FreeReader(r.handle)
		r.handle = nil
	}
	return nil
}
