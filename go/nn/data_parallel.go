package nn

import (
	"runtime"
	"slices"
	"sync"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// DataParallelOptions of [NewDataParallel].
type DataParallelOptions struct {
	Replicas int              // 0: one for each device, on the CPU one for each of gotorch.NumThreads
	Devices  []gotorch.Device // GPUs, one for each replica, the module's first; nil: those of the process
	Dim      int              // of the batch, in inputs and in outputs
	Threads  int              // that an operator of a replica uses on the CPU; 0: gotorch.NumThreads, shared
}

// DataParallel is a module that several replicas compute in one process, on several GPUs, or on several cores of the CPU
// as if they were devices: each computes a part of the batch, on a thread of its own.
//
// A replica is a copy of the module, made when it is first needed: its modules, parameters and buffers are its own, what
// else its fields refer to is shared. The parameters of all have the same memory where they are on one device. A replica
// sees [Train] and [Eval], and changes of parameters; after other changes make a new DataParallel. Buffers of the first
// replica are the module's own, the others begin each forward with copies.
//
// Gradients are summed in the order of replicas, the same bits each time. A tensor that requires a gradient and is
// neither a parameter nor an input, such as one that a function captures, is refused. Random numbers on the CPU come from
// seeds that each forward draws, one a replica. Goroutines that use one DataParallel take turns.
//
// It is itself a module, with the one given as "module": wrap it in dist.NewDDP for several processes. Source:
// torch.nn.DataParallel.
type DataParallel[M Module] struct {
	Base
	Module M

	replicas *replicas[M] `nn:"-"`
}

// replicas are what a DataParallel has beside its module.
type replicas[M Module] struct {
	handle  c.DataParallel // nil after Close
	cleanup runtime.Cleanup

	mutex sync.Mutex
	idle  []*replicaSet[M]
}

// replicaSet are the replicas of one forward, until its graph is gone.
type replicaSet[M Module] struct {
	names   []string // of the module's parameters and buffers
	modules []M
	tensors c.ReplicaTensors
	keep    []*gotorch.Tensor // whose handles those are
}

// A module may give so many tensors.
const replicaOutputs = 1024

// NewDataParallel has replicas of a module compute. It panics with *gotorch.Error on options that do not fit together.
func NewDataParallel[M Module](module M, options ...DataParallelOptions) *DataParallel[M] {
	o := first(options)
	device := gotorch.CPU
	if tensors := slices.Concat(Parameters(module), Buffers(module)); len(tensors) > 0 {
		device = tensors[0].Device()
	}
	devices := make([]c.Device, len(o.Devices))
	for i, one := range o.Devices {
		devices[i] = nativeDevice(one)
	}
	if o.Replicas < 0 {
		panic(misuse("%d replicas were asked for; give 1 or more, or leave it unset", o.Replicas))
	}
	handle, err := c.CreateDataParallel(o.Replicas, o.Threads, o.Dim, nativeDevice(device), devices)
	bridge.Must(err)
	d := &DataParallel[M]{Module: module, replicas: &replicas[M]{handle: handle}}
	d.replicas.cleanup = runtime.AddCleanup(d, func(handle c.DataParallel) { c.FreeDataParallel(handle) }, handle)
	return d
}

func nativeDevice(device gotorch.Device) c.Device {
	return c.Device{Kind: int32(device.Kind), Index: int32(device.Index)}
}

// Replicas is their number.
func (d *DataParallel[M]) Replicas() int {
	count := c.ReplicaCount(d.handle())
	runtime.KeepAlive(d)
	return count
}

// Close ends the replicas' threads; the module stays. A second Close does nothing.
func (d *DataParallel[M]) Close() {
	if d.replicas.handle != nil {
		d.replicas.cleanup.Stop()
		c.FreeDataParallel(d.replicas.handle)
		d.replicas.handle = nil
	}
}

func (d *DataParallel[M]) handle() c.DataParallel {
	if d.replicas.handle == nil {
		panic(&gotorch.Error{Code: gotorch.ErrClosed, Op: "DataParallel", Message: "it was closed (Close) before this use"})
	}
	return d.replicas.handle
}

// Forward calls a module of one input and one output; see [ParallelApply] for others.
func (d *DataParallel[M]) Forward(x *gotorch.Tensor) *gotorch.Tensor {
	if _, ok := any(d.Module).(Layer); !ok {
		panic(misuse("%T has no Forward of one input and one output; use ParallelApply", d.Module))
	}
	return ParallelApply(d, x, func(replica M, x *gotorch.Tensor) *gotorch.Tensor {
		return any(replica).(Layer).Forward(x)
	})
}

// ParallelApply calls forward for each replica with its part of the inputs, at the same time, and joins what they give.
// In and Out are tensors, or structs, pointers to such, slices, arrays and maps of them; tensors are split and joined
// along the batch's dimension, those without one go to every replica, and become a vector with one element a replica.
// What else is in the inputs all replicas share; of what else is in the outputs the first replica's is given.
//
// forward runs as [gotorch.Tensor.RegisterHook] says of callbacks, with the modes of the caller: it must use the module
// that it is given, not the one it knows. A panic in it is a *[gotorch.CallbackError] of this call, which says which
// replica it was, and what that was given.
func ParallelApply[M Module, In, Out any](d *DataParallel[M], inputs In, forward func(replica M, inputs In) Out) Out {
	count := d.Replicas()
	if count == 1 {
		return forward(d.Module, withTensors(&inputs, onDeviceOf(d.Module, tensorsIn(&inputs))))
	}
	set := d.replicas.take(d.Module, count)
	given := tensorsIn(&inputs)
	handles := make([]c.Tensor, len(given))
	for i, t := range given {
		if t != nil {
			handles[i] = bridge.Handle(t, "ParallelApply")
		}
	}
	outputs := make([]Out, count)
	made, err := c.ForwardReplicas(d.handle(), set.tensors, handles, replicaOutputs,
		func(call c.Invocation) ([]c.Tensor, error) {
			return bridge.InScopeOf(call, call.Inputs, func(own []any) ([]any, error) {
				tensors := make([]*gotorch.Tensor, len(own))
				for i, t := range own {
					tensors[i], _ = t.(*gotorch.Tensor)
				}
				output := forward(set.modules[call.Replica], withTensors(&inputs, tensors))
				outputs[call.Replica] = output
				var results []any
				for _, t := range tensorsIn(&output) {
					results = append(results, t)
				}
				return results, nil
			})
		}, func() { d.replicas.give(set) })
	runtime.KeepAlive(given)
	runtime.KeepAlive(d)
	if err != nil {
		d.replicas.give(set)
		bridge.Must(err)
	}
	joined := make([]*gotorch.Tensor, len(made))
	for i, m := range made {
		if m.Handle != nil {
			joined[i] = bridge.Wrap(m).(*gotorch.Tensor)
		}
	}
	return withTensors(&outputs[0], joined)
}

// onDeviceOf moves tensors to where a module's first parameter is.
func onDeviceOf(module Module, tensors []*gotorch.Tensor) []*gotorch.Tensor {
	parameters := Parameters(module)
	if len(parameters) == 0 {
		return tensors
	}
	device := parameters[0].Device()
	moved := slices.Clone(tensors)
	for i, t := range moved {
		if t != nil && t.Device() != device {
			moved[i] = t.ToDevice(device)
		}
	}
	return moved
}

// take gives replicas that nobody uses, with the module's modes.
func (r *replicas[M]) take(module M, count int) *replicaSet[M] {
	parameters, buffers := NamedParameters(module), NamedBuffers(module)
	var names []string
	for _, one := range slices.Concat(parameters, buffers) {
		names = append(names, one.Name)
	}
	set := r.fitting(names)
	if set == nil {
		set = &replicaSet[M]{names: names}
		for range count {
			replica, own := replicate(module)
			set.modules = append(set.modules, replica)
			set.tensors.ReplicaParameters = append(set.tensors.ReplicaParameters, set.handlesOf(parameters, own)...)
			set.tensors.ReplicaBuffers = append(set.tensors.ReplicaBuffers, set.handlesOf(buffers, own)...)
		}
	}
	set.tensors.Parameters, set.tensors.Buffers = handlesOf(parameters), handlesOf(buffers)
	for _, replica := range set.modules {
		takeModes(replica, module)
	}
	return set
}

// fitting is an idle set for a module with tensors of these names; others are released.
func (r *replicas[M]) fitting(names []string) *replicaSet[M] {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.idle = slices.DeleteFunc(r.idle, func(set *replicaSet[M]) bool { return !slices.Equal(set.names, names) })
	if len(r.idle) == 0 {
		return nil
	}
	set := r.idle[len(r.idle)-1]
	r.idle = r.idle[:len(r.idle)-1]
	return set
}

func (r *replicas[M]) give(set *replicaSet[M]) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.idle = append(r.idle, set)
}

func (s *replicaSet[M]) handlesOf(originals []Named, own map[*gotorch.Tensor]*gotorch.Tensor) (list []c.Tensor) {
	for _, one := range originals {
		t := own[one.Tensor]
		if t == nil {
			panic(misuse("%s cannot be copied for a replica; make it a field of a module", one.Name))
		}
		s.keep = append(s.keep, t)
		list = append(list, bridge.Handle(t, "DataParallel"))
	}
	return list
}

func handlesOf(named []Named) (list []c.Tensor) {
	for _, one := range named {
		list = append(list, bridge.Handle(one.Tensor, "DataParallel"))
	}
	return list
}

// takeModes has the modules of a replica train or evaluate, and call hooks, as the module's do.
func takeModes(replica, module Module) {
	var originals []Module
	walk("", module, map[Module]bool{}, func(_ string, m Module, _ parts) { originals = append(originals, m) })
	walk("", replica, map[Module]bool{}, func(_ string, m Module, _ parts) {
		if on := originals[0].IsTraining(); m.IsTraining() != on {
			m.setTraining(on)
		}
		m.shareHooks(originals[0].hooks(false))
		originals = originals[1:]
	})
}
