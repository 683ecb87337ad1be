package gotorch_test

import (
	"errors"
	"strings"
	"testing"

	"tandem.example/gotorch"
)

func TestDevicesWithoutAGPU(t *testing.T) {
	if n, err := gotorch.CUDADeviceCount(); err != nil || n > 0 {
		t.Skip("this machine has a GPU", err)
	}
	gpu := gotorch.CUDA(0)
	second := func(_ any, err error) error { return err }
	for name, err := range map[string]error{
		"CurrentDevice":     second(gotorch.CurrentDevice(gotorch.CUDADevice)),
		"OnDevice":          gotorch.Try(func() { gotorch.OnDevice(gpu, func() {}) }),
		"Synchronize":       gotorch.Synchronize(gpu),
		"Memory":            second(gotorch.Memory(gpu)),
		"ResetPeakMemory":   gotorch.ResetPeakMemory(gpu),
		"EmptyCache":        gotorch.EmptyCache(),
		"NewStream":         second(gotorch.NewStream(gpu)),
		"NewPriorityStream": second(gotorch.NewPriorityStream(gpu)),
		"CurrentStream":     second(gotorch.CurrentStream(gpu)),
		"DefaultStream":     second(gotorch.DefaultStream(gpu)),
		"NewEvent":          second(gotorch.NewEvent(true)),
		"SetCUDA":           gotorch.SetCUDA(gotorch.CUDASettings{CuDNNBenchmark: gotorch.Some(true)}),
		"CurrentCUDA":       second(gotorch.CurrentCUDA()),
	} {
		if !errors.Is(err, gotorch.ErrUnsupported) || !strings.Contains(err.Error(), "compute on the CPU") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheCPUAsADevice(t *testing.T) {
	if device, err := gotorch.CurrentDevice(gotorch.CPUDevice); err != nil || device.Kind != gotorch.CPUDevice {
		t.Error(device, err)
	}
	called := false
	gotorch.OnDevice(gotorch.CPU, func() { called = true })
	if err := gotorch.Synchronize(gotorch.CPU); err != nil || !called {
		t.Error(err, called)
	}
	if _, err := gotorch.NewStream(gotorch.CPU); !errors.Is(err, gotorch.ErrUnsupported) {
		t.Error(err)
	}
	if n, err := gotorch.NumInteropThreads(); err != nil || n < 1 {
		t.Error(n, err)
	}
}

func TestDeterminism(t *testing.T) {
	put := func() error {
		return gotorch.Try(func() {
			gotorch.Call("aten::put_", "", gotorch.From([]float32{0, 0, 0}), gotorch.From([]int{0, 2}), gotorch.From([]float32{1, 2}))
		})
	}
	set := func(d gotorch.Determinism) {
		t.Helper()
		if err := gotorch.SetDeterminism(d); err != nil {
			t.Fatal(err)
		}
		if now, err := gotorch.CurrentDeterminism(); err != nil || now != d {
			t.Fatal(now, err)
		}
	}
	defer set(gotorch.DeterminismOff)
	if err := put(); err != nil {
		t.Error(err)
	}
	set(gotorch.DeterminismOn)
	if err := put(); err == nil || !strings.Contains(err.Error(), "deterministic") {
		t.Error(err)
	}
}
