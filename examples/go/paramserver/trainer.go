package main

import (
	"context"
	"fmt"
	"strconv"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
	"tandem.example/gotorch/rpc"
)

// compare tells how well users' vectors go with items'.
type compare struct {
	nn.Base
	Hidden, Score *nn.Linear
}

func newCompare(width int) *compare {
	return &compare{Hidden: nn.NewLinear(3*width, 32), Score: nn.NewLinear(32, 1)}
}

// Compare maps [rows, width] of users and of items to a score a row.
func (c *compare) Compare(vectors []*gotorch.Tensor) *gotorch.Tensor {
	users, items := vectors[0], vectors[1]
	x := gotorch.Cat([]*gotorch.Tensor{users, items, users.Mul(items)}, 1)
	return c.Score.Forward(c.Hidden.Forward(x).ReLU()).SqueezeDim(1)
}

type trainer struct {
	*settings
	client  *rpc.ParameterClient
	ddp     *dist.DDP
	net     *compare
	adam    *optim.Optimizer
	ratings ratings
	random  *gotorch.Generator
}

func (s *settings) train(ctx context.Context, trainers *dist.ProcessGroup) error {
	if err := rpc.Init(ctx, rpc.Options{Name: "trainer" + strconv.Itoa(trainers.Rank())}); err != nil {
		return err
	}
	table := rpc.EmbeddingTable{Rows: s.users, Width: s.width, Optimizer: "Adagrad", Options: map[string]any{"lr": s.lr},
		StandardDeviation: gotorch.Some(0.1), Seed: s.seed}
	items := table
	items.Rows, items.Seed, items.ByRange = s.items, s.seed+1, true
	options := rpc.ParameterClientOptions{Trainers: trainers.Size(), Asynchronous: s.asynchronous,
		Tables: map[string]rpc.EmbeddingTable{"users": table, "items": items}}
	if s.asynchronous {
		options.Staleness = s.staleness
	}
	for rank := range s.servers {
		options.Servers = append(options.Servers, serverName(rank))
	}
	client, err := rpc.NewParameterClient(ctx, options)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := gotorch.ManualSeed(s.seed); err != nil {
		return err
	}
	net := newCompare(s.width)
	t := &trainer{settings: s, client: client, net: net, adam: optim.Adam(nn.Parameters(net), 0.01), ratings: s.drawRatings()}
	state := checkpoint.State{Model: net, Tables: client}
	first := 0
	var folder *checkpoint.Folder
	if s.checkpoints != "" {
		if folder, err = checkpoint.Open(s.checkpoints, checkpoint.Options{Group: trainers}); err != nil {
			return err
		}
		defer folder.Close()
		loaded, err := folder.Load(ctx, &state)
		if err != nil {
			return err
		}
		if loaded != nil {
			first = loaded.Step
		}
	}
	t.ddp, err = dist.NewDDP(trainers, net)
	if err != nil {
		return err
	}
	defer t.ddp.Close()
	t.random = gotorch.NewGenerator(gotorch.CPU).ManualSeed(s.seed + 100 + uint64(first*1000+trainers.Rank()))
	right := 0
	for step := first + 1; step <= first+s.steps; step++ {
		found, err := t.step(ctx)
		if err != nil {
			return err
		}
		if right += found; step%s.every != 0 {
			continue
		}
		all := gotorch.From([]int64{int64(right)}, 1)
		if err := trainers.AllReduce(ctx, all, dist.Sum); err != nil {
			return err
		}
		if trainers.Rank() == 0 {
			fmt.Printf("step %d: %.1f %% right\n", step, 100*all.Item()/float64(s.every*s.size*trainers.Size()))
		}
		right = 0
	}
	if folder != nil {
		// The servers' rows change no more.
		if err := trainers.Barrier(ctx); err != nil {
			return err
		}
		if err := folder.Save(ctx, first+s.steps, state); err != nil {
			return err
		}
	}
	return client.Leave(ctx)
}

// step gives how many of its ratings were right before it.
func (t *trainer) step(ctx context.Context) (right int, err error) {
	err = gotorch.TryScope(func() error {
		batch := t.ratings.batch(t.size, t.random)
		users, err := t.client.Embedding("users", batch.users)
		if err != nil {
			return err
		}
		items, err := t.client.Embedding("items", batch.items)
		if err != nil {
			return err
		}
		score := dist.Forward(t.ddp, []*gotorch.Tensor{users, items}, t.net.Compare)
		loss := F.BinaryCrossEntropyWithLogits(score, batch.liked)
		if err := t.adam.Minimize(loss); err != nil { // of the network, the same on all trainers
			return err
		}
		right = score.Detach().GtScalar(0).Eq(batch.liked.GtScalar(0.5)).Sum().ItemInt()
		return t.client.Step(ctx) // of the rows
	})
	return right, err
}
