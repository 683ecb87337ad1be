package elastic_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/data"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/elastic"
	"tandem.example/gotorch/internal/testmain"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/optim"
)

func TestMain(m *testing.M) {
	testmain.Run(m, testmain.Children{"train": func() { dist.Main(trainChild) }, "pipeline": func() { dist.Main(pipedChild) }})
}

const steps = 24

// weight is a parameter of the training that runs.
var weight *gotorch.Tensor

// training is a small one; harm is called in each step, before its batch counts.
func training(ctx context.Context, seed uint64, harm func(job *elastic.Job) error, o elastic.Options) ([]float64, elastic.Outcome, error) {
	gotorch.ManualSeed(seed)
	x := gotorch.Linspace(-1, 1, 60, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Float64)}).Reshape(60, 1)
	samples, err := data.FromTensors([]*gotorch.Tensor{x, x.Square()}, "x", "y")
	if err != nil {
		return nil, 0, err
	}
	defer samples.Close()
	net := nn.NewSequential(nn.NewLinear(1, 8), nn.NewTanh(), nn.NewLinear(8, 1))
	nn.ToDType(net, gotorch.Float64)
	weight = nn.Parameters(net)[0]
	defer func() { weight = nil }()
	sgd := optim.SGD(nn.Parameters(net), 0.1, optim.SGDOptions{Momentum: 0.9})
	var place elastic.Place
	progress := struct{ Batches int }{}
	state := checkpoint.State{Model: net, Optimizer: sgd, Loader: &place, RNG: true, Values: &progress}
	outcome, err := elastic.Run(ctx, &state, func(ctx context.Context, job *elastic.Job) error {
		model, err := dist.NewDDP(job.Group(), net)
		if err != nil {
			return err
		}
		defer model.Close()
		loader, err := data.NewLoader(samples, data.Options{BatchSize: 12, Rank: job.Rank(), WorldSize: job.Size(), Seed: 3})
		if err != nil {
			return err
		}
		defer loader.Close()
		if err := place.Follow(loader); err != nil {
			return err
		}
		for job.Steps() < steps {
			for batch, err := range gotorch.Scoped(loader.Epoch(ctx, loader.CurrentEpoch())) {
				if err != nil {
					return err
				}
				if err := harm(job); err != nil {
					return err
				}
				difference := model.Forward(batch.Field("x")).Sub(batch.Field("y"))
				loss := difference.Square().Sum().MulScalar(float64(job.Size()) / float64(batch.GlobalCount))
				if err := sgd.Minimize(loss); err != nil {
					return err
				}
				progress.Batches++
				if err := loader.Commit(); err != nil {
					return err
				}
				if err := job.Step(); err != nil {
					return err
				}
				if job.Steps() == steps {
					break
				}
			}
		}
		if progress.Batches != steps {
			return fmt.Errorf("%d batches count, not %d", progress.Batches, steps)
		}
		return nil
	}, o)
	if err != nil {
		return nil, outcome, err
	}
	var values []float64
	for _, parameter := range nn.Parameters(net) {
		values = append(values, gotorch.ToSlice[float64](parameter)...)
	}
	return values, outcome, nil
}

func harmless(*elastic.Job) error { return nil }

// up is there once a process is about to train.
func up(member string) string { return filepath.Join(os.Getenv("FOLDER"), "up."+member) }

