// Package tgz reads and writes .tar.gz files.
package tgz

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
)

// Reader goes through the entries of a .tar.gz file: Next, then Read.
type Reader struct {
	*tar.Reader
	unzip *gzip.Reader
	file  *os.File // nil: the program's own reader
}

// OpenFile opens a file.
func OpenFile(fn string) (*Reader, error) {
	file, err := os.Open(fn)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	r.file = file
	return r, nil
}

// NewReader reads what r has.
func NewReader(r io.Reader) (*Reader, error) {
	unzip, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	return &Reader{Reader: tar.NewReader(unzip), unzip: unzip}, nil
}

// Close closes the file, if OpenFile opened one.
func (r *Reader) Close() error {
	err := r.unzip.Close()
	if r.file != nil {
		err = errors.Join(err, r.file.Close())
	}
	return err
}

// ListFile lists the regular files in a .tar.gz file.
func ListFile(fn string) (headers []*tar.Header, err error) {
	r, err := OpenFile(fn)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return List(r)
}

// List lists the regular files that the reader has left.
func List(r *Reader) ([]*tar.Header, error) {
	headers := []*tar.Header{}
	for {
		header, err := r.Next()
		if err == io.EOF {
			return headers, nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag == tar.TypeReg {
			headers = append(headers, header)
		}
	}
}
