package transforms_test

import (
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"

	torch "tandem.example/gotorch/compat"
	"tandem.example/gotorch/compat/vision"
	. "tandem.example/gotorch/compat/vision/transforms"
)

// gray has the bytes row by row.
func gray(width int, values ...byte) *image.Gray {
	m := image.NewGray(image.Rect(0, 0, width, len(values)/width))
	copy(m.Pix, values)
	return m
}

func want(t *testing.T, got image.Image, width int, values ...byte) {
	t.Helper()
	if m, ok := got.(*image.Gray); !ok || m.Bounds().Dx() != width || !slices.Equal(m.Pix, values) {
		t.Errorf("%v, want %v", got, values)
	}
}

func wantPanic(t *testing.T, part string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if text, ok := recover().(string); !ok || !strings.Contains(text, part) {
			t.Errorf("the panic is %q, without %q", text, part)
		}
	}()
	f()
}

func TestCrops(t *testing.T) {
	m := gray(4, 0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33)
	want(t, CenterCrop(2).Run(m), 2, 11, 12, 21, 22)
	want(t, CenterCrop(1, 4).Run(m), 4, 10, 11, 12, 13)
	want(t, CenterCrop(2).Run(m.SubImage(image.Rect(2, 2, 4, 4))), 2, 22, 23, 32, 33)
	want(t, RandomCrop(4).Run(m), 4, m.Pix...)
	seen := map[byte]bool{}
	for range 200 {
		seen[RandomCrop(2, 3).Run(m).(*image.Gray).Pix[0]] = true
	}
	if len(seen) != 6 {
		t.Error("a crop of 2 x 3 begins at", seen)
	}
	wantPanic(t, "CenterCrop: 1 x 5", func() { CenterCrop(5, 1).Run(m) })
	wantPanic(t, "RandomCrop: 5 x 1", func() { RandomCrop(1, 5).Run(m) })
}

func TestRandomResizedCrop(t *testing.T) {
	m := vision.SynthesizeImage(40, 10, color.RGBA{9, 8, 7, 255})
	for range 50 {
		out := RandomResizedCrop(6, 5).Run(m).(*image.RGBA)
		if out.Bounds() != image.Rect(0, 0, 5, 6) || !slices.Equal(out.Pix[len(out.Pix)-4:][:3], []byte{9, 8, 7}) {
			t.Fatal(out)
		}
	}
	// All of the area does not fit with that ratio: the middle of the image, as high as it is.
	stripes := gray(8, 0, 0, 0, 100, 100, 0, 0, 0, 0, 0, 0, 100, 100, 0, 0, 0)
	want(t, RandomResizedCropD(1, 1, 1, 1, 1, 1, InterpolationLinear).Run(stripes), 1, 100)
	wantPanic(t, "InterpolationLinear", func() { RandomResizedCropD(1, 1, 1, 1, 1, 1, 3) })
}

// The numbers are OpenCV's and those of torch.nn.functional.interpolate(mode="bilinear", align_corners=False), rounded.
func TestResize(t *testing.T) {
	m := gray(2, 0, 100, 200, 50)
	want(t, Resize(4).Run(m), 4, 0, 25, 75, 100, 50, 59, 78, 88, 150, 128, 84, 63, 200, 163, 88, 50)
	want(t, Resize(1, 2).Run(m), 2, 100, 75)
	want(t, Resize(2).Run(m), 2, m.Pix...)
	want(t, Resize(1).Run(gray(4, 0, 10, 20, 40)), 1, 15)
}

func TestFlips(t *testing.T) {
	m := gray(2, 1, 2, 3, 4)
	want(t, RandomHorizontalFlip(1).Run(m), 2, 2, 1, 4, 3)
	want(t, RandomVerticalFlip(1).Run(m), 2, 3, 4, 1, 2)
	for _, same := range []image.Image{RandomHorizontalFlip(0).Run(m), RandomVerticalFlip(0).Run(m)} {
		want(t, same, 2, m.Pix...)
	}
	color := image.NewRGBA(image.Rect(0, 0, 2, 1))
	copy(color.Pix, []byte{1, 2, 3, 255, 4, 5, 6, 255})
	if got := RandomHorizontalFlip(1).Run(color).(*image.RGBA).Pix; !slices.Equal(got, []byte{4, 5, 6, 255, 1, 2, 3, 255}) {
		t.Error(got)
	}
}

func TestToTensor(t *testing.T) {
	blue := vision.SynthesizeImage(2, 1, color.RGBA{0, 51, 255, 255})
	for _, c := range []struct {
		in   any
		want string
	}{
		{blue, "(1,.,.) = \n  0  0\n\n(2,.,.) = \n  0.2000  0.2000\n\n(3,.,.) = \n  1  1\n[ CPUFloatType{3,1,2} ]"},
		{gray(2, 0, 127), " 0.0000  0.4980\n[ CPUFloatType{1,2} ]"},
		{10, " 10\n[ CPUIntType{1} ]"},
		{[]image.Image{gray(1, 0), gray(1, 255)}, "(1,1,.,.) = \n  0\n\n(2,1,.,.) = \n  1\n[ CPUFloatType{2,1,1,1} ]"},
	} {
		if got := ToTensor().Run(c.in).String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	transparent := image.NewNRGBA(image.Rect(0, 0, 1, 1))
	copy(transparent.Pix, []byte{255, 0, 255, 1})
	palette := image.NewPaletted(image.Rect(3, 3, 4, 4), color.Palette{color.RGBA{255, 0, 255, 255}})
	for _, m := range []image.Image{transparent, palette} {
		if got := fmt.Sprint(ToTensor().Run(m).View(3)); got != " 1\n 0\n 1\n[ CPUFloatType{3} ]" {
			t.Errorf("%T: %s", m, got)
		}
	}
	wantPanic(t, "string", func() { ToTensor().Run("hello") })
	wantPanic(t, "image 1", func() { ToTensor().Run([]image.Image{gray(1, 0), gray(2, 0, 0)}) })
	wantPanic(t, "empty", func() { ToTensor().Run([]image.Image{}) })
}

func TestNormalize(t *testing.T) {
	x := torch.View(torch.NewTensor([]float32{10, 20, 30}), 3, 1, 1)
	three := Normalize([]float32{0, 10, 20}, []float32{1, 2, 5}).Run(x)
	one := Normalize([]float32{10}, []float32{10}).Run(x.View(1, 3, 1, 1))
	if !torch.AllClose(three.View(3), torch.NewTensor([]float32{10, 5, 2})) ||
		!torch.AllClose(one.View(3), torch.NewTensor([]float32{0, 1, 2})) {
		t.Error(three, one)
	}
	wantPanic(t, "mean", func() { Normalize([]float32{1, 2}, []float32{1}) })
	wantPanic(t, "stddev", func() { Normalize([]float32{1}, nil) })
}

type plus struct{ n int }

func (p plus) Run(x int) int { return p.n + x }

type split struct{}

func (split) Run(x int) (int, int) { return x / 2, x % 2 }

func TestCompose(t *testing.T) {
	if got := Compose().Run(10); got != 10 {
		t.Error(got)
	}
	if got := Compose(plus{1}, &plus{2}, ToTensor()).Run(4).(torch.Tensor).Item(); got != int32(7) {
		t.Error(got)
	}
	wantPanic(t, "Run", func() { Compose(3).Run(1) })
	wantPanic(t, "must give one", func() { Compose(split{}).Run(5) })
}
