package gotorch

import (
	"math"
	"sync/atomic"

	"tandem.example/gotorch/internal/tensorprint"
)

// PrintProfile is a set of options for printing.
type PrintProfile string

// The profiles: 4 digits and 1000 elements; 2 digits and 2 items at each end; all elements.
const (
	PrintDefault PrintProfile = "default"
	PrintShort   PrintProfile = "short"
	PrintFull    PrintProfile = "full"
)

// PrintOptions of [SetPrintOptions]. Those that are not set stay as they are, but for SciMode.
type PrintOptions struct {
	Profile   Opt[PrintProfile] // what the other options are to begin with
	Precision Opt[int]          // digits after the point; at first 4
	Threshold Opt[int]          // tensors of more elements are printed in part; at first 1000
	EdgeItems Opt[int]          // items at each end of a dimension that is printed in part; at first 3
	LineWidth Opt[int]          // at first 80
	SciMode   Opt[bool]         // numbers with exponents; not set: where they are large, small or far apart
}

var printing atomic.Pointer[tensorprint.Options]

func init() { printing.Store(&tensorprint.Default) }

// SetPrintOptions says how tensors print from now on, in all goroutines. restore goes back to what was before. Source:
// torch.set_printoptions.
func SetPrintOptions(options PrintOptions) (restore func()) {
	before := printing.Load()
	now := *before
	if profile, ok := options.Profile.Get(); ok {
		now = tensorprint.Default
		switch profile {
		case PrintDefault:
		case PrintShort:
			now.Precision, now.EdgeItems = 2, 2
		case PrintFull:
			now.Threshold = math.MaxInt
		default:
			panic(invalid("set_print_options", "%q is no profile; use PrintDefault, PrintShort or PrintFull", profile))
		}
	}
	for _, one := range []struct {
		name   string
		option Opt[int]
		to     *int
	}{{"Precision", options.Precision, &now.Precision}, {"Threshold", options.Threshold, &now.Threshold},
		{"EdgeItems", options.EdgeItems, &now.EdgeItems}, {"LineWidth", options.LineWidth, &now.LineWidth}} {
		if *one.to = one.option.Or(*one.to); *one.to < 0 {
			panic(invalid("set_print_options", "%s is %d; it cannot be negative", one.name, *one.to))
		}
	}
	now.SciMode = tensorprint.SciAuto
	if on, ok := options.SciMode.Get(); ok {
		now.SciMode = sciMode(on)
	}
	printing.Store(&now)
	return func() { printing.Store(before) }
}

func sciMode(on bool) tensorprint.Sci {
	if on {
		return tensorprint.SciOn
	}
	return tensorprint.SciOff
}
