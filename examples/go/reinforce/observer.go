package main

import (
	"context"
	"math"
	"math/rand/v2"

	"tandem.example/gotorch"
	"tandem.example/gotorch/rpc"
)

const stateSize = 4

// cart has a pole on it, which falls unless it is pushed the right way. Source: Barto, Sutton, Anderson, "Neuronlike adaptive
// elements that can solve difficult learning control problems", 1983; metres, seconds, kilograms, radians.
type cart struct{ place, speed, angle, turning float64 }

func newCart(random *rand.Rand) *cart {
	draw := func() float64 { return 0.1*random.Float64() - 0.05 }
	return &cart{draw(), draw(), draw(), draw()}
}

// push gives whether the pole still stands, and the cart is on its track.
func (c *cart) push(right bool) bool {
	const gravity, cartMass, poleMass, half, force, tick = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
	pushed := -force
	if right {
		pushed = force
	}
	sin, cos := math.Sincos(c.angle)
	swing := (pushed + poleMass*half*c.turning*c.turning*sin) / (cartMass + poleMass)
	turn := (gravity*sin - cos*swing) / (half * (4.0/3 - poleMass*cos*cos/(cartMass+poleMass)))
	c.place, c.speed = c.place+tick*c.speed, c.speed+tick*(swing-poleMass*half*turn*cos/(cartMass+poleMass))
	c.angle, c.turning = c.angle+tick*c.turning, c.turning+tick*turn
	return math.Abs(c.place) <= 2.4 && math.Abs(c.angle) <= 12*math.Pi/180
}

func (c *cart) state() *gotorch.Tensor {
	return gotorch.From([]float32{float32(c.place), float32(c.speed), float32(c.angle), float32(c.turning)}, stateSize)
}

// registerObserver lets the agent call for an episode: with its own name, which is asked at each step what to do, and how many
// steps there are. It gives the reward of each.
func registerObserver(ctx context.Context, seed uint64) error {
	var random *rand.Rand
	return rpc.Register("episode", func(given []any) (any, error) {
		agent, longest := given[0].(string), given[1].(int)
		self, err := rpc.Self()
		if err != nil {
			return nil, err
		}
		if random == nil {
			random = rand.New(rand.NewPCG(seed+1, uint64(self.ID)))
		}
		cart := newCart(random)
		var rewards []float64
		for stands := true; stands && len(rewards) < longest; {
			action, err := rpc.Call(ctx, agent, "act", self.ID, cart.state())
			if err != nil {
				return nil, err
			}
			stands = cart.push(action == 1)
			rewards = append(rewards, 1)
		}
		return rewards, nil
	})
}
