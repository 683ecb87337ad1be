package start

import (
	"fmt"
	"strings"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
)

// ParseDevices reads devices of one process, such as "cuda:0,cpu". The numbers are those of a host's first process; each
// further one takes as many GPUs more, and begins anew where the host has no more.
func ParseDevices(text string) ([]gotorch.Device, error) {
	var devices []gotorch.Device
	perProcess := 0
	for _, name := range strings.Split(text, ",") {
		device, err := gotorch.ParseDevice(name)
		if err != nil {
			return nil, err
		}
		if device.Kind == gotorch.CUDADevice {
			device.Index = max(device.Index, 0)
			perProcess = max(perProcess, device.Index+1)
		}
		devices = append(devices, device)
	}
	if perProcess == 0 {
		return devices, nil
	}
	count, err := gotorch.CUDADeviceCount()
	if err != nil {
		return nil, err
	}
	if perProcess > count {
		return nil, fmt.Errorf("%s takes %d GPUs, this host has %d", text, perProcess, count)
	}
	for i := range devices {
		if devices[i].Kind == gotorch.CUDADevice {
			devices[i].Index = (devices[i].Index + dist.LocalRank()*perProcess) % count
		}
	}
	return devices, nil
}
