// Package program starts our side of a benchmark: it parses flags, and computes with one thread, as its peers do.
package program

import (
	"context"
	"flag"
	"fmt"
	"os"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
)

// Ranks has each rank of a launched program run in a group over that backend of [dist.Options], a flag perhaps.
func Ranks(backend *string, run func(ctx context.Context, group *dist.ProcessGroup) error) {
	cpu := "cpu"
	RanksOn(backend, &cpu, run)
}

// RanksOn does it for tensors of a device, "cpu" or "cuda", the first GPU.
func RanksOn(backend, device *string, run func(ctx context.Context, group *dist.ProcessGroup) error) {
	flag.Parse()
	dist.Main(func(ctx context.Context) error {
		if err := gotorch.SetNumThreads(1); err != nil {
			return err
		}
		options := dist.Options{Backend: *backend}
		if *device == "cuda" {
			options.Device = gotorch.CUDA(0)
		}
		group, err := dist.Init(ctx, options)
		if err != nil {
			return err
		}
		defer group.Close()
		return run(ctx, group)
	})
}

// Alone runs a program of one process.
func Alone(run func() error) {
	flag.Parse()
	err := gotorch.SetNumThreads(1)
	if err == nil {
		err = run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
