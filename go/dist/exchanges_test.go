package dist_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
)

// exchanges checks what moves parts between ranks.
func exchanges(ctx context.Context, group *dist.ProcessGroup) error {
	rank, size := group.Rank(), group.Size()
	full := func(value float64) *gotorch.Tensor { return gotorch.Full([]int{2}, value) }
	list := func(value func(i int) float64) []*gotorch.Tensor {
		all := make([]*gotorch.Tensor, size)
		for i := range all {
			all[i] = full(value(i))
		}
		return all
	}
	zeros := func() []*gotorch.Tensor { return list(func(int) float64 { return 0 }) }
	own := list(func(i int) float64 { return float64(10*rank + i) })
	values := func(tensors []*gotorch.Tensor) (all []int) {
		for _, t := range tensors {
			all = append(all, t.Select(0, 1).ItemInt())
		}
		return all
	}
	want := func(value func(i int) int) (all []int) {
		for i := range size {
			all = append(all, value(i))
		}
		return all
	}
	var onRoot []*gotorch.Tensor
	if rank == size-1 {
		onRoot = zeros()
	}
	if err := group.Gather(ctx, onRoot, own[0], size-1); err != nil {
		return err
	}
	if rank == size-1 && !slices.Equal(values(onRoot), want(func(i int) int { return 10 * i })) {
		return fmt.Errorf("Gather: %v", values(onRoot))
	}
	part := full(0)
	if err := group.Scatter(ctx, part, onRoot, size-1); err != nil || part.Select(0, 0).ItemInt() != 10*rank {
		return fmt.Errorf("Scatter: %v %v", part, err)
	}
	outputs := zeros()
	if err := group.AllToAll(ctx, outputs, own); err != nil || !slices.Equal(values(outputs), want(func(i int) int { return 10*i + rank })) {
		return fmt.Errorf("AllToAll: %v %v", values(outputs), err)
	}
	joined := gotorch.Zeros([]int{2 * size})
	if err := group.AllGatherIntoTensor(ctx, joined, own[0]); err != nil || joined.Select(0, 2*size-1).ItemInt() != 10*(size-1) {
		return fmt.Errorf("AllGatherIntoTensor: %v %v", joined, err)
	}
	sum := 0
	for i := range size {
		sum += 10*i + rank
	}
	if err := group.ReduceScatter(ctx, part, own, dist.Sum); err != nil || part.Select(0, 1).ItemInt() != sum {
		return fmt.Errorf("ReduceScatter: %v %v", part, err)
	}
	if err := group.ReduceScatterTensor(ctx, part, gotorch.Cat(own, 0), dist.Sum); err != nil || part.Select(0, 1).ItemInt() != sum {
		return fmt.Errorf("ReduceScatterTensor: %v %v", part, err)
	}
	// To rank r go r + 1 rows from each.
	sent, received, rows := make([]int, size), make([]int, size), 0
	for i := range size {
		sent[i], received[i] = i+1, rank+1
		rows += i + 1
	}
	uneven := gotorch.Zeros([]int{size * (rank + 1), 2})
	if err := group.AllToAllSingle(ctx, uneven, gotorch.Full([]int{rows, 2}, float64(rank)), received, sent); err != nil ||
		uneven.Sum().ItemInt() != 2*(rank+1)*size*(size-1)/2 {
		return fmt.Errorf("AllToAllSingle: %v %v", uneven, err)
	}
	scaled, halves := full(float64(rank)), []*gotorch.Tensor{full(1), gotorch.From([]int{1, 2})}
	if err := group.AllReducePremulSum(ctx, scaled, 2); err != nil || scaled.Select(0, 0).ItemInt() != size*(size-1) {
		return fmt.Errorf("AllReducePremulSum: %v %v", scaled, err)
	}
	if err := group.AllReduceCoalesced(ctx, halves, dist.Sum); err != nil || halves[1].Select(0, 1).ItemInt() != 2*size {
		return fmt.Errorf("AllReduceCoalesced: %v %v", halves, err)
	}
	if err := group.MonitoredBarrier(ctx, 0); err != nil {
		return err
	}
	work, err := group.GatherAsync(onRoot, own[0], size-1)
	if err != nil {
		return err
	}
	if err := work.Wait(ctx); err != nil || work.Err() != nil || len(work.Result()) != len(onRoot) {
		return fmt.Errorf("GatherAsync: %v", err)
	}
	return errors.Join(objects(ctx, group), messages(ctx, group), subgroups(ctx, group))
}

type report struct {
	Rank  int
	Notes map[string][]string
}

