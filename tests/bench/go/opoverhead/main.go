// Our side of `op-overhead`. The peers are peers/op_overhead.py and peers/op_overhead.cpp.
//
//	bench-op-overhead [--data FOLDER] [--save FILE] CASE ITERATIONS
//
// Writes rank-0.json into the folder BENCH_OUT: microseconds for one iteration, and the values that iterations give.
package main

import (
	"flag"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/bench/program"
	"tandem.example/gotorch/bench/rankreport"
	"tandem.example/gotorch/dist"
	"tandem.example/gotorch/nn"
	F "tandem.example/gotorch/nn/functional"
	"tandem.example/gotorch/optim"
)

// scopeSize is how many operations share a scope: a training step of a small model has about as many.
const scopeSize = 100

var (
	data = flag.String("data", "", "of lstm-cell-loop: folder that prepare.py wrote")
	save = flag.String("save", "", "of lstm-cell-loop: file for the parameters at the end")
)

// task is a case: work does a number of iterations, results gives the values to compare, finish ends it.
type task struct {
	work    func(iterations int) error
	results func() []float64
	finish  func() error
}

func main() { program.Alone(run) }

func run() error {
	if flag.NArg() != 2 {
		return fmt.Errorf("usage: bench-op-overhead [--data FOLDER] [--save FILE] CASE ITERATIONS")
	}
	iterations, err := strconv.Atoi(flag.Arg(1))
	if err != nil {
		return err
	}
	t, err := prepare(flag.Arg(0))
	if err != nil {
		return err
	}
	if err := t.work(iterations / 10); err != nil {
		return err
	}
	start := time.Now()
	if err := t.work(iterations); err != nil {
		return err
	}
	microseconds := time.Since(start).Seconds() * 1e6 / float64(iterations)
	if err := rankreport.Write(0, map[string]any{"us": microseconds, "values": t.results()}); err != nil {
		return err
	}
	return t.finish()
}

func prepare(name string) (*task, error) {
	switch name {
	case "add-scope":
		return adds(addInScopes, false), nil
	case "add-scope-grad":
		return adds(addInScopes, true), nil
	case "add-noscope":
		return adds(addOutsideScopes, false), nil
	case "lstm-cell-loop":
		return lstmCellLoop()
	case "report":
		return reports(), nil
	}
	return nil, fmt.Errorf("case %q: there are add-scope, add-scope-grad, add-noscope, lstm-cell-loop and report", name)
}

// reports tell the launcher how training gets on.
func reports() *task {
	return &task{
		work: func(iterations int) error {
			for i := range iterations {
				if err := dist.Report(dist.Metrics{Samples: 64, Loss: gotorch.Some(float64(i))}); err != nil {
					return err
				}
			}
			return nil
		},
		results: func() []float64 { return nil },
		finish:  func() error { return nil },
	}
}

// ramp is a 4x4 tensor whose element i is i * step, exact in every language.
func ramp(step float32, grad bool) *gotorch.Tensor {
	values := make([]float32, 16)
	for i := range values {
		values[i] = float32(i) * step
	}
	return gotorch.From(values, 4, 4).SetRequiresGrad(grad)
}

func adds(add func(a, b *gotorch.Tensor, iterations int), grad bool) *task {
	a, b := ramp(0.25, grad), ramp(-2, grad)
	return &task{
		work: func(iterations int) error {
			add(a, b, iterations)
			return nil
		},
		results: func() (values []float64) {
			for _, v := range gotorch.ToSlice[float32](a.Add(b).Detach()) {
				values = append(values, float64(v))
			}
			return values
		},
		finish: func() error { return nil },
	}
}

func addInScopes(a, b *gotorch.Tensor, iterations int) {
	for done := 0; done < iterations; done += scopeSize {
		gotorch.Scope(func() {
			for range min(scopeSize, iterations-done) {
				a.Add(b)
			}
		})
	}
}

// The collector frees the results.
func addOutsideScopes(a, b *gotorch.Tensor, iterations int) {
	for range iterations {
		a.Add(b)
	}
}

type cellLoop struct {
	nn.Base
	Cell *nn.Native
}

func (m *cellLoop) Forward(inputs *gotorch.Tensor) *gotorch.Tensor {
	hidden := gotorch.Zeros([]int{inputs.Size(1), 128})
	cell := hidden
	for _, x := range inputs.Unbind(0) {
		state := m.Cell.ForwardAll(x, []*gotorch.Tensor{hidden, cell})
		hidden, cell = state[0], state[1]
	}
	return hidden
}

func lstmCellLoop() (*task, error) {
	model := &cellLoop{Cell: nn.New("LSTMCell", map[string]any{"input_size": 32, "hidden_size": 128})}
	if err := nn.Load(filepath.Join(*data, "init.safetensors"), model); err != nil {
		return nil, err
	}
	batch, _, err := gotorch.Open(filepath.Join(*data, "rank-0.safetensors"))
	if err != nil {
		return nil, err
	}
	inputs, targets := batch["inputs"], batch["targets"]
	optimizer := optim.SGD(nn.Parameters(model), 0.01, optim.SGDOptions{Momentum: 0.9})
	var losses []float64
	return &task{
		work: func(iterations int) (err error) {
			for range iterations {
				gotorch.Scope(func() {
					loss := F.MSELoss(model.Forward(inputs), targets)
					if err = optimizer.Minimize(loss); err == nil {
						losses = append(losses, loss.Item())
					}
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
		results: func() []float64 { return losses },
		finish: func() error {
			if *save == "" {
				return nil
			}
			return nn.Save(*save, model)
		},
	}, nil
}
