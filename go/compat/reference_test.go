package gotorch_test

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"os"
	"testing"
	"unsafe"
)

// readCases of testdata/NAME.json.gz, which tests/go/reference.py makes with Python's torch.
func readCases[T any](t *testing.T, name string) (cases []T) {
	t.Helper()
	file, err := os.Open("testdata/" + name + ".json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err == nil {
		err = json.NewDecoder(text).Decode(&cases)
	}
	if err != nil || len(cases) == 0 {
		t.Fatal(name, len(cases), err)
	}
	return cases
}

func bytesOf(t *testing.T, text string) []byte {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func pointer(data []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(data)) }