func objects(ctx context.Context, group *dist.ProcessGroup) error {
	rank, size := group.Rank(), group.Size()
	mine := report{rank, map[string][]string{"long": slices.Repeat([]string{"x"}, 1000*rank)}}
	all, err := dist.AllGatherObject(ctx, group, mine)
	if err != nil || len(all) != size || all[size-1].Rank != size-1 || len(all[size-1].Notes["long"]) != 1000*(size-1) {
		return fmt.Errorf("AllGatherObject: %v %v", all, err)
	}
	if got, err := dist.BroadcastObject(ctx, group, mine, size-1); err != nil || got.Rank != size-1 {
		return fmt.Errorf("BroadcastObject: %v %v", got, err)
	}
	gathered, err := dist.GatherObject(ctx, group, rank, 0)
	if err != nil || (rank == 0) != (len(gathered) == size) || rank == 0 && gathered[size-1] != size-1 {
		return fmt.Errorf("GatherObject: %v %v", gathered, err)
	}
	if rank != 0 {
		all = nil
	}
	if got, err := dist.ScatterObject(ctx, group, all, 0); err != nil || got.Rank != rank {
		return fmt.Errorf("ScatterObject: %v %v", got, err)
	}
	// What gob cannot take is an error on all ranks, and nobody waits.
	if got, err := dist.BroadcastObject(ctx, group, struct{ F func() }{func() {}}, 0); !errors.Is(err, gotorch.ErrInvalidArgument) {
		return fmt.Errorf("BroadcastObject of a function: %v %v", got, err)
	}
	if got, err := group.BroadcastBytes(ctx, nil, 0); err != nil || len(got) != 0 {
		return fmt.Errorf("BroadcastBytes of nothing: %v %v", got, err)
	}
	return nil
}

func messages(ctx context.Context, group *dist.ProcessGroup) error {
	rank, size := group.Rank(), group.Size()
	if size == 1 {
		return nil
	}
	next, previous := (rank+1)%size, (rank+size-1)%size
	out, in := gotorch.From([]int{rank}), gotorch.From([]int{-1})
	if err := group.BatchSendRecv(ctx, []dist.Message{{Send: true, Tensor: out, Peer: next}, {Tensor: in, Peer: previous}}); err != nil || in.ItemInt() != previous {
		return fmt.Errorf("BatchSendRecv: %v %v", in, err)
	}
	receiving, err := group.RecvAsync(in, dist.AnyRank, 3)
	if err != nil {
		return err
	}
	if err := group.Send(ctx, out, next, 3); err != nil {
		return err
	}
	if err := receiving.WaitTimeout(testTimeout); err != nil || receiving.Source() != previous || receiving.Result()[0] != in {
		return fmt.Errorf("RecvAsync: from %d: %v", receiving.Source(), err)
	}
	sending, err := group.SendAsync(out, next, 4)
	if err != nil {
		return err
	}
	source, err := group.Recv(ctx, in, previous, 4)
	if err = errors.Join(err, sending.Wait(ctx)); err != nil || source != previous {
		return fmt.Errorf("Recv from %d: %v", source, err)
	}
	return nil
}

func subgroups(ctx context.Context, group *dist.ProcessGroup) error {
	size := group.Size()
	last, err := group.NewGroup(ctx, []int{size - 1}, "last")
	if err != nil {
		return err
	}
	if (last != nil) != (group.Rank() == size-1) {
		return fmt.Errorf("rank %d of %d is in the group of the last: %v", group.Rank(), size, last)
	}
	if last != nil {
		defer last.Close()
		if last.Size() != 1 || last.Name() != "last" || last.GlobalRank(0) != size-1 || last.RankOf(size-1) != 0 ||
			last.RankOf(size) != -1 || !slices.Equal(last.Ranks(), []int{size - 1}) {
			return fmt.Errorf("%s of %v", last.Name(), last.Ranks())
		}
	}
	all, err := group.NewSubgroups(ctx, size, "")
	if err != nil {
		return err
	}
	defer all.Close()
	t := gotorch.Ones([]int{1})
	if err := all.AllReduce(ctx, t, dist.Sum); err != nil || t.ItemInt() != size {
		return fmt.Errorf("AllReduce in a sub-group: %v %v", t, err)
	}
	if _, err := group.Split(ctx, [][]int{{0}, {0}}, ""); !errors.Is(err, gotorch.ErrInvalidArgument) {
		return fmt.Errorf("Split with a rank twice: %v", err)
	}
	return nil
}

func TestExchangesOfThreads(t *testing.T) {
	for _, backend := range backends {
		for _, n := range []int{1, 2, 3} {
			t.Run(fmt.Sprint(backend, n), func(t *testing.T) { threadsOver(t, backend, n, exchanges) })
		}
	}
}

