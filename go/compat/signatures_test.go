package gotorch_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	torch "tandem.example/gotorch/compat"
	"tandem.example/gotorch/compat/internal/signatures"
)

// Where the original has types of C or OpenCV, and what it has instead here. docs/from-gotorch.md says so too.
var differences = map[string]string{
	". type CUDAStream struct {P C.CUDAStream}":  ". type CUDAStream struct {P *gotorch.Stream}",
	". type Device struct {T C.Device}":          ". type Device struct {T gotorch.Device}",
	". type Optimizer struct {Opt *C.Optimizer}": ". type Optimizer struct {Opt *state}",
	"vision/transforms func RandomResizedCropD(int, int, float64, float64, float64, float64, gocv.InterpolationFlags) *RandomResizedCropTransformer": "vision/transforms func RandomResizedCropD(int, int, float64, float64, float64, float64, Interpolation) *RandomResizedCropTransformer",
}

// What is here alone.
var additions = []string{
	". func (Optimizer) Unwrap() *optim.Optimizer",
	". func (Tensor) Unwrap() *gotorch.Tensor",
	". func Wrap(*gotorch.Tensor) Tensor",
	"nn func Unwrap(IModule) nn.Layer",
	"vision/transforms const InterpolationLinear",
	"vision/transforms type Interpolation int",
}

func TestSignatures(t *testing.T) {
	stored, err := os.ReadFile("testdata/signatures.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(additions)
	for line := range strings.Lines(string(stored)) {
		if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "#") {
			continue
		}
		if other, ok := differences[line]; ok {
			line = other
		}
		want = append(want, strings.ReplaceAll(line, "Run(gocv.Mat) gocv.Mat", "Run(image.Image) image.Image"))
	}
	if got := len(want) - len(additions); got != 244 {
		t.Errorf("%d names are stored", got)
	}
	got, err := signatures.List(".", map[string]string{"tandem.example/gotorch": "gotorch", "tandem.example/gotorch/compat": "gotorch"})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Error("missing:", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Error("not in the list:", line)
		}
	}
}

func TestListNoticesWhatDiffers(t *testing.T) {
	folder := t.TempDir()
	source := "package p\n\nimport (\n\tg \"example.org/root\"\n\t\"io\"\n)\n\nconst A = 1\n\ntype hidden int\n\n" +
		"type S struct {\n\tX, y int `tag`\n\t*g.T\n}\n\nfunc (s *S) M(a, b int, c ...g.T) (io.Reader, error) { return nil, nil }\n\n" +
		"func (hidden) N() {}\n\nfunc F(f func(any) [2]int) map[string]interface{} { return nil }\n"
	if err := os.WriteFile(folder+"/p.go", []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := signatures.List(folder, map[string]string{"example.org/root": "gotorch"})
	want := []string{". const A", ". func (*S) M(int, int, ...gotorch.T) (io.Reader, error)",
		". func F(func(any) [2]int) map[string]any", ". type S struct {X int `tag`; *gotorch.T}"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestConstants(t *testing.T) {
	all := []int8{torch.Byte, torch.Char, torch.Short, torch.Int, torch.Long, torch.Half, torch.Float, torch.Double,
		torch.ComplexHalf, torch.ComplexFloat, torch.ComplexDouble, torch.Bool, torch.QInt8, torch.QUInt8, torch.QInt32,
		torch.BFloat16}
	for i, dtype := range all {
		if int(dtype) != i {
			t.Errorf("constant %d is %d", i, dtype)
		}
	}
	if torch.Invalid != -1 {
		t.Error(torch.Invalid)
	}
}
