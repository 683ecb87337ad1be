package dist

import (
	"maps"
	"runtime"
	"slices"
	"sync"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

// DDPOptions of [NewDDP].
type DDPOptions struct {
	BucketCapMB          gotorch.Opt[float64] // MiB of gradients that travel together; unset: 25
	FirstBucketMB        float64              // of those that are ready first; 0: 1, or BucketCapMB where that is set
	BroadcastBuffers     gotorch.Opt[bool]    // from rank 0, at the start and while the module trains; unset: true
	FindUnusedParameters bool                 // look for those that a forward did not use
	GradientAsBucketView bool                 // gradients lie in the buckets: saves memory and a copy
	StaticGraph          bool                 // every step uses the same parameters in the same way
	InitSync             gotorch.Opt[bool]    // verify shapes and broadcast from rank 0 at the start; unset: true

	// Leave out buckets that no rank used; needs FindUnusedParameters.
	SkipAllReduceUnusedParams bool
	// A rank's gradient counts as much as its batch has samples; see [DDP.SetBatchSamples].
	AverageBySamples bool
	// Names of parameters and buffers that DDP leaves alone, such as "fc.bias".
	Ignore []string
	// Dtypes to compute and exchange in; parameters and gradients stay as they are.
	MixedPrecision MixedPrecision
}

// MixedPrecision says what a module under [DDP] computes and exchanges in. Unset: unchanged. Source:
// torch.nn.parallel.distributed._MixedPrecision.
type MixedPrecision struct {
	Param  gotorch.Opt[gotorch.DType] // of parameters from Forward to the end of Backward, and of Forward's inputs
	Reduce gotorch.Opt[gotorch.DType] // that gradients are exchanged in; unset: Param
	Buffer gotorch.Opt[gotorch.DType] // of buffers, for good
}

// DDP wraps a module so that Backward averages its gradients over all ranks, while it still computes. All ranks then
// make the same steps. Compute through [DDP.Forward] or, where the module takes or gives several values, [Forward].
// Source: torch.nn.parallel.DistributedDataParallel.
type DDP struct {
	nn.Base
	Module nn.Module

	group   *ProcessGroup
	handle  c.DDP
	watch   *leak.Watch
	options DDPOptions
	buffers []nn.Named `nn:"-"` // that are broadcast
	endHook func()     // of a hook of the program's own; nil: none

	mutex  sync.Mutex
	noSync int // how many NoSync are open
}

// NewDDP wraps a module. All ranks call it with modules of the same shapes; parameters and buffers become those of rank
// 0. Close it before the group. The optimizer is given the module's own parameters, before or after.
func NewDDP(group *ProcessGroup, module nn.Module, options ...DDPOptions) (*DDP, error) {
	o, err := bridge.One(options)
	if err != nil {
		return nil, err
	}
	d := &DDP{Module: module, group: group, options: o}
	err = gotorch.Try(func() {
		ignored := func(one nn.Named) bool { return slices.Contains(o.Ignore, one.Name) }
		parameters := slices.DeleteFunc(nn.NamedParameters(module), ignored)
		buffers := d.moduleBuffers()
		sparse := nn.SparseParameters(module)
		handles := make([]c.Tensor, len(parameters))
		names := make([]string, len(parameters))
		flags := make([]bool, len(parameters))
		for i, one := range parameters {
			handles[i], names[i] = bridge.Handle(one.Tensor, "dist.NewDDP"), one.Name
			flags[i] = slices.Contains(sparse, one.Tensor)
		}
		bufferHandles := make([]c.Tensor, len(buffers))
		for i, one := range buffers {
			bufferHandles[i] = bridge.Handle(one.Tensor, "dist.NewDDP")
		}
		problem := group.use("ddp_create", func(native c.ProcessGroup) (failure *c.Failure) {
			d.handle, failure = c.CreateDDP(native, handles, names, bufferHandles, c.DDPOptions{
				BucketCapMB: o.BucketCapMB.Or(25), BroadcastBuffers: o.BroadcastBuffers.Or(true),
				FindUnusedParameters: o.FindUnusedParameters, GradientAsBucketView: o.GradientAsBucketView,
				StaticGraph: o.StaticGraph, InitSync: o.InitSync.Or(true),
				FirstBucketMB:             o.FirstBucketMB,
				SkipAllReduceUnusedParams: o.SkipAllReduceUnusedParams, AverageBySamples: o.AverageBySamples,
				ParamDType:  int32(o.MixedPrecision.Param.Or(-1)),
				ReduceDType: int32(o.MixedPrecision.Reduce.Or(-1)),
				BufferDType: int32(o.MixedPrecision.Buffer.Or(-1)), SparseGradients: flags,
			})
			return failure
		})
		runtime.KeepAlive(parameters)
		d.buffers = buffers
		if problem != nil {
			panic(problem)
		}
	})
	if err != nil {
		return nil, err
	}
	d.watch = leak.Track(d, "dist.DDP")
	return d, nil
}

func (d *DDP) moduleBuffers() []nn.Named {
	return slices.DeleteFunc(nn.NamedBuffers(d.Module), func(one nn.Named) bool {
		return slices.Contains(d.options.Ignore, one.Name)
	})
}

// refreshBuffers tells the core of buffers that the module has replaced.
func (d *DDP) refreshBuffers() {
	if !d.options.BroadcastBuffers.Or(true) || !d.Module.IsTraining() {
		return
	}
	buffers := d.moduleBuffers()
	if slices.Equal(buffers, d.buffers) {
		return
	}
	handles := make([]c.Tensor, len(buffers))
	for i, one := range buffers {
		handles[i] = bridge.Handle(one.Tensor, "dist.DDP.Forward")
	}
	d.check(c.SetDDPBuffers(d.handle, handles))
	d.buffers = buffers
}

func (d *DDP) check(failure *c.Failure) {
	if failure != nil {
		panic(errorOf(d.group.ctx, d.group.rank, failure))
	}
}

// NoSync calls body, in which backward passes add to this rank's gradients only; the first one after it averages the
// sum over all ranks. Source: DistributedDataParallel.no_sync.
func (d *DDP) NoSync(body func() error) error {
	if d.watch.Closed() {
		return closed("dist.DDP.NoSync", "DDP wrapper")
	}
	if err := d.countNoSync(1); err != nil {
		return err
	}
	defer d.countNoSync(-1)
	return body()
}

// countNoSync counts the NoSync that are open: one may be inside of another.
func (d *DDP) countNoSync(by int) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.noSync += by; d.noSync > 1 || d.noSync == 1 && by < 0 {
		return nil
	}
	failure := c.SetGradSync(d.handle, d.noSync == 0)
	if failure == nil {
		return nil
	}
	d.noSync -= by
	return errorOf(d.group.ctx, d.group.rank, failure)
}

