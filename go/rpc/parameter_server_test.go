package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/checkpoint"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	"tandem.example/gotorch/rpc"
)

// Two servers and two trainers.
func TestParameterServers(t *testing.T) {
	t.Setenv("TEST_FOLDER", t.TempDir())
	succeed(t, start(t, 4, "parameters"))
}

const parameterSteps = 6

func initialRows() *gotorch.Tensor {
	return gotorch.Arange(10, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Float64)}).MulScalar(0.7).Sin().Reshape(5, 2)
}

func parameterTables() map[string]rpc.EmbeddingTable {
	return map[string]rpc.EmbeddingTable{
		"words": {Rows: 5, Width: 2, DType: gotorch.Some(gotorch.Float64), Optimizer: "Adagrad", Options: map[string]any{"lr": 0.1},
			ByRange: true, Initial: initialRows()},
		"drawn": {Rows: 40, Width: 3, StandardDeviation: gotorch.Some(0.5), Seed: 3},
	}
}

// lossOf part `part` of `parts` of a step's batch.
func lossOf(step, part, parts int, weight *gotorch.Tensor, lookUp func(*gotorch.Tensor) *gotorch.Tensor) *gotorch.Tensor {
	var ids []int64
	for i := part; i < 4; i += parts {
		ids = append(ids, int64((i*3+step*step)%5))
	}
	x := lookUp(gotorch.From(ids, len(ids)))
	return x.Mul(weight).Square().Sum()
}

func parametersChild(ctx context.Context) error {
	world, err := dist.Init(ctx, dist.Options{Backend: "gloo"})
	if err != nil {
		return err
	}
	defer world.Close()
	trainers, err := world.NewGroup(ctx, []int{2, 3}, "trainers")
	if err != nil {
		return err
	}
	if world.Rank() < 2 {
		return serveParameters(ctx, world.Rank())
	}
	defer trainers.Close()
	return trainParameters(ctx, trainers)
}

func serveParameters(ctx context.Context, rank int) error {
	server, err := rpc.NewParameterServer(rpc.ParameterServerOptions{MostBytes: 1 << 20})
	if err != nil {
		return err
	}
	defer server.Close()
	if _, err := rpc.NewParameterServer(); !errors.Is(err, gotorch.ErrInvalidArgument) {
		return fmt.Errorf("a second server: %w", err)
	}
	if err := rpc.Init(ctx, rpc.Options{Name: "server" + strconv.Itoa(rank)}); err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if err := server.Wait(short); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("a short wait: %w", err)
	}
	if err := server.Wait(ctx); err != nil {
		return err
	}
	counted, err := server.Statistics()
	if err != nil {
		return err
	}
	if err := check(counted.Pushes >= 2*parameterSteps && counted.RowsRead > 0 && len(counted.Trainers) == 0, "counted %+v", counted); err != nil {
		return err
	}
	return rpc.Shutdown(ctx, true)
}

