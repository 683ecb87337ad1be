package recordio_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/recordio"
)

func write(t *testing.T, path string, n int, options ...recordio.WriterOptions) {
	t.Helper()
	w, err := recordio.Create(path, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	for i := range n {
		if _, err := fmt.Fprintf(w, "record %d", i); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Fatal("the file is there before Close")
	}
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(nil); !errors.Is(err, gotorch.ErrClosed) {
		t.Fatal(err)
	}
}

func TestRoundTrip(t *testing.T) {
	for _, compressor := range []recordio.Compressor{recordio.NoCompression, recordio.Snappy, recordio.Gzip} {
		path := filepath.Join(t.TempDir(), "a.recordio")
		write(t, path, 1000, recordio.WriterOptions{Compressor: compressor, ChunkBytes: 500})
		r, err := recordio.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if r.Len() != 1000 {
			t.Fatal(r.Len())
		}
		if record, err := r.Record(777); err != nil || string(record) != "record 777" {
			t.Fatal(string(record), err)
		}
		n := 0
		for record, err := range r.All() {
			if err != nil || string(record) != fmt.Sprintf("record %d", n) {
				t.Fatal(n, string(record), err)
			}
			n++
		}
		if n != 1000 {
			t.Fatal(n)
		}
		if _, err := r.Record(1000); !errors.Is(err, gotorch.ErrOutOfRange) {
			t.Fatal(err)
		}
		r.Close()
		r.Close()
		if _, err := r.Record(0); !errors.Is(err, gotorch.ErrClosed) {
			t.Fatal(err)
		}
	}
}

func TestDiscardLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	w, err := recordio.Create(filepath.Join(folder, "a"))
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte("x"))
	w.Discard()
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Fatal(left)
	}
}

func TestFilesThatAreCutOffWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.recordio")
	const count = 40000
	write(t, path, count, recordio.WriterOptions{ChunkBytes: 16 << 10})
	r, err := recordio.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, err := range r.All() { // each chunk is verified, and read again below
		if err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, file.Size()/2); err != nil {
		t.Fatal(err)
	}
	whole := 0
	for i := range count {
		read, err := r.Record(i)
		if err == nil && string(read) == fmt.Sprint("record ", i) {
			whole++
		} else if !errors.Is(err, gotorch.ErrDataLoss) {
			t.Fatalf("record %d: %q, %v", i, read, err)
		}
	}
	if whole < count/4 || whole > 3*count/4 {
		t.Fatal(whole)
	}
}

func TestDamagedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.recordio")
	write(t, path, 100, recordio.WriterOptions{ChunkBytes: 100})
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)-1] ^= 1
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := recordio.Open(path)
	if err == nil {
		defer r.Close()
		_, err = r.Record(99)
	}
	if !errors.Is(err, gotorch.ErrDataLoss) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "chunk") {
		t.Fatal(err)
	}
	if _, err := recordio.Open(path + "x"); !errors.Is(err, gotorch.ErrNotFound) || !strings.Contains(err.Error(), path+"x") {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(other, []byte(strings.Repeat("no records here\n", 10)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := recordio.Open(other); !errors.Is(err, gotorch.ErrDataLoss) || !strings.Contains(err.Error(), other) {
		t.Fatal(err)
	}
}
