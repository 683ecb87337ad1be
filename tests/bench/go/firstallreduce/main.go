// Our side of `startup`: what a worker does up to its first all-reduce. The peer is peers/first_allreduce.py.
package main

import (
	"context"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/bench/rankreport"
	"tandem.example/gotorch/dist"
)

func main() { dist.Main(run) }

func run(ctx context.Context) error {
	group, err := dist.Init(ctx, dist.Options{Backend: "gloo"})
	if err != nil {
		return err
	}
	defer group.Close()
	tensor := gotorch.Full([]int{1}, float64(group.Rank()+1))
	if err := group.AllReduce(ctx, tensor, dist.Sum); err != nil {
		return err
	}
	doneAt := time.Now()
	resident, err := rankreport.ResidentKB()
	if err != nil {
		return err
	}
	return rankreport.Write(group.Rank(), map[string]any{
		"done_at": float64(doneAt.UnixNano()) / 1e9, "rss_kb": resident, "result": tensor.Item(),
	})
}
