package dist_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
)

// traceFile is what Perfetto reads.
type traceFile struct {
	Tandem struct {
		Kind, Run string
		Rank      int
		WorldSize int `json:"world_size"`
	}
	TraceEvents []struct {
		Ph, Name string
		Args     map[string]any
	}
}

func readTrace(path string) (trace traceFile, names map[string]int, err error) {
	content, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(content, &trace)
	}
	names = map[string]int{}
	for _, event := range trace.TraceEvents {
		if event.Ph == "X" || event.Ph == "b" {
			names[event.Name]++
		}
	}
	return trace, names, err
}

func TestTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.json")
	threads(t, 1, func(ctx context.Context, group *dist.ProcessGroup) error {
		if err := check(dist.StopTrace(path) != nil, "a trace that is not on was stopped"); err != nil {
			return err
		}
		if err := group.StartTrace(ctx, dist.TraceOptions{MostEvents: gotorch.Some(int64(1000))}); err != nil {
			return err
		}
		if err := check(group.StartTrace(ctx) != nil, "a trace was started twice"); err != nil {
			return err
		}
		_, ddp, err := wrapped(group, dist.DDPOptions{})
		if err != nil {
			return err
		}
		defer ddp.Close()
		for range 2 {
			if err := ddp.Forward(input(0)).Sum().Backward(); err != nil {
				return err
			}
		}
		if err := errors.Join(group.Barrier(ctx), dist.StopTrace(path)); err != nil {
			return err
		}
		trace, names, err := readTrace(path)
		return errors.Join(err, check(trace.Tandem.Kind == "trace" && trace.Tandem.WorldSize == 1 && names["step"] == 2 &&
			names["backward"] == 2 && names["bucket 0"] == 2 && names["barrier"] == 1 && names["all_reduce"] >= 2,
			"%+v %v", trace.Tandem, names))
	})
}
