package dist_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

// Schedulers step optimizers that ranks share as they do those of one process.
func TestSchedulersOfSharedOptimizers(t *testing.T) {
	train := func(optimizer *optim.Optimizer, x *gotorch.Tensor) (*optim.LRScheduler, error) {
		schedule := optim.SequentialLR(optimizer, []*optim.LRScheduler{optim.LinearLR(optimizer), optim.ExponentialLR(optimizer, 0.5)}, []int{2})
		for range 5 {
			if err := optimizer.Minimize(x.PowScalar(2).Sum()); err != nil {
				return nil, err
			}
			if err := schedule.Step(); err != nil {
				return nil, err
			}
		}
		return schedule, nil
	}
	parameter := func() *nn.Linear { return nn.NewLinear(1, 1) }
	start := func(layer *nn.Linear) {
		gotorch.NoGrad(func() { layer.Weight.FillScalarI(3); layer.Bias.FillScalarI(1) })
	}
	alone := parameter()
	start(alone)
	expected, err := train(optim.Adam(nn.Parameters(alone), 0.1), alone.Weight)
	if err != nil {
		t.Fatal(err)
	}
	threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		shared, local := parameter(), parameter()
		start(shared)
		start(local)
		zero, err := dist.NewZeroRedundancyOptimizer(group, "Adam", nn.Parameters(shared), map[string]float64{"lr": 0.1})
		if err != nil {
			return err
		}
		averager, err := dist.NewPeriodicModelAverager(group, 2, 0)
		if err != nil {
			return err
		}
		defer averager.Close()
		post, err := dist.NewPostLocalSGDOptimizer(optim.Adam(nn.Parameters(local), 0.1), averager)
		if err != nil {
			return err
		}
		var failures []error
		layers := []*nn.Linear{shared, local}
		for i, optimizer := range []*optim.Optimizer{zero, post} {
			layer := layers[i]
			schedule, err := train(optimizer, layer.Weight)
			if err != nil {
				return err
			}
			failures = append(failures,
				check(schedule.LastLR()[0] == expected.LastLR()[0] && optimizer.LR() == expected.LastLR()[0], "rates %v", schedule.LastLR()),
				check(math.Abs(layer.Weight.Item()-alone.Weight.Item()) < 1e-6, "%v, not %v", layer.Weight, alone.Weight))
		}
		return errors.Join(failures...)
	})
}
