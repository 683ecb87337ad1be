package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"tandem.example/gotorch"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
	"tandem.example/gotorch/rpc"
)

// agent has the policy: the probabilities of pushing the cart to either side.
type agent struct {
	*settings
	policy    *nn.Sequential
	optimizer *optim.Optimizer

	mutex    sync.Mutex
	episodes map[int]*episode // by observer
}

// episode is what one observer has told in a round.
type episode struct {
	random  *rand.Rand
	states  []float32
	actions []int64
}

func newAgent(s *settings) (*agent, error) {
	if err := gotorch.ManualSeed(s.seed); err != nil {
		return nil, err
	}
	policy := nn.NewSequential(nn.NewLinear(stateSize, 32), nn.NewTanh(), nn.NewLinear(32, 2))
	return &agent{settings: s, policy: policy, optimizer: optim.Adam(nn.Parameters(policy), s.lr), episodes: map[int]*episode{}}, nil
}

// act is called by observers: with their number and a state, it gives an action, drawn by the policy.
func (a *agent) act(given []any) (any, error) {
	observer, state := given[0].(int), given[1].(*gotorch.Tensor)
	var right float64
	gotorch.NoGrad(func() { right = a.policy.Forward(state).Softmax(0).Select(0, 1).Item() })
	a.mutex.Lock()
	defer a.mutex.Unlock()
	told := a.episodes[observer]
	action := int64(0)
	if told.random.Float64() < right {
		action = 1
	}
	told.states = append(told.states, gotorch.ToSlice[float32](state)...)
	told.actions = append(told.actions, action)
	return int(action), nil
}

// learn has all observers run an episode at the same time, round by round, and follows the gradient of what they earned.
func (a *agent) learn(ctx context.Context) error {
	workers, err := rpc.Workers()
	if err != nil {
		return err
	}
	observers := workers[1:]
	if len(observers) == 0 {
		return fmt.Errorf("there is no observer; start more than one worker: tandem run -n 3")
	}
	for _, observer := range observers {
		a.episodes[observer.ID] = &episode{random: rand.New(rand.NewPCG(a.seed, uint64(observer.ID)))}
	}
	total := 0.0
	for round := 1; round <= a.rounds; round++ {
		var running []*rpc.Future
		for _, observer := range observers {
			future, err := rpc.CallAsync(ctx, observer.Name, "episode", workers[0].Name, a.longest)
			if err != nil {
				return err
			}
			running = append(running, future)
		}
		var rewards [][]float64
		for _, future := range running {
			earned, err := future.Wait(ctx)
			if err != nil {
				return err
			}
			rewards = append(rewards, earned.([]float64))
			total += float64(len(earned.([]float64))) / float64(len(observers))
		}
		var failed error
		gotorch.Scope(func() { failed = a.update(observers, rewards) })
		if failed != nil {
			return failed
		}
		if round%a.every == 0 {
			fmt.Printf("round %d/%d: %.1f steps\n", round, a.rounds, total/float64(a.every))
			total = 0
		}
	}
	return nil
}

// update makes actions likelier that earned more than others did.
func (a *agent) update(observers []rpc.Worker, rewards [][]float64) error {
	var states, returns []float32
	var actions []int64
	for i, observer := range observers {
		told := a.episodes[observer.ID]
		states, actions = append(states, told.states...), append(actions, told.actions...)
		returns = append(returns, discounted(rewards[i], a.discount)...)
		told.states, told.actions = nil, nil
	}
	count := len(actions)
	earned := gotorch.From(returns, count)
	advantage := earned.Sub(earned.Mean()).Div(earned.Std().AddScalar(1e-6))
	likely := a.policy.Forward(gotorch.From(states, count, stateSize)).LogSoftmax(1)
	taken := likely.Gather(1, gotorch.From(actions, count, 1)).Squeeze()
	return a.optimizer.Minimize(taken.Mul(advantage).Mean().Neg())
}

// discounted is, for each step, what came from there on.
func discounted(rewards []float64, discount float64) []float32 {
	sums := make([]float32, len(rewards))
	sum := 0.0
	for i := len(rewards) - 1; i >= 0; i-- {
		sum = rewards[i] + discount*sum
		sums[i] = float32(sum)
	}
	return sums
}