// State is what the next exchange begins with, for a checkpoint of this rank: which gradients travel together, and what
// [PowerSGD] keeps. Each rank saves its own, for what compression lost differs between ranks. It shares the tensors.
func (d *DDP) State() (map[string]*gotorch.Tensor, error) {
	state := map[string]*gotorch.Tensor{}
	err := d.call("state", func() *c.Failure {
		list, failure := c.DDPState(d.handle)
		for _, one := range list {
			state[one.Name] = bridge.Adopt(one.Tensor).(*gotorch.Tensor)
		}
		return failure
	})
	return state, err
}

// LoadState takes copies of what [DDP.State] gave on this rank. Set the same hook before; call it before the first
// Forward. Errors: gotorch.ErrInvalidArgument for a state that does not fit, which changes nothing.
func (d *DDP) LoadState(state map[string]*gotorch.Tensor) error {
	names := slices.Sorted(maps.Keys(state))
	handles := make([]c.Tensor, len(names))
	if err := gotorch.Try(func() {
		for i, name := range names {
			handles[i] = bridge.Handle(state[name], "dist.DDP.LoadState")
		}
	}); err != nil {
		return err
	}
	defer runtime.KeepAlive(state)
	return d.call("load_state", func() *c.Failure { return c.LoadDDPState(d.handle, names, handles) })
}

// SetBatchSamples tells how many samples the next batches have, for AverageBySamples, where that is not the first
// dimension of the first tensor among the inputs; -1: that again.
func (d *DDP) SetBatchSamples(samples int) error {
	return d.call("set_batch_samples", func() *c.Failure { return c.SetBatchSamples(d.handle, samples) })
}

// call runs a function of the wrapper's handle.
func (d *DDP) call(op string, call func() *c.Failure) error {
	if d.watch.Closed() {
		return closed("ddp_"+op, "DDP wrapper")
	}
	failure := call()
	runtime.KeepAlive(d)
	if failure == nil {
		return nil
	}
	return errorOf(d.group.ctx, d.group.rank, failure)
}

// SetOptimizerInBackward has the optimizer, which must hold the module's parameters, step each bucket as soon as it is
// averaged, within Backward, which frees its gradients. Its Step is not called any more. Call it before the first Forward.
func (d *DDP) SetOptimizerInBackward(optimizer *optim.Optimizer) error {
	defer runtime.KeepAlive(optimizer)
	return d.call("set_optimizer_in_backward", func() *c.Failure {
		return c.SetOptimizerInBackward(d.handle, bridge.Optimizer(optimizer))
	})
}

// JoinOptions of [DDP.Join].
type JoinOptions struct {
	DivideByInitialWorldSize gotorch.Opt[bool] // false: average over ranks that still have batches; unset: true
	ThrowOnEarlyTermination  bool              // all ranks fail with gotorch.ErrAborted when the first is out of batches
	// One that exchanges something as it steps, such as that of [NewZeroRedundancyOptimizer]: a rank that is out of
	// batches steps it with the others.
	Optimizer *optim.Optimizer
}

// Join calls body, which makes this rank's steps; their number may differ between ranks. Those that are done take part in
// what the others exchange, and in the end all have the parameters of one that was among the last. All ranks call it.
// A panic of body with a *[Error] is returned as the error.
// Source: torch.distributed.algorithms.Join.
func (d *DDP) Join(body func() error, options ...JoinOptions) error {
	o, err := bridge.One(options)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(o.Optimizer)
	if err := d.call("join", func() *c.Failure {
		var optimizer c.Optimizer
		if o.Optimizer != nil {
			optimizer = bridge.Optimizer(o.Optimizer)
		}
		return c.BeginJoin(d.handle, o.DivideByInitialWorldSize.Or(true), o.ThrowOnEarlyTermination, optimizer)
	}); err != nil {
		return err
	}
	joined := false
	defer func() {
		if !joined {
			c.CancelJoin(d.handle)
		}
	}()
	if problem := gotorch.Try(func() { err = body() }); problem != nil {
		return problem
	}
	if err != nil {
		return err
	}
	joined = true
	return d.call("join", func() *c.Failure { return c.EndJoin(d.handle) })
}

// Close frees the wrapper; the module stays. A second Close does nothing.
func (d *DDP) Close() error {
	if d.watch.Done() {
		c.FreeDDP(d.handle)
		d.handle = nil
		if d.endHook != nil {
			d.endHook()
		}
	}
	return nil
}