func trainParameters(ctx context.Context, trainers *dist.ProcessGroup) error {
	trainer := trainers.Rank()
	if err := rpc.Init(ctx, rpc.Options{Name: "trainer" + strconv.Itoa(trainer)}); err != nil {
		return err
	}
	weight := gotorch.From([]float64{0.5}, 1).SetRequiresGrad(true)
	options := rpc.ParameterClientOptions{Servers: []string{"server0", "server1"}, Trainers: 2, Tables: parameterTables(),
		Dense: rpc.DenseParameters{Parameters: []nn.Named{{Name: "weight", Tensor: weight}}, Optimizer: "SGD", Options: map[string]any{"lr": 0.01}}}
	wrong := options
	wrong.Tables = map[string]rpc.EmbeddingTable{"words": {Rows: 5, Width: 2, Optimizer: "Adam"}}
	if _, err := rpc.NewParameterClient(ctx, wrong); !errors.Is(err, gotorch.ErrUnsupported) || !strings.Contains(err.Error(), "words") {
		return fmt.Errorf("Adam for a table: %w", err)
	}
	if err := notJoined(ctx, options); err != nil {
		return err
	}
	if err := trainers.Barrier(ctx); err != nil {
		return err
	}
	client, err := rpc.NewParameterClient(ctx, options)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := compareSteps(ctx, client, trainer, weight); err != nil {
		return fmt.Errorf("steps: %w", err)
	}
	if err := misuse(ctx, client); err != nil {
		return fmt.Errorf("misuse: %w", err)
	}
	if err := trainers.Barrier(ctx); err != nil {
		return err
	}
	if err := saveAndLoad(ctx, client, trainers, weight); err != nil {
		return fmt.Errorf("checkpoints: %w", err)
	}
	if err := leaveAStep(ctx, client, trainers); err != nil {
		return fmt.Errorf("a step that is left: %w", err)
	}
	if err := client.Leave(ctx); err != nil {
		return err
	}
	return rpc.Shutdown(ctx, true)
}

// notJoined is what comes of contexts that are over, and of options that cannot be sent, more than once.
func notJoined(ctx context.Context, options rpc.ParameterClientOptions) error {
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := rpc.NewParameterClient(over, options); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("a context that is over: %w", err)
	}
	nothing := options
	nothing.Tables, nothing.Dense = nil, rpc.DenseParameters{}
	if _, err := rpc.NewParameterClient(ctx, nothing); !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), "give either") {
		return fmt.Errorf("neither tables nor dense parameters: %w", err)
	}
	options.Dense.Options = map[string]any{"lr": struct{}{}}
	for range 3 {
		if _, err := rpc.NewParameterClient(ctx, options); !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), "lr") {
			return fmt.Errorf("an option that is none: %w", err)
		}
	}
	return nil
}

// compareSteps with those of one process on the whole batch.
func compareSteps(ctx context.Context, client *rpc.ParameterClient, trainer int, weight *gotorch.Tensor) error {
	rows, own := initialRows().SetRequiresGrad(true), gotorch.From([]float64{0.5}, 1).SetRequiresGrad(true)
	sums := gotorch.Zeros([]int{5, 2}, gotorch.TensorOptions{DType: gotorch.Some(gotorch.Float64)})
	for step := range parameterSteps {
		lossOf(step, trainer, 2, weight, func(ids *gotorch.Tensor) *gotorch.Tensor {
			x, err := client.Embedding("words", ids)
			if err != nil {
				panic(err)
			}
			return x
		}).Backward()
		if err := client.Step(ctx); err != nil {
			return err
		}
		// Adagrad and SGD of the mean of both losses.
		look := func(ids *gotorch.Tensor) *gotorch.Tensor { return rows.IndexSelect(0, ids) }
		lossOf(step, 0, 2, own, look).Add(lossOf(step, 1, 2, own, look)).DivScalar(2).Backward()
		gotorch.NoGrad(func() {
			sums.AddI(rows.Grad().Square())
			rows.SubI(rows.Grad().Div(sums.Sqrt().AddScalar(1e-10)).MulScalar(0.1))
			own.SubI(own.Grad().MulScalar(0.01))
		})
		rows.SetGrad(nil)
		own.SetGrad(nil)
	}
	var now *gotorch.Tensor
	var err error
	gotorch.NoGrad(func() { now, err = client.Embedding("words", gotorch.From([]int64{0, 1, 2, 3, 4}, 5)) })
	if err != nil {
		return err
	}
	if now.RequiresGrad() {
		return errors.New("rows fetched without gradients have history")
	}
	for name, difference := range map[string]float64{"rows": now.Sub(rows).Abs().Max().Item(), "weight": weight.Sub(own).Abs().Max().Item()} {
		if !(difference < 1e-12) {
			return fmt.Errorf("the %s differ by %g from one process's", name, difference)
		}
	}
	drawn, err := client.Embedding("drawn", gotorch.From([]int64{0, 39}, 2))
	if err != nil {
		return err
	}
	largest := drawn.Detach().Abs().Max().Item()
	return check(client.Steps() == parameterSteps && largest > 0 && largest < 4 && drawn.DType() == gotorch.Float32, "step %d, drawn %v", client.Steps(), drawn)
}

