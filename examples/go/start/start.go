// Package start has what the examples' programs begin and end with: flags that all of them take, the group of processes,
// checkpoints, and the proof that all ranks have the same parameters.
package start

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
)

// Flags that all programs take. What a program sets of them before [Flags.Main] is their default.
type Flags struct {
	Data                         string
	BatchSize                    int
	LR                           float64
	Backend, Device, Checkpoints string
	Seed                         uint64
}

// Main parses the command line, with these flags and those that the program has defined, meets the other processes that the
// launcher started, or is alone without one, and calls run. Each rank's random numbers are its own. --data is a "FILE" or a
// "FOLDER" with what the program reads.
func (f *Flags) Main(data, with string, run func(ctx context.Context, group *dist.ProcessGroup, device gotorch.Device) error) {
	flag.StringVar(&f.Data, "data", f.Data, fmt.Sprintf("`%s` with %s", data, with))
	flag.IntVar(&f.BatchSize, "batch-size", f.BatchSize, "of each rank")
	flag.Float64Var(&f.LR, "lr", f.LR, "learning rate, where it is highest")
	flag.StringVar(&f.Backend, "backend", "", "gloo or nccl; by default what suits the device")
	flag.StringVar(&f.Device, "device", "cpu", "cpu or cuda")
	flag.StringVar(&f.Checkpoints, "checkpoints", "", "`FOLDER` for checkpoints; goes on from the newest one in it")
	flag.Uint64Var(&f.Seed, "seed", 1, "of all random numbers")
	flag.Usage = func() {
		program := filepath.Base(os.Args[0])
		fmt.Fprintf(flag.CommandLine.Output(), "%s --data %s [flags], or on two processes: tandem run -n 2 -- %s …\n", program, data, program)
		flag.PrintDefaults()
	}
	flag.Parse()
	device, err := f.check()
	if f.Data == "" && err == nil {
		err = fmt.Errorf("give --data %s, with %s; --help lists all flags", data, with)
	}
	if err != nil {
		dist.Main(func(context.Context) error { return err })
	}
	dist.Run(func(ctx context.Context, group *dist.ProcessGroup) error {
		if err := gotorch.ManualSeed(f.Seed + uint64(group.Rank())); err != nil {
			return err
		}
		return run(ctx, group, device)
	}, dist.Options{Backend: f.Backend, Device: device})
}

func (f *Flags) check() (gotorch.Device, error) {
	switch {
	case flag.NArg() > 0:
		return gotorch.CPU, fmt.Errorf("%q is no flag; --help lists all", flag.Arg(0))
	case f.BatchSize < 1 || !(f.LR > 0):
		return gotorch.CPU, fmt.Errorf("--batch-size and --lr must be above 0")
	case f.Device == "cpu":
		return gotorch.CPU, nil
	case f.Device == "cuda":
		return gotorch.CUDA(dist.LocalRank()), nil
	}
	return gotorch.CPU, fmt.Errorf("--device is %q; it must be cpu or cuda", f.Device)
}

// Saves are a run's checkpoints; without --checkpoints nothing is loaded and saved.
type Saves struct {
	Step   int // where the run goes on; 0: it begins
	folder *checkpoint.Folder
	fixed  map[string]string
}

// values are what a checkpoint has beside the state.
type values struct {
	Flags map[string]string // that must stay as they are
	Own   any
}

// Resume fills the state from the newest checkpoint and says which were damaged. The flags of those names must be as they
// were: what they say is in the state. Close what it gives before the group.
func (f *Flags) Resume(ctx context.Context, group *dist.ProcessGroup, state *checkpoint.State, fixed ...string) (*Saves, error) {
	s := &Saves{fixed: map[string]string{}}
	for _, name := range fixed {
		s.fixed[name] = flag.Lookup(name).Value.String()
	}
	if f.Checkpoints == "" {
		return s, nil
	}
	var err error
	if s.folder, err = checkpoint.Open(f.Checkpoints, checkpoint.Options{Group: group}); err != nil {
		return nil, err
	}
	if err := s.load(ctx, group, state); err != nil {
		s.folder.Close()
		return nil, err
	}
	return s, nil
}

func (s *Saves) load(ctx context.Context, group *dist.ProcessGroup, state *checkpoint.State) error {
	own := state.Values
	defer func() { state.Values = own }()
	kept := values{Own: own}
	state.Values = &kept
	loaded, err := s.folder.Load(ctx, state)
	if err != nil || loaded == nil {
		return err
	}
	for name, value := range s.fixed {
		if before, ok := kept.Flags[name]; ok && before != value {
			return fmt.Errorf("the checkpoint is of a run with --%s %s, not %s; go on with the same, or begin in another folder",
				name, before, value)
		}
	}
	s.Step = loaded.Step
	if group.Rank() == 0 {
		for _, why := range loaded.Refused {
			fmt.Println("not used:", why)
		}
		fmt.Printf("going on from checkpoint %d\n", loaded.Step)
	}
	return nil
}

// On tells whether there is anywhere to save to.
func (s *Saves) On() bool { return s.folder != nil }

// Save begins a checkpoint, which is written while training goes on.
func (s *Saves) Save(ctx context.Context, step int, state checkpoint.State) error {
	if s.folder == nil {
		return nil
	}
	state.Values = values{s.fixed, state.Values}
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

// CheckLoss refuses a loss that is not a number: training went too far.
func (f *Flags) CheckLoss(loss float64) error {
	if math.IsNaN(loss) {
		return fmt.Errorf("the loss is not a number; try a smaller --lr than %g", f.LR)
	}
	return nil
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

// Mean of a number over all ranks.
func Mean(ctx context.Context, group *dist.ProcessGroup, device gotorch.Device, value float64) (float64, error) {
	sums, err := Sums(ctx, group, device, value)
	if err != nil {
		return 0, err
	}
	return sums[0] / float64(group.Size()), nil
}

// Sums of numbers over all ranks.
func Sums(ctx context.Context, group *dist.ProcessGroup, device gotorch.Device, values ...float64) ([]float64, error) {
	sums := gotorch.From(values).ToDevice(device)
	if err := group.AllReduce(ctx, sums, dist.Sum); err != nil {
		return nil, err
	}
	return gotorch.ToSlice[float64](sums), nil
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
