package gotorch_test

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"
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
