package dist

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// ReduceOp is how a reduction combines elements. The numbers are those of tandem.h.
//
// Gloo reduces Float32, Float64, Float16, BFloat16, Int8, Uint8, Int32, Int64 and Bool (Sum and Max are "or", Product
// and Min "and"; no Avg), and complex numbers for Sum and Avg; ReduceScatter takes Int16 as well. Avg of whole numbers
// rounds towards zero. The bitwise ones take whole numbers and Bool. What only moves takes every type.
type ReduceOp int32

// The ways.
const (
	Sum     ReduceOp = 0
	Avg     ReduceOp = 1
	Product ReduceOp = 2
	Min     ReduceOp = 3
	Max     ReduceOp = 4
	BitAnd  ReduceOp = 5
	BitOr   ReduceOp = 6
	BitXor  ReduceOp = 7
)

// operands are the tensors of a collective, in lists: handles of each list are kept apart.
type operands [][]*gotorch.Tensor

// handles are those of each list, in memory of one piece: this is part of the time of every collective.
func (all operands) handles(op string) (lists [][]c.Tensor, err error) {
	count := 0
	for _, list := range all {
		count += len(list)
	}
	flat := make([]c.Tensor, 0, count)
	lists = make([][]c.Tensor, len(all))
	err = gotorch.Try(func() {
		for i, list := range all {
			begin := len(flat)
			for _, t := range list {
				flat = append(flat, bridge.Handle(t, op))
			}
			lists[i] = flat[begin:]
		}
	})
	return lists, err
}

type started func(group c.ProcessGroup, handles [][]c.Tensor, async bool) (c.Work, *c.Failure)

// wait runs a collective to its end.
func (g *ProcessGroup) wait(ctx context.Context, op string, all operands, call started) error {
	handles, err := all.handles(op)
	if err != nil {
		return err
	}
	err = g.blocking(ctx, op, func(group c.ProcessGroup) *c.Failure {
		_, failure := call(group, handles, false)
		return failure
	})
	runtime.KeepAlive(all)
	return err
}

// start begins a collective.
func (g *ProcessGroup) start(op string, all operands, result []*gotorch.Tensor, call started) (work *Work, err error) {
	handles, err := all.handles(op)
	if err != nil {
		return nil, err
	}
	err = g.use(op, func(group c.ProcessGroup) *c.Failure {
		handle, failure := call(group, handles, true)
		if failure == nil {
			work = newWork(g, handle, result)
		}
		return failure
	})
	runtime.KeepAlive(all)
	return work, err
}

func one(t *gotorch.Tensor) []*gotorch.Tensor { return []*gotorch.Tensor{t} }

// AllReduce combines t over all ranks, which all get the result.
func (g *ProcessGroup) AllReduce(ctx context.Context, t *gotorch.Tensor, op ReduceOp) error {
	return g.wait(ctx, "all_reduce", operands{one(t)}, allReduce(op))
}

// AllReduceAsync starts an [ProcessGroup.AllReduce]; t must not be used before the work's Wait.
func (g *ProcessGroup) AllReduceAsync(t *gotorch.Tensor, op ReduceOp) (*Work, error) {
	return g.start("all_reduce", operands{one(t)}, one(t), allReduce(op))
}

func allReduce(op ReduceOp) started {
	return func(group c.ProcessGroup, h [][]c.Tensor, async bool) (c.Work, *c.Failure) {
		return c.AllReduce(group, h[0][0], int32(op), async)
	}
}

// AllReducePremulSum multiplies t, of a float or complex type, by this rank's factor and sums it over all ranks.
func (g *ProcessGroup) AllReducePremulSum(ctx context.Context, t *gotorch.Tensor, factor float64) error {
	return g.wait(ctx, "all_reduce_premul_sum", operands{one(t)}, allReducePremulSum(factor))
}

// AllReducePremulSumAsync starts an [ProcessGroup.AllReducePremulSum].
func (g *ProcessGroup) AllReducePremulSumAsync(t *gotorch.Tensor, factor float64) (*Work, error) {
	return g.start("all_reduce_premul_sum", operands{one(t)}, one(t), allReducePremulSum(factor))
}

