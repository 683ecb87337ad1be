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
