package main

import (
	"fmt"
	"os"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
)

// text is a part of a file as a data set: sample i is window i of length bytes, and the byte behind it.
type text struct {
	file   *os.File
	begin  int64
	count  int
	length int
}

// openText gives the windows to train on, and those of the last twentieth of the file, which is held out.
func openText(path string, length int) (train, heldOut *text, err error) {
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
	count := int(info.Size()-1) / length
	held := max(count/20, 1)
	if count < 2 {
		file.Close()
		return nil, nil, fmt.Errorf("%s has %d bytes; --length %d needs %d", path, info.Size(), length, 2*length+1)
	}
	return &text{file, 0, count - held, length}, &text{file, int64(count-held) * int64(length), held, length}, nil
}

// Len is the number of windows.
func (t *text) Len() int { return t.count }

// Get reads a window: [length + 1] of Uint8.
func (t *text) Get(i int) ([]*gotorch.Tensor, error) {
	bytes := make([]byte, t.length+1)
	if _, err := t.file.ReadAt(bytes, t.begin+int64(i)*int64(t.length)); err != nil {
		return nil, err
	}
	return []*gotorch.Tensor{gotorch.From(bytes)}, nil
}

// loader of this rank's batches of so many windows.
func (t *text) loader(group *dist.ProcessGroup, device gotorch.Device, o data.Options) (*data.Loader, error) {
	dataset, err := data.FromSamples(t, "bytes")
	if err != nil {
		return nil, err
	}
	defer dataset.Close()
	o.PerRank, o.Rank, o.WorldSize, o.Device = true, group.Rank(), group.Size(), device
	return data.NewLoader(dataset, o)
}
