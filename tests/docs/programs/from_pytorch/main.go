// Docs/from-pytorch.md shows parts of this program, which the test docs.outside builds and runs outside of the checkout.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/nn/utils"
	"tandem.example/gotorch/optim"
)

// GPT has of a GPT what this page is about.
type GPT struct {
	nn.Base
	Embed  *nn.Embedding
	Blocks []*Block
	Head   *nn.Linear
	Mask   *gotorch.Tensor `nn:"buffer"` // register_buffer
	Cache  *gotorch.Tensor `nn:"-"`      // an attribute that is no part of the model
}

// Block is one layer of it.
type Block struct {
	nn.Base
	Norm *nn.LayerNorm
	MLP  *nn.Sequential
}

// NewGPT of so many words.
func NewGPT(words, width int) *GPT {
	g := &GPT{Embed: nn.NewEmbedding(words, width), Head: nn.NewLinear(width, words, nn.LinearOptions{Bias: nn.Some(false)}),
		Mask: gotorch.Ones([]int{width})}
	for range 2 {
		g.Blocks = append(g.Blocks, &Block{Norm: nn.NewLayerNorm([]int{width}),
			MLP: nn.NewSequential(nn.NewLinear(width, 4*width), nn.NewGELU(), nn.NewLinear(4*width, width))})
	}
	nn.Tie(g, "head.weight", "embed.weight")
	return g
}

// Forward gives the logits of the next word.
func (g *GPT) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	x = g.Embed.Forward(x).Mul(g.Mask)
	for _, block := range g.Blocks {
		x = x.Add(block.MLP.Forward(block.Norm.Forward(x)))
	}
	return g.Head.Forward(x)
}

// freeze leaves parameters out of training: requires_grad_(False).
func freeze(m nn.Module) {
	for _, p := range nn.Parameters(m) {
		p.SetRequiresGrad(false)
	}
}

// groups has matrices decay, and biases and norms not: param_groups.
func groups(g *GPT) (*optim.Optimizer, error) {
	var decayed, plain []*gotorch.Tensor
	for _, p := range nn.Parameters(g) {
		if p.Dim() >= 2 {
			decayed = append(decayed, p)
		} else {
			plain = append(plain, p)
		}
	}
	adam := optim.AdamW(decayed, 3e-3, optim.AdamOptions{WeightDecay: optim.Some(0.1)})
	return adam, adam.AddGroup(plain, optim.Settings{"weight_decay": 0.0})
}

// clip is clip_grad_norm_: it scales the gradients down to a norm of `most`, all together, and gives the norm before.
func clip(parameters []*gotorch.Tensor, most float64) (norm float64) {
	return utils.ClipGradNorm(parameters, most).Item() // without Item nothing waits for a GPU
}

// step adds up the gradients of several parts of a batch before it steps.
func step(g *GPT, optimizer *optim.Optimizer, words, next *gotorch.Tensor) (loss float64, err error) {
	const parts = 4
	if err := optimizer.ZeroGrad(); err != nil {
		return 0, err
	}
	inputs, targets := words.Chunk(parts, 0), next.Chunk(parts, 0)
	for i := range inputs {
		err := gotorch.TryScope(func() error {
			part := F.CrossEntropy(g.Forward(inputs[i]).Flatten(0, 1), targets[i].Flatten(0, 1)).DivScalar(parts)
			loss += part.Item()
			return part.Backward()
		})
		if err != nil {
			return 0, err
		}
	}
	clip(nn.Parameters(g), 1)
	return loss, optimizer.Step()
}

func train(path string) error {
	if err := gotorch.ManualSeed(1); err != nil {
		return err
	}
	g := NewGPT(10, 16)
	if err := nn.Load(path, g); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	optimizer, err := groups(g)
	if err != nil {
		return err
	}
	var first, last float64
	for i := range gotorch.Steps(100) {
		words := gotorch.RandInt(10, []int{8, 5})
		next := words.AddScalar(1).RemainderScalar(10)
		loss, err := step(g, optimizer, words, next)
		if err != nil {
			return err
		}
		if last = loss; i == 0 {
			first = loss
		}
	}
	if err := nn.Save(path, g); err != nil {
		return err
	}
	freeze(g.Blocks[0])
	nn.Eval(g)
	next, err := gotorch.Infer(func() ([]int, error) {
		return gotorch.ToSlice[int](g.Forward(gotorch.NewTensor([]int{3, 9})).ArgMax(-1)), nil
	})
	if err != nil {
		return err
	}
	fmt.Println("learned:", last < first/2, next)
	return nil
}

func main() {
	folder, err := os.MkdirTemp("", "gpt")
	if err != nil {
		log.Fatal(err)
	}
	err = train(filepath.Join(folder, "gpt.safetensors"))
	if err := os.RemoveAll(folder); err != nil {
		log.Print(err)
	}
	if err != nil {
		log.Fatal(err)
	}
}
