package dist_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
)

func TestCommHooks(t *testing.T) {
	hooks := map[string]struct {
		hook      dist.CommHook
		tolerance float64
	}{
		"all-reduce":  {dist.AllReduce(), 1e-6},
		"fp16":        {dist.FP16Compress(), 1e-2},
		"bf16":        {dist.BF16Compress(), 5e-2},
		"per tensor":  {dist.QuantizePerTensor(), 3e-2},
		"per channel": {dist.QuantizePerChannel(4), 3e-2},
		// The mean is of rank one.
		"PowerSGD": {dist.PowerSGD(dist.PowerSGDOptions{StartIter: gotorch.Some(2), MinCompressionRate: gotorch.Some(0.5)}), 1e-5},
		"batched PowerSGD": {dist.PowerSGD(dist.PowerSGDOptions{StartIter: gotorch.Some(2), Batched: true,
			MatrixApproximationRank: 4}), 1e-5},
		"compressed": {dist.PowerSGD(dist.PowerSGDOptions{StartIter: gotorch.Some(2)}).Compressed(gotorch.BFloat16), 5e-2},
		"local SGD":  {dist.PostLocalSGD(nil, 100), 1e-6},
		"own, in one go": {dist.Hook(func(b *dist.GradBucket) (*dist.Work, func(*dist.GradBucket) (*gotorch.Tensor, error), error) {
			return nil, nil, errors.New("replaced below")
		}), 1e-6},
	}
	for name, one := range hooks {
		t.Run(name, func(t *testing.T) {
			threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
				layer, ddp, err := wrapped(group, dist.DDPOptions{})
				if err != nil {
					return err
				}
				defer ddp.Close()
				hook := one.hook
				if name == "own, in one go" {
					hook = dist.Hook(func(b *dist.GradBucket) (*dist.Work, func(*dist.GradBucket) (*gotorch.Tensor, error), error) {
						b.Buffer.DivScalarI(float64(group.Size()))
						return nil, nil, group.AllReduce(ctx, b.Buffer, dist.Sum)
					})
				}
				if err := ddp.SetCommHook(hook); err != nil {
					return err
				}
				for range 4 {
					layer.Weight.SetGrad(nil)
					if err := ddp.Forward(input(group.Rank())).Sum().Backward(); err != nil {
						return err
					}
					if err := near(layer.Weight.Grad(), meanInput(2).Expand(3, 4), one.tolerance); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// A hook of two stages, of which the second makes another tensor.
func TestOwnCommHookWithWork(t *testing.T) {
	threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		model := nn.NewSequential(nn.NewLinear(4, 3), nn.NewLinear(3, 2))
		ddp, err := dist.NewDDP(group, model, dist.DDPOptions{BucketCapMB: gotorch.Some(0.0)})
		if err != nil {
			return err
		}
		defer ddp.Close()
		var begun, finished []int
		hook := func(b *dist.GradBucket) (*dist.Work, func(*dist.GradBucket) (*gotorch.Tensor, error), error) {
			begun = append(begun, b.Index)
			if len(b.Gradients) != len(b.Parameters) {
				return nil, nil, fmt.Errorf("%d gradients of %d parameters", len(b.Gradients), len(b.Parameters))
			}
			for i, gradient := range b.Gradients {
				if !slices.Equal(gradient.Shape(), b.Parameters[i].Shape()) {
					return nil, nil, fmt.Errorf("a gradient of %v for %v", gradient.Shape(), b.Parameters[i].Shape())
				}
			}
			work, err := group.AllReduceAsync(b.Buffer, dist.Sum)
			return work, func(b *dist.GradBucket) (*gotorch.Tensor, error) {
				finished = append(finished, b.Index)
				return b.Buffer.DivScalar(2), nil
			}, err
		}
		if err := ddp.SetCommHook(dist.Hook(hook)); err != nil {
			return err
		}
		for range 2 {
			for _, one := range nn.Parameters(model) {
				one.SetGrad(nil)
			}
			if err := ddp.Forward(input(group.Rank())).Sum().Backward(); err != nil {
				return err
			}
		}
		if want := []int{0, 0, 1, 2, 3}; !slices.Equal(begun, want) || !slices.Equal(finished, want) {
			return fmt.Errorf("begun %v, finished %v, want %v", begun, finished, want)
		}
		got := nn.Parameters(model)[0].Grad()
		local := got.Clone()
		if err := group.AllReduce(ctx, local, dist.Avg); err != nil {
			return err
		}
		return near(local, got, 0)
	})
}

func TestCommHookThatFails(t *testing.T) {
	cause := errors.New("not today")
	threads(t, 1, func(ctx context.Context, group *dist.ProcessGroup) error {
		_, ddp, err := wrapped(group, dist.DDPOptions{})
		if err != nil {
			return err
		}
		defer ddp.Close()
		if err := ddp.SetCommHook(dist.Hook(func(*dist.GradBucket) (*dist.Work, func(*dist.GradBucket) (*gotorch.Tensor, error), error) {
			return nil, nil, cause
		})); err != nil {
			return err
		}
		err = ddp.Forward(input(1)).Sum().Backward()
		return check(errors.Is(err, cause), "backward gave %v, want the hook's error", err)
	})
}

// A hook may have others wait for its work, or ask how it ended in its finish.
func TestWorkOfACommHookIsTheHooks(t *testing.T) {
	threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		_, ddp, err := wrapped(group, dist.DDPOptions{})
		if err != nil {
			return err
		}
		defer ddp.Close()
		var waiters sync.WaitGroup
		defer waiters.Wait()
		if err := ddp.SetCommHook(dist.Hook(func(b *dist.GradBucket) (*dist.Work, func(*dist.GradBucket) (*gotorch.Tensor, error), error) {
			work, err := group.AllReduceAsync(b.Buffer, dist.Sum)
			if err != nil {
				return nil, nil, err
			}
			waiters.Add(1)
			go func() {
				defer waiters.Done()
				work.WaitTimeout(time.Minute)
			}()
			return work, func(*dist.GradBucket) (*gotorch.Tensor, error) { return nil, work.Err() }, nil
		})); err != nil {
			return err
		}
		for range 50 {
			if err := ddp.Forward(input(1)).Sum().Backward(); err != nil {
				return err
			}
		}
		return nil
	})
}

// The work of a hook that fails afterwards is closed, at the latest when it has ended.
func TestWorkOfACommHookThatFails(t *testing.T) {
	cause := errors.New("not today")
	before := gotorch.LiveCounts()["work"]
	threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		_, ddp, err := wrapped(group, dist.DDPOptions{})
		if err != nil {
			return err
		}
		defer ddp.Close()
		if err := ddp.SetCommHook(dist.Hook(func(b *dist.GradBucket) (*dist.Work, func(*dist.GradBucket) (*gotorch.Tensor, error), error) {
			work, err := group.AllReduceAsync(b.Buffer, dist.Sum)
			return work, nil, errors.Join(err, cause)
		})); err != nil {
			return err
		}
		err = ddp.Forward(input(1)).Sum().Backward()
		return check(errors.Is(err, cause), "backward gave %v, want the hook's error", err)
	})
	for wait := time.Now().Add(30 * time.Second); gotorch.LiveCounts()["work"] != before; time.Sleep(time.Millisecond) {
		if time.Now().After(wait) {
			t.Fatal(gotorch.LiveCounts()["work"], "works are open, before ", before)
		}
	}
}
