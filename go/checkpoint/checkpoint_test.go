package checkpoint_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

type progress struct {
	Epoch int
	Best  float64
}

// training is a small one, whose every step depends on all that a checkpoint has to hold.
type training struct {
	net       *nn.Sequential
	optimizer *optim.Optimizer
	scaler    *optim.GradScaler
	scheduler *optim.LRScheduler
	averages  *optim.Averages
	loader    place
	progress  progress
}

// place stands for a loader's.
type place struct{ at byte }

func (p *place) State() ([]byte, error) { return []byte{p.at}, nil }
func (p *place) Restore(state []byte) error {
	p.at = state[0]
	return nil
}

func newTraining(seed uint64) *training {
	if err := gotorch.ManualSeed(seed); err != nil {
		panic(err)
	}
	net := nn.NewSequential(nn.NewLinear(4, 8), nn.NewBatchNorm1d(8), nn.NewLinear(8, 1))
	optimizer := optim.Adam(nn.Parameters(net), 0.1)
	return &training{net: net, optimizer: optimizer, scheduler: optim.ExponentialLR(optimizer, 0.9),
		averages: optim.EMA(nn.Parameters(net), nil, 0.5), scaler: optim.NewGradScaler(optim.GradScalerOptions{GrowthInterval: 2})}
}

func (t *training) state() checkpoint.State {
	return checkpoint.State{Model: t.net, Optimizer: t.optimizer, Scheduler: t.scheduler, Averages: t.averages,
		Scaler: t.scaler, Loader: &t.loader, RNG: true, Values: &t.progress}
}

func (t *training) step(test *testing.T) {
	test.Helper()
	gotorch.Scope(func() {
		x := gotorch.RandN([]int{16, 4}).AddScalar(float64(t.loader.at))
		loss := t.net.Forward(x).Square().Mean()
		if err := t.optimizer.ZeroGrad(); err != nil {
			test.Fatal(err)
		}
		if err := t.scaler.Scale(loss).Backward(); err != nil {
			test.Fatal(err)
		}
		if _, err := t.scaler.Step(t.optimizer); err != nil {
			test.Fatal(err)
		}
		for _, step := range []func() error{t.scaler.Update, t.scheduler.Step, t.averages.Update} {
			if err := step(); err != nil {
				test.Fatal(err)
			}
		}
		t.progress = progress{t.progress.Epoch + 1, loss.Item()}
		t.loader.at++
	})
}

func open(t *testing.T, path string, options ...checkpoint.Options) *checkpoint.Folder {
	t.Helper()
	folder, err := checkpoint.Open(path, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := folder.Close(); err != nil {
			t.Error(err)
		}
	})
	return folder
}

func averagesOf(t *testing.T, training *training) (values []float32) {
	t.Helper()
	averages, err := training.averages.Parameters()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range averages {
		values = append(values, gotorch.ToSlice[float32](one)...)
	}
	return values
}

// What goes on from a checkpoint comes to the same bits as what was never stopped.
func TestTrainingGoesOnAsIfItHadNotStopped(t *testing.T) {
	ctx := context.Background()
	for _, async := range []bool{false, true} {
		folder := open(t, filepath.Join(t.TempDir(), "run"))
		whole := newTraining(1)
		for range 3 {
			whole.step(t)
		}
		save := folder.Save
		if async {
			save = folder.SaveAsync
		}
		if err := save(ctx, 3, whole.state()); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			whole.step(t)
		}

		resumed := newTraining(2)
		resumed.step(t)
		state := resumed.state()
		loaded, err := folder.Load(ctx, &state)
		if err != nil || loaded == nil || loaded.Step != 3 || loaded.WorldSize != 1 || len(loaded.Refused) != 0 {
			t.Fatal(loaded, err)
		}
		if resumed.progress.Epoch != 3 || resumed.loader.at != 3 {
			t.Errorf("it goes on from %+v, %d", resumed.progress, resumed.loader.at)
		}
		for range 3 {
			resumed.step(t)
		}
		if nn.Fingerprint(whole.net) != nn.Fingerprint(resumed.net) || whole.progress != resumed.progress {
			t.Errorf("async %v: another result than without a stop: %+v and %+v", async, whole.progress, resumed.progress)
		}
		if wholes, resumeds := averagesOf(t, whole), averagesOf(t, resumed); !slices.Equal(wholes, resumeds) {
			t.Errorf("the averages differ: %v and %v", wholes, resumeds)
		}
		if whole.optimizer.LR() != resumed.optimizer.LR() {
			t.Errorf("the rates differ: %v and %v", whole.optimizer.LR(), resumed.optimizer.LR())
		}
		if whole.scaler.State() != resumed.scaler.State() {
			t.Errorf("the scalers differ: %+v and %+v", whole.scaler.State(), resumed.scaler.State())
		}
	}
}

