package utils

import (
	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/call"
)

// PackedSequence is sequences of different lengths for recurrent modules: the first elements of all of them, then the second
// of those that have one, and so on, the longest sequence first. Source: torch.nn.utils.rnn.PackedSequence.
type PackedSequence struct {
	Data            *gotorch.Tensor // [elements of all sequences, …]
	BatchSizes      *gotorch.Tensor // how many sequences have an element in each place; int64, on the CPU
	SortedIndices   *gotorch.Tensor // the sequence that each was in the batch; nil where they keep their order
	UnsortedIndices *gotorch.Tensor // and back
}

// Tensors are its four, which a module takes as one input: lstm.ForwardAll(packed.Tensors()).
func (p *PackedSequence) Tensors() []*gotorch.Tensor {
	return []*gotorch.Tensor{p.Data, p.BatchSizes, p.SortedIndices, p.UnsortedIndices}
}

func (p *PackedSequence) begin(op *bridge.Operator) call.Call {
	return call.Begin(op).OptTensor(p.Data).OptTensor(p.BatchSizes).OptTensor(p.SortedIndices).OptTensor(p.UnsortedIndices)
}

// PackPaddedSequenceOptions of [PackPaddedSequence].
type PackPaddedSequenceOptions struct {
	BatchFirst    bool // the sequences are [batch, length, …]
	EnforceSorted gotorch.Opt[bool]
}

// PackPaddedSequence packs sequences that were padded, [length, batch, …]; lengths are those of the batch, longest first
// unless EnforceSorted is off. Source: torch.nn.utils.rnn.pack_padded_sequence.
func PackPaddedSequence(input *gotorch.Tensor, lengths []int, options ...PackPaddedSequenceOptions) *PackedSequence {
	o := call.First(options)
	data, sizes, sorted, unsorted := call.Begin(opPackPaddedSequence).Tensor(input).OptTensor(gotorch.From(lengths)).
		Bool(o.BatchFirst).OptBool(o.EnforceSorted).Four(input)
	return &PackedSequence{data, sizes, sorted, unsorted}
}

// PackSequenceOptions of [PackSequence].
type PackSequenceOptions struct{ EnforceSorted gotorch.Opt[bool] }

// PackSequence packs sequences, longest first unless EnforceSorted is off. Source: torch.nn.utils.rnn.pack_sequence.
func PackSequence(sequences []*gotorch.Tensor, options ...PackSequenceOptions) *PackedSequence {
	data, sizes, sorted, unsorted := call.Begin(opPackSequence).Tensors(sequences).OptBool(call.First(options).EnforceSorted).
		Four()
	return &PackedSequence{data, sizes, sorted, unsorted}
}

// PadPackedSequenceOptions of [PadPackedSequence].
type PadPackedSequenceOptions struct {
	BatchFirst   bool // [batch, length, …] is wanted
	PaddingValue float64
	TotalLength  gotorch.Opt[int] // the longest sequence's, unless it is set
}

// PadPackedSequence gives sequences padded, [length, batch, …], in the batch's order, and their lengths. Source:
// torch.nn.utils.rnn.pad_packed_sequence.
func PadPackedSequence(packed *PackedSequence, options ...PadPackedSequenceOptions) (padded, lengths *gotorch.Tensor) {
	o := call.First(options)
	return packed.begin(opPadPackedSequence).Bool(o.BatchFirst).Double(o.PaddingValue).OptInt(o.TotalLength).Two()
}

// UnpackSequence is the sequences that were packed, in their order. Source: torch.nn.utils.rnn.unpack_sequence.
func UnpackSequence(packed *PackedSequence) []*gotorch.Tensor {
	return packed.begin(opUnpackSequence).List()
}

var (
	opPackPaddedSequence = bridge.NewOperator("tandem::utils_pack_padded_sequence", "")
	opPackSequence       = bridge.NewOperator("tandem::utils_pack_sequence", "")
	opPadPackedSequence  = bridge.NewOperator("tandem::utils_pad_packed_sequence", "")
	opUnpackSequence     = bridge.NewOperator("tandem::utils_unpack_sequence", "")
)
