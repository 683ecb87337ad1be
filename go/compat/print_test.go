package gotorch_test

import (
	"testing"
	"unsafe"

	torch "tandem.example/gotorch/compat"
)

// What C++ prints; tests/go/reference.py makes it.
func TestString(t *testing.T) {
	type printed struct {
		DType      int8
		Shape      []int64
		Data, Text string
	}
	for _, c := range readCases[printed](t, "printing") {
		raw := bytesOf(t, c.Data)
		x := torch.FromBlob(unsafe.Pointer(unsafe.SliceData(raw)), c.DType, c.Shape)
		if got := x.String(); got != c.Text {
			t.Errorf("dtype %d, shape %v:\n%s\nwant\n%s", c.DType, c.Shape, got, c.Text)
		}
	}
}

// Of 2020, which the newest LibTorch no longer prints so.
func TestStringOf2020(t *testing.T) {
	for want, x := range map[string]torch.Tensor{
		"(1,.,.) = \n  0  1\n  2  3\n\n(2,.,.) = \n  4  5\n  6  7\n[ CPUFloatType{2,2,2} ]": torch.View(torch.Arange(0, 8, 1, false), 2, 2, 2),
		"1e+05 *\n 1.2346\n 0.0012\n[ CPUFloatType{2} ]":                                    torch.NewTensor([]float32{123456.5, 123.25}),
		"0.333333\n[ CPUDoubleType{} ]":                                                     torch.NewTensor([]float64{1. / 3}).Index(0),
		"-5\n-10\n[ CPUFloatType{2} ]":                                                      torch.NewTensor([]float32{-5, -10}),
		"(1,.,.) = \n  0.5000\n\n(2,.,.) = \n 1.234e+04\n[ CPUFloatType{2,1,1} ]":           torch.NewTensor([][][]float32{{{0.5}}, {{12345}}}),
		"[ Tensor (undefined) ]":                                                            {},
	} {
		if got := x.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
