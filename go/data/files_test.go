package data_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
)

// blocks is what a cache folder keeps.
func blocks(t *testing.T, folder string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*.block"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestRemoteFiles(t *testing.T) {
	path, fields := numbers(t, 20)
	var troubles atomic.Int32 // that are left: answers of 503
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/numbers":
			http.NotFound(w, r)
		case troubles.Add(-1) >= 0:
			http.Error(w, "later", http.StatusServiceUnavailable)
		default:
			http.ServeFile(w, r, path)
		}
	}))
	defer server.Close()
	url := []string{server.URL + "/numbers"}

	cache := t.TempDir()
	o := data.FileOptions{CacheFolder: cache, Attempts: 2, NoIndex: true}
	troubles.Store(1)
	set := must(data.Records(url, fields, o))
	defer set.Close()
	loader := open(t, set, data.Options{BatchSize: 6})
	all := epoch(t, loader, 0)
	slices.Sort(all)
	if len(all) != 20 || all[0] != 0 || all[19] != 19 || set.Len() != 20 {
		t.Fatal(all)
	}
	if kept := blocks(t, cache); len(kept) > 1 {
		t.Errorf("a file of one block left %q", kept)
	}

	troubles.Store(2)
	_, err := data.Records(url, fields, o)
	var ours *gotorch.Error
	if !errors.As(err, &ours) || ours.Code != gotorch.ErrIO || !strings.Contains(err.Error(), "503 (2 attempts)") {
		t.Error(err)
	}
	troubles.Store(0)
	_, err = data.Records([]string{server.URL + "/none"}, fields, o)
	if !errors.As(err, &ours) || ours.Code != gotorch.ErrNotFound {
		t.Error(err)
	}
	o.ConnectTimeout = -time.Second
	_, err = data.Records(url, fields, o)
	if !errors.As(err, &ours) || ours.Code != gotorch.ErrInvalidArgument || !strings.Contains(err.Error(), "ConnectTimeout") {
		t.Error(err)
	}
}

func TestRemoteCacheIsBounded(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large") // records of a line, over several blocks of the cache
	line := append(slices.Repeat([]byte{'x'}, 1<<16-1), '\n')
	if err := os.WriteFile(large, slices.Repeat(line, 256), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(large))))
	defer server.Close()
	fields := []data.Field{{Name: "line", DType: gotorch.Uint8, Shape: []int{1<<16 - 1}, Out: gotorch.Uint8}}
	size := func(bytes gotorch.Opt[int]) (kept int64) {
		cache := t.TempDir()
		set := must(data.Records([]string{server.URL + "/large"}, fields,
			data.FileOptions{CacheFolder: cache, CacheBytes: bytes, Format: "lines"}))
		defer set.Close()
		for i := range set.Len() {
			for _, field := range must(set.Get(i)) {
				field.Close()
			}
		}
		for _, block := range blocks(t, cache) {
			info, err := os.Stat(block)
			if err != nil {
				t.Fatal(err)
			}
			kept += info.Size()
		}
		return kept
	}
	if all := size(gotorch.Opt[int]{}); all < 12<<20 {
		t.Errorf("%d bytes of 16 MiB are kept", all)
	}
	if none := size(gotorch.Some(0)); none != 0 {
		t.Errorf("%d bytes are kept", none)
	}
	if some := size(gotorch.Some(8 << 20)); some == 0 || some > 9<<20 {
		t.Errorf("%d bytes are kept, with a bound of 8 MiB", some)
	}
}

func TestFilesAreOpenedAsOptionsSay(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "table.csv")
	if err := os.WriteFile(path, []byte("id\n123\n456\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fields := []data.Field{{Name: "id", DType: gotorch.Uint8, Shape: []int{3}, Out: gotorch.Uint8}}
	set := must(data.Records([]string{path}, fields, data.FileOptions{Skip: 1}))
	defer set.Close()
	if set.Len() != 2 {
		t.Fatal(set.Len())
	}
	first := must(set.Get(0))[0]
	if got := gotorch.ToSlice[uint8](first); string(got) != "123" {
		t.Errorf("%q", got)
	}
	first.Close()
	schema := &data.Schema{Fields: []data.SchemaField{{Name: "id", Kind: data.Bytes}}}
	described := must(data.FromSchema([]string{path}, schema,
		data.SchemaOptions{Files: data.FileOptions{Skip: 2, Format: "lines"}}))
	defer described.Close()
	if described.Len() != 1 {
		t.Error(described.Len())
	}
	if _, err := data.Records([]string{path}, fields, data.FileOptions{Format: "no such"}); err == nil ||
		!strings.Contains(err.Error(), "tfrecord") {
		t.Error(err)
	}
}

func TestNegativeSizesAreRefused(t *testing.T) {
	path, fields := numbers(t, 1)
	for name, o := range map[string]data.FileOptions{
		"MemoryBytes is -1 bytes; give 0 or more, or leave it unset": {MemoryBytes: gotorch.Some(-1)},
		"CacheBytes is -1 bytes; give 0 or more, or leave it unset":  {CacheBytes: gotorch.Some(-1)},
		"MostChunkBytes is -2 bytes; give 1 or more, or 0":           {MostChunkBytes: -2},
	} {
		for operation, open := range map[string]func() (*data.Dataset, error){
			"data.Records": func() (*data.Dataset, error) { return data.Records([]string{path}, fields, o) },
			"data.FromSchema": func() (*data.Dataset, error) {
				return data.FromSchema([]string{path}, nil, data.SchemaOptions{Files: o})
			},
		} {
			if _, err := open(); !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), operation+": "+name) {
				t.Errorf("%s: %v", operation, err)
			}
		}
	}
}
