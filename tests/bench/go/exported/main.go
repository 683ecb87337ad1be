// Our side of `exported`'s inference. The peer is peers/exported_infer.py.
//
//	bench-exported [-compiled] FOLDER WARMUP CALLS
//
// With -compiled by AOTInductor's package of the program.
//
// Writes rank-0.json into the folder BENCH_OUT: milliseconds for one call, and the first values that it gives.
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
	"tandem.example/gotorch/export"
)

var compiled = flag.Bool("compiled", false, "run compiled.pt2's code")

func main() { program.Alone(run) }

func run() error {
	if flag.NArg() != 3 {
		return fmt.Errorf("usage: bench-exported [-compiled] FOLDER WARMUP CALLS")
	}
	warmup, err := strconv.Atoi(flag.Arg(1))
	if err != nil {
		return err
	}
	calls, err := strconv.Atoi(flag.Arg(2))
	if err != nil {
		return err
	}
	var options export.Options
	if *compiled {
		options.Compiled = filepath.Join(flag.Arg(0), "compiled.pt2")
	}
	model, err := export.Load(filepath.Join(flag.Arg(0), "eval.pt2"), options)
	if err != nil {
		return err
	}
	batch, _, err := gotorch.Open(filepath.Join(flag.Arg(0), "rank-0.safetensors"))
	if err != nil {
		return err
	}
	work := func(count int) {
		for range count {
			gotorch.Scope(func() { model.Forward(batch["inputs"]) })
		}
	}
	var milliseconds float64
	var values []float32
	gotorch.InferenceMode(func() {
		work(warmup)
		start := time.Now()
		work(calls)
		milliseconds = time.Since(start).Seconds() * 1000 / float64(max(calls, 1))
		values = gotorch.ToSlice[float32](model.Forward(batch["inputs"]))[:16]
	})
	return rankreport.Write(0, map[string]any{"ms": milliseconds, "values": values})
}
