package data_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/data"
)

// deviceOf is a GPU, where there is one; past is one that is not there, and why the code that says so.
func deviceOf(t *testing.T) (device, past gotorch.Device, why gotorch.Code) {
	t.Helper()
	gpus, err := gotorch.CUDADeviceCount()
	if err != nil {
		t.Fatal(err)
	}
	if gpus == 0 {
		return gotorch.CPU, gotorch.CUDA(0), gotorch.ErrUnsupported
	}
	return gotorch.CUDA(0), gotorch.CUDA(gpus), gotorch.ErrOutOfRange
}

func TestDevicesThatAreNotThere(t *testing.T) {
	_, past, why := deviceOf(t)
	set := dataset(t, 4)
	meta := gotorch.Device{Kind: gotorch.MetaDevice}
	for device, code := range map[gotorch.Device]gotorch.Code{past: why, meta: gotorch.ErrInvalidArgument} {
		_, static := data.NewLoader(set, data.Options{BatchSize: 2, Device: device})
		_, dynamic := data.NewDynamicLoader(set, hashStore(t), data.DynamicOptions{BatchSize: 2, MicroBatch: 1, Device: device})
		for _, err := range []error{static, dynamic} {
			if !errors.Is(err, code) || !strings.Contains(err.Error(), "evice") ||
				device == past && !strings.Contains(err.Error(), past.String()) {
				t.Errorf("%v: %v, not %v", device, err, code)
			}
		}
	}
}

func TestBatchesOnADevice(t *testing.T) {
	device, _, _ := deviceOf(t)
	set := dataset(t, 40)
	for threads := 1; threads <= 2; threads++ {
		o := data.Options{BatchSize: 8, Seed: 3, Threads: gotorch.Some(threads), Prefetch: gotorch.Some(16)}
		expected := numbersOf(t, open(t, set, o), 0)
		o.Device = device
		loader := open(t, set, o)
		for batch, err := range gotorch.Scoped(loader.Epoch(t.Context(), 0)) {
			if err != nil {
				t.Fatal(err)
			}
			for _, tensor := range batch.Tensors {
				if tensor.Device().Kind != device.Kind {
					t.Errorf("a tensor is on %v, not %v", tensor.Device(), device)
				}
			}
			twice := batch.Tensors[0].Add(batch.Tensors[0]) // what comes right after finds the batch
			for i, number := range gotorch.ToSlice[int](twice) {
				if number != 2*expected[batch.Index][i] || number != 2*batch.Samples[i] {
					t.Errorf("batch %d has %d at %d, not %d", batch.Index, number, i, 2*expected[batch.Index][i])
				}
			}
			if mask := batch.Mask(); mask.Device().Kind != gotorch.CPUDevice {
				t.Error("the mask is on", mask.Device())
			}
		}
		s, err := loader.Statistics()
		if err != nil || s.Delivered != 5 || (s.Copying > 0) != (device.Kind == gotorch.CUDADevice) {
			t.Errorf("%+v %v", s, err)
		}
	}
}

func TestPartsOnADevice(t *testing.T) {
	device, _, _ := deviceOf(t)
	loader := dynamic(t, dataset(t, 20), hashStore(t), data.DynamicOptions{BatchSize: 8, MicroBatch: 2, Device: device})
	for step, err := range loader.Steps(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for part, err := range gotorch.Scoped(step.Parts()) {
			if err != nil {
				t.Fatal(err)
			}
			numbers := part.Field("number")
			if numbers.Device().Kind != device.Kind || !slices.Equal(gotorch.ToSlice[int](numbers), part.Samples) {
				t.Errorf("samples %v have numbers %v", part.Samples, numbers)
			}
		}
		if _, err := step.Commit(); err != nil {
			t.Fatal(err)
		}
	}
}
