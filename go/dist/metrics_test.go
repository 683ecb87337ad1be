package dist_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/dist"
)

// Without a launcher a report goes to nobody; what is wrong with it is said all the same.
func TestReport(t *testing.T) {
	if err := dist.Report(dist.Metrics{Step: 3, Epoch: 1, Samples: 64, Loss: gotorch.Some(0.25), Wait: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string]dist.Metrics{"step": {Step: -1}, "epoch": {Epoch: -2}, "samples": {Samples: -3}, "Wait": {Wait: -1}} {
		if err := dist.Report(wrong); !errors.Is(err, gotorch.ErrInvalidArgument) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
