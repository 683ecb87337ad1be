package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/rpc"
)

func TestDeviceMapsAreChecked(t *testing.T) {
	err := rpc.Init(t.Context(), rpc.Options{WorldSize: 1, Rank: gotorch.Some(0), InitMethod: "file://" + t.TempDir() + "/meeting",
		DeviceMaps: map[string]map[gotorch.Device]gotorch.Device{"worker1": {gotorch.CUDA(0): gotorch.CPU}}})
	if !errors.Is(err, gotorch.ErrInvalidArgument) && !errors.Is(err, gotorch.ErrUnsupported) {
		t.Errorf("a GPU mapped to a CPU: %v", err)
	}
}

// Two workers share the GPU.
func TestTensorsOfCallsStayOnTheGPU(t *testing.T) {
	if count, err := gotorch.CUDADeviceCount(); err != nil || count == 0 {
		t.Skip("needs a GPU")
	}
	succeed(t, start(t, 2, "gpu"))
}

func gpuChild(ctx context.Context) error {
	if err := rpc.Register("twice", func(a []any) (any, error) { return a[0].(*gotorch.Tensor).MulScalar(2), nil }); err != nil {
		return err
	}
	gpu, rank := gotorch.CUDA(0), os.Getenv("RANK")
	other := map[string]string{"0": "worker1", "1": "worker0"}[rank]
	maps := map[string]map[gotorch.Device]gotorch.Device{other: {gpu: gpu}}
	if err := rpc.Init(ctx, rpc.Options{DeviceMaps: maps}); err != nil {
		return err
	}
	if rank == "0" {
		for i := range 10 {
			x := gotorch.Full([]int{1 << 20}, float64(i), gotorch.TensorOptions{Device: gotorch.Some(gpu)})
			doubled, err := rpc.Call(ctx, other, "twice", x)
			if err != nil {
				return err
			}
			y := doubled.(*gotorch.Tensor)
			if y.Device() != gpu || y.Min().Item() != float64(2*i) || y.Max().Item() != float64(2*i) {
				return fmt.Errorf("twice %d is %v on %v", i, y, y.Device())
			}
		}
		if _, err := rpc.Call(ctx, "worker0", "twice", gotorch.Ones([]int{2}, gotorch.TensorOptions{Device: gotorch.Some(gpu)})); !errors.Is(err, gotorch.ErrInvalidArgument) {
			return fmt.Errorf("a device that is not mapped: %w", err)
		}
	}
	return rpc.Shutdown(ctx, true)
}
