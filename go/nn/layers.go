package nn

import (
	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
)

// Opt is an optional option; see gotorch.Opt.
type Opt[T any] = gotorch.Opt[T]

// Some is an option that is set.
func Some[T any](value T) Opt[T] { return gotorch.Some(value) }

// Size of a window: one number for all dimensions, or one each.
type Size interface{ ~int | ~[]int | ~[2]int }

func sizeOf[S Size](size S) []int {
	switch v := any(size).(type) {
	case int:
		return []int{v}
	case []int:
		return v
	case [2]int:
		return v[:]
	}
	panic(misuse("%v, a %T, is no size; use int, []int or [2]int", size, size))
}

func first[T any](options []T) T { return bridge.First(options) }

// Linear is y = x Wᵀ + b. Source: torch.nn.Linear.
type Linear struct {
	*Native
	Weight *gotorch.Tensor // [out, in]
	Bias   *gotorch.Tensor // [out], or nil
}

// LinearOptions of [NewLinear].
type LinearOptions struct{ Bias Opt[bool] }

// NewLinear maps [*, in] to [*, out].
func NewLinear(in, out int, options ...LinearOptions) *Linear {
	n := newOptions().int("in_features", in).int("out_features", out).optBool("bias", first(options).Bias).
		create("Linear")
	return &Linear{n, n.tensor("weight"), n.tensor("bias")}
}

// ConvOptions of convolutions. Sizes of one number hold for all dimensions.
type ConvOptions struct {
	Stride, Padding, Dilation []int
	Groups                    int
	Bias                      Opt[bool]
	PaddingMode               string // "zeros", "reflect", "replicate" or "circular"
}

func newConv(kind string, in, out int, kernel []int, o ConvOptions) *Native {
	return newOptions().int("in_channels", in).int("out_channels", out).ints("kernel_size", kernel).
		setInts("stride", o.Stride).setInts("padding", o.Padding).setInts("dilation", o.Dilation).
		setInt("groups", o.Groups).optBool("bias", o.Bias).setString("padding_mode", o.PaddingMode).create(kind)
}

// Conv1d is a convolution over [batch, channels, length]. Source: torch.nn.Conv1d.
type Conv1d struct {
	*Native
	Weight, Bias *gotorch.Tensor
}

// NewConv1d with a window of that length.
func NewConv1d(in, out, kernel int, options ...ConvOptions) *Conv1d {
	n := newConv("Conv1d", in, out, []int{kernel}, first(options))
	return &Conv1d{n, n.tensor("weight"), n.tensor("bias")}
}

// Conv2d is a convolution over [batch, channels, height, width]. Source: torch.nn.Conv2d.
type Conv2d struct {
	*Native
	Weight, Bias *gotorch.Tensor
}

// NewConv2d with a window of that size, such as 3 or [2]int{3, 5}.
func NewConv2d[S Size](in, out int, kernel S, options ...ConvOptions) *Conv2d {
	n := newConv("Conv2d", in, out, sizeOf(kernel), first(options))
	return &Conv2d{n, n.tensor("weight"), n.tensor("bias")}
}

// BatchNormOptions of [NewBatchNorm1d] and [NewBatchNorm2d].
type BatchNormOptions struct {
	Eps, Momentum             Opt[float64]
	Affine, TrackRunningStats Opt[bool]
}

func newBatchNorm(kind string, features int, o BatchNormOptions) BatchNorm {
	n := newOptions().int("num_features", features).optDouble("eps", o.Eps).optDouble("momentum", o.Momentum).
		optBool("affine", o.Affine).optBool("track_running_stats", o.TrackRunningStats).create(kind)
	return BatchNorm{n, n.tensor("weight"), n.tensor("bias"), n.tensor("running_mean"), n.tensor("running_var")}
}

// BatchNorm is what batch normalizations have; those that are switched off are nil.
type BatchNorm struct {
	*Native
	Weight, Bias, RunningMean, RunningVar *gotorch.Tensor
}

// BatchNorm1d normalizes each feature over the batch. Source: torch.nn.BatchNorm1d.
type BatchNorm1d struct{ BatchNorm }

// NewBatchNorm1d for [batch, features] or [batch, features, length].
func NewBatchNorm1d(features int, options ...BatchNormOptions) *BatchNorm1d {
	return &BatchNorm1d{newBatchNorm("BatchNorm1d", features, first(options))}
}

