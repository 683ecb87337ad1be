package dist_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
	"tandem.example/gotorch/vision"
)

// wrapped is a layer of one weight under DDP, whose gradient is what Forward is given.
func wrapped(group *dist.ProcessGroup, options dist.DDPOptions) (*nn.Linear, *dist.DDP, error) {
	layer := nn.NewLinear(4, 3, nn.LinearOptions{Bias: nn.Some(false)})
	ddp, err := dist.NewDDP(group, layer, options)
	return layer, ddp, err
}

// input of a rank: a row, so that all three rows of the weight's gradient are it.
func input(rank int) *gotorch.Tensor {
	r := float32(rank)
	return gotorch.From([]float32{r, 1 + r, 0.5 * r, -2 * r}, 1, 4)
}

func meanInput(size int) *gotorch.Tensor {
	sum := input(0)
	for rank := 1; rank < size; rank++ {
		sum = sum.Add(input(rank))
	}
	return sum.DivScalar(float64(size))
}

func near(got, want *gotorch.Tensor, tolerance float64) error {
	if off := got.Sub(want).Abs().Max().Item(); off > tolerance || math.IsNaN(off) {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	return nil
}

func TestAverageBySamples(t *testing.T) {
	threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		layer, ddp, err := wrapped(group, dist.DDPOptions{AverageBySamples: true})
		if err != nil {
			return err
		}
		defer ddp.Close()
		// One row on rank 0, three on rank 1: the mean over all four.
		rows := 1 + 2*group.Rank()
		x := input(group.Rank()).Expand(rows, 4)
		if err := ddp.Forward(x).SumDim([]int{1}).Mean().Backward(); err != nil {
			return err
		}
		want := input(0).Add(input(1).MulScalar(3)).DivScalar(4).Expand(3, 4)
		return near(layer.Weight.Grad(), want, 1e-6)
	})
}

// scaled multiplies by a buffer, which it replaces in each forward.
type scaled struct {
	nn.Base
	Weight *gotorch.Tensor
	Seen   *gotorch.Tensor `nn:"buffer"`
	used   float64
}

func (s *scaled) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	s.used = s.Seen.Item()
	return x.Mul(s.Weight)
}

func TestBuffersThatTheModuleReplaces(t *testing.T) {
	threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		rank := float64(group.Rank())
		module := &scaled{Weight: gotorch.Ones([]int{1}).SetRequiresGrad(true), Seen: gotorch.Full([]int{1}, rank)}
		ddp, err := dist.NewDDP(group, module)
		if err != nil {
			return err
		}
		defer ddp.Close()
		for step := range 3 {
			value := 10 * float64(step+1)
			module.Seen = gotorch.Full([]int{1}, value+rank)
			if err := ddp.Forward(gotorch.Ones([]int{1})).Sum().Backward(); err != nil {
				return err
			}
			if err := check(module.used == value, "step %d used %v, not rank 0's %v", step, module.used, value); err != nil {
				return err
			}
		}
		// The module's own mode counts: evaluated, it keeps what each rank has.
		nn.Eval(module)
		module.Seen = gotorch.Full([]int{1}, 5+rank)
		gotorch.NoGrad(func() { ddp.Forward(gotorch.Ones([]int{1})) })
		return check(module.used == 5+rank, "evaluated with %v", module.used)
	})
}

