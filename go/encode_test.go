package gotorch_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"tandem.example/gotorch"
)

// everyType has a tensor of each element type, with what is hard to write: NaN, infinities, the largest numbers.
func everyType() map[string]*gotorch.Tensor {
	odd := gotorch.From([]float32{0, float32(math.Copysign(0, -1)), 1.0 / 3, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}, 3, 2)
	z := complex(math.NaN(), 0.1)
	tensors := map[string]*gotorch.Tensor{
		"bool": gotorch.From([]bool{true, false}), "uint8": gotorch.From([]uint8{0, 255}), "int8": gotorch.From([]int8{-128, 127}),
		"int16": gotorch.From([]int16{-1 << 15, 1<<15 - 1}), "int32": gotorch.From([]int32{-1 << 31, 1<<31 - 1}),
		"int64": gotorch.From([]int64{-1 << 63, 1<<63 - 1}), "uint16": gotorch.From([]uint16{0, 1<<16 - 1}),
		"uint32": gotorch.From([]uint32{0, 1<<32 - 1}), "uint64": gotorch.From([]uint64{0, 1<<64 - 1}),
		"float64":    gotorch.From([]float64{math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1, math.Inf(-1)}),
		"complex64":  gotorch.From([]complex64{1 - 2i, complex64(z)}),
		"complex128": gotorch.From([]complex128{1e300 - 2i, z}, 1, 2), "complex32": gotorch.From([]complex64{1 - 2i}).To(gotorch.Complex32),
		"scalar": gotorch.NewTensor(1.5), "complex scalar": gotorch.NewTensor(1i), "empty": gotorch.Zeros([]int{0}),
		"empty 3d": gotorch.Zeros([]int{2, 0, 3}), "empty complex": gotorch.From([]complex64{}, 2, 0), "transposed": gotorch.From([]int{1, 2, 3, 4}, 2, 2).Transpose(0, 1),
		"parameter": gotorch.Ones([]int{2}).SetRequiresGrad(true), "conjugated": gotorch.From([]complex64{1i}).Conj(),
	}
	for _, dtype := range []gotorch.DType{gotorch.Float32, gotorch.Float16, gotorch.BFloat16, gotorch.Float8E5M2} {
		tensors[dtype.String()] = odd.To(dtype)
	}
	tensors["float8_e4m3fn"] = gotorch.From([]float32{448, -0.5, 0.015625}).To(gotorch.Float8E4M3FN)
	return tensors
}

// same in every respect but NaN's bits.
func same(t *testing.T, name string, got, want *gotorch.Tensor) {
	t.Helper()
	if got.DType() != want.DType() || got.RequiresGrad() != want.RequiresGrad() || got.String() != want.String() {
		t.Errorf("%s became %v, was %v", name, got, want)
	}
	equal(t, got.Shape(), want.Shape())
	if name != "complex64" && name != "complex128" && want.DType().Size() > 1 && !strings.Contains(want.String(), "nan") {
		equal(t, got.Bytes(), want.Bytes())
	}
}

func TestTensorsInGobAndJSON(t *testing.T) {
	gotorch.Scope(func() {
		all := everyType()
		for name, write := range map[string]func(from, to any) error{
			"gob": func(from, to any) error {
				var file bytes.Buffer
				if err := gob.NewEncoder(&file).Encode(from); err != nil {
					return err
				}
				return gob.NewDecoder(&file).Decode(to)
			},
			"json": func(from, to any) error {
				text, err := json.Marshal(from)
				if err != nil {
					return err
				}
				return json.Unmarshal(text, to)
			},
		} {
			var back map[string]*gotorch.Tensor
			if err := write(all, &back); err != nil || len(back) != len(all) {
				t.Fatal(name, err)
			}
			for key, x := range all {
				same(t, key, back[key], x)
			}
			type checkpoint struct {
				Step    int
				Weights *gotorch.Tensor
				None    *gotorch.Tensor
				DType   gotorch.DType
				Device  gotorch.Device
				Layout  gotorch.Layout
				Format  gotorch.MemoryFormat
				Options gotorch.ArgMaxOptions
				Alpha   gotorch.AddOptions
				Whole   gotorch.AddOptions
				Unset   gotorch.AddOptions
			}
			a := checkpoint{Step: 3, Weights: all["float32"], DType: gotorch.BFloat16, Device: gotorch.CUDA(1), Layout: gotorch.SparseBSC,
				Format: gotorch.ChannelsLast3d, Options: gotorch.ArgMaxOptions{KeepDim: false},
				Alpha: gotorch.AddOptions{Alpha: 0.5}, Whole: gotorch.AddOptions{Alpha: 2}}
			var b checkpoint
			if err := write(a, &b); err != nil {
				t.Fatal(name, err)
			}
			same(t, name, b.Weights, a.Weights)
			if b.Weights = a.Weights; a != b {
				t.Errorf("%s: %+v became %+v", name, a, b)
			}
		}
	})
}

