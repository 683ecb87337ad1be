// Reinforce learns to balance a pole: an agent, the first worker, has the policy; observers, all others, have the carts, and ask
// the agent at each step what to do:
//
//	tandem run -n 3 -- reinforce-go
//
// is an agent and two observers. Source: Williams, "Simple statistical gradient-following algorithms", 1992.
package main

import (
	"context"
	"flag"
	"fmt"

	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/rpc"
)

type settings struct {
	rounds, longest, every int
	lr, discount           float64
	seed                   uint64
}

func main() {
	var s settings
	flag.IntVar(&s.rounds, "rounds", 150, "in each of which every observer has one episode")
	flag.IntVar(&s.longest, "longest", 200, "steps of an episode")
	flag.IntVar(&s.every, "every", 10, "rounds from one report to the next")
	flag.Float64Var(&s.lr, "lr", 1e-2, "learning rate")
	flag.Float64Var(&s.discount, "discount", 0.99, "of rewards to come")
	flag.Uint64Var(&s.seed, "seed", 1, "of all random numbers")
	flag.Parse()
	dist.Main(s.run)
}

func (s *settings) run(ctx context.Context) error {
	if min(s.rounds, s.longest, s.every) < 1 || flag.NArg() > 0 {
		return fmt.Errorf("numbers must be above 0; --help lists all flags")
	}
	if err := registerObserver(ctx, s.seed); err != nil {
		return err
	}
	agent, err := newAgent(s)
	if err != nil {
		return err
	}
	if err := rpc.Register("act", agent.act); err != nil {
		return err
	}
	if err := rpc.Init(ctx); err != nil {
		return err
	}
	self, err := rpc.Self()
	if err != nil {
		return err
	}
	if self.ID == 0 {
		if err := agent.learn(ctx); err != nil {
			rpc.Shutdown(ctx, false)
			return err
		}
	}
	return rpc.Shutdown(ctx, true)
}