func TestStateOfAnExchange(t *testing.T) {
	threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		hook := func(seed uint64) dist.CommHook {
			return dist.PowerSGD(dist.PowerSGDOptions{StartIter: gotorch.Some(2), RandomSeed: seed,
				MinCompressionRate: gotorch.Some(0.5)})
		}
		first := gotorch.From([]float32{1, 2, 3, 4}).AddScalar(float64(group.Rank())).Sin()
		step := func(layer *nn.Linear, ddp *dist.DDP, i int) (*gotorch.Tensor, error) {
			layer.Weight.SetGrad(nil)
			x := gotorch.Stack([]*gotorch.Tensor{first, first.MulScalar(float64(i)).Cos()}, 0)
			y := ddp.Forward(x).Mul(gotorch.From([]float32{1, 2, 3, -3, 1, float32(i)}, 2, 3))
			return layer.Weight.Grad(), y.Sum().Backward()
		}
		train := func(layer *nn.Linear, ddp *dist.DDP, from, to int) (*gotorch.Tensor, error) {
			for i := from; i < to; i++ {
				if _, err := step(layer, ddp, i); err != nil {
					return nil, err
				}
			}
			return layer.Weight.Grad().Clone(), nil
		}
		layer, ddp, err := wrapped(group, dist.DDPOptions{})
		if err != nil {
			return err
		}
		defer ddp.Close()
		if err := ddp.SetCommHook(hook(1)); err != nil {
			return err
		}
		if _, err := train(layer, ddp, 0, 4); err != nil {
			return err
		}
		shared, err := ddp.State()
		if err != nil {
			return err
		}
		state := map[string]*gotorch.Tensor{}
		for name, one := range shared {
			state[name] = one.Clone()
		}
		want, err := train(layer, ddp, 4, 7)
		if err != nil {
			return err
		}
		layer, ddp, err = wrapped(group, dist.DDPOptions{})
		if err != nil {
			return err
		}
		defer ddp.Close()
		err = ddp.LoadState(state)
		if !strings.Contains(fmt.Sprint(err), "power_sgd") {
			return fmt.Errorf("a state without its hook gave %v", err)
		}
		if err := ddp.SetCommHook(hook(2)); err != nil {
			return err
		}
		if err := ddp.LoadState(map[string]*gotorch.Tensor{"buckets": state["buckets"]}); err == nil {
			return errors.New("a state without PowerSGD's was taken")
		}
		if err := ddp.LoadState(state); err != nil {
			return err
		}
		got, err := train(layer, ddp, 4, 7)
		if err != nil {
			return err
		}
		return check(got.Equal(want), "went on with %v, not %v", got, want)
	})
}

func TestMixedPrecision(t *testing.T) {
	threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		layer, ddp, err := wrapped(group, dist.DDPOptions{
			MixedPrecision: dist.MixedPrecision{Param: gotorch.Some(gotorch.BFloat16)}})
		if err != nil {
			return err
		}
		defer ddp.Close()
		y := ddp.Forward(input(group.Rank()))
		if err := check(y.DType() == gotorch.BFloat16, "computed in %v", y.DType()); err != nil {
			return err
		}
		if err := y.Sum().Backward(); err != nil {
			return err
		}
		if err := check(layer.Weight.DType() == gotorch.Float32 && layer.Weight.Grad().DType() == gotorch.Float32,
			"the weight is %v, its gradient %v", layer.Weight.DType(), layer.Weight.Grad().DType()); err != nil {
			return err
		}
		return near(layer.Weight.Grad(), meanInput(2).Expand(3, 4), 1e-2)
	})
}

// A module that panics leaves nothing lowered, which would then be saved that way.
func TestMixedPrecisionEndsWithAForwardThatPanics(t *testing.T) {
	threads(t, 1, func(ctx context.Context, group *dist.ProcessGroup) error {
		layer, ddp, err := wrapped(group, dist.DDPOptions{
			MixedPrecision: dist.MixedPrecision{Param: gotorch.Some(gotorch.BFloat16)}})
		if err != nil {
			return err
		}
		defer ddp.Close()
		fits, narrow := gotorch.Ones([]int{2, 4}), gotorch.Ones([]int{2, 1})
		for name, call := range map[string]func(){
			"DDP.Forward": func() { ddp.Forward(narrow) },
			"Forward":     func() { dist.Forward(ddp, narrow, layer.Forward) },
		} {
			if err := check(gotorch.Try(call) != nil, "%s of an input that does not fit: no error", name); err != nil {
				return err
			}
			if err := check(layer.Weight.DType() == gotorch.Float32, "after %s the weight is %v", name, layer.Weight.DType()); err != nil {
				return err
			}
		}
		if err := ddp.Forward(fits).Sum().Backward(); err != nil {
			return err
		}
		return check(layer.Weight.DType() == gotorch.Float32, "trained, the weight is %v", layer.Weight.DType())
	})
}

func TestSparseEmbeddingsAndIgnoredParameters(t *testing.T) {
	threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		model := &struct {
			nn.Base
			Table, Own *nn.Embedding
		}{Table: nn.NewEmbedding(5, 2, nn.EmbeddingOptions{Sparse: true}), Own: nn.NewEmbedding(5, 2)}
		ddp, err := dist.NewDDP(group, model, dist.DDPOptions{Ignore: []string{"own.weight"}})
		if err != nil {
			return err
		}
		defer ddp.Close()
		index := gotorch.From([]int{group.Rank(), 4})
		out := dist.Forward(ddp, index, func(index *gotorch.Tensor) [2]*gotorch.Tensor {
			return [2]*gotorch.Tensor{model.Table.Forward(index), model.Own.Forward(index)}
		})
		if err := out[0].Sum().Add(out[1].Sum()).Backward(); err != nil {
			return err
		}
		want := gotorch.From([]float32{0.5, 0.5, 0, 0, 1}, 5, 1).Expand(5, 2)
		if err := near(model.Table.Weight.Grad().ToDense(), want, 0); err != nil {
			return err
		}
		return check(model.Own.Weight.Grad().Sum().Item() == 4, "the ignored gradient is %v", model.Own.Weight.Grad())
	})
}

