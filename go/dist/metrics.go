package dist

import (
	"context"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/c"
)

// Metrics are what a rank measures while it trains, for the launcher that started it.
type Metrics struct {
	Step    int                  // completed so far; unset: one more than at the report before, or as many as elastic.Run counts
	Epoch   int                  // over the data, from 1; unset: as before
	Samples int                  // that this rank trained since the report before
	Loss    gotorch.Opt[float64] // unset: as before
	Wait    time.Duration        // for other ranks since the report before, beside what [DDP] counts on CPUs
}

// Report tells the launcher (its progress line, `tandem top`, Prometheus, TensorBoard) how this rank is getting on: once
// a step, or less often. It waits for nobody, and does nothing where no `tandem run` of this machine started the process.
func Report(metrics Metrics) error {
	loss, hasLoss := metrics.Loss.Get()
	return errorOf(context.Background(), -1, c.ReportMetrics(c.Metrics{
		Step: int64(metrics.Step), Epoch: int64(metrics.Epoch), Samples: int64(metrics.Samples),
		HasLoss: hasLoss, Loss: loss, WaitSeconds: metrics.Wait.Seconds(),
	}))
}
