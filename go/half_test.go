package gotorch_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tandem.example/gotorch"
)

// LibTorch's conversions are the reference: of every number of 16 bits, and of float32s of all sizes.
func TestHalfTypesConvertAsLibTorch(t *testing.T) {
	gotorch.Scope(func() {
		f16, bf16 := make([]gotorch.F16, 1<<16), make([]gotorch.BF16, 1<<16)
		for i := range f16 {
			f16[i], bf16[i] = gotorch.F16(i), gotorch.BF16(i)
		}
		wide := gotorch.ToSlice[float32](gotorch.From(f16).To(gotorch.Float32))
		wideB := gotorch.ToSlice[float32](gotorch.From(bf16).To(gotorch.Float32))
		for i := range f16 {
			sameFloat(t, f16[i].Float32(), wide[i])
			sameFloat(t, bf16[i].Float32(), wideB[i])
		}

		random := rand.New(rand.NewPCG(1, 2))
		floats := []float32{0, float32(math.Copysign(0, -1)), 65504, 65519.99, 65520, -65520, 1e30, math.MaxFloat32,
			6.1e-5, 5.97e-8, 2.98e-8, 2.9802322e-8, 1e-40, float32(math.Inf(-1)), 2049, 2051, 1.0009765}
		for range 200000 {
			floats = append(floats, math.Float32frombits(random.Uint32()), float32(random.NormFloat64()*math.Exp2(random.Float64()*60-40)))
		}
		x := gotorch.From(floats)
		narrow := gotorch.ToSlice[gotorch.F16](x.To(gotorch.Float16))
		narrowB := gotorch.ToSlice[gotorch.BF16](x.To(gotorch.BFloat16))
		for i, f := range floats {
			if f == f && (gotorch.ToF16(f) != narrow[i] || gotorch.ToBF16(f) != narrowB[i]) {
				t.Fatalf("%g became %v and %v, LibTorch has %v and %v", f, gotorch.ToF16(f), gotorch.ToBF16(f), narrow[i], narrowB[i])
			}
		}
	})
	nan := float32(math.NaN())
	if x := gotorch.ToF16(nan).Float32(); x == x {
		t.Fatal(x)
	}
	if x := gotorch.ToBF16(nan).Float32(); x == x {
		t.Fatal(x)
	}
}

func sameFloat(t *testing.T, got, want float32) {
	t.Helper()
	if got != want && (got == got || want == want) || math.Signbit(float64(got)) != math.Signbit(float64(want)) {
		t.Fatalf("%g, LibTorch has %g", got, want)
	}
}

func TestHalfTypesPrintAsNumbers(t *testing.T) {
	for text, number := range map[string]interface{ String() string }{"0.33325195": gotorch.ToF16(1. / 3), "0.33398438": gotorch.ToBF16(1. / 3),
		"1.5": gotorch.ToF16(1.5), "-0": gotorch.ToF16(float32(math.Copysign(0, -1))), "65504": gotorch.ToF16(65504), "+Inf": gotorch.ToF16(1e6), "NaN": gotorch.ToBF16(float32(math.NaN()))} {
		if number.String() != text {
			t.Errorf("%v, want %s", number, text)
		}
	}
}
