package nn_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
)

// Classifier is a module of one's own.
type Classifier struct {
	nn.Base
	Hidden *nn.Linear
	Out    *nn.Linear
}

func (c *Classifier) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	return c.Out.Forward(c.Hidden.Forward(x).ReLU())
}

func Example() {
	model := &Classifier{Hidden: nn.NewLinear(4, 8), Out: nn.NewLinear(8, 3)}
	for _, one := range nn.NamedParameters(model) {
		fmt.Println(one.Name, one.Tensor.Shape())
	}
	fmt.Println(model.Forward(gotorch.Zeros([]int{5, 4})).Shape())
	// Output:
	// hidden.weight [8 4]
	// hidden.bias [8]
	// out.weight [3 8]
	// out.bias [3]
	// [5 3]
}

func ExampleSave() {
	folder, err := os.MkdirTemp("", "models")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "model.safetensors")
	model := nn.NewLinear(2, 3)
	if err := nn.Save(path, model); err != nil {
		log.Fatal(err)
	}
	other := nn.NewLinear(2, 3)
	if err := nn.Load(path, other); err != nil {
		log.Fatal(err)
	}
	fmt.Println(other.Weight.Equal(model.Weight))
	// Output: true
}

func ExampleTie() {
	type GPT struct {
		nn.Base
		Embed *nn.Embedding
		Head  *nn.Linear
	}
	g := &GPT{Embed: nn.NewEmbedding(10, 4), Head: nn.NewLinear(4, 10)}
	nn.Tie(g, "head.weight", "embed.weight")
	fmt.Println(len(nn.Parameters(g)), len(nn.State(g)), g.Head.Weight == g.Embed.Weight)
	// Output: 2 3 true
}

func ExampleSummarize() {
	model := &Classifier{Hidden: nn.NewLinear(4, 8), Out: nn.NewLinear(8, 3)}
	fmt.Print(nn.Summarize(model, func() { model.Forward(gotorch.Zeros([]int{5, 4})) }))
	// Output:
	// Module             Output shape  Parameters
	// ===========================================
	// Classifier         --                    --
	//   Linear (hidden)  [5, 8]                40
	//   Linear (out)     [5, 3]                27
	// ===========================================
	// Parameters: 67, of which 67 are trained. Parameters and buffers: 0.00 MB
}

func ExampleRegisterForwardHook() {
	model := nn.NewSequential(nn.NewLinear(4, 8), nn.NewReLU(), nn.NewLinear(8, 3))
	remove := nn.RegisterForwardHook(model.Layer(1), func(_ nn.Module, _ []any, outputs []*gotorch.Tensor) []*gotorch.Tensor {
		fmt.Println("activations", outputs[0].Shape())
		return nil
	})
	defer remove()
	fmt.Println(model.Forward(gotorch.Zeros([]int{5, 4})).Shape())
	// Output:
	// activations [5 8]
	// [5 3]
}
