package data

import (
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// Transform is a step on each whole batch of a loader, in [Options]: one of this package's, with the names, defaults and
// formulas of torchvision.transforms.v2, or a [BatchStep] of one's own. Images are [N, C, H, W], Uint8 or floating. What is
// random about a sample follows from the loader's seed, the epoch and the sample: fields of one step share it, and steps
// of one kind that should differ get different Streams.
type Transform interface {
	add(s *batchSteps) error
}

// batchSteps are those of a loader that is being made.
type batchSteps struct {
	operation  string   // that makes the loader, for errors
	names      []string // of the tensors after the steps so far
	transforms func(json string) *c.Failure
	step       func(adds []string, body c.Callback) *c.Failure
}

func (s *batchSteps) addAll(transforms []Transform) error {
	for _, t := range transforms {
		if err := t.add(s); err != nil {
			return err
		}
	}
	return nil
}

func (s *batchSteps) addNamed(step string, fields []string, o option) error {
	o["step"], o["fields"] = step, fields
	return failed(s.operation, s.transforms("["+o.json()+"]"))
}

// ToFloat is x · Scale as Float32; unset: 1/255.
type ToFloat struct {
	Fields []string
	Scale  gotorch.Opt[float64]
}

// Normalize is (x · Scale − Mean) / Std as Float32, with a mean and a std for each channel, or one for all; Scale unset: 1.
type Normalize struct {
	Fields    []string
	Mean, Std []float64
	Scale     gotorch.Opt[float64]
}

// OneHot makes Float32 [N, …, Classes] of integers; Smoothing is what is spread over all classes.
type OneHot struct {
	Fields    []string
	Classes   int
	Smoothing float64
}

// RandomCrop is a window anywhere in the picture, after Padding pixels of Fill on each side.
type RandomCrop struct {
	Fields        []string
	Height, Width int
	Padding       int
	Fill          float64
	Stream        uint64
}

// CenterCrop is the middle; pictures that are smaller get margins of zeros.
type CenterCrop struct {
	Fields        []string
	Height, Width int
}

// RandomHorizontalFlip mirrors left and right with a probability; unset: 0.5.
type RandomHorizontalFlip struct {
	Fields      []string
	Probability gotorch.Opt[float64]
	Stream      uint64
}

// Resize interpolates: bilinear, or nearest, as for masks.
type Resize struct {
	Fields        []string
	Height, Width int
	Nearest       bool
	Antialias     gotorch.Opt[bool] // unset: true
}

// RandomResizedCrop is a random window, resized. Where pictures are decoded, [Fit] does it for less.
type RandomResizedCrop struct {
	Fields        []string
	Height, Width int
	Nearest       bool
	Antialias     gotorch.Opt[bool]
	Scale, Ratio  gotorch.Opt[[2]float64] // unset: {0.08, 1} and {3/4, 4/3}
	Stream        uint64
}

// ColorJitter multiplies brightness, contrast and saturation by factors from these ranges, and turns hue by a part of the
// circle; what is unset stays.
type ColorJitter struct {
	Fields                                []string
	Brightness, Contrast, Saturation, Hue gotorch.Opt[[2]float64]
	Stream                                uint64
}

func (t ToFloat) add(s *batchSteps) error {
	o := option{}
	put(o, "scale", t.Scale)
	return s.addNamed("to_float", t.Fields, o)
}

func (t Normalize) add(s *batchSteps) error {
	o := option{"mean": t.Mean, "std": t.Std}
	put(o, "scale", t.Scale)
	return s.addNamed("normalize", t.Fields, o)
}

func (t OneHot) add(s *batchSteps) error {
	return s.addNamed("one_hot", t.Fields, option{"classes": t.Classes, "smoothing": t.Smoothing})
}

func (t RandomCrop) add(s *batchSteps) error {
	return s.addNamed("random_crop", t.Fields, option{"height": t.Height, "width": t.Width, "padding": t.Padding,
		"fill": t.Fill, "stream": t.Stream})
}

func (t CenterCrop) add(s *batchSteps) error {
	return s.addNamed("center_crop", t.Fields, option{"height": t.Height, "width": t.Width})
}

func (t RandomHorizontalFlip) add(s *batchSteps) error {
	o := option{"stream": t.Stream}
	put(o, "probability", t.Probability)
	return s.addNamed("random_horizontal_flip", t.Fields, o)
}

func sized(height, width int, nearest bool, antialias gotorch.Opt[bool]) option {
	o := option{"height": height, "width": width, "interpolation": "bilinear"}
	if nearest {
		o["interpolation"], o["antialias"] = "nearest", false
	}
	put(o, "antialias", antialias)
	return o
}

func (t Resize) add(s *batchSteps) error {
	return s.addNamed("resize", t.Fields, sized(t.Height, t.Width, t.Nearest, t.Antialias))
}

func (t RandomResizedCrop) add(s *batchSteps) error {
	o := sized(t.Height, t.Width, t.Nearest, t.Antialias)
	o["stream"] = t.Stream
	put(o, "scale", t.Scale)
	put(o, "ratio", t.Ratio)
	return s.addNamed("random_resized_crop", t.Fields, o)
}

func (t ColorJitter) add(s *batchSteps) error {
	o := option{"stream": t.Stream}
	put(o, "brightness", t.Brightness)
	put(o, "contrast", t.Contrast)
	put(o, "saturation", t.Saturation)
	put(o, "hue", t.Hue)
	return s.addNamed("color_jitter", t.Fields, o)
}

// BatchStep is a step of one's own. Apply may replace Tensors of the batch, and appends those that Adds names. It may change
// no tensor in place, keeps none, and follows from the batch alone, whose Randomness has a number for each row (0 for one
// of zeros, which come last), whose Count is that of the rows before them, and whose Epoch, Index, Samples and GlobalCount are
// not set. Threads call it at once, for different batches; it must not use the loader. Its error, or panic, is that of
// the batch.
type BatchStep struct {
	Adds  []string
	Apply func(batch *Batch) error
}

func (b BatchStep) add(s *batchSteps) error {
	names := s.names
	after := append(append([]string(nil), names...), b.Adds...)
	if err := failed(s.operation, s.step(b.Adds, func(call c.Invocation) ([]c.Tensor, error) {
		return bridge.InScopeOf(call, call.Inputs, func(given []any) ([]any, error) {
			batch := &Batch{Randomness: call.Randomness, Count: countSamples(call.Randomness), rows: len(call.Randomness),
				names: names}
			for _, t := range given {
				batch.Tensors = append(batch.Tensors, t.(*gotorch.Tensor))
			}
			if err := b.Apply(batch); err != nil {
				return nil, err
			}
			if len(batch.Tensors) != call.Room {
				return nil, &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "data.BatchStep", Message: fmt.Sprintf(
					"the step left %d tensors, but was to leave %d: those of %q", len(batch.Tensors), call.Room, after)}
			}
			results := make([]any, call.Room)
			for i, t := range batch.Tensors {
				if i >= len(given) || t != given[i].(*gotorch.Tensor) {
					results[i] = t
				}
			}
			return results, nil
		})
	})); err != nil {
		return err
	}
	s.names = after
	return nil
}

// countSamples is the number of rows before those of zeros, which have a randomness of 0.
func countSamples(randomness []uint64) int {
	count := len(randomness)
	for count > 0 && randomness[count-1] == 0 {
		count--
	}
	return count
}
