// Our side of `allreduce`: how long an all-reduce of float32 takes, by size. The peers are peers/allreduce.py and
// peers/allreduce.c.
//
//	tandem run -n 2 -- bench-allreduce --backend shm --seconds 0.2 --sizes 1024,26214400
package main

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/bench/program"
	"tandem.example/gotorch/bench/rankreport"
	"tandem.example/gotorch/dist"
)

var (
	backend = flag.String("backend", "shm", "of dist.Options")
	seconds = flag.Float64("seconds", 0.2, "how long each size is timed; 0: only its result is computed")
	sizes   = flag.String("sizes", "", "in bytes, multiples of 4, comma-separated")
)

func main() { program.Ranks(backend, run) }

func run(ctx context.Context, group *dist.ProcessGroup) error {
	values, microseconds := map[string][]float64{}, map[string]float64{}
	for _, size := range strings.Split(*sizes, ",") {
		bytes, err := strconv.Atoi(size)
		if err != nil || bytes < 4 || bytes%4 != 0 {
			return fmt.Errorf("--sizes: %q is no multiple of 4", size)
		}
		gotorch.Scope(func() {
			if values[size], err = check(ctx, group, bytes/4); err == nil && *seconds > 0 {
				microseconds[size], err = measure(ctx, group, gotorch.Zeros([]int{bytes / 4}))
			}
		})
		if err != nil {
			return err
		}
	}
	return rankreport.Write(group.Rank(), map[string]any{"us": microseconds, "values": values})
}

// check gives the sum of the result and some of its elements. Element i of rank r is (i + r) mod 11 + 1, so that all are
// exact.
func check(ctx context.Context, group *dist.ProcessGroup, count int) ([]float64, error) {
	pattern := make([]float32, 11)
	for i := range pattern {
		pattern[i] = float32((i+group.Rank())%11 + 1)
	}
	t := gotorch.From(pattern).Repeat(count/11+1).Narrow(0, 0, count).Contiguous()
	if err := group.AllReduce(ctx, t, dist.Sum); err != nil {
		return nil, err
	}
	at := func(i int) float64 { return t.Select(0, i).Item() }
	return []float64{t.Sum(gotorch.SumOptions{DType: gotorch.Some(gotorch.Float64)}).Item(), at(0), at(count / 2), at(count - 1)}, nil
}

// measure gives the mean time of one all-reduce in microseconds.
func measure(ctx context.Context, group *dist.ProcessGroup, t *gotorch.Tensor) (float64, error) {
	loop := func(count int) (float64, error) {
		if err := group.Barrier(ctx); err != nil {
			return 0, err
		}
		start := time.Now()
		for range count {
			if err := group.AllReduce(ctx, t, dist.Sum); err != nil {
				return 0, err
			}
		}
		return time.Since(start).Seconds() / float64(count), nil
	}
	probes := 20
	if t.Size(0) >= 1<<20 {
		probes = 2
	}
	if _, err := loop(probes); err != nil {
		return 0, err
	}
	one, err := loop(probes)
	if err != nil {
		return 0, err
	}
	// As many on all ranks.
	count := gotorch.From([]float64{*seconds / one})
	if err := group.AllReduce(ctx, count, dist.Min); err != nil {
		return 0, err
	}
	one, err = loop(min(max(int(count.Item()), 3), 50000))
	return one * 1e6, err
}
