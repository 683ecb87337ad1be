package tgz_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem.example/gotorch/compat/tool/tgz"
)

func TestTarball(t *testing.T) {
	path, err := tgz.SynthesizeTarball(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	headers, err := tgz.ListFile(path)
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, h := range headers {
		names += strings.TrimPrefix(h.Name, "mnist/") + " "
	}
	if names != "training/0/first.png training/0/second.png training/1/first.png training/1/second.png testing/0/first.png " {
		t.Error(names)
	}
	var buffer bytes.Buffer
	w := tgz.NewWriter(&buffer)
	if err := tgz.Synthesize(w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := tgz.NewReader(&buffer)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := tgz.List(r); err != nil || len(list) != 5 || r.Close() != nil {
		t.Error(list, err)
	}
}

func TestFailures(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(folder, "text")
	if err := os.WriteFile(text, []byte("no gzip"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, folder + "/missing"} {
		if _, err := tgz.OpenFile(path); err == nil {
			t.Error(path, "was opened")
		}
		if _, err := tgz.ListFile(path); err == nil {
			t.Error(path, "was listed")
		}
	}
	var noTar bytes.Buffer
	zip := gzip.NewWriter(&noTar)
	if _, err := zip.Write(bytes.Repeat([]byte{1}, 1000)); err != nil || zip.Close() != nil {
		t.Fatal(err)
	}
	r, err := tgz.NewReader(&noTar)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tgz.List(r); err == nil {
		t.Error("what is no tar was listed")
	}
	if _, err := tgz.CreateFile(folder + "/missing/file"); err == nil || tgz.NewWriter(nil) != nil {
		t.Error("a file was made in a folder that is not there")
	}
	if _, err := tgz.SynthesizeTarball(folder + "/missing"); err == nil {
		t.Error("a file was made in a folder that is not there")
	}
}
