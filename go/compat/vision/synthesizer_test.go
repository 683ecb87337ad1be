package vision_test

import (
	"bytes"
	"image/color"
	"image/jpeg"
	"testing"

	"tandem.example/gotorch/compat/tool/tgz"
	"tandem.example/gotorch/compat/vision"
)

func TestSynthesizer(t *testing.T) {
	var file bytes.Buffer
	s := vision.NewSynthesizer(&file)
	if err := s.AddImage("blue/01.jpeg", 9, 7, color.RGBA{0, 0, 255, 255}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	r, err := tgz.NewReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	header, err := r.Next()
	if err != nil || header.Name != "blue/01.jpeg" {
		t.Fatal(header, err)
	}
	image, err := jpeg.Decode(r)
	if err != nil || image.Bounds().Dx() != 9 || image.Bounds().Dy() != 7 {
		t.Fatal(image, err)
	}
	if red, _, blue, _ := image.At(4, 4).RGBA(); red > 0x500 || blue < 0xf000 {
		t.Error(image.At(4, 4))
	}
}
