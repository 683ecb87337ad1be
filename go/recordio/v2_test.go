package recordio_test

import (
	"errors"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/recordio"
)

func TestVersion2(t *testing.T) {
	for _, compressor := range []recordio.Compressor{recordio.NoCompression, recordio.Zstd} {
		path := filepath.Join(t.TempDir(), "a.recordio")
		metadata := map[string]string{"source": "a test – é", "empty": ""}
		write(t, path, 1000, recordio.WriterOptions{Version: 2, Compressor: compressor, ChunkBytes: 2000, Alignment: 8,
			Schema: `{"fields":[]}`, Metadata: metadata})
		r, err := recordio.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if r.Version() != 2 || r.Schema() != `{"fields":[]}` || !maps.Equal(r.Metadata(), metadata) || r.Len() != 1000 {
			t.Error(r.Version(), r.Schema(), r.Metadata(), r.Len())
		}
		if record, err := r.Record(777); err != nil || string(record) != "record 777" {
			t.Error(string(record), err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestVersion1HasNoMetadata(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.recordio")
	write(t, path, 3)
	r, err := recordio.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Version() != 1 || r.Schema() != "" || len(r.Metadata()) != 0 {
		t.Error(r.Version(), r.Schema(), r.Metadata())
	}
}

func TestOptionsThatAVersionLacks(t *testing.T) {
	for what, options := range map[string]recordio.WriterOptions{
		"compressor 1": {Version: 2, Compressor: recordio.Snappy},
		"compressor 3": {Compressor: recordio.Zstd},
		"version 3":    {Version: 3},
		"alignment 3":  {Version: 2, Alignment: 3},
		"level 20":     {Version: 2, Level: 20},
		"version 2":    {Metadata: map[string]string{"k": "v"}},
		"schema":       {Version: 2, Schema: "{"},
	} {
		path := filepath.Join(t.TempDir(), "a.recordio")
		_, err := recordio.Create(path, options)
		if !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
