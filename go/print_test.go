package gotorch_test

import (
	"fmt"
	"strings"
	"testing"

	"tandem.example/gotorch"
)

// printCase is a line of testdata/printing.json.gz, which tests/go/reference.py makes with Python's torch.
type printCase struct {
	DType   gotorch.DType
	Shape   []int
	Data    []byte
	How     string
	Options struct {
		Profile                                    *gotorch.PrintProfile
		Precision, Threshold, EdgeItems, LineWidth *int
		SciMode                                    *bool `json:"sci_mode"`
	}
	Text string
}

func optional[T any](value *T) (o gotorch.Opt[T]) {
	if value != nil {
		o = gotorch.Some(*value)
	}
	return o
}

// hows are what printing_cases.py does to tensors before it prints them.
var hows = map[string]func(x *gotorch.Tensor) *gotorch.Tensor{
	"":              func(x *gotorch.Tensor) *gotorch.Tensor { return x },
	"requires_grad": func(x *gotorch.Tensor) *gotorch.Tensor { return x.SetRequiresGrad(true) },
	"mul":           func(x *gotorch.Tensor) *gotorch.Tensor { return x.SetRequiresGrad(true).MulScalar(2) },
	"sum":           func(x *gotorch.Tensor) *gotorch.Tensor { return x.SetRequiresGrad(true).Sum() },
	"select":        func(x *gotorch.Tensor) *gotorch.Tensor { return x.SetRequiresGrad(true).Index(gotorch.At(0)) },
	"set": func(x *gotorch.Tensor) *gotorch.Tensor {
		return x.SetRequiresGrad(true).Clone().SetIndexScalar(1, gotorch.At(0))
	},
	"transpose":     func(x *gotorch.Tensor) *gotorch.Tensor { return x.Transpose(0, 1) },
	"step":          func(x *gotorch.Tensor) *gotorch.Tensor { return x.Index(gotorch.Ellipsis, gotorch.All.Step(2)) },
	"expand":        func(x *gotorch.Tensor) *gotorch.Tensor { return x.Expand(append([]int{3}, x.Shape()...)...) },
	"conj":          func(x *gotorch.Tensor) *gotorch.Tensor { return x.Conj() },
	"negative view": func(x *gotorch.Tensor) *gotorch.Tensor { return gotorch.Imag(x.Conj()) },
	"sparse":        func(x *gotorch.Tensor) *gotorch.Tensor { return x.ToSparse() },
	"sparse rows":   func(x *gotorch.Tensor) *gotorch.Tensor { return x.ToSparseDim(1) },
	"csr":           func(x *gotorch.Tensor) *gotorch.Tensor { return x.ToSparseCSR() },
	"csc":           func(x *gotorch.Tensor) *gotorch.Tensor { return x.ToSparseCSC() },
	"bsr":           func(x *gotorch.Tensor) *gotorch.Tensor { return x.ToSparseBSR([]int{1, 2}) },
	"bsc":           func(x *gotorch.Tensor) *gotorch.Tensor { return x.ToSparseBSC([]int{2, 1}) },
	"sparse mul":    func(x *gotorch.Tensor) *gotorch.Tensor { return x.SetRequiresGrad(true).ToSparse().MulScalar(2) },
	"meta": func(x *gotorch.Tensor) *gotorch.Tensor {
		return x.ToDevice(gotorch.Device{Kind: gotorch.MetaDevice, Index: -1})
	},
}

func TestPrintsAsPythonDoes(t *testing.T) {
	cases := readCases[printCase](t, "printing")
	failed := 0
	for i, one := range cases {
		gotorch.Scope(func() {
			x := hows[one.How](gotorch.FromBytes(one.Data, one.DType, one.Shape...).View(one.Shape...))
			o := one.Options
			restore := gotorch.SetPrintOptions(gotorch.PrintOptions{Profile: optional(o.Profile), Precision: optional(o.Precision),
				Threshold: optional(o.Threshold), EdgeItems: optional(o.EdgeItems), LineWidth: optional(o.LineWidth), SciMode: optional(o.SciMode)})
			defer restore()
			if got := fmt.Sprint(x); got != one.Text && failed < 5 {
				failed++
				t.Errorf("case %d, %s of %v %v:\n%s\nPython prints\n%s", i, one.How, one.DType, one.Shape, got, one.Text)
			}
		})
	}
	t.Logf("%d cases", len(cases))
}

