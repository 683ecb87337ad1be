package tgz

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
)

// Writer makes a .tar.gz file: WriteHeader, then Write.
type Writer struct {
	*tar.Writer
	zip  *gzip.Writer
	file *os.File // nil: the program's own writer
}

// CreateFile makes a file, in the place of one that is there.
func CreateFile(fn string) (*Writer, error) {
	file, err := os.Create(fn)
	if err != nil {
		return nil, err
	}
	w := NewWriter(file)
	w.file = file
	return w, nil
}

// NewWriter writes to r; nil for nil.
func NewWriter(r io.Writer) *Writer {
	if r == nil {
		return nil
	}
	zip := gzip.NewWriter(r)
	return &Writer{Writer: tar.NewWriter(zip), zip: zip}
}

// Close writes what is left, and closes the file, if CreateFile made one.
func (w *Writer) Close() error {
	err := errors.Join(w.Writer.Close(), w.zip.Close())
	if w.file != nil {
		err = errors.Join(err, w.file.Close())
	}
	return err
}
