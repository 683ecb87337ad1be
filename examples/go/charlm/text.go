package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
)

// text is a part of a file as a data set: streams side by side, each a row of consecutive bytes, cut into windows. The
// samples are the first window of every stream, then the second of every stream, and so on: a batch over all ranks is one
// window of each stream, and continues the batch before. The loader gives each rank the same streams of every batch, so
// that a rank reads its own part of the file, and no other.
type text struct {
	file    *os.File
	begin   int64
	streams int
	windows int // of a stream
	length  int // of a window, in bytes
	reads   []atomic.Int32
}

// openText gives the streams to train on, and those of the last twentieth of the file, which is held out. The bytes that
// fill no window of all streams are left out.
func openText(path string, streams, length int) (train, heldOut *text, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file with a text", path)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	row := int64(streams) * int64(length)
	windows := info.Size() / row
	held := max(windows/20, 1)
	if windows < 2 {
		file.Close()
		return nil, nil, fmt.Errorf("%s has %d bytes; training on %d streams by %d bytes needs %d: "+
			"choose a smaller --batch-size or --length", path, info.Size(), streams, length, 2*row)
	}
	part := func(begin, windows int64) *text {
		return &text{file: file, begin: begin * row, streams: streams, windows: int(windows), length: length,
			reads: make([]atomic.Int32, windows*int64(streams))}
	}
	return part(0, windows-held), part(windows-held, held), nil
}

// Len is the number of windows of all streams.
func (t *text) Len() int { return t.windows * t.streams }

// Get reads window i/streams of stream i%streams: [length] of Uint8.
func (t *text) Get(i int) ([]*gotorch.Tensor, error) {
	window, stream := i/t.streams, i%t.streams
	bytes := make([]byte, t.length)
	if _, err := t.file.ReadAt(bytes, t.begin+int64(stream*t.windows+window)*int64(t.length)); err != nil {
		return nil, err
	}
	t.reads[i].Add(1)
	return []*gotorch.Tensor{gotorch.From(bytes)}, nil
}

// Fingerprint tells the streams of one number of ranks from those of another.
func (t *text) Fingerprint() uint64 {
	return uint64(t.begin)<<20 ^ uint64(t.streams)<<10 ^ uint64(t.length)
}

// loader of this rank's windows.
func (t *text) loader(group *dist.ProcessGroup, device gotorch.Device) (*data.Loader, error) {
	dataset, err := data.FromSamples(t, "bytes")
	if err != nil {
		return nil, err
	}
	defer dataset.Close()
	return data.NewLoader(dataset, data.Options{BatchSize: t.streams, Rank: group.Rank(), WorldSize: group.Size(),
		Shuffle: gotorch.Some(false), Device: device, Prefetch: gotorch.Some(4)})
}

// checkReaders proves that no byte was read on more than one rank: it gives how many were read at all, which all ranks
// learn together.
func (t *text) checkReaders(ctx context.Context, group *dist.ProcessGroup, device gotorch.Device) (bytes int, err error) {
	mine := make([]int32, len(t.reads))
	for i := range t.reads {
		mine[i] = min(t.reads[i].Load(), 1)
	}
	readers := gotorch.From(mine).ToDevice(device)
	if err := group.AllReduce(ctx, readers, dist.Sum); err != nil {
		return 0, err
	}
	for i, n := range gotorch.ToSlice[int32](readers) {
		if n > 1 {
			return 0, fmt.Errorf("window %d of stream %d was read on %d ranks", i/t.streams, i%t.streams, n)
		}
		bytes += int(n) * t.length
	}
	return bytes, nil
}