func allReducePremulSum(factor float64) started {
	return func(group c.ProcessGroup, h [][]c.Tensor, async bool) (c.Work, *c.Failure) {
		return c.AllReducePremulSum(group, h[0][0], factor, async)
	}
}

// AllReduceCoalesced is [ProcessGroup.AllReduce] of several tensors, as one message for each type.
func (g *ProcessGroup) AllReduceCoalesced(ctx context.Context, tensors []*gotorch.Tensor, op ReduceOp) error {
	return g.wait(ctx, "all_reduce_coalesced", operands{tensors}, allReduceCoalesced(op))
}

// AllReduceCoalescedAsync starts an [ProcessGroup.AllReduceCoalesced].
func (g *ProcessGroup) AllReduceCoalescedAsync(tensors []*gotorch.Tensor, op ReduceOp) (*Work, error) {
	return g.start("all_reduce_coalesced", operands{tensors}, tensors, allReduceCoalesced(op))
}

func allReduceCoalesced(op ReduceOp) started {
	return func(group c.ProcessGroup, h [][]c.Tensor, async bool) (c.Work, *c.Failure) {
		return c.AllReduceCoalesced(group, h[0], int32(op), async)
	}
}

// Broadcast overwrites t on all ranks with root's.
func (g *ProcessGroup) Broadcast(ctx context.Context, t *gotorch.Tensor, root int) error {
	return g.wait(ctx, "broadcast", operands{one(t)}, broadcast(root))
}

// BroadcastAsync starts a [ProcessGroup.Broadcast].
func (g *ProcessGroup) BroadcastAsync(t *gotorch.Tensor, root int) (*Work, error) {
	return g.start("broadcast", operands{one(t)}, one(t), broadcast(root))
}

func broadcast(root int) started {
	return func(group c.ProcessGroup, h [][]c.Tensor, async bool) (c.Work, *c.Failure) {
		return c.Broadcast(group, h[0][0], root, async)
	}
}

// Reduce combines t over all ranks; root alone gets the result.
func (g *ProcessGroup) Reduce(ctx context.Context, t *gotorch.Tensor, root int, op ReduceOp) error {
	return g.wait(ctx, "reduce", operands{one(t)}, reduce(root, op))
}

// ReduceAsync starts a [ProcessGroup.Reduce].
func (g *ProcessGroup) ReduceAsync(t *gotorch.Tensor, root int, op ReduceOp) (*Work, error) {
	return g.start("reduce", operands{one(t)}, one(t), reduce(root, op))
}

func reduce(root int, op ReduceOp) started {
	return func(group c.ProcessGroup, h [][]c.Tensor, async bool) (c.Work, *c.Failure) {
		return c.Reduce(group, h[0][0], root, int32(op), async)
	}
}

// AllGather writes every rank's input to outputs, one tensor for each rank, in order of rank, of the shape of that rank's
// input. Every rank gives the same list of shapes.
func (g *ProcessGroup) AllGather(ctx context.Context, outputs []*gotorch.Tensor, input *gotorch.Tensor) error {
	return g.wait(ctx, "all_gather", operands{outputs, one(input)}, allGather())
}

// AllGatherAsync starts an [ProcessGroup.AllGather].
func (g *ProcessGroup) AllGatherAsync(outputs []*gotorch.Tensor, input *gotorch.Tensor) (*Work, error) {
	return g.start("all_gather", operands{outputs, one(input)}, outputs, allGather())
}

func allGather() started {
	return func(group c.ProcessGroup, h [][]c.Tensor, async bool) (c.Work, *c.Failure) {
		return c.AllGather(group, h[0], h[1][0], async)
	}
}

// AllGatherIntoTensor writes every rank's input, all of one shape, one after another into output.
func (g *ProcessGroup) AllGatherIntoTensor(ctx context.Context, output, input *gotorch.Tensor) error {
	return g.wait(ctx, "all_gather_into_tensor", operands{one(output), one(input)}, allGatherIntoTensor())
}

