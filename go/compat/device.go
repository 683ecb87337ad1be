package gotorch

import (
	"fmt"

	core "tandem.example/gotorch"
	"tandem.example/gotorch/compat/internal/panics"
)

// Device is where tensors lie.
type Device struct {
	T core.Device
}

// NewDevice is "cpu", "cuda" or, for one of several GPUs, "cuda:1".
func NewDevice(deviceType string) Device {
	device, err := core.ParseDevice(deviceType)
	if err != nil || device.Kind != core.CPUDevice && device.Kind != core.CUDADevice {
		panic(fmt.Sprintf("NewDevice: there is no device type %q; give cpu or cuda", deviceType))
	}
	return Device{device}
}

// IsCUDAAvailable tells whether there is a GPU that can be used.
func IsCUDAAvailable() bool {
	count, err := core.CUDADeviceCount()
	return err == nil && count > 0
}

// IsCUDNNAvailable tells the same: LibTorch for GPUs brings cuDNN along.
func IsCUDNNAvailable() bool { return IsCUDAAvailable() }

// SetNumThreads sets how many threads an operation is spread over.
func SetNumThreads(n int32) { panics.Must(core.SetNumThreads(int(n))) }
