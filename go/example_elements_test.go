package gotorch_test

import (
	"encoding/json"
	"fmt"

	"tandem.example/gotorch"
)

func ExampleNewTensor() {
	x := gotorch.NewTensor([][]float32{{1, 2}, {3, 4}})
	fmt.Println(x)
	fmt.Println(gotorch.NewTensor([]int{1, 2}, gotorch.TensorOptions{DType: gotorch.Some(gotorch.BFloat16)}))
	// Output:
	// tensor([[1., 2.],
	//         [3., 4.]])
	// tensor([1., 2.], dtype=torch.bfloat16)
}

func ExampleData() {
	gotorch.Scope(func() {
		x := gotorch.Zeros([]int{2, 2})
		view := gotorch.Data[float32](x) // valid while x is
		view[3] = 7
		fmt.Println(x.Sum().Item(), gotorch.ToSlice[float32](x.T()))
	})
	// Output: 7 [0 0 0 7]
}

func ExampleWithData() {
	sum := 0.0
	gotorch.WithData(gotorch.NewTensor([]float64{1, 2, 3}), func(elements []float64) {
		for _, x := range elements {
			sum += x
		}
	})
	fmt.Println(sum)
	// Output: 6
}

func ExampleTensor_Index() {
	x := gotorch.ArangeStart(0, 12).View(3, 4)
	fmt.Println(x.Index(gotorch.At(0), gotorch.Slice(1, 3)))
	fmt.Println(x.Index(gotorch.Ellipsis, gotorch.At(-1)))
	fmt.Println(x.Index(gotorch.AtEach(2, 0), gotorch.All.Step(2)))
	fmt.Println(x.Index(x.GtScalar(8)))
	// Output:
	// tensor([1, 2])
	// tensor([ 3,  7, 11])
	// tensor([[ 8, 10],
	//         [ 0,  2]])
	// tensor([ 9, 10, 11])
}

func ExampleTensor_SetIndex() {
	x := gotorch.Zeros([]int{2, 3})
	x.SetIndex(gotorch.NewTensor([]float32{1, 2, 3}), gotorch.At(1))
	x.SetIndexScalar(-1, x.EqScalar(0))
	fmt.Println(x)
	// Output:
	// tensor([[-1., -1., -1.],
	//         [ 1.,  2.,  3.]])
}

func ExampleSetPrintOptions() {
	x := gotorch.NewTensor([]float64{1.0 / 3, 1e-9})
	fmt.Println(x)
	restore := gotorch.SetPrintOptions(gotorch.PrintOptions{Precision: gotorch.Some(2), SciMode: gotorch.Some(false)})
	fmt.Println(x)
	restore()
	fmt.Printf("%+v\n", x)
	// Output:
	// tensor([3.3333e-01, 1.0000e-09], dtype=torch.float64)
	// tensor([0.33, 0.00], dtype=torch.float64)
	// tensor(shape=(2,), dtype=float64, device=cpu)
}

func ExampleTensor_MarshalJSON() {
	text, err := json.Marshal(gotorch.NewTensor([][]float32{{1, 0.1}}))
	fmt.Println(string(text), err)
	var x gotorch.Tensor
	fmt.Println(json.Unmarshal([]byte(`[[1, 2], [3, 4]]`), &x), &x)
	x.Close()
	// Output:
	// {"dtype":"float32","shape":[1,2],"data":[[1,0.1]]} <nil>
	// <nil> tensor([[1, 2],
	//         [3, 4]])
}