func TestDamageFallsBackAndIsTold(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "run")
	folder := open(t, path, checkpoint.Options{Keep: gotorch.Some(2)})
	training := newTraining(1)
	for step := range 4 {
		training.step(t)
		if err := folder.Save(ctx, step, training.state()); err != nil {
			t.Fatal(err)
		}
	}
	steps, err := folder.Steps()
	if err != nil || !slices.Equal(steps, []int{2, 3}) {
		t.Fatal(steps, err)
	}
	file := filepath.Join(path, "step-000000003", "model.safetensors")
	bytes, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bytes[len(bytes)-3] ^= 4
	if err := os.WriteFile(file, bytes, 0o644); err != nil {
		t.Fatal(err)
	}
	state := training.state()
	loaded, err := folder.Load(ctx, &state)
	if err != nil || loaded.Step != 2 || len(loaded.Refused) != 1 || !strings.Contains(loaded.Refused[0], file) {
		t.Fatal(loaded, err)
	}
	if _, err := folder.LoadStep(ctx, 3, &state); !errors.Is(err, gotorch.ErrDataLoss) {
		t.Error(err)
	}
	if _, err := folder.LoadStep(ctx, -1, &state); !errors.Is(err, gotorch.ErrInvalidArgument) {
		t.Error(err)
	}
	if _, err := folder.LoadStep(ctx, 1, &state); !errors.Is(err, gotorch.ErrNotFound) || !strings.Contains(err.Error(), "checkpoint.Folder.LoadStep: ") {
		t.Error(err)
	}
}

func TestFurtherTensorsAndWhatIsMissing(t *testing.T) {
	ctx := context.Background()
	folder := open(t, filepath.Join(t.TempDir(), "run"))
	var empty checkpoint.State
	if loaded, err := folder.Load(ctx, &empty); loaded != nil || err != nil {
		t.Fatal(loaded, err)
	}
	average := gotorch.Full([]int{2}, 3.0)
	if err := folder.Save(ctx, 0, checkpoint.State{Tensors: map[string]map[string]*gotorch.Tensor{"ema": {"w": average}}}); err != nil {
		t.Fatal(err)
	}
	var state checkpoint.State
	if _, err := folder.Load(ctx, &state); err != nil {
		t.Fatal(err)
	}
	if got := gotorch.ToSlice[float32](state.Tensors["ema"]["w"]); !slices.Equal(got, []float32{3, 3}) {
		t.Error(got)
	}
	training := newTraining(1)
	for name, want := range map[string]checkpoint.State{
		"model": {Model: training.net}, "GradScaler": {Scaler: training.scaler}, "scheduler": {Scheduler: training.scheduler},
		"averages": {Averages: training.averages}, "loader": {Loader: &training.loader},
		"values": {Values: &training.progress}, "rng": {RNG: true},
	} {
		if _, err := folder.Load(ctx, &want); !errors.Is(err, gotorch.ErrNotFound) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMistakes(t *testing.T) {
	ctx := context.Background()
	if _, err := checkpoint.Open(""); !errors.Is(err, gotorch.ErrInvalidArgument) {
		t.Error(err)
	}
	folder, err := checkpoint.Open(filepath.Join(t.TempDir(), "run"))
	if err != nil {
		t.Fatal(err)
	}
	if err := folder.Save(ctx, -1, checkpoint.State{}); !errors.Is(err, gotorch.ErrInvalidArgument) ||
		!strings.Contains(err.Error(), "checkpoint.Folder.Save") {
		t.Error(err)
	}
	if err := folder.Save(ctx, 1, checkpoint.State{Values: func() {}}); err == nil || !strings.Contains(err.Error(), "JSON") {
		t.Error(err)
	}
	closed := gotorch.Full([]int{2}, 3.0)
	closed.Close()
	further := map[string]map[string]*gotorch.Tensor{"more": {"w": closed}}
	if err := folder.Save(ctx, 1, checkpoint.State{Tensors: further}); err == nil {
		t.Error("a closed tensor was saved")
	}
	if err := folder.Close(); err != nil {
		t.Error(err)
	}
	if err := folder.Close(); err != nil {
		t.Error(err)
	}
	if err := folder.Save(ctx, 1, checkpoint.State{}); !errors.Is(err, gotorch.ErrClosed) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := open(t, filepath.Join(t.TempDir(), "run")).Save(ended, 1, checkpoint.State{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
