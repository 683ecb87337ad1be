package rpc

import (
	"context"
	"time"

	"tandem.example/gotorch/internal/c"
)

// CallStatistics are of this worker's calls to another one, Remote and ToHere among them.
type CallStatistics struct {
	Calls, Failed, Outstanding int
	BytesSent, BytesReceived   int64         // of messages with their tensors, but for what ToHere fetches
	Latency                    time.Duration // of calls that succeeded, in all
}

// Statistics of the calls to each worker, by name. In a trace (dist.StartTrace) each call is one entry, with worker and
// function.
func Statistics() (map[string]CallStatistics, error) {
	const op = "rpc_get_statistics"
	workers, err := workersFor(op)
	if err != nil {
		return nil, err
	}
	all := make(map[string]CallStatistics, len(workers))
	for _, worker := range workers {
		counted, failure := c.RPCStatisticsOf(worker.Name)
		if failure != nil {
			return nil, errorOf(context.Background(), op, worker.Name, failure)
		}
		all[worker.Name] = CallStatistics{counted.Calls, counted.Failed, counted.Outstanding, counted.BytesSent,
			counted.BytesReceived, time.Duration(counted.LatencyNanoseconds)}
	}
	return all, nil
}
