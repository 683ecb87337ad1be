package dist

import (
	"runtime"
	"strings"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

// ConvertSyncBatchNorm has all BatchNorm layers in the tree normalize over the batches of all ranks together, while they
// train; it gives their number. Parameters and buffers stay, so it may come before or after an optimizer and [NewDDP].
// Source: torch.nn.SyncBatchNorm.convert_sync_batchnorm.
func ConvertSyncBatchNorm(group *ProcessGroup, module nn.Module) (converted int, err error) {
	seen := map[nn.Module]bool{}
	var walk func(nn.Module) error
	walk = func(m nn.Module) error {
		if m == nil || seen[m] {
			return nil
		}
		seen[m] = true
		if handle, kind := bridge.Module(m); handle != nil {
			norms := batchNorms(m, kind)
			if converted += norms; norms == 0 {
				return nil
			}
			return group.use("module_synchronize_batch_norm", func(native c.ProcessGroup) *c.Failure {
				defer runtime.KeepAlive(m)
				return c.SynchronizeBatchNorm(handle, native)
			})
		}
		for _, child := range nn.Children(m) {
			if err := walk(child.Module); err != nil {
				return err
			}
		}
		return nil
	}
	problem := gotorch.Try(func() { err = walk(module) })
	if problem != nil {
		err = problem
	}
	return converted, err
}

// batchNorms is the number of layers that a module of LibTorch's is, or that a network has in it.
func batchNorms(m nn.Module, kind string) (count int) {
	if strings.HasPrefix(kind, "BatchNorm") {
		return 1
	}
	for _, one := range nn.NamedBuffers(m) {
		if strings.HasSuffix(one.Name, ".num_batches_tracked") {
			count++
		}
	}
	return count
}

// ModelAverager averages models over ranks now and then, instead of gradients at each step. Source:
// torch.distributed.algorithms.model_averaging.
type ModelAverager struct {
	group  *ProcessGroup
	handle c.ModelAverager
	watch  *leak.Watch
}

func newAverager(group *ProcessGroup, handle c.ModelAverager) *ModelAverager {
	a := &ModelAverager{group: group, handle: handle}
	a.watch = leak.Track(a, "dist.ModelAverager")
	return a
}

// NewPeriodicModelAverager averages every period steps from step warmup on.
func NewPeriodicModelAverager(group *ProcessGroup, period, warmup int) (a *ModelAverager, err error) {
	err = group.use("periodic_model_averager_create", func(native c.ProcessGroup) *c.Failure {
		handle, failure := c.CreatePeriodicAverager(native, period, warmup)
		if failure == nil {
			a = newAverager(group, handle)
		}
		return failure
	})
	return a, err
}

// AveragingLevel is how often to average over which group.
type AveragingLevel struct {
	Period int
	Group  *ProcessGroup // this rank's of that size
}

// NewHierarchicalModelAverager averages over larger groups less often: periods and sizes rise.
func NewHierarchicalModelAverager(levels []AveragingLevel, warmup int) (a *ModelAverager, err error) {
	periods, groups := make([]int64, len(levels)), make([]c.ProcessGroup, len(levels))
	var create func(next int) *c.Failure
	create = func(next int) *c.Failure {
		if next == len(levels) {
			handle, failure := c.CreateHierarchicalAverager(periods, groups, warmup)
			if failure == nil {
				a = newAverager(levels[next-1].Group, handle)
			}
			return failure
		}
		var failure *c.Failure
		periods[next] = int64(levels[next].Period)
		if problem := levels[next].Group.use("hierarchical_model_averager_create", func(native c.ProcessGroup) *c.Failure {
			groups[next] = native
			failure = create(next + 1)
			return nil
		}); problem != nil {
			err = problem
		}
		return failure
	}
	if len(levels) == 0 {
		return nil, &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "dist.NewHierarchicalModelAverager",
			Message: "a hierarchy needs at least one level"}
	}
	if failure := create(0); failure != nil {
		return nil, bridge.Error(failure)
	}
	return a, err
}

// Average counts a step, and averages the parameters when it is one to average in; it tells whether. All ranks call it,
// after the optimizer's Step.
func (a *ModelAverager) Average(parameters []*gotorch.Tensor) (averaged bool, err error) {
	if a.watch.Closed() {
		return false, closed("model_averager_average", "model averager")
	}
	problem := gotorch.Try(func() {
		handles := make([]c.Tensor, len(parameters))
		for i, t := range parameters {
			handles[i] = bridge.Handle(t, "dist.ModelAverager.Average")
		}
		var failure *c.Failure
		averaged, failure = c.AverageModel(a.handle, handles)
		runtime.KeepAlive(parameters)
		if failure != nil {
			err = errorOf(a.group.ctx, a.group.rank, failure)
		}
	})
	if problem != nil {
		err = problem
	}
	return averaged, err
}

// Close frees the averager. A second Close does nothing.
func (a *ModelAverager) Close() error {
	if a.watch.Done() {
		c.FreeAverager(a.handle)
		a.handle = nil
	}
	return nil
}

// NewPostLocalSGDOptimizer steps the optimizer and then averages its parameters; the averager's step is part of its state.
// Source: torch.distributed.optim.PostLocalSGDOptimizer.
func NewPostLocalSGDOptimizer(optimizer *optim.Optimizer, averager *ModelAverager) (*optim.Optimizer, error) {
	if averager.watch.Closed() {
		return nil, closed("post_local_sgd_optimizer_create", "model averager")
	}
	handle, failure := c.CreatePostLocalSGD(bridge.Optimizer(optimizer), averager.handle)
	runtime.KeepAlive(optimizer)
	if failure != nil {
		return nil, bridge.Error(failure)
	}
	return bridge.NewOptimizer("PostLocalSGD", handle, optimizer.Parameters()).(*optim.Optimizer), nil
}

// NewZeroRedundancyOptimizer makes an optimizer whose state is spread over the ranks: each updates its share of the
// parameters and sends them to the others. All ranks step it together. kind is "SGD", "Adam", "AdamW", "Adagrad" or
// "RMSprop", with options by LibTorch's names ("lr", "momentum", "beta1", …). Its State is this rank's share until
// [ConsolidateState]; LoadState takes the whole. Source: torch.distributed.optim.ZeroRedundancyOptimizer.
func NewZeroRedundancyOptimizer(group *ProcessGroup, kind string, parameters []*gotorch.Tensor,
	options map[string]float64) (made *optim.Optimizer, err error) {
	problem := gotorch.Try(func() {
		frame := c.NewFrame()
		for name, value := range options {
			frame.Name(name)
			frame.Double(value)
		}
		handles := make([]c.Tensor, len(parameters))
		for i, t := range parameters {
			handles[i] = bridge.Handle(t, kind)
		}
		err = group.use("zero_redundancy_optimizer_create", func(native c.ProcessGroup) *c.Failure {
			handle, failure := c.CreateZero(native, kind, handles, frame)
			if failure == nil {
				made = bridge.NewOptimizer("ZeroRedundancyOptimizer", handle, parameters).(*optim.Optimizer)
			}
			return failure
		})
		runtime.KeepAlive(parameters)
	})
	if problem != nil {
		err = problem
	}
	return made, err
}

// ConsolidateState has rank to hold the whole state of an optimizer of [NewZeroRedundancyOptimizer], for its State there,
// until the next Step. All ranks call it.
func ConsolidateState(optimizer *optim.Optimizer, to int) error {
	failure := c.ConsolidateZero(bridge.Optimizer(optimizer), to)
	runtime.KeepAlive(optimizer)
	return bridge.Error(failure)
}