func TestDifferentiable(t *testing.T) {
	threads(t, 2, func(ctx context.Context, group *dist.ProcessGroup) error {
		return gotorch.Try(func() {
			rank := group.Rank()
			x := gotorch.Full([]int{2, 1}, float64(rank+1)).SetRequiresGrad(true)
			d := group.Differentiable()
			two := []*gotorch.Tensor{x, x}
			results := []*gotorch.Tensor{d.AllReduce(x, dist.Avg), d.Broadcast(x, 0), d.Reduce(x, 1, dist.Sum),
				d.Scatter(two, 1), d.ReduceScatter(two, dist.Sum), d.AllToAllSingle(x, nil, nil)}
			results = append(results, d.AllGather(x)...)
			results = append(results, d.Gather(x, 1)...)
			results = append(results, d.AllToAll(two)...)
			total := gotorch.Zeros([]int{})
			for _, y := range results {
				total = total.Add(y.Sum())
			}
			if err := total.Backward(); err != nil {
				panic(err)
			}
			// all_reduce 1, broadcast 2 on rank 0, reduce 1, scatter 2 on rank 1, reduce_scatter 2, all_to_all_single 1,
			// all_gather 2, gather 1, all_to_all 2
			want := 1 + 2 + 1 + 2 + 1 + 2 + 1 + 2
			if got := x.Grad().Select(0, 1).ItemInt(); got != want {
				t.Errorf("the gradient is %d instead of %d", got, want)
			}
			if err := gotorch.Try(func() { d.AllReduce(x, dist.Max) }); !errors.Is(err, gotorch.ErrInvalidArgument) {
				t.Errorf("AllReduce, Max: %v", err)
			}
		})
	})
}

// The contexts of single calls.
func TestContextOfACallAborts(t *testing.T) {
	for _, backend := range backends {
		t.Run(backend, func(t *testing.T) { threadsOver(t, backend, 2, contextOfACallAborts) })
	}
}

func contextOfACallAborts(ctx context.Context, group *dist.ProcessGroup) error {
	if err := group.Barrier(ctx); err != nil {
		return err
	}
	one := gotorch.Ones([]int{1})
	if group.Rank() == 1 {
		err := group.AllReduce(ctx, one, dist.Sum) // the other rank's part never comes
		return check(errors.Is(err, gotorch.ErrPeerLost), "AllReduce of the other rank: %v", err)
	}
	reason := errors.New("no more")
	short, cancel := context.WithCancelCause(ctx)
	var wait sync.WaitGroup
	wait.Go(func() {
		time.Sleep(50 * time.Millisecond)
		cancel(reason)
	})
	_, err := group.Recv(short, one, 1, 0)
	wait.Wait()
	if !errors.Is(err, gotorch.ErrAborted) || !errors.Is(err, reason) {
		return fmt.Errorf("Recv: %v", err)
	}
	if err := group.Barrier(ctx); !errors.Is(err, gotorch.ErrAborted) || errors.Is(err, reason) {
		return fmt.Errorf("Barrier after it: %v", err)
	}
	if err := group.Barrier(short); !errors.Is(err, reason) {
		return fmt.Errorf("Barrier with a context that has ended: %v", err)
	}
	return nil
}

func TestDeadlineOfAWait(t *testing.T) {
	for _, backend := range backends {
		t.Run(backend, func(t *testing.T) { threadsOver(t, backend, 2, deadlineOfAWait) })
	}
}

func deadlineOfAWait(ctx context.Context, group *dist.ProcessGroup) error {
	if group.Rank() == 1 {
		_, err := group.Recv(ctx, gotorch.Ones([]int{1}), 0, 0)
		return check(errors.Is(err, gotorch.ErrPeerLost), "Recv: %v", err)
	}
	work, err := group.RecvAsync(gotorch.Ones([]int{1}), 1, 0)
	if err != nil {
		return err
	}
	defer work.Close()
	if err := work.WaitTimeout(20 * time.Millisecond); !errors.Is(err, gotorch.ErrTimeout) || work.IsDone() {
		return fmt.Errorf("WaitTimeout: %v", err)
	}
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if err := work.Wait(short); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, gotorch.ErrAborted) {
		return fmt.Errorf("Wait: %v", err)
	}
	return check(errors.Is(work.Err(), gotorch.ErrAborted), "Err: %v", work.Err())
}

func TestFlightRecord(t *testing.T) {
	threads(t, 1, func(ctx context.Context, group *dist.ProcessGroup) error {
		return group.Broadcast(ctx, gotorch.Ones([]int{4, 5}), 0)
	})
	record, err := dist.FlightRecord()
	if err != nil {
		t.Fatal(err)
	}
	var content struct {
		Entries []struct {
			Group, Collective, State string
			Shapes                   [][]int
			DTypes                   []string
		}
	}
	if err := json.Unmarshal(record, &content); err != nil {
		t.Fatal(err, string(record))
	}
	last := content.Entries[len(content.Entries)-1]
	if last.Group != t.Name() || last.Collective != "broadcast" || last.State != "completed" ||
		fmt.Sprint(last.Shapes, last.DTypes) != "[[4 5]] [Float]" || strings.Contains(last.State, "failed") {
		t.Fatal(last)
	}
}
