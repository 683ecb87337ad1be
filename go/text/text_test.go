package text_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
	"tandem.example/gotorch/text"
)

func newGPT2() *text.GPT2 {
	return text.NewGPT2(text.GPT2Options{VocabSize: 11, NPositions: 16, NEmbd: 8, NLayer: 2, NHead: 2})
}

func newLlama() *text.Llama {
	return text.NewLlama(11, 8, 12, 2, 4, text.LlamaOptions{NumKeyValueHeads: 2, MaxPositionEmbeddings: 16})
}

func TestATextIsLearnt(t *testing.T) {
	gotorch.ManualSeed(1)
	tokens := gotorch.From([]int{1, 5, 2, 7, 3, 9, 4}).View(1, 7)
	for _, net := range []nn.Layer{newGPT2(), newLlama()} {
		adam := optim.AdamW(nn.Parameters(net), 0.02)
		for range 60 {
			logits := net.Forward(tokens.Narrow(1, 0, 6))
			if err := adam.Minimize(F.CrossEntropy(logits.View(6, 11), tokens.Narrow(1, 1, 6).Reshape(6))); err != nil {
				t.Fatal(err)
			}
		}
		nn.Eval(net)
		for _, options := range []text.GenerateOptions{{MaxNewTokens: 6}, {MaxNewTokens: 6, NoCache: true},
			{MaxNewTokens: 6, DoSample: true, TopK: gotorch.Some(1)}} {
			if got := text.Generate(net, tokens.Narrow(1, 0, 1), options); !got.Equal(tokens) {
				t.Fatalf("%T: %v", net, got)
			}
		}
		ended := text.Generate(net, tokens.Narrow(1, 0, 1), text.GenerateOptions{MaxNewTokens: 6, EOSTokenID: []int{7}})
		if !ended.Equal(tokens.Narrow(1, 0, 4)) {
			t.Fatal(ended)
		}
	}
}

func TestACacheGivesWhatTheWholeTextGives(t *testing.T) {
	gotorch.NoGrad(func() {
		net := newLlama()
		tokens := gotorch.From([]int{1, 5, 2, 7, 3}).View(1, 5)
		whole := net.Forward(tokens)
		_, cache := net.ForwardCached(tokens.Narrow(1, 0, 3))
		last, cache := net.ForwardCached(tokens.Narrow(1, 3, 2), text.Inputs{Cache: cache})
		if len(cache) != 4 || cache[0].Size(2) != 5 || !last.AllClose(whole.Narrow(1, 3, 2)) {
			t.Fatal(len(cache), last)
		}
		mask := gotorch.From([]int{0, 0, 1, 1, 1}).View(1, 5)
		padded, _ := net.ForwardCached(tokens, text.Inputs{AttentionMask: mask})
		alone := net.Forward(tokens.Narrow(1, 2, 3)) // positions are relative to each other alone
		if !padded.Narrow(1, 2, 3).AllClose(alone, gotorch.AllCloseOptions{ATol: gotorch.Some(1e-5)}) {
			t.Fatal(padded, alone)
		}
	})
}

func TestAGeneratorDecides(t *testing.T) {
	net := newGPT2()
	nn.Eval(net)
	draw := func(seed uint64) *gotorch.Tensor {
		generator := gotorch.NewGenerator(gotorch.CPU)
		generator.ManualSeed(seed)
		return text.Generate(net, gotorch.From([]int{1}).View(1, 1), text.GenerateOptions{MaxNewTokens: 15, DoSample: true,
			Temperature: 2, TopP: 0.99, Generator: generator})
	}
	if first := draw(3); !first.Equal(draw(3)) || first.Equal(draw(4)) || !slices.Equal(first.Shape(), []int{1, 16}) {
		t.Fatal(first)
	}
}

// Files of Hugging Face have the names of one of two tied tensors, and those of GPT-2 no prefix and masks beside.
func TestFilesOfHuggingFace(t *testing.T) {
	folder := t.TempDir()
	net, other := newGPT2(), newGPT2()
	state := nn.State(net)
	if state["lm_head.weight"] != nil || state["transformer.h.1.attn.c_attn.weight"].Size(1) != 24 {
		t.Fatal("names are not Hugging Face's")
	}
	old := map[string]*gotorch.Tensor{}
	for name, one := range state {
		old[strings.TrimPrefix(name, "transformer.")] = one
	}
	old["h.0.attn.bias"] = gotorch.Ones([]int{1, 1, 16, 16})
	path := filepath.Join(folder, "model.safetensors")
	if err := gotorch.Save(path, old); err != nil {
		t.Fatal(err)
	}
	read, _, err := gotorch.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	renamed, err := gotorch.Rename(read, gotorch.RenameRule{Pattern: `^(wte|wpe|h|ln_f)\.`, Replacement: "transformer.$1."})
	if err != nil {
		t.Fatal(err)
	}
	missing, unexpected, err := nn.LoadPartial(other, renamed)
	if err != nil || len(missing) != 0 || !slices.Equal(unexpected, []string{"transformer.h.0.attn.bias"}) {
		t.Fatal(missing, unexpected, err)
	}
	if nn.Fingerprint(net) != nn.Fingerprint(other) {
		t.Fatal("the file has another network")
	}
	llama, again := newLlama(), newLlama()
	if err := nn.Save(filepath.Join(folder, "llama.safetensors"), llama); err != nil {
		t.Fatal(err)
	}
	if err := nn.Load(filepath.Join(folder, "llama.safetensors"), again); err != nil {
		t.Fatal(err)
	}
	if nn.State(again)["lm_head.weight"] == nil || nn.Fingerprint(llama) != nn.Fingerprint(again) {
		t.Fatal("the file has another network")
	}
}

func TestErrorsNameFieldsAndParameters(t *testing.T) {
	prompt := gotorch.From([]int{1}).View(1, 1)
	for want, body := range map[string]func(){
		"text.NewLlama: numHiddenLayers must be": func() { text.NewLlama(7, 8, 8, 0, 2) },
		"text.NewGPT2: NEmbd must be a multiple": func() { text.NewGPT2(text.GPT2Options{NHead: 7}) },
		"text.Generate: Temperature must be":     func() { text.Generate(newGPT2(), prompt, text.GenerateOptions{Temperature: -1, MaxNewTokens: 2}) },
		"text.Generate: 1 tokens and 20 new":     func() { text.Generate(newGPT2(), prompt) },
	} {
		err := gotorch.Try(body)
		if !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
	for _, other := range []nn.Module{nn.NewLinear(1, 1), nn.NewSequential(newGPT2())} {
		if err := gotorch.Try(func() { text.Generate(other, prompt) }); !errors.Is(err, gotorch.ErrUnsupported) {
			t.Error(err)
		}
	}
}
