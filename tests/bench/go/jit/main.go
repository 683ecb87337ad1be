// Our side of `jit`. The peer is peers/jit.py.
//
//	bench-jit mul10-eager|mul10-script CALLS
//
// Writes rank-0.json into the folder BENCH_OUT: microseconds for one call, and the first values that it gives.
package main

import (
	"flag"
	"fmt"
	"strconv"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/bench/program"
	"tandem.example/gotorch/bench/rankreport"
	"tandem.example/gotorch/jit"
)

const source = `
def mul10(x, y):
    for i in range(10):
        x = x * y
    return x
`

func main() { program.Alone(run) }

func run() error {
	if flag.NArg() != 2 {
		return fmt.Errorf("usage: bench-jit mul10-eager|mul10-script CALLS")
	}
	calls, err := strconv.Atoi(flag.Arg(1))
	if err != nil {
		return err
	}
	call, err := function(flag.Arg(0))
	if err != nil {
		return err
	}
	values := make([]float32, 1024)
	for i := range values {
		values[i] = float32(i) / 1024
	}
	x := gotorch.From(values, len(values))
	y := x.AddScalar(0.5)
	work := func(count int) {
		for range count {
			gotorch.Scope(func() { call(x, y) })
		}
	}
	var microseconds float64
	var results []float64
	gotorch.NoGrad(func() {
		work(max(10, calls/10))
		start := time.Now()
		work(calls)
		microseconds = time.Since(start).Seconds() * 1e6 / float64(calls)
		all := gotorch.ToSlice[float32](call(x, y))
		for i := 1; i < len(all); i += 64 {
			results = append(results, float64(all[i]))
		}
	})
	return rankreport.Write(0, map[string]any{"us": microseconds, "values": results})
}

func function(name string) (func(x, y *gotorch.Tensor) *gotorch.Tensor, error) {
	switch name {
	case "mul10-eager":
		return func(x, y *gotorch.Tensor) *gotorch.Tensor {
			for range 10 {
				x = x.Mul(y)
			}
			return x
		}, nil
	case "mul10-script":
		module, err := jit.Compile(source)
		if err != nil {
			return nil, err
		}
		return func(x, y *gotorch.Tensor) *gotorch.Tensor { return module.Call("mul10", x, y).(*gotorch.Tensor) }, nil
	}
	return nil, fmt.Errorf("case %q: there are mul10-eager and mul10-script", name)
}
