package dist

import (
	"cmp"
	"context"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// TraceOptions of [ProcessGroup.StartTrace].
type TraceOptions struct {
	MostEvents int64 // later ones are counted in the file as dropped; about 150 bytes each; 0: 1,000,000
}

// StartTrace has what this process does kept from now on, for Perfetto (ui.perfetto.dev) and chrome://tracing: the parts
// of each step of [DDP], its buckets, and all collectives and messages on CPUs. All ranks call it together: they find out
// how their clocks differ, so that their files are on one clock. The command `tandem trace merge` makes one of them.
//
// Without a line of code, TANDEM_TRACE=PREFIX in the environment of all ranks has a trace, from the first group that a
// process makes to that group's end, written to PREFIX.rank<r>.json.
func (g *ProcessGroup) StartTrace(ctx context.Context, options ...TraceOptions) error {
	o, err := bridge.One(options)
	if err != nil {
		return err
	}
	return g.blocking(ctx, "trace_start", func(group c.ProcessGroup) *c.Failure {
		return c.StartTrace(group, cmp.Or(o.MostEvents, 1_000_000))
	})
}

// StopTrace ends the process's trace and writes it to a file. What is still under way is not in it.
func StopTrace(path string) error {
	return errorOf(context.Background(), -1, c.StopTrace(path))
}

// StartProfiler is gotorch.StartProfiler for the ranks of a group, which all call it together: their files are on one
// clock, and `tandem trace merge` takes them together with each other and with those of a trace that is on.
func (g *ProcessGroup) StartProfiler(ctx context.Context, options ...gotorch.ProfilerOptions) error {
	o, err := bridge.One(options)
	if err != nil {
		return err
	}
	return g.blocking(ctx, "profiler_start", func(group c.ProcessGroup) *c.Failure {
		return c.StartProfiler(group, o.CPUOnly, o.Shapes, o.Flops)
	})
}
