// Allreduce starts ten all-reduces at once over a group whose ranks met in a file, waits for them and prints the sums:
//
//	tandem run -n 2 allreduce-go /tmp/meeting-place
package main

import (
	"context"
	"fmt"
	"os"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
)

func main() { dist.Main(run) }

func run(ctx context.Context) error {
	if len(os.Args) != 2 {
		return fmt.Errorf("give the path of a file that all ranks can write, such as /tmp/meeting-place")
	}
	store, err := dist.NewFileStore(os.Args[1], dist.WorldSize())
	if err != nil {
		return err
	}
	defer store.Close()
	group, err := dist.Init(ctx, dist.Options{Store: store, Rank: gotorch.Some(dist.Rank()),
		WorldSize: dist.WorldSize()})
	if err != nil {
		return err
	}
	defer group.Close()

	var tensors []*gotorch.Tensor
	var works []*dist.Work
	for i := range 10 {
		t := gotorch.Full([]int{2, 2}, float64(10*i+group.Rank()))
		work, err := group.AllReduceAsync(t, dist.Sum)
		if err != nil {
			return err
		}
		defer work.Close()
		tensors, works = append(tensors, t), append(works, work)
	}
	for i, work := range works {
		if err := work.Wait(ctx); err != nil {
			return err
		}
		if group.Rank() == 0 {
			fmt.Printf("all-reduce %d: %v\n", i, gotorch.ToSlice[float32](tensors[i]))
		}
	}
	return nil
}
