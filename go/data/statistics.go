package data

import (
	"time"

	"tandem.example/gotorch/internal/c"
)

// Bottleneck is what more speed would have to come from.
type Bottleneck int32

const (
	UnknownBottleneck      Bottleneck = iota // nothing was loaded yet
	ProgramBottleneck                        // the program waits for less than a tenth of its time: batches are there
	ReadingBottleneck                        // records of files, with their checksums and decompression
	DecodingBottleneck                       // records, or whatever the data set holds, to tensors of batches
	TransformingBottleneck                   // steps on batches
	PinningBottleneck                        // copying to page-locked memory
	CopyingBottleneck                        // having copies to a GPU begin
)

// LoaderStatistics tell where time went since the loader was made. Times of threads are sums over all of them.
type LoaderStatistics struct {
	Batches        int64 // made
	Samples        int64 // in them
	Bytes          int64 // of their tensors
	MostBytesReady int64 // at once, of batches that were made and not asked for
	Threads        int64

	Reading, Decoding, Transforming, Pinning time.Duration
	Copying                                  time.Duration // until copies to a GPU are queued; they run by themselves
	WaitingForRoom                           time.Duration // of threads, while as much was ahead as is allowed

	Delivered  int64         // batches that the program got
	Waiting    time.Duration // of the program for a batch
	Computing  time.Duration // of the program between a batch and asking for the next
	Bottleneck Bottleneck

	text string
}

// String is one line, which ends with what the bottleneck is.
func (s LoaderStatistics) String() string { return s.text }

// Statistics of the loader so far. Any goroutine may ask, at any time.
func (l *Loader) Statistics() (LoaderStatistics, error) {
	return l.statistics("data.Loader.Statistics")
}

// Statistics of the loader so far, with micro-batches for batches; waiting for other ranks at a step's end does not count.
// Any goroutine may ask, at any time.
func (l *DynamicLoader) Statistics() (LoaderStatistics, error) {
	return l.statistics("data.DynamicLoader.Statistics")
}

func (n *native) statistics(operation string) (s LoaderStatistics, err error) {
	err = n.beside(func(handle c.Loader) error {
		raw, failure := c.GetLoaderStatistics(handle)
		s = LoaderStatistics{raw.Batches, raw.Samples, raw.Bytes, raw.MostBytesReady, raw.Threads,
			time.Duration(raw.Reading), time.Duration(raw.Decoding), time.Duration(raw.Transforming),
			time.Duration(raw.Pinning), time.Duration(raw.Copying), time.Duration(raw.WaitingForRoom), raw.Delivered,
			time.Duration(raw.Waiting), time.Duration(raw.Computing), Bottleneck(raw.Bottleneck), raw.Text}
		return failed(operation, failure)
	})
	return s, err
}