func TestPrintVerbs(t *testing.T) {
	x := gotorch.From([]float64{1.0 / 3, 2000}).SetRequiresGrad(true)
	for format, want := range map[string]string{
		"%v":   "tensor([3.3333e-01, 2.0000e+03], dtype=torch.float64, requires_grad=True)",
		"%s":   "tensor([3.3333e-01, 2.0000e+03], dtype=torch.float64, requires_grad=True)",
		"%.2v": "tensor([3.33e-01, 2.00e+03], dtype=torch.float64, requires_grad=True)",
		"%.1f": "tensor([   0.3, 2000.0], dtype=torch.float64, requires_grad=True)",
		"%.1e": "tensor([3.3e-01, 2.0e+03], dtype=torch.float64, requires_grad=True)",
		"%+v":  "tensor(shape=(2,), dtype=float64, device=cpu, requires_grad=True)",
		"%d":   "%!d(tensor(shape=(2,), dtype=float64, device=cpu, requires_grad=True))",
	} {
		if got := fmt.Sprintf(format, x); got != want {
			t.Errorf("%s: %s, want %s", format, got, want)
		}
	}
	if got := fmt.Sprintf("%+v", x.Mul(x)); !strings.HasSuffix(got, "grad_fn=<MulBackward0>)") {
		t.Error(got)
	}
	x.Close()
	var none *gotorch.Tensor
	if text := fmt.Sprintf("%v %+v %v", x, x, none); strings.Count(text, "closed") != 2 || !strings.Contains(text, "nil") {
		t.Error(text)
	}
}

func TestPrintOptionsAreCheckedAndRestored(t *testing.T) {
	x := gotorch.From([]float32{1.0 / 3})
	wantPanic(t, gotorch.ErrInvalidArgument, func() { gotorch.SetPrintOptions(gotorch.PrintOptions{Precision: gotorch.Some(-1)}) })
	wantPanic(t, gotorch.ErrInvalidArgument, func() {
		gotorch.SetPrintOptions(gotorch.PrintOptions{Profile: gotorch.Some(gotorch.PrintProfile("long"))})
	})
	restore := gotorch.SetPrintOptions(gotorch.PrintOptions{Precision: gotorch.Some(1)})
	// What is not set stays.
	inner := gotorch.SetPrintOptions(gotorch.PrintOptions{SciMode: gotorch.Some(true)})
	if x.String() != "tensor([3.3e-01])" {
		t.Error(x)
	}
	inner()
	if x.String() != "tensor([0.3])" {
		t.Error(x)
	}
	restore()
	if x.String() != "tensor([0.3333])" {
		t.Error(x)
	}
}

func TestPrintingLeavesNothingBehind(t *testing.T) {
	x := gotorch.Arange(2000.0).SetRequiresGrad(true)
	y := x.MulScalar(2)
	before := gotorch.LiveCounts()["tensor"]
	_ = fmt.Sprintf("%v %v", y, x.ToSparse())
	if after := gotorch.LiveCounts()["tensor"]; after > before+1 {
		t.Fatalf("%d tensors before, %d after", before, after)
	}
	if err := y.Sum().Backward(); err != nil {
		t.Fatal(err)
	}
}

func TestNamesPrint(t *testing.T) {
	g := gotorch.NewGenerator(gotorch.CPU).ManualSeed(7)
	got := fmt.Sprintln(gotorch.BFloat16, gotorch.DType(77), gotorch.CUDA(1), gotorch.CPU, gotorch.SparseBSR, gotorch.Layout(9), gotorch.ChannelsLast, g)
	if want := "bfloat16 dtype(77) cuda:1 cpu sparse_bsr layout(9) channels_last generator(device=cpu, seed=7)\n"; got != want {
		t.Error(got)
	}
}