// AllGatherIntoTensorAsync starts an [ProcessGroup.AllGatherIntoTensor].
func (g *ProcessGroup) AllGatherIntoTensorAsync(output, input *gotorch.Tensor) (*Work, error) {
	return g.start("all_gather_into_tensor", operands{one(output), one(input)}, one(output), allGatherIntoTensor())
}

func allGatherIntoTensor() started {
	return func(group c.ProcessGroup, h [][]c.Tensor, async bool) (c.Work, *c.Failure) {
		return c.AllGatherIntoTensor(group, h[0][0], h[1][0], async)
	}
}

// Gather writes every rank's input to root's outputs, one for each rank, shaped like input; elsewhere outputs is nil.
func (g *ProcessGroup) Gather(ctx context.Context, outputs []*gotorch.Tensor, input *gotorch.Tensor, root int) error {
	return g.wait(ctx, "gather", operands{outputs, one(input)}, gather(root))
}

// GatherAsync starts a [ProcessGroup.Gather].
func (g *ProcessGroup) GatherAsync(outputs []*gotorch.Tensor, input *gotorch.Tensor, root int) (*Work, error) {
	return g.start("gather", operands{outputs, one(input)}, outputs, gather(root))
}

func gather(root int) started {
	return func(group c.ProcessGroup, h [][]c.Tensor, async bool) (c.Work, *c.Failure) {
		return c.Gather(group, h[0], h[1][0], root, async)
	}
}

// Scatter writes root's inputs, one for each rank, shaped like output, to the ranks' outputs; elsewhere inputs is nil.
func (g *ProcessGroup) Scatter(ctx context.Context, output *gotorch.Tensor, inputs []*gotorch.Tensor, root int) error {
	return g.wait(ctx, "scatter", operands{one(output), inputs}, scatter(root))
}

// ScatterAsync starts a [ProcessGroup.Scatter].
func (g *ProcessGroup) ScatterAsync(output *gotorch.Tensor, inputs []*gotorch.Tensor, root int) (*Work, error) {
	return g.start("scatter", operands{one(output), inputs}, one(output), scatter(root))
}

func scatter(root int) started {
	return func(group c.ProcessGroup, h [][]c.Tensor, async bool) (c.Work, *c.Failure) {
		return c.Scatter(group, h[0][0], h[1], root, async)
	}
}

// ReduceScatter combines what all ranks give for this one: inputs[r] is for rank r and has the shape of its output.
func (g *ProcessGroup) ReduceScatter(ctx context.Context, output *gotorch.Tensor, inputs []*gotorch.Tensor, op ReduceOp) error {
	return g.wait(ctx, "reduce_scatter", operands{one(output), inputs}, reduceScatter(op))
}

// ReduceScatterAsync starts a [ProcessGroup.ReduceScatter].
func (g *ProcessGroup) ReduceScatterAsync(output *gotorch.Tensor, inputs []*gotorch.Tensor, op ReduceOp) (*Work, error) {
	return g.start("reduce_scatter", operands{one(output), inputs}, one(output), reduceScatter(op))
}

func reduceScatter(op ReduceOp) started {
	return func(group c.ProcessGroup, h [][]c.Tensor, async bool) (c.Work, *c.Failure) {
		return c.ReduceScatter(group, h[0][0], h[1], int32(op), async)
	}
}

// ReduceScatterTensor is [ProcessGroup.ReduceScatter] with the inputs one after another in one tensor.
func (g *ProcessGroup) ReduceScatterTensor(ctx context.Context, output, input *gotorch.Tensor, op ReduceOp) error {
	return g.wait(ctx, "reduce_scatter_tensor", operands{one(output), one(input)}, reduceScatterTensor(op))
}

// ReduceScatterTensorAsync starts a [ProcessGroup.ReduceScatterTensor].
func (g *ProcessGroup) ReduceScatterTensorAsync(output, input *gotorch.Tensor, op ReduceOp) (*Work, error) {
	return g.start("reduce_scatter_tensor", operands{one(output), one(input)}, one(output), reduceScatterTensor(op))
}

