// Package start has what the examples' programs begin and end with: flags that all of them take, the group of processes,
// checkpoints, and the proof that all ranks have the same parameters.
package start

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"unicode"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
)

// Flags that all programs take.
type Flags struct {
	Backend, Device, Checkpoints string
	Seed                         uint64
}

// Define puts the flags on the command line; each is what the field has until then.
func (f *Flags) Define() {
	flag.StringVar(&f.Backend, "backend", "", "gloo or nccl; by default what suits the device")
	flag.StringVar(&f.Device, "device", "cpu", "cpu or cuda")
	flag.StringVar(&f.Checkpoints, "checkpoints", "", "folder for checkpoints; goes on from the newest one in it")
	flag.Uint64Var(&f.Seed, "seed", 1, "of all random numbers")
}

// Join meets the other processes that the launcher started. Each rank's random numbers are its own. Close the group.
func (f *Flags) Join(ctx context.Context) (*dist.ProcessGroup, gotorch.Device, error) {
	device := gotorch.CPU
	switch f.Device {
	case "cpu":
	case "cuda":
		device = gotorch.CUDA(dist.LocalRank())
	default:
		return nil, device, fmt.Errorf("--device is %q; it must be cpu or cuda", f.Device)
	}
	group, err := dist.Init(ctx, dist.Options{Backend: f.Backend, Device: device})
	if err != nil {
		return nil, device, err
	}
	if err := gotorch.ManualSeed(f.Seed + uint64(group.Rank())); err != nil {
		group.Close()
		return nil, device, err
	}
	return group, device, nil
}

// Saves are a run's checkpoints; without --checkpoints nothing is loaded and saved.
type Saves struct {
	Loaded *checkpoint.Loaded // what the run goes on from; nil: it begins
	folder *checkpoint.Folder
}

// Resume fills the state from the newest checkpoint and says which were damaged. Close what it gives before the group.
func (f *Flags) Resume(ctx context.Context, group *dist.ProcessGroup, state *checkpoint.State) (*Saves, error) {
	s := &Saves{}
	if f.Checkpoints == "" {
		return s, nil
	}
	var err error
	if s.folder, err = checkpoint.Open(f.Checkpoints, checkpoint.Options{Group: group}); err != nil {
		return nil, err
	}
	if s.Loaded, err = s.folder.Load(ctx, state); err != nil {
		s.folder.Close()
		return nil, err
	}
	if s.Loaded != nil && group.Rank() == 0 {
		for _, why := range s.Loaded.Refused {
			fmt.Println("not used:", why)
		}
	}
	return s, nil
}

// On tells whether there is anywhere to save to.
func (s *Saves) On() bool { return s.folder != nil }

// Save begins a checkpoint, which is written while training goes on.
func (s *Saves) Save(ctx context.Context, step int, state checkpoint.State) error {
	if s.folder == nil {
		return nil
	}
	return s.folder.SaveAsync(ctx, step, state)
}

// Wait until the last one is on the disk.
func (s *Saves) Wait(ctx context.Context) error {
	if s.folder == nil {
		return nil
	}
	return s.folder.Wait(ctx)
}

// Close frees the folder.
func (s *Saves) Close() {
	if s.folder != nil {
		s.folder.Close()
	}
}

// CheckEqual prints a hash of the parameters, which all ranks must have.
func CheckEqual(ctx context.Context, group *dist.ProcessGroup, net nn.Module) error {
	fingerprint := nn.Fingerprint(net)
	equal, err := group.AllEqual(ctx, []byte(fingerprint))
	if err != nil {
		return err
	}
	if !equal {
		return fmt.Errorf("parameters: %s on rank %d, not equal on all %d ranks", fingerprint, group.Rank(), group.Size())
	}
	if group.Rank() == 0 {
		fmt.Printf("parameters: %s, equal on all %d ranks\n", fingerprint, group.Size())
	}
	return nil
}

// Sum of a number over all ranks.
func Sum(ctx context.Context, group *dist.ProcessGroup, device gotorch.Device, value float64) (float64, error) {
	sum := gotorch.From([]float64{value}).ToDevice(device)
	if err := group.AllReduce(ctx, sum, dist.Sum); err != nil {
		return 0, err
	}
	return sum.Item(), nil
}

// Printable is a text without what a terminal would obey.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
