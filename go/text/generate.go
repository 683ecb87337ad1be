package text

import (
	"runtime"
	"strings"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/names"
	"tandem.example/gotorch/nn"
)

// Inputs are what a forward can be given beside tokens.
type Inputs struct {
	AttentionMask *gotorch.Tensor // [batch, positions], 0 where one is padding; those of the cache included
	PositionIDs   *gotorch.Tensor // [batch, length]; by default those that follow the cache
	// Cache are the keys and values of earlier positions, as a forward gave them; nil at the beginning.
	Cache []*gotorch.Tensor
}

func cached(n *nn.Native, inputIDs *gotorch.Tensor, inputs []Inputs) (logits *gotorch.Tensor, cache []*gotorch.Tensor) {
	i := bridge.First(inputs)
	results := n.ForwardAll(inputIDs, i.AttentionMask, i.PositionIDs, i.Cache, true)
	return results[0], results[1:]
}

// ForwardCached computes logits [batch, length, vocabulary] of tokens that follow those of the cache, and gives the cache
// of all positions: two tensors a layer. Close those of the cache before, or have a gotorch.Scope free them.
func (m *GPT2) ForwardCached(inputIDs *gotorch.Tensor, inputs ...Inputs) (logits *gotorch.Tensor, cache []*gotorch.Tensor) {
	return cached(m.Native, inputIDs, inputs)
}

// ForwardCached computes logits [batch, length, vocabulary] of tokens that follow those of the cache, and gives the cache
// of all positions: two tensors a layer. Close those of the cache before, or have a gotorch.Scope free them.
func (m *Llama) ForwardCached(inputIDs *gotorch.Tensor, inputs ...Inputs) (logits *gotorch.Tensor, cache []*gotorch.Tensor) {
	return cached(m.Native, inputIDs, inputs)
}

// GenerateOptions of [Generate]. Source: generate() of Hugging Face's transformers.
type GenerateOptions struct {
	MaxNewTokens  int                // 20 by default
	DoSample      bool               // tokens are drawn; else the likeliest ones are taken
	Temperature   float64            // 1 by default: scores are divided by it
	TopK          gotorch.Opt[int]   // 50 by default: drawn from those of the k highest scores; 0: from all
	TopP          float64            // 1 by default: and from the likeliest ones whose probabilities sum up to it
	EOSTokenID    []int              // rows end with one of them
	PadTokenID    gotorch.Opt[int]   // follows in rows that have ended; the first of EOSTokenID by default
	AttentionMask *gotorch.Tensor    // [batch, length], 0 where tokens are padding: on the left
	NoCache       bool               // every token computes all positions anew
	Generator     *gotorch.Generator // draws; the device's default one where it is nil
}

// optionNames are those of the C ABI.
var optionNames = []string{"max_new_tokens", "do_sample", "temperature", "top_k", "top_p", "eos_token_id", "pad_token_id",
	"attention_mask", "use_cache", "generator"}

// Generate gives tokens [batch, length], int64, with those that a network adds: as many as the longest row has, at most
// MaxNewTokens. Keys and values of earlier positions are kept, so that a token costs one position. Nothing is recorded for
// autograd; see nn.Eval for dropout. It panics with *gotorch.Error for modules that do not predict tokens, and for more
// positions than a network knows.
func Generate(m nn.Module, inputIDs *gotorch.Tensor, options ...GenerateOptions) *gotorch.Tensor {
	const op = "text.Generate"
	o := bridge.First(options)
	handle, kind := bridge.Module(m)
	if handle == nil {
		panic(&gotorch.Error{Code: gotorch.ErrUnsupported, Op: op,
			Message: "the module is no network of package text, which predicts tokens"})
	}
	ids := bridge.Handle(inputIDs, op) // before the frame, which a panic would leave
	var mask c.Tensor
	if o.AttentionMask != nil {
		mask = bridge.Handle(o.AttentionMask, op)
	}
	f := c.NewFrame()
	option := func(name string, given bool, value func()) {
		if given {
			f.Name(name)
			value()
		}
	}
	topK, hasTopK := o.TopK.Get()
	pad, hasPad := o.PadTokenID.Get()
	option("max_new_tokens", o.MaxNewTokens != 0, func() { f.Int(int64(o.MaxNewTokens)) })
	option("do_sample", o.DoSample, func() { f.Bool(true) })
	option("temperature", o.Temperature != 0, func() { f.Double(o.Temperature) })
	option("top_k", hasTopK, func() { f.Int(int64(topK)) })
	option("top_p", o.TopP != 0, func() { f.Double(o.TopP) })
	option("eos_token_id", o.EOSTokenID != nil, func() { f.Ints(o.EOSTokenID) })
	option("pad_token_id", hasPad, func() { f.Int(int64(pad)) })
	option("attention_mask", mask != nil, func() { f.Tensor(mask) })
	option("use_cache", o.NoCache, func() { f.Bool(false) })
	option("generator", o.Generator != nil, func() { f.Generator(bridge.Generator(o.Generator)) })
	made, err := c.GenerateTokens(handle, ids, f)
	runtime.KeepAlive(m)
	runtime.KeepAlive(inputIDs)
	runtime.KeepAlive(o)
	if err != nil {
		err.Op, err.Message = op, names.Options(strings.TrimPrefix(err.Message, kind+": generate: "), optionNames, nil)
		bridge.Must(err)
	}
	return bridge.Wrap(made).(*gotorch.Tensor)
}