func reduceScatterTensor(op ReduceOp) started {
	return func(group c.ProcessGroup, h [][]c.Tensor, async bool) (c.Work, *c.Failure) {
		return c.ReduceScatterTensor(group, h[0][0], h[1][0], int32(op), async)
	}
}

// AllToAll sends inputs[r] to rank r and writes what comes from it to outputs[r], which has the shape of what it sends.
func (g *ProcessGroup) AllToAll(ctx context.Context, outputs, inputs []*gotorch.Tensor) error {
	return g.wait(ctx, "all_to_all", operands{outputs, inputs}, allToAll())
}

// AllToAllAsync starts an [ProcessGroup.AllToAll].
func (g *ProcessGroup) AllToAllAsync(outputs, inputs []*gotorch.Tensor) (*Work, error) {
	return g.start("all_to_all", operands{outputs, inputs}, outputs, allToAll())
}

func allToAll() started {
	return func(group c.ProcessGroup, h [][]c.Tensor, async bool) (c.Work, *c.Failure) {
		return c.AllToAll(group, h[0], h[1], async)
	}
}

// AllToAllSingle is [ProcessGroup.AllToAll] with rows of one tensor, as many for each rank as the splits say; nil: equal
// parts.
func (g *ProcessGroup) AllToAllSingle(ctx context.Context, output, input *gotorch.Tensor, outputSplits, inputSplits []int) error {
	return g.wait(ctx, "all_to_all_single", operands{one(output), one(input)}, allToAllSingle(outputSplits, inputSplits))
}

// AllToAllSingleAsync starts an [ProcessGroup.AllToAllSingle].
func (g *ProcessGroup) AllToAllSingleAsync(output, input *gotorch.Tensor, outputSplits, inputSplits []int) (*Work, error) {
	return g.start("all_to_all_single", operands{one(output), one(input)}, one(output), allToAllSingle(outputSplits, inputSplits))
}

func allToAllSingle(outputSplits, inputSplits []int) started {
	return func(group c.ProcessGroup, h [][]c.Tensor, async bool) (c.Work, *c.Failure) {
		return c.AllToAllSingle(group, h[0][0], h[1][0], outputSplits, inputSplits, async)
	}
}

// Barrier waits until all ranks have come to it.
func (g *ProcessGroup) Barrier(ctx context.Context) error {
	return g.wait(ctx, "barrier", nil, barrier())
}

// BarrierAsync starts a [ProcessGroup.Barrier].
func (g *ProcessGroup) BarrierAsync() (*Work, error) {
	return g.start("barrier", nil, nil, barrier())
}

func barrier() started {
	return func(group c.ProcessGroup, _ [][]c.Tensor, async bool) (c.Work, *c.Failure) {
		return c.Barrier(group, async)
	}
}

// MonitoredBarrier is a barrier whose gotorch.ErrTimeout names every rank that has not come, on all that have, also on
// those that come later. It is slower than [ProcessGroup.Barrier], and the group lives on. 0: the group's timeout.
func (g *ProcessGroup) MonitoredBarrier(ctx context.Context, timeout time.Duration) error {
	ms := int64(-1)
	if timeout > 0 {
		ms = milliseconds(timeout, timeout)
	}
	return g.blocking(ctx, "monitored_barrier", func(group c.ProcessGroup) *c.Failure {
		return c.MonitoredBarrier(group, ms)
	})
}

// AllEqual tells whether all ranks gave the same bytes, of which there are the same number on each, such as a hash of
// their parameters.
func (g *ProcessGroup) AllEqual(ctx context.Context, value []byte) (equal bool, err error) {
	problem := gotorch.Try(func() {
		gotorch.Scope(func() {
			own := gotorch.From(value).ToDevice(g.device)
			all := make([]*gotorch.Tensor, g.size)
			for i := range all {
				all[i] = own.Clone()
			}
			if err = g.AllGather(ctx, all, own); err == nil {
				equal = !slices.ContainsFunc(all, func(other *gotorch.Tensor) bool { return !own.Equal(other) })
			}
		})
	})
	return equal, errors.Join(err, problem)
}