func TestJSONOfTensors(t *testing.T) {
	gotorch.Scope(func() {
		x := gotorch.From([]float32{1, 0.1, float32(math.NaN()), 1e20}, 2, 2).SetRequiresGrad(true)
		text, err := json.Marshal(x)
		want := `{"dtype":"float32","shape":[2,2],"data":[[1,0.1],["NaN",1e+20]],"requires_grad":true}`
		if string(text) != want || err != nil {
			t.Fatal(string(text), err)
		}
		for text, want := range map[string]string{
			`[[1,2],[3,4]]`:                     "tensor([[1, 2],\n        [3, 4]])",
			`[1, 2.5]`:                          "tensor([1.0000, 2.5000])",
			`["-Infinity", 1]`:                  "tensor([-inf, 1.])",
			`[true, false]`:                     "tensor([ True, False])",
			` 3 `:                               "tensor(3)",
			`[]`:                                "tensor([])",
			`[[],[]]`:                           "tensor([], size=(2, 0))",
			`{"data":[[1],[2]],"dtype":"int8"}`: "tensor([[1],\n        [2]], dtype=torch.int8)",
			`{"data":[],"shape":[0,7],"dtype":"int64"}`:                    "tensor([], size=(0, 7), dtype=torch.int64)",
			`{"data":[[1,2]],"dtype":"complex64"}`:                         "tensor([1.+2.j])",
			`{"data":[0.333],"dtype":"float16"}`:                           "tensor([0.3330], dtype=torch.float16)",
			`{"data":[18446744073709551615],"dtype":"uint64"}`:             "tensor([18446744073709551615], dtype=torch.uint64)",
			`{"data":[1],"dtype":"float64","requires_grad":true,"more":1}`: "tensor([1.], dtype=torch.float64, requires_grad=True)",
		} {
			var x gotorch.Tensor
			if err := json.Unmarshal([]byte(text), &x); err != nil || x.String() != want {
				t.Errorf("%s gave %v, %v", text, &x, err)
			}
		}
		for text, cause := range map[string]string{
			`[[1,2],[3]]`:                          "an array has 1 elements, but the first of its depth has 2",
			`[1,[2]]`:                              "an array stands where there are numbers",
			`[[1],2]`:                              "2 stands where there are arrays",
			`[[],1]`:                               "1 stands where there are arrays",
			`[true, 1]`:                            "bools stand beside numbers",
			`["1"]`:                                `the text "1" is no number`,
			`[null]`:                               "is no number",
			`[{}]`:                                 "is no number",
			`{"dtype":"int8"}`:                     `has no "data"`,
			`{"data":[1],"dtype":"int7"}`:          `"int7" is no dtype`,
			`{"data":[300],"dtype":"uint8"}`:       "300 is no uint8",
			`{"data":[-1],"dtype":"uint8"}`:        "-1 is no uint8",
			`{"data":[1.5],"dtype":"int64"}`:       "1.5 is no int64",
			`{"data":["NaN"],"dtype":"int64"}`:     "NaN is no int64",
			`{"data":[1e39],"dtype":"float32"}`:    "1e39 is no float32",
			`{"data":[65505],"dtype":"float16"}`:   "65505 is no float16",
			`{"data":[1],"dtype":"bool"}`:          "1 is no bool",
			`{"data":[true],"dtype":"int8"}`:       "true is no int8",
			`{"data":[1,2,3],"dtype":"complex64"}`: "[re, im]",
			`{"data":[1,2],"shape":[3]}`:           "shape [2], not [3]",
			`{"data":[],"shape":[1099511627776,1099511627776]}`: "more elements than memory",
			`{"data":[],"shape":[-1]}`:                          "negative",
			`{"data":[1],"dtype":"int8","requires_grad":true}`:  "cannot require a gradient",
			`{"data":[1],"shape":"x"}`:                          "shape",
			strings.Repeat("[", 70) + strings.Repeat("]", 70):   "nested more than 64",
		} {
			x := gotorch.Ones([]int{1})
			err := json.Unmarshal([]byte(text), x)
			if !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), cause) {
				t.Errorf("%s: %v", text, err)
			}
			if x.Item() != 1 {
				t.Errorf("%s changed the tensor", text)
			}
		}
		x = gotorch.Ones([]int{1})
		if err := json.Unmarshal([]byte("null"), x); err != nil || x.Item() != 1 {
			t.Error(x, err)
		}
	})
}

