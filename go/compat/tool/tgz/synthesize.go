package tgz

import (
	"archive/tar"
	"bytes"
	"errors"
	"image/color"
	"image/png"
	"path/filepath"

	"tandem.example/gotorch/compat/vision"
)

// SynthesizeTarball writes what [Synthesize] makes to input.tar.gz in a folder, and gives the file's path.
func SynthesizeTarball(dir string) (string, error) {
	fn := filepath.Join(dir, "input.tar.gz")
	w, err := CreateFile(fn)
	if err != nil {
		return "", err
	}
	if err := errors.Join(Synthesize(w), w.Close()); err != nil {
		return "", err
	}
	return fn, nil
}

// Synthesize writes blue PNG images of two by two pixels, for tests: of mnist/training two of class 0 and two of class 1,
// of mnist/testing one of class 0, with the folders around them.
func Synthesize(w *Writer) error {
	var image bytes.Buffer
	if err := png.Encode(&image, vision.SynthesizeImage(2, 2, color.RGBA{0, 0, 255, 255})); err != nil {
		return err
	}
	for _, folder := range []struct {
		name   string
		images []string
	}{
		{"mnist/", nil},
		{"mnist/training/", nil},
		{"mnist/training/0/", []string{"first.png", "second.png"}},
		{"mnist/training/1/", []string{"first.png", "second.png"}},
		{"mnist/testing/", nil},
		{"mnist/testing/0/", []string{"first.png"}},
	} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder.name, Mode: 0o700}); err != nil {
			return err
		}
		for _, name := range folder.images {
			header := &tar.Header{Typeflag: tar.TypeReg, Name: folder.name + name, Mode: 0o600, Size: int64(image.Len())}
			if err := w.WriteHeader(header); err != nil {
				return err
			}
			if _, err := w.Write(image.Bytes()); err != nil {
				return err
			}
		}
	}
	return nil
}
