package jit_test

import (
	"fmt"
	"log"

	"tandem.example/gotorch"
	"tandem.example/gotorch/jit"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

func Example() {
	model, err := jit.Load(files + "mlp.pt")
	if err != nil {
		log.Fatal(err)
	}
	nn.ToDType(model, gotorch.Float32)
	images, targets := gotorch.Ones([]int{8, 4}), gotorch.Zeros([]int{8, 3})
	sgd := optim.SGD(nn.Parameters(model), 0.1)
	for range 3 {
		if err := sgd.Minimize(F.MSELoss(model.Forward(images), targets)); err != nil {
			log.Fatal(err)
		}
	}
	data, err := model.Bytes() // or model.Save(path), for torch.jit.load in Python
	fmt.Println(len(nn.State(model)), "tensors;", len(data) > 0, err)
	// Output: 4 tensors; true <nil>
}

func ExampleModule_Call() {
	module, err := jit.Load(files + "nested.pt")
	if err != nil {
		log.Fatal(err)
	}
	schema, _ := module.Schema("numbers")
	fmt.Println(schema)
	result := module.Call("numbers", []int{1, 2}, map[int]float64{7: 0.5}, []string{"x"}, [][]int{{1, 2, 3}}).(gotorch.Tuple)
	fmt.Println(result[0], result[1], result[2])
	// Output:
	// numbers(counts: List[int], table: Dict[int, float], names: List[str], rows: List[List[int]]) -> Tuple[int, Dict[str, List[float]], List[List[int]], bool]
	// 3 map[x:[0.5]] [[3 2 1]]
}

func ExampleCompile() {
	module, err := jit.Compile(`
def scaled(x, by: float = 2.0):
    return torch.relu(x) * by
`)
	if err != nil {
		log.Fatal(err)
	}
	y := module.Call("scaled", gotorch.NewTensor([]float32{-1, 3})).(*gotorch.Tensor)
	fmt.Println(gotorch.ToSlice[float32](y))
	// Output: [0 6]
}

func ExampleTrace() {
	model := nn.NewSequential(nn.NewLinear(4, 8), nn.NewReLU(), nn.NewLinear(8, 2))
	traced, err := jit.Trace(model.Forward, gotorch.Ones([]int{1, 4}), model)
	if err != nil {
		log.Fatal(err)
	}
	x := gotorch.RandN([]int{5, 4})
	fmt.Println(traced.Forward(x).AllClose(model.Forward(x)), len(nn.Parameters(traced)))
	// Output: true 4
}
