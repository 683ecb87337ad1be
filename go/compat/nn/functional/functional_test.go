package functional_test

import (
	"strings"
	"testing"

	torch "tandem.example/gotorch/compat"
	F "tandem.example/gotorch/compat/nn/functional"
)

func want(t *testing.T, got torch.Tensor, text string) {
	t.Helper()
	if got.String() != text {
		t.Errorf("%q, want %q", got, text)
	}
}

func TestFunctions(t *testing.T) {
	none, one := torch.Tensor{}, []int64{1, 1}
	x := torch.View(torch.Arange(0, 9, 1, false), 1, 1, 3, 3)
	ones := torch.Ones([]int64{1, 1, 2, 2}, false)
	want(t, F.Conv2d(x, ones, none, one, []int64{0, 0}, one, 1), "(1,1,.,.) = \n   8  12\n  20  24\n[ CPUFloatType{1,1,2,2} ]")
	want(t, torch.Sum(F.ConvTranspose2d(x, ones, torch.Full([]int64{1}, 1, false), []int64{2, 2}, []int64{0, 0}, one, 1, one)),
		"193\n[ CPUFloatType{} ]")
	want(t, F.MaxPool2d(x, []int64{2, 2}, one, []int64{0, 0}, one, false), "(1,1,.,.) = \n  4  5\n  7  8\n[ CPUFloatType{1,1,2,2} ]")
	want(t, F.AdaptiveAvgPool2d(x, one), "(1,1,.,.) = \n  4\n[ CPUFloatType{1,1,1,1} ]")
	want(t, F.Linear(torch.NewTensor([][]float64{{1, 2}, {3, 4}}), torch.NewTensor([][]float64{{1, 2}, {3, 4}}),
		torch.NewTensor([]float64{1, 2})), "  6  13\n 12  27\n[ CPUDoubleType{2,2} ]")
	want(t, F.BatchNorm(torch.NewTensor([][]float32{{1}, {3}}), none, none, none, none, true, 0.1, 0), "-1\n 1\n[ CPUFloatType{2,1} ]")
	want(t, F.BatchNorm(torch.NewTensor([][]float32{{1}, {3}}), torch.Ones([]int64{1}, false), torch.Full([]int64{1}, 4, false),
		torch.Full([]int64{1}, 2, false), torch.Ones([]int64{1}, false), false, 0.1, 0), " 1\n 3\n[ CPUFloatType{2,1} ]")
}

func TestInPlace(t *testing.T) {
	for _, inplace := range []bool{false, true} {
		x, y := torch.NewTensor([]float32{-1, 2}), torch.NewTensor([]float32{-1, 2})
		want(t, F.Relu(x, inplace), " 0\n 2\n[ CPUFloatType{2} ]")
		want(t, F.LeakyRelu(y, 0.5, inplace), "-0.5000\n 2.0000\n[ CPUFloatType{2} ]")
		if (x.Index(0).Item() == float32(0)) != inplace || (y.Index(0).Item() == float32(-0.5)) != inplace {
			t.Error(inplace, x, y)
		}
	}
}

func TestLosses(t *testing.T) {
	none, target := torch.Tensor{}, torch.NewTensor([]int64{0, 3, 4})
	logits := torch.NewTensor([][]float64{{0, 1, 2, 1, 0}, {0, 1, 2, 1, 0}, {0, 1, 2, 1, 0}})
	want(t, F.CrossEntropy(logits, target, none, -100, "mean"), "2.36302\n[ CPUDoubleType{} ]")
	want(t, F.CrossEntropy(logits, target, none, -100, "sum"), "7.08907\n[ CPUDoubleType{} ]")
	want(t, F.NllLoss(logits, torch.NewTensor([]int64{1, 3, 2}), none, 3, "none"), "-1\n 0\n-2\n[ CPUDoubleType{3} ]")
	want(t, F.NllLoss(logits, target, torch.NewTensor([]float64{1, 1, 1, 2, 1}), -100, "mean"), "-0.5\n[ CPUDoubleType{} ]")
	want(t, F.BinaryCrossEntropy(torch.NewTensor([]float64{0.5, 0.25}), torch.NewTensor([]float64{1, 0}), none, "sum"),
		"0.980829\n[ CPUDoubleType{} ]")
	want(t, F.LogSoftmax(torch.NewTensor([][]float32{{-0.5, -1}, {1, 0.5}}), -1),
		"-0.4741 -0.9741\n-0.4741 -0.9741\n[ CPUFloatType{2,2} ]")
	want(t, F.LogSoftmax(torch.NewTensor([]float32{0, 0}), -1), "-0.6931\n-0.6931\n[ CPUFloatType{2} ]")
	defer func() {
		if text, ok := recover().(string); !ok || !strings.Contains(text, "average") {
			t.Error(text)
		}
	}()
	F.CrossEntropy(logits, target, none, -100, "average")
}