func TestWhatIsNotEncoded(t *testing.T) {
	closed := gotorch.Ones([]int{1})
	closed.Close()
	for _, one := range []struct {
		x    *gotorch.Tensor
		code gotorch.Code
	}{{closed, gotorch.ErrClosed}, {gotorch.Ones([]int{2, 2}).ToSparse(), gotorch.ErrInvalidArgument},
		{gotorch.Ones([]int{1}).ToDevice(gotorch.Device{Kind: gotorch.MetaDevice, Index: -1}), gotorch.ErrInvalidArgument}} {
		if _, err := one.x.GobEncode(); !errors.Is(err, one.code) {
			t.Error(err)
		}
		if _, err := json.Marshal(one.x); !errors.Is(err, one.code) {
			t.Error(err)
		}
	}
	for name, value := range map[string]any{"dtype": gotorch.DType(99), "device": gotorch.Device{Kind: 77}, "layout": gotorch.Layout(3), "memory format": gotorch.MemoryFormat(9)} {
		if text, err := json.Marshal(value); err == nil {
			t.Errorf("%s became %s", name, text)
		}
	}
	var d gotorch.DType
	if err := d.UnmarshalText([]byte("float33")); !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), "bfloat16") {
		t.Error(err)
	}
}

// A tensor that is decoded into gives up what it was, and belongs to the scope that is open.
func TestDecodeReplaces(t *testing.T) {
	text := []byte(`[1, 2]`)
	before := gotorch.LiveCounts()["tensor"]
	x := gotorch.Ones([]int{5})
	if err := json.Unmarshal(text, x); err != nil {
		t.Fatal(err)
	}
	if n := gotorch.LiveCounts()["tensor"]; n > before+1 {
		t.Fatalf("%d tensors before, %d after", before, n)
	}
	equal(t, gotorch.ToSlice[int](x), []int{1, 2})
	gotorch.Scope(func() {
		if err := json.Unmarshal(text, x); err != nil {
			t.Fatal(err)
		}
	})
	wantPanic(t, gotorch.ErrClosed, func() { x.Shape() })
	if err := json.Unmarshal(text, x); err != nil || x.Numel() != 2 {
		t.Fatal(x, err)
	}
	x.Close()
}

func FuzzTensorGobDecode(f *testing.F) {
	for _, x := range everyType() {
		data, err := x.GobEncode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
		if len(data) > 3 {
			data[3] ^= 0x55
			f.Add(data)
		}
	}
	f.Add([]byte{})
	f.Add([]byte{1, 12, 0, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		var x gotorch.Tensor
		if err := x.GobDecode(data); err != nil {
			if !errors.Is(err, gotorch.ErrDataLoss) {
				t.Fatal(err)
			}
			return
		}
		defer x.Close()
		again, err := x.GobEncode()
		if err != nil {
			t.Fatal(err)
		}
		var y gotorch.Tensor
		if err := y.GobDecode(again); err != nil {
			t.Fatal(err)
		}
		defer y.Close()
		equal(t, y.Bytes(), x.Bytes())
		equal(t, y.Shape(), x.Shape())
	})
}

func FuzzTensorUnmarshalJSON(f *testing.F) {
	for _, x := range everyType() {
		text, err := x.MarshalJSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add(text[:len(text)/2])
	}
	for _, text := range []string{"[[1,2],[3]]", `{"data":[[[]]],"shape":[1,1,0]}`, `{"data":1e999}`, "null", "[[[[", `{"dtype":"bool","data":[1]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var x gotorch.Tensor
		if err := x.UnmarshalJSON(text); err != nil || string(bytes.TrimSpace(text)) == "null" {
			return
		}
		defer x.Close()
		again, err := x.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var y gotorch.Tensor
		if err := y.UnmarshalJSON(again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		defer y.Close()
		equal(t, y.Shape(), x.Shape())
		third, err := y.MarshalJSON()
		if string(third) != string(again) || err != nil {
			t.Fatalf("%s became %s, %v", again, third, err)
		}
	})
}

// A slice without elements is set, to no dimensions; nil is not.
func TestOptionsInGobKeepEmptySlices(t *testing.T) {
	type all struct {
		None, Unset gotorch.AllDimsOptions
		Some        gotorch.AMaxOptions
	}
	var file bytes.Buffer
	written := all{None: gotorch.AllDimsOptions{Dim: []int{}}, Some: gotorch.AMaxOptions{Dim: []int{1, -1}, KeepDim: true}}
	if err := gob.NewEncoder(&file).Encode(written); err != nil {
		t.Fatal(err)
	}
	var read all
	if err := gob.NewDecoder(&file).Decode(&read); err != nil {
		t.Fatal(err)
	}
	if read.None.Dim == nil || len(read.None.Dim) != 0 || read.Unset.Dim != nil {
		t.Errorf("got %#v, want %#v", read, written)
	}
	equal(t, read.Some.Dim, written.Some.Dim)
	if !read.Some.KeepDim {
		t.Error("KeepDim was lost")
	}
}