// awaitSpare returns when the process that SPARE names waits to be needed, most likely: a busy machine starts it late.
func awaitSpare() {
	spare := os.Getenv("SPARE")
	for range 1000 {
		if _, err := os.Stat(up(spare)); spare == "" || err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if spare != "" {
		time.Sleep(time.Second)
	}
}

// trainChild does itself harm once, as HARM says: "kill 1 7" for the process that the launcher started second, in step 7.
func trainChild(ctx context.Context) error {
	var kind string
	var member, step int
	fmt.Sscan(os.Getenv("HARM"), &kind, &member, &step)
	once := filepath.Join(os.Getenv("FOLDER"), "once")
	if err := os.WriteFile(up(os.Getenv("TANDEM_MEMBER")), nil, 0o644); err != nil {
		return err
	}
	values, outcome, err := training(ctx, 1, func(job *elastic.Job) error {
		if kind == "leave" {
			time.Sleep(50 * time.Millisecond) // or it is over before anybody could leave
		}
		if kind == "" || job.Steps() != step || os.Getenv("TANDEM_MEMBER") != strconv.Itoa(member) {
			return nil
		}
		if file, err := os.OpenFile(once, os.O_CREATE|os.O_EXCL, 0o644); err != nil {
			return nil
		} else {
			file.Close()
		}
		switch kind {
		case "kill":
			awaitSpare()
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		case "panic":
			panic("a fault of the program's own")
		case "corrupt": // as a bit that memory does not keep
			gotorch.NoGrad(func() { weight.SetIndex(gotorch.NewTensor([]float64{2}), gotorch.At(0), gotorch.At(0)) })
		case "hang":
			standStill()
		case "error":
			return errors.New("a fault of the program's own")
		case "leave":
			syscall.Kill(os.Getpid(), syscall.SIGUSR1)
		}
		return nil
	}, elastic.Options{Backend: os.Getenv("BACKEND"), CommitEvery: 4, CheckEvery: 4, LeaveOn: []os.Signal{syscall.SIGUSR1}})
	if err != nil {
		return err
	}
	fmt.Println("outcome", outcome, "values", fmt.Sprintf("%.12g", values))
	return nil
}

// standStill is what a hung program does, in Go.
func standStill() {
	for {
		time.Sleep(time.Hour)
	}
}

// launched runs it under the launcher, and gives the values of all who came to the end.
func launched(t *testing.T, harm, backend string, flags ...string) (values []string, output string) {
	t.Helper()
	tool := os.Getenv("TANDEM_TOOL")
	if tool == "" {
		t.Skip("TANDEM_TOOL does not name the launcher: run it by ctest -R go.test")
	}
	spare := ""
	if slices.Contains(flags, "--spares") {
		spare = "2" // of two ranks
	}
	child := testmain.Command(t, "train", "HARM="+harm, "FOLDER="+t.TempDir(), "BACKEND="+backend, "SPARE="+spare, "OMP_NUM_THREADS=1")
	command := exec.CommandContext(t.Context(), tool, append(append([]string{"run"}, flags...), "--no-prefix", "--", child.Path)...)
	command.Env = child.Env
	text, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "outcome 0 values "); ok {
			values = append(values, rest)
		}
	}
	return values, string(text)
}

func TestRunWithoutALauncherIsOneRank(t *testing.T) {
	values, outcome, err := training(t.Context(), 1, harmless, elastic.Options{})
	if err != nil || outcome != elastic.Finished || len(values) != 25 {
		t.Fatal(values, outcome, err)
	}
}

func TestALostRankCostsNoStep(t *testing.T) {
	undisturbed, _, err := training(t.Context(), 1, harmless, elastic.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		harm, backend, said string
		left                int
	}{
		{"kill 1 6", "gloo", "killed by SIGKILL", 1}, {"kill 0 9", "shm", "killed by SIGKILL", 1},
		{"panic 1 6", "shm", "a fault of the program's own", 1}, {"error 0 6", "gloo", "a fault of the program's own", 1},
		{"leave 1 5", "shm", "outcome 2", 1},
	} {
		values, output := launched(t, one.harm, one.backend, "-n", "2")
		if !strings.Contains(output, one.said) || len(values) != one.left {
			t.Errorf("%+v: %s", one, output)
			continue
		}
		compare(t, values[0], undisturbed)
	}
}

func TestWhoComputesWronglyIsPutOut(t *testing.T) {
	undisturbed, _, err := training(t.Context(), 1, harmless, elastic.Options{})
	if err != nil {
		t.Fatal(err)
	}
	values, output := launched(t, "corrupt 1 6", "gloo", "-n", "3")
	if len(values) != 2 || !strings.Contains(output, "after step 8 rank 1 has another") {
		t.Fatal(output)
	}
	compare(t, values[0], undisturbed)
}