func misuse(ctx context.Context, client *rpc.ParameterClient) error {
	if _, err := client.Embedding("users", gotorch.From([]int64{0}, 1)); !errors.Is(err, gotorch.ErrNotFound) {
		return fmt.Errorf("no such table: %w", err)
	}
	if _, err := client.Embedding("words", gotorch.From([]int64{5}, 1)); !errors.Is(err, gotorch.ErrOutOfRange) {
		return fmt.Errorf("no such row: %w", err)
	}
	if _, err := client.Embedding("words", nil); !errors.Is(err, gotorch.ErrInvalidArgument) {
		return fmt.Errorf("no indices: %w", err)
	}
	if err := client.SetOption(ctx, "words", "speed", 1); !errors.Is(err, gotorch.ErrNotFound) {
		return fmt.Errorf("no such option: %w", err)
	}
	return nil
}

func saveAndLoad(ctx context.Context, client *rpc.ParameterClient, trainers *dist.ProcessGroup, weight *gotorch.Tensor) error {
	folder, err := checkpoint.Open(filepath.Join(os.Getenv("TEST_FOLDER"), "saved"), checkpoint.Options{Group: trainers})
	if err != nil {
		return err
	}
	defer folder.Close()
	ids := gotorch.From([]int64{0, 1, 2, 3, 4}, 5)
	before, err := client.Embedding("words", ids)
	if err != nil {
		return err
	}
	then := weight.Detach().Clone()
	if err := folder.Save(ctx, 1, checkpoint.State{Tables: client, Values: "kept"}); err != nil {
		return err
	}
	if err := trainers.Barrier(ctx); err != nil {
		return err
	}
	before.Sum().Add(weight.Sum()).Backward()
	if err := client.Step(ctx); err != nil {
		return err
	}
	if weight.Detach().Equal(then) {
		return errors.New("the step changed nothing")
	}
	if err := trainers.Barrier(ctx); err != nil {
		return err
	}
	var values string
	loaded, err := folder.Load(ctx, &checkpoint.State{Tables: client, Values: &values})
	if err != nil || loaded == nil || loaded.Step != 1 || loaded.WorldSize != 2 || values != "kept" {
		return fmt.Errorf("loaded %+v, %q: %w", loaded, values, err)
	}
	after, err := client.Embedding("words", ids)
	if err != nil {
		return err
	}
	if !after.Equal(before) || !weight.Detach().Equal(then) {
		return fmt.Errorf("loaded %v and %v for %v and %v", after, weight, before, then)
	}
	all, _, err := folder.LoadTensors(ctx, checkpoint.Selection{Sections: []string{"tables"}})
	if err != nil {
		return err
	}
	return check(all["tables"]["words"].Equal(before.Detach()), "the file has %v", all)
}

// leaveAStep has trainer 0 wait for trainer 1 with a context that ends.
func leaveAStep(ctx context.Context, client *rpc.ParameterClient, trainers *dist.ProcessGroup) error {
	steps := client.Steps()
	if trainers.Rank() == 0 {
		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		if err := client.Step(short); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, gotorch.ErrAborted) {
			return fmt.Errorf("a step by itself: %w", err)
		}
		if err := client.Step(short); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("again: %w", err)
		}
	}
	if err := trainers.Barrier(ctx); err != nil {
		return err
	}
	if err := client.Step(ctx); err != nil {
		return err
	}
	return check(client.Steps() == steps+1, "from %d to %d steps", steps, client.Steps())
}
