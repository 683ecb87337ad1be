package gotorch

import (
	"fmt"
	"runtime"

	"tandem.example/gotorch/internal/c"
)

// Generator is a source of random numbers on one device. [Call] takes it where an operator's schema has a Generator.
// Operators of several goroutines draw from it one at a time. Source: torch.Generator.
type Generator struct{ native c.Generator }

func newGenerator(device Device, usual bool) *Generator {
	native, err := c.CreateGenerator(int32(device.Kind), int32(device.Index), usual)
	must(err)
	g := &Generator{native}
	runtime.AddCleanup(g, func(native c.Generator) { c.FreeGenerator(native) }, native)
	return g
}

// NewGenerator makes a generator with LibTorch's default seed.
func NewGenerator(device Device) *Generator { return newGenerator(device, false) }

// DefaultGenerator is what operators on that device draw from that are given none; [ManualSeed] seeds it.
func DefaultGenerator(device Device) *Generator { return newGenerator(device, true) }

// Device that the numbers are for.
func (g *Generator) Device() Device {
	kind, index := c.GeneratorDevice(g.native)
	runtime.KeepAlive(g)
	return Device{DeviceKind(kind), int(index)}
}

// String is "generator(device=cpu, seed=7)". Never panics.
func (g *Generator) String() string {
	return orError(func() string { return fmt.Sprintf("generator(device=%v, seed=%d)", g.Device(), g.InitialSeed()) })
}

// ManualSeed starts the numbers that belong to seed, and returns g.
func (g *Generator) ManualSeed(seed uint64) *Generator {
	err := c.SeedGenerator(g.native, seed)
	runtime.KeepAlive(g)
	must(err)
	return g
}

// Seed starts numbers that nobody can foretell, and returns what stands for them in [Generator.ManualSeed].
func (g *Generator) Seed() uint64 {
	seed, err := c.RandomSeed(g.native)
	runtime.KeepAlive(g)
	must(err)
	return seed
}

// InitialSeed is the seed that g was given last.
func (g *Generator) InitialSeed() uint64 {
	seed, err := c.InitialSeed(g.native)
	runtime.KeepAlive(g)
	must(err)
	return seed
}

// State is all that the numbers to come depend on: bytes, on the CPU, that checkpoints can hold.
func (g *Generator) State() *Tensor {
	made, err := c.GeneratorState(g.native)
	runtime.KeepAlive(g)
	must(err)
	return wrap(made)
}

// SetState goes on from a state of a generator of such a device.
func (g *Generator) SetState(state *Tensor) {
	err := c.SetGeneratorState(g.native, state.handle("Generator.SetState"))
	runtime.KeepAlive(g)
	runtime.KeepAlive(state)
	must(err)
}

// RNGState is the state of the device's default generator. Source: torch.get_rng_state, torch.cuda.get_rng_state.
func RNGState(device Device) *Tensor { return DefaultGenerator(device).State() }

// SetRNGState has the device's default generator go on from a state. Source: torch.set_rng_state.
func SetRNGState(device Device, state *Tensor) { DefaultGenerator(device).SetState(state) }
