package dist

import (
	"runtime"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// Differentiable is collectives that autograd sees: Backward exchanges gradients between ranks. Inputs stay as they are,
// results are new tensors. All ranks call them in the same order and run Backward through the same of them: inputs
// require gradients on all ranks or on none, and every result is part of what Backward starts from. Reductions take
// [Sum] and [Avg]. Being part of a forward pass they panic with *[Error], which gotorch.Try returns; the context given
// to [Init] aborts them. Autograd goes back through a graph in the order of its making, as far as one thread made it: a
// forward pass with several of them stays on one, as that of [Main] does and what runs in gotorch.Scope. Source:
// torch.distributed.nn.functional.
type Differentiable struct{ group *ProcessGroup }

// Differentiable collectives of this group.
func (g *ProcessGroup) Differentiable() Differentiable { return Differentiable{g} }

func (d Differentiable) run(op string, all operands, call func(group c.ProcessGroup, handles [][]c.Tensor) *c.Failure) {
	handles, err := all.handles(op)
	if err == nil {
		err = d.group.use(op, func(group c.ProcessGroup) *c.Failure { return call(group, handles) })
	}
	runtime.KeepAlive(all)
	if err != nil {
		panic(err)
	}
}

func (d Differentiable) one(op string, all operands,
	call func(group c.ProcessGroup, handles [][]c.Tensor) (c.Made, *c.Failure)) *gotorch.Tensor {
	var made c.Made
	d.run(op, all, func(group c.ProcessGroup, handles [][]c.Tensor) (failure *c.Failure) {
		made, failure = call(group, handles)
		return failure
	})
	return bridge.Wrap(made).(*gotorch.Tensor)
}

func (d Differentiable) several(op string, all operands,
	call func(group c.ProcessGroup, handles [][]c.Tensor) ([]c.Made, *c.Failure)) []*gotorch.Tensor {
	var made []c.Made
	d.run(op, all, func(group c.ProcessGroup, handles [][]c.Tensor) (failure *c.Failure) {
		made, failure = call(group, handles)
		return failure
	})
	tensors := make([]*gotorch.Tensor, len(made))
	for i := range made {
		tensors[i] = bridge.Wrap(made[i]).(*gotorch.Tensor)
	}
	return tensors
}

// Broadcast gives root's t on every rank. Its gradient is the sum of all ranks', on root; zeros elsewhere.
func (d Differentiable) Broadcast(t *gotorch.Tensor, root int) *gotorch.Tensor {
	return d.one("broadcast", operands{one(t)}, func(group c.ProcessGroup, h [][]c.Tensor) (c.Made, *c.Failure) {
		return c.DifferentiableBroadcast(group, h[0][0], root)
	})
}

// AllReduce gives the reduction on every rank. Its gradient is the same reduction of gradients.
func (d Differentiable) AllReduce(t *gotorch.Tensor, op ReduceOp) *gotorch.Tensor {
	return d.one("all_reduce", operands{one(t)}, func(group c.ProcessGroup, h [][]c.Tensor) (c.Made, *c.Failure) {
		return c.DifferentiableAllReduce(group, h[0][0], int32(op))
	})
}

// Reduce gives the reduction on root, zeros elsewhere. Its gradient is root's, on every rank.
func (d Differentiable) Reduce(t *gotorch.Tensor, root int, op ReduceOp) *gotorch.Tensor {
	return d.one("reduce", operands{one(t)}, func(group c.ProcessGroup, h [][]c.Tensor) (c.Made, *c.Failure) {
		return c.DifferentiableReduce(group, h[0][0], root, int32(op))
	})
}

// Gather gives all ranks' tensors, of one shape, in order of rank, on root; zeros elsewhere. Its gradient is scattered
// from root.
func (d Differentiable) Gather(t *gotorch.Tensor, root int) []*gotorch.Tensor {
	return d.several("gather", operands{one(t)}, func(group c.ProcessGroup, h [][]c.Tensor) ([]c.Made, *c.Failure) {
		return c.DifferentiableGather(group, h[0][0], root, d.group.size)
	})
}

// Scatter gives this rank's of root's tensors, one for each rank. Other ranks give as many, of the same shape, whose
// values do not matter. Its gradient is gathered to root; zeros elsewhere.
func (d Differentiable) Scatter(tensors []*gotorch.Tensor, root int) *gotorch.Tensor {
	return d.one("scatter", operands{tensors}, func(group c.ProcessGroup, h [][]c.Tensor) (c.Made, *c.Failure) {
		return c.DifferentiableScatter(group, h[0], root)
	})
}

// AllGather gives all ranks' tensors, of one shape, in order of rank. Each one's gradient is the sum of what all ranks
// have for it.
func (d Differentiable) AllGather(t *gotorch.Tensor) []*gotorch.Tensor {
	return d.several("all_gather", operands{one(t)}, func(group c.ProcessGroup, h [][]c.Tensor) ([]c.Made, *c.Failure) {
		return c.DifferentiableAllGather(group, h[0][0], d.group.size)
	})
}

// ReduceScatter gives the reduction of what all ranks give for this one: tensors[r] is for rank r. Its gradient is
// gathered from all.
func (d Differentiable) ReduceScatter(tensors []*gotorch.Tensor, op ReduceOp) *gotorch.Tensor {
	return d.one("reduce_scatter", operands{tensors}, func(group c.ProcessGroup, h [][]c.Tensor) (c.Made, *c.Failure) {
		return c.DifferentiableReduceScatter(group, h[0], int32(op))
	})
}

// AllToAll sends tensors[r], all of one shape, to rank r and gives what comes from each. Its gradient is sent back.
func (d Differentiable) AllToAll(tensors []*gotorch.Tensor) []*gotorch.Tensor {
	return d.several("all_to_all", operands{tensors}, func(group c.ProcessGroup, h [][]c.Tensor) ([]c.Made, *c.Failure) {
		return c.DifferentiableAllToAll(group, h[0], d.group.size)
	})
}

// AllToAllSingle is AllToAll with rows of one tensor, as many for each rank as the splits say; nil: equal parts.
func (d Differentiable) AllToAllSingle(t *gotorch.Tensor, outputSplits, inputSplits []int) *gotorch.Tensor {
	return d.one("all_to_all_single", operands{one(t)}, func(group c.ProcessGroup, h [][]c.Tensor) (c.Made, *c.Failure) {
		return c.DifferentiableAllToAllSingle(group, h[0][0], outputSplits, inputSplits)
	})
}
