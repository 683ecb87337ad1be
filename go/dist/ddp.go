package dist

import (
	"runtime"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
	"tandem.example/gotorch/nn"
)

// DDPOptions of [NewDDP].
type DDPOptions struct {
	BucketCapMB          gotorch.Opt[float64] // MiB of gradients that travel together; unset: 25
	BroadcastBuffers     gotorch.Opt[bool]    // from rank 0, before each forward that trains; unset: true
	FindUnusedParameters bool                 // look for those that a forward did not use
	GradientAsBucketView bool                 // gradients lie in the buckets: saves memory and a copy
	StaticGraph          bool                 // every step uses the same parameters in the same way
	InitSync             gotorch.Opt[bool]    // verify shapes and broadcast from rank 0 at the start; unset: true
}

// DDP wraps a module so that Backward averages its gradients over all ranks, while it still computes. All ranks then
// make the same steps. Source: torch.nn.parallel.DistributedDataParallel.
type DDP struct {
	nn.Base
	Module nn.Module

	group  *ProcessGroup
	handle c.DDP
	watch  *leak.Watch
}

// NewDDP wraps a module. All ranks call it with modules of the same shapes; parameters and buffers become those of rank
// 0. Close it before the group. The optimizer is given the module's own parameters, before or after.
func NewDDP(group *ProcessGroup, module nn.Module, options ...DDPOptions) (*DDP, error) {
	var o DDPOptions
	if len(options) > 0 {
		o = options[0]
	}
	d := &DDP{Module: module, group: group}
	err := gotorch.Try(func() {
		parameters, buffers := nn.NamedParameters(module), nn.Buffers(module)
		handles := make([]c.Tensor, len(parameters))
		names := make([]string, len(parameters))
		for i, one := range parameters {
			handles[i], names[i] = bridge.Handle(one.Tensor, "ddp_create"), one.Name
		}
		bufferHandles := make([]c.Tensor, len(buffers))
		for i, t := range buffers {
			bufferHandles[i] = bridge.Handle(t, "ddp_create")
		}
		problem := group.use("ddp_create", func(native c.ProcessGroup) (failure *c.Failure) {
			d.handle, failure = c.CreateDDP(native, handles, names, bufferHandles, c.DDPOptions{
				BucketCapMB: o.BucketCapMB.Or(25), BroadcastBuffers: o.BroadcastBuffers.Or(true),
				FindUnusedParameters: o.FindUnusedParameters, GradientAsBucketView: o.GradientAsBucketView,
				StaticGraph: o.StaticGraph, InitSync: o.InitSync.Or(true),
			})
			return failure
		})
		runtime.KeepAlive(parameters)
		runtime.KeepAlive(buffers)
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

// Forward calls the module, which must have one input and one output; see [DDP.Run] for others. It panics with *[Error]
// on a lost or late peer.
func (d *DDP) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	layer, ok := d.Module.(nn.Layer)
	if !ok {
		panic(&gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: "ddp.Forward",
			Message: "the module has no Forward of one input and one output; use Run"})
	}
	d.prepareForward()
	y := layer.Forward(x)
	d.check(c.PrepareBackwardOne(d.handle, bridge.Handle(y, "ddp.Forward")))
	runtime.KeepAlive(y)
	return y
}

// Run calls forward, which calls the module once and gives all outputs that a loss is computed from. It panics with
// *[Error] on a lost or late peer.
func (d *DDP) Run(forward func() []*gotorch.Tensor) []*gotorch.Tensor {
	d.prepareForward()
	outputs := forward()
	handles := make([]c.Tensor, len(outputs))
	for i, y := range outputs {
		handles[i] = bridge.Handle(y, "ddp.Run")
	}
	d.check(c.PrepareBackward(d.handle, handles))
	runtime.KeepAlive(outputs)
	return outputs
}

func (d *DDP) prepareForward() {
	if d.watch.Closed() {
		panic(closed("ddp.Forward", "DDP wrapper"))
	}
	d.check(c.PrepareForward(d.handle, d.IsTraining()))
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
		return closed("ddp.NoSync", "DDP wrapper")
	}
	if failure := c.SetGradSync(d.handle, false); failure != nil {
		return errorOf(d.group.ctx, d.group.rank, failure)
	}
	defer c.SetGradSync(d.handle, true)
	return body()
}

// Close frees the wrapper; the module stays. A second Close does nothing.
func (d *DDP) Close() error {
	if d.watch.Done() {
		c.FreeDDP(d.handle)
		d.handle = nil
	}
	return nil
}