// BatchNorm2d normalizes each channel over the batch. Source: torch.nn.BatchNorm2d.
type BatchNorm2d struct{ BatchNorm }

// NewBatchNorm2d for [batch, features, height, width].
func NewBatchNorm2d(features int, options ...BatchNormOptions) *BatchNorm2d {
	return &BatchNorm2d{newBatchNorm("BatchNorm2d", features, first(options))}
}

// LayerNorm normalizes the last dimensions. Source: torch.nn.LayerNorm.
type LayerNorm struct {
	*Native
	Weight, Bias *gotorch.Tensor
}

// LayerNormOptions of [NewLayerNorm].
type LayerNormOptions struct {
	Eps               Opt[float64]
	ElementwiseAffine Opt[bool]
}

// NewLayerNorm over dimensions of that shape.
func NewLayerNorm(shape []int, options ...LayerNormOptions) *LayerNorm {
	o := first(options)
	n := newOptions().ints("normalized_shape", shape).optDouble("eps", o.Eps).
		optBool("elementwise_affine", o.ElementwiseAffine).create("LayerNorm")
	return &LayerNorm{n, n.tensor("weight"), n.tensor("bias")}
}

// Embedding looks rows up: [*] of integers to [*, dim]. Source: torch.nn.Embedding.
type Embedding struct {
	*Native
	Weight *gotorch.Tensor // [count, dim]
}

// EmbeddingOptions of [NewEmbedding].
type EmbeddingOptions struct {
	PaddingIdx Opt[int]
	Sparse     bool
}

// NewEmbedding of count rows.
func NewEmbedding(count, dim int, options ...EmbeddingOptions) *Embedding {
	o := first(options)
	n := newOptions().int("num_embeddings", count).int("embedding_dim", dim).optInt("padding_idx", o.PaddingIdx).
		bool("sparse", o.Sparse).create("Embedding")
	return &Embedding{n, n.tensor("weight")}
}

// RecurrentOptions of [NewLSTM] and [NewGRU].
type RecurrentOptions struct {
	NumLayers                 int
	Bias                      Opt[bool]
	BatchFirst, Bidirectional bool
	Dropout                   float64
}

func newRecurrent(kind string, input, hidden int, o RecurrentOptions) *Native {
	return newOptions().int("input_size", input).int("hidden_size", hidden).setInt("num_layers", o.NumLayers).
		optBool("bias", o.Bias).bool("batch_first", o.BatchFirst).bool("bidirectional", o.Bidirectional).
		double("dropout", o.Dropout).create(kind)
}

// LSTM is a recurrent network of long short-term memory. Its Forward gives the outputs alone; [LSTM.ForwardState] takes
// and gives states. Source: torch.nn.LSTM.
type LSTM struct{ *Native }

// NewLSTM over [length, batch, input], or [batch, length, input] with BatchFirst.
func NewLSTM(input, hidden int, options ...RecurrentOptions) *LSTM {
	return &LSTM{newRecurrent("LSTM", input, hidden, first(options))}
}

// Forward starts from zero states.
func (l *LSTM) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	y, _, _ := l.ForwardState(x, nil, nil)
	return y
}

// ForwardState takes a hidden and a cell state, both nil for zeros, of shape [layers · directions, batch, hidden], and
// gives those after the last step.
func (l *LSTM) ForwardState(x, h, c *gotorch.Tensor) (y, hidden, cell *gotorch.Tensor) {
	inputs := []any{x}
	if h != nil || c != nil {
		inputs = append(inputs, []*gotorch.Tensor{h, c})
	}
	results := l.ForwardAll(inputs...)
	return results[0], results[1], results[2]
}

// GRU is a network of gated recurrent units. Source: torch.nn.GRU.
type GRU struct{ *Native }

// NewGRU over [length, batch, input], or [batch, length, input] with BatchFirst.
func NewGRU(input, hidden int, options ...RecurrentOptions) *GRU {
	return &GRU{newRecurrent("GRU", input, hidden, first(options))}
}

// Forward starts from a state of zeros.
func (g *GRU) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	y, _ := g.ForwardState(x, nil)
	return y
}

// ForwardState takes a hidden state, nil for zeros, and gives that after the last step.
func (g *GRU) ForwardState(x, h *gotorch.Tensor) (y, hidden *gotorch.Tensor) {
	results := g.ForwardAll(x, h)
	return results[0], results[1]
}