func TestAHungRankShowsItsGoroutines(t *testing.T) {
	values, output := launched(t, "hang 1 6", "gloo", "-n", "2", "--step-timeout", "3")
	for _, said := range []string{
		"waits for no other rank; it is killed. What its threads did:",
		"tandem::membership::AgentClient::listen()", // threads that are not Go's
		"goroutine ", "elastic_test.standStill",
	} {
		if !strings.Contains(output, said) {
			t.Errorf("not said: %q", said)
		}
	}
	if len(values) != 1 || t.Failed() {
		t.Fatal(output)
	}
}

func compare(t *testing.T, text string, want []float64) {
	t.Helper()
	fields := strings.Fields(strings.Trim(text, "[]"))
	if len(fields) != len(want) {
		t.Fatalf("%d values, not %d: %s", len(fields), len(want), text)
	}
	for i, field := range fields {
		value, err := strconv.ParseFloat(field, 64)
		if err != nil || value-want[i] > 1e-9 || want[i]-value > 1e-9 {
			t.Fatalf("value %d is %s, not %g", i, field, want[i])
		}
	}
}

func TestASpareTakesTheLostRanksPlace(t *testing.T) {
	whole, _ := launched(t, "", "gloo", "-n", "2")
	values, output := launched(t, "kill 0 10", "gloo", "-n", "2", "--spares", "1")
	if len(values) != 2 || values[0] != values[1] || values[0] != whole[0] {
		t.Fatalf("%s\nwithout the failure: %s", output, whole)
	}
}

func TestErrorsAreTheProgramsOwn(t *testing.T) {
	wrong := errors.New("wrong")
	if _, _, err := training(t.Context(), 1, func(*elastic.Job) error { return wrong }, elastic.Options{}); !errors.Is(err, wrong) {
		t.Error(err)
	}
	if _, _, err := training(t.Context(), 1, func(*elastic.Job) error {
		gotorch.Zeros([]int{2}).Add(gotorch.Zeros([]int{3}))
		return nil
	}, elastic.Options{}); !errors.Is(err, gotorch.ErrInvalidArgument) {
		t.Error(err)
	}
	for _, o := range []elastic.Options{{CommitEvery: -1}, {CheckpointEvery: 10}, {CheckEvery: -1}, {CheckEvery: 15}, {Checkpoints: t.TempDir(), CheckpointEvery: 15}} {
		if _, _, err := training(t.Context(), 1, harmless, o); !errors.Is(err, gotorch.ErrInvalidArgument) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestABackendThatIsNone(t *testing.T) {
	_, _, err := training(t.Context(), 1, harmless, elastic.Options{Backend: "nonsense"})
	if err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Error(err)
	}
}

func TestAContextEndsIt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	_, _, err := training(ctx, 1, func(job *elastic.Job) error {
		if job.Steps() == 3 {
			cancel(stop)
		}
		return job.Group().Barrier(ctx)
	}, elastic.Options{})
	if !errors.Is(err, gotorch.ErrAborted) || !errors.Is(err, stop) {
		t.Error(err)
	}
	if _, _, err := training(ctx, 1, harmless, elastic.Options{}); !errors.Is(err, stop) {
		t.Error(err)
	}
}

func TestCheckpointsGoOn(t *testing.T) {
	whole, _, err := training(t.Context(), 1, harmless, elastic.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kept := elastic.Options{CommitEvery: 4, Checkpoints: filepath.Join(t.TempDir(), "run"), CheckpointEvery: 8}
	wrong := errors.New("wrong")
	if _, _, err := training(t.Context(), 1, func(job *elastic.Job) error {
		if job.Steps() == 18 {
			return wrong
		}
		return nil
	}, kept); !errors.Is(err, wrong) {
		t.Fatal(err)
	}
	first := -1
	// Other weights to begin with; those of the checkpoint count.
	values, _, err := training(t.Context(), 2, func(job *elastic.Job) error {
		if first < 0 {
			first = job.Steps()
		}
		return nil
	}, kept)
	if err != nil || first != 16 {
		t.Fatal(first, err)
	}
	compare(t, fmt.Sprintf("%.12g", values), whole)
}
