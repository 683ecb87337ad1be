// Package vision makes images for tests. Below it are models, transforms and a loader of images in .tar.gz files.
package vision

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"io"
)

// SynthesizeImage is an image of one color.
func SynthesizeImage(w, h int, c color.Color) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(m, m.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	return m
}

// Synthesizer writes images to a .tar.gz file.
type Synthesizer struct {
	zip *gzip.Writer
	*tar.Writer
}

// NewSynthesizer writes to output.
func NewSynthesizer(output io.Writer) *Synthesizer {
	zip := gzip.NewWriter(output)
	return &Synthesizer{zip, tar.NewWriter(zip)}
}

// Close writes what is left. It panics where that fails, for there is no result that would tell.
func (s *Synthesizer) Close() {
	if err := errors.Join(s.Writer.Close(), s.zip.Close()); err != nil {
		panic("Synthesizer.Close: " + err.Error())
	}
}

// AddImage adds a JPEG of one color.
func (s *Synthesizer) AddImage(fn string, w, h int, c color.Color) error {
	var encoded bytes.Buffer
	if err := jpeg.Encode(&encoded, SynthesizeImage(w, h, c), nil); err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: fn, Mode: 0o600, Size: int64(encoded.Len())}
	if err := s.WriteHeader(header); err != nil {
		return err
	}
	_, err := s.Write(encoded.Bytes())
	return err
}
