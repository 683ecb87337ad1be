// Package tensorprint lays numbers out as Python's torch prints tensors. It knows nothing of tensors: package gotorch
// reads the elements that are printed. Source: torch._tensor_str.
package tensorprint

// Options of torch.set_printoptions.
type Options struct {
	Precision int // digits after the point
	Threshold int // more elements than this are summarised
	EdgeItems int // of each dimension, at its beginning and end, in a summary
	LineWidth int
	SciMode   Sci
}

// Sci is when numbers have an exponent.
type Sci int8

// When that is: where numbers are large, small or far apart; always; never.
const (
	SciAuto Sci = iota
	SciOn
	SciOff
)

// Default options.
var Default = Options{Precision: 4, Threshold: 1000, EdgeItems: 3, LineWidth: 80}

// Summarises tells whether a tensor of that many elements is printed in part.
func (o Options) Summarises(elements int) bool { return elements > o.Threshold }

// Cut tells whether a dimension of a tensor that is summarised is printed in part: EdgeItems at either end.
func (o Options) Cut(size int) bool { return size > 2*o.EdgeItems }
