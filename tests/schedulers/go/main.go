// What the tests of schedulers start: a rank in Go, which says what scheduler-rank says.
package main

import (
	"context"
	"fmt"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
)

func main() {
	dist.Run(func(ctx context.Context, group *dist.ProcessGroup) error {
		number := gotorch.Full([]int{1}, float64(group.Rank()+1))
		if err := group.AllReduce(ctx, number, dist.Sum); err != nil {
			return err
		}
		fmt.Printf("rank %d of %d local %d of %d node %d by %s sum %.0f\n", dist.Rank(), dist.WorldSize(), dist.LocalRank(),
			dist.LocalWorldSize(), dist.NodeRank(), dist.Launcher(), number.Item())
		return group.Barrier(ctx)
	})
}
