package main

import (
	"context"
	"slices"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
)

// advised makes steps until the quickest bucket size is found.
func advised(ddp *dist.DDP, step func() error) error {
	if err := ddp.TryBucketSizes(); err != nil {
		return err
	}
	for {
		if err := step(); err != nil {
			return err
		}
		if advice, err := ddp.BucketAdvice(); err != nil || advice.Done {
			return err
		}
	}
}

// reduced gives how long all-reduces of DDP's own buckets take, one after the other, in milliseconds: the mean of the
// middle half of several rounds. Before each, compute adds to the gradients in them, so that they lie where backward
// leaves them.
func reduced(ctx context.Context, ddp *dist.DDP, group *dist.ProcessGroup, model nn.Module, s dist.DDPStatistics,
	compute func() error) (float64, error) {
	const rounds = 20
	gradients := map[string]*gotorch.Tensor{}
	for _, one := range nn.NamedParameters(model) {
		gradients[one.Name] = one.Tensor.Grad()
	}
	var buckets []*gotorch.Tensor
	for i, names := range s.BucketParameters {
		// Gradients are views of the bucket, which is all of their memory.
		buckets = append(buckets, gradients[names[0]].AsStrided([]int{int(s.BucketBytes[i] / 4)}, []int{1},
			gotorch.AsStridedOptions{StorageOffset: gotorch.Some(0)}))
	}
	var times []float64
	for range rounds {
		if err := ddp.NoSync(compute); err != nil {
			return 0, err
		}
		if err := group.Barrier(ctx); err != nil {
			return 0, err
		}
		start := time.Now()
		for _, bucket := range buckets {
			if err := group.AllReduce(ctx, bucket, dist.Sum); err != nil {
				return 0, err
			}
		}
		times = append(times, time.Since(start).Seconds()*1000)
	}
	slices.Sort(times)
	var sum float64
	for _, one := range times[rounds/4 : 3*rounds/4] {
		sum += one
	}
	return sum / (rounds / 2), nil
}