func TestJoinUnevenInputs(t *testing.T) {
	threads(t, 3, func(ctx context.Context, group *dist.ProcessGroup) error {
		layer, ddp, err := wrapped(group, dist.DDPOptions{})
		if err != nil {
			return err
		}
		defer ddp.Close()
		zero, err := dist.NewZeroRedundancyOptimizer(group, "Adam", nn.Parameters(layer), map[string]float64{"lr": 0.1})
		if err != nil {
			return err
		}
		steps := 0
		err = ddp.Join(func() error {
			for ; steps < 1+2*group.Rank(); steps++ {
				if err := zero.Minimize(ddp.Forward(input(group.Rank())).Sum()); err != nil {
					return err
				}
			}
			return nil
		}, dist.JoinOptions{Optimizer: zero})
		if err != nil {
			return err
		}
		equal, err := group.AllEqual(ctx, []byte(nn.Fingerprint(layer)))
		if err := errors.Join(err, check(equal, "the ranks' parameters differ")); err != nil {
			return err
		}
		if err := dist.ConsolidateState(zero, 1); err != nil {
			return err
		}
		state, err := zero.State()
		if err := errors.Join(err, check(group.Rank() != 1 || len(state) > 0, "rank 1 has no state")); err != nil {
			return err
		}
		err = ddp.Join(func() error {
			for range 1 + group.Rank() {
				if err := ddp.Forward(input(1)).Sum().Backward(); err != nil {
					return err
				}
			}
			return nil
		}, dist.JoinOptions{ThrowOnEarlyTermination: true})
		return check(errors.Is(err, gotorch.ErrAborted), "join did not end all ranks: %v", err)
	})
}

func TestOptimizerInBackward(t *testing.T) {
	threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		layer, ddp, err := wrapped(group, dist.DDPOptions{})
		if err != nil {
			return err
		}
		defer ddp.Close()
		before := layer.Weight.Detach().Clone()
		sgd := optim.SGD(nn.Parameters(layer), 0.5)
		if err := ddp.SetOptimizerInBackward(sgd); err != nil {
			return err
		}
		if err := ddp.Forward(input(group.Rank())).Sum().Backward(); err != nil {
			return err
		}
		if err := check(layer.Weight.Grad() == nil, "the gradient is still there"); err != nil {
			return err
		}
		return near(layer.Weight.Detach(), before.Sub(meanInput(2).MulScalar(0.5)), 1e-6)
	})
}

func TestSyncBatchNorm(t *testing.T) {
	threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		norm := nn.NewBatchNorm2d(2)
		model := nn.NewSequential(nn.NewTanh(), nn.NewSequential(norm))
		converted, err := dist.ConvertSyncBatchNorm(group, model)
		if err := errors.Join(err, check(converted == 1, "%d layers were converted", converted)); err != nil {
			return err
		}
		values := make([]float32, 4*2*3)
		for i := range values {
			values[i] = float32(math.Sin(float64(i)))
		}
		all := gotorch.From(values, 4, 2, 3, 1)
		got := model.Forward(all.Slice(0, group.Rank()*2, group.Rank()*2+2))
		alone := nn.NewSequential(nn.NewTanh(), nn.NewBatchNorm2d(2))
		return near(got, alone.Forward(all).Slice(0, group.Rank()*2, group.Rank()*2+2), 1e-5)
	})
}

func TestSyncBatchNormOfANetwork(t *testing.T) {
	alone := vision.NewResNet18(vision.ResNetOptions{Width: 2, NumClasses: 3})
	models := []*vision.ResNet{nn.Clone(alone), nn.Clone(alone)}
	x := gotorch.Rand([]int{4, 3, 32, 32})
	want := alone.Forward(x)
	threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		model, first := models[group.Rank()], 2*group.Rank()
		converted, err := dist.ConvertSyncBatchNorm(group, model)
		if err := errors.Join(err, check(converted == 20, "%d layers were converted", converted)); err != nil {
			return err
		}
		return near(model.Forward(x.Slice(0, first, first+2)), want.Slice(0, first, first+2), 1e-4)
	})
}

