// Paramserver learns which items users like, from ratings that are drawn. The first ranks are parameter servers, which have the
// vectors of users and items; the others are trainers, each with a copy of the network that compares the two:
//
//	tandem run -n 3 -- paramserver-go --servers 1
//
// is one server and two trainers.
package main

import (
	"context"
	"flag"
	"fmt"
	"strconv"

	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/rpc"
)

type settings struct {
	servers, users, items, width, size, steps, every, staleness int
	asynchronous                                                bool
	lr                                                          float64
	checkpoints                                                 string
	seed                                                        uint64
}

func main() {
	var s settings
	flag.IntVar(&s.servers, "servers", 1, "the first ranks")
	flag.BoolVar(&s.asynchronous, "asynchronous", false, "trainers' updates are made at once, instead of one a step for all")
	flag.IntVar(&s.staleness, "staleness", 2, "asynchronous: steps that a trainer may be ahead of the slowest")
	flag.IntVar(&s.users, "users", 2000, "rows of their table")
	flag.IntVar(&s.items, "items", 500, "rows of their table")
	flag.IntVar(&s.width, "width", 16, "of their vectors")
	flag.IntVar(&s.size, "batch-size", 128, "of each trainer")
	flag.IntVar(&s.steps, "steps", 300, "to make")
	flag.IntVar(&s.every, "every", 50, "steps from one report to the next")
	flag.Float64Var(&s.lr, "lr", 0.2, "learning rate of the rows")
	flag.StringVar(&s.checkpoints, "checkpoints", "", "`FOLDER` to save in, and to go on from")
	flag.Uint64Var(&s.seed, "seed", 1, "of all random numbers")
	flag.Parse()
	dist.Main(s.run)
}

func (s *settings) run(ctx context.Context) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is no flag; --help lists all", flag.Arg(0))
	}
	if min(s.servers, s.users, s.items, s.width, s.size, s.steps, s.every) < 1 {
		return fmt.Errorf("numbers must be above 0")
	}
	if dist.WorldSize() <= s.servers {
		return fmt.Errorf("%d ranks with --servers %d leave no trainer; start more: tandem run -n %d", dist.WorldSize(), s.servers,
			s.servers+1)
	}
	world, err := dist.Init(ctx)
	if err != nil {
		return err
	}
	defer world.Close()
	var ranks []int
	for rank := s.servers; rank < world.Size(); rank++ {
		ranks = append(ranks, rank)
	}
	trainers, err := world.NewGroup(ctx, ranks, "trainers")
	if err != nil {
		return err
	}
	if world.Rank() < s.servers {
		err = s.serve(ctx, world.Rank())
	} else {
		defer trainers.Close()
		err = s.train(ctx, trainers)
	}
	if err != nil {
		rpc.Shutdown(ctx, false)
		return err
	}
	return rpc.Shutdown(ctx, true)
}

func serverName(rank int) string { return "server" + strconv.Itoa(rank) }

// serve returns once all trainers have left.
func (s *settings) serve(ctx context.Context, rank int) error {
	server, err := rpc.NewParameterServer() // before trainers can call
	if err != nil {
		return err
	}
	defer server.Close()
	if err := rpc.Init(ctx, rpc.Options{Name: serverName(rank)}); err != nil {
		return err
	}
	if err := server.Wait(ctx); err != nil {
		return err
	}
	done, err := server.Statistics()
	if err != nil {
		return err
	}
	fmt.Printf("server %d: %d updates, %d rows read, %d pushed, at most %d steps ahead\n", rank, done.Updates, done.RowsRead,
		done.RowsPushed, done.MostAhead)
	return nil
}
