// Rnn trains a language model of bytes whose parts are on two workers: an LSTM here, its large tables, the embedding and the
// scores, on another one, which are called; the gradients go through the calls, and each worker's optimizer steps its own
// parameters:
//
//	tandem run -n 2 -- rnn-go --data FILE
//
// One worker alone has both parts, calls itself, and trains the same model.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/rpc"
)

type settings struct {
	data                              string
	width, length, size, steps, every int
	lr                                float64
	seed                              uint64
}

func main() {
	var s settings
	flag.StringVar(&s.data, "data", "", "`FILE` with a text")
	flag.IntVar(&s.width, "width", 64, "of the embedding and the LSTM")
	flag.IntVar(&s.length, "length", 32, "bytes that the model sees")
	flag.IntVar(&s.size, "batch-size", 16, "windows of a batch")
	flag.IntVar(&s.steps, "steps", 400, "of the optimizer")
	flag.IntVar(&s.every, "every", 50, "steps from one report to the next")
	flag.Float64Var(&s.lr, "lr", 5e-3, "learning rate")
	flag.Uint64Var(&s.seed, "seed", 1, "of all random numbers")
	flag.Parse()
	dist.Main(s.run)
}

func (s *settings) run(ctx context.Context) error {
	if s.data == "" || flag.NArg() > 0 {
		return fmt.Errorf("give --data FILE, a text; --help lists all flags")
	}
	text, err := os.ReadFile(s.data)
	if err != nil {
		return err
	}
	if min(s.width, s.length, s.size, s.steps, s.every) < 1 || len(text) <= s.length {
		return fmt.Errorf("numbers must be above 0, and the text longer than --length")
	}
	tables, err := newTables(s.width, s.seed)
	if err != nil {
		return err
	}
	// Before others may call.
	if err := tables.register(); err != nil {
		return err
	}
	if err := rpc.Init(ctx); err != nil {
		return err
	}
	workers, err := rpc.Workers()
	if err != nil {
		return err
	}
	self, err := rpc.Self()
	if err != nil {
		return err
	}
	if self.ID == 0 {
		if err := s.train(ctx, text, workers[len(workers)-1].Name); err != nil {
			rpc.Shutdown(ctx, false)
			return err
		}
	}
	return rpc.Shutdown(ctx, true)
}

// train has the LSTM, and calls the worker that has the tables.
func (s *settings) train(ctx context.Context, text []byte, tables string) error {
	if err := gotorch.ManualSeed(s.seed + 1); err != nil {
		return err
	}
	lstm := nn.NewLSTM(s.width, s.width, nn.LSTMOptions{BatchFirst: true})
	answer, err := rpc.Call(ctx, tables, "parameters")
	if err != nil {
		return err
	}
	var parameters []*rpc.RRef
	for _, one := range answer.([]any) {
		parameters = append(parameters, one.(*rpc.RRef))
	}
	for _, own := range nn.Parameters(lstm) {
		reference, err := rpc.NewRRef(own)
		if err != nil {
			return err
		}
		parameters = append(parameters, reference)
	}
	optimizer, err := rpc.NewDistributedOptimizer(ctx, "Adam", parameters, map[string]any{"lr": s.lr})
	if err != nil {
		return err
	}
	defer optimizer.Close()

	random := rand.New(rand.NewPCG(s.seed, 0))
	total := 0.0
	for step := 1; step <= s.steps; step++ {
		var loss float64
		var failed error
		gotorch.Scope(func() {
			loss, failed = s.step(ctx, lstm, tables, optimizer, text, random)
		})
		if failed != nil {
			return failed
		}
		if total += loss; step%s.every == 0 {
			fmt.Printf("step %d/%d: %.4f bits per character\n", step, s.steps, total/float64(s.every)/math.Ln2)
			total = 0
		}
	}
	counted, err := rpc.Statistics()
	if err != nil {
		return err
	}
	fmt.Printf("%d calls of %s\n", counted[tables].Calls, tables)
	return nil
}

// step is one pass through both workers, forward and back.
func (s *settings) step(ctx context.Context, lstm *nn.LSTM, tables string, optimizer *rpc.DistributedOptimizer, text []byte,
	random *rand.Rand) (float64, error) {
	x, y := s.batch(text, random)
	pass, err := rpc.NewAutogradContext()
	if err != nil {
		return 0, err
	}
	defer pass.Close()
	inside := pass.In(ctx) // these calls take part
	embedded, err := rpc.Call(inside, tables, "embed", x)
	if err != nil {
		return 0, err
	}
	scores, err := rpc.Call(inside, tables, "score", lstm.Forward(embedded.(*gotorch.Tensor)))
	if err != nil {
		return 0, err
	}
	loss := F.CrossEntropy(scores.(*gotorch.Tensor).Flatten(0, 1), y.Flatten(0, 1))
	if err := pass.Backward(ctx, loss); err != nil {
		return 0, err
	}
	return loss.Item(), optimizer.Step(ctx, pass)
}

// batch draws windows of the text: bytes, and those that come next.
func (s *settings) batch(text []byte, random *rand.Rand) (inputs, targets *gotorch.Tensor) {
	var x, y []int64
	for range s.size {
		begin := random.IntN(len(text) - s.length)
		for i := range s.length {
			x, y = append(x, int64(text[begin+i])), append(y, int64(text[begin+i+1]))
		}
	}
	return gotorch.From(x, s.size, s.length), gotorch.From(y, s.size, s.length)
}