func TestModelAveraging(t *testing.T) {
	threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		averager, err := dist.NewPeriodicModelAverager(group, 2, 1)
		if err != nil {
			return err
		}
		defer averager.Close()
		weight := gotorch.From([]float32{0}).SetRequiresGrad(true)
		local, err := dist.NewPostLocalSGDOptimizer(optim.SGD([]*gotorch.Tensor{weight}, 1), averager)
		if err != nil {
			return err
		}
		for step, want := range []float64{-float64(group.Rank() + 1), -3} {
			if err := local.Minimize(weight.MulScalar(float64(group.Rank() + 1)).Sum()); err != nil {
				return err
			}
			if got := weight.Item(); got != want {
				return fmt.Errorf("after step %d the weight is %v, want %v", step, got, want)
			}
		}
		other, err := dist.NewHierarchicalModelAverager([]dist.AveragingLevel{{Period: 3, Group: group}}, 0)
		if err != nil {
			return err
		}
		defer other.Close()
		averaged, err := other.Average([]*gotorch.Tensor{weight})
		if err := errors.Join(err, check(averaged, "step 0 is one to average in")); err != nil {
			return err
		}
		_, err = dist.NewPeriodicModelAverager(group, 0, 0)
		return check(err != nil && strings.Contains(err.Error(), "period is 0"), "a period of 0 gave %v", err)
	})
}

func TestDDPIterations(t *testing.T) {
	threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		_, ddp, err := wrapped(group, dist.DDPOptions{})
		if err != nil {
			return err
		}
		defer ddp.Close()
		if err := ddp.SetSeparateExchanges(2); err != nil {
			return err
		}
		for range 4 {
			if err := ddp.Forward(input(group.Rank())).Sum().Backward(); err != nil {
				return err
			}
		}
		all, err := ddp.Iterations()
		if err := errors.Join(err, check(len(all) == 4, "%d iterations", len(all))); err != nil {
			return err
		}
		for i, one := range all {
			if err := check(one.Number == int64(i) && one.Separate == (i%2 == 1) && len(one.Buckets) == 1 &&
				one.Buckets[0].Bytes == 48 && one.Buckets[0].Done-one.Buckets[0].Begun == one.Communication &&
				one.BackwardBegun+one.Backward+one.Wait == one.Total && one.Begun > 0, "%+v", one); err != nil {
				return err
			}
		}
		s, err := ddp.Statistics()
		if err := errors.Join(err, check(s.Step > 0 && s.StepWithoutExchange > 0 && s.CommunicationAlone > 0, "%+v",
			s)); err != nil {
			return err
		}
		table, err := ddp.StatisticsTable()
		return errors.Join(err, check(strings.Contains(table, "weight") && strings.Contains(table, "48 B"), "%s", table),
			check(ddp.SetSeparateExchanges(-1) != nil, "-1 was taken"))
	})
}

func TestDDPStatistics(t *testing.T) {
	threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		_, ddp, err := wrapped(group, dist.DDPOptions{})
		if err != nil {
			return err
		}
		defer ddp.Close()
		for range 3 {
			if err := ddp.Forward(input(group.Rank())).Sum().Backward(); err != nil {
				return err
			}
		}
		s, err := ddp.Statistics()
		if err != nil {
			return err
		}
		return check(s.BucketsRebuilt && slices.Equal(s.BucketBytes, []int64{48}) && s.Iterations == 3 &&
			s.BackwardCommunication > 0 && slices.Equal(s.BucketParameters[0], []string{"weight"}), "%+v", s)
	})
}

func TestOptionsGivenTwiceAreAnError(t *testing.T) {
	threads(t, 1, func(ctx context.Context, group *dist.ProcessGroup) error {
		ddp, err := dist.NewDDP(group, nn.NewLinear(1, 1))
		if err != nil {
			return err
		}
		defer ddp.Close()
		_, asInit := dist.Init(ctx, dist.Options{}, dist.Options{})
		_, asDDP := dist.NewDDP(group, nn.NewLinear(1, 1), dist.DDPOptions{}, dist.DDPOptions{})
		for _, err := range []error{asInit, asDDP, group.StartTrace(ctx, dist.TraceOptions{}, dist.TraceOptions{}),
			ddp.TryBucketSizes(dist.BucketTrialOptions{}, dist.BucketTrialOptions{}),
			ddp.Join(func() error { return nil }, dist.JoinOptions{}, dist.JoinOptions{})} {
			if !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), "2 structs") {
				return fmt.Errorf("got %v", err)
			}
		}
		return nil
	})
}
