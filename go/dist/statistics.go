package dist

import (
	"time"

	"tandem.example/gotorch/internal/c"
)

// DDPStatistics tell what training has cost. Times are those of the iterations that [DDP.Iterations] gives, without the
// first two, in which memory and buckets are made, where there are others: of each kind of time the mean of the middle
// half; 0 where not known. On GPUs they end with Overlap, and are LibTorch's.
type DDPStatistics struct {
	Iterations            int64 // that exchanged gradients
	BucketBytes           []int64
	BucketParameters      [][]string
	BucketsRebuilt        bool // in the order in which gradients came
	ForwardCompute        time.Duration
	BackwardCompute       time.Duration
	BackwardCommunication time.Duration // from the first bucket's start to the last one's end
	Overlap               time.Duration // of the last two

	Step          time.Duration // from the first forward to the averaged gradients
	Communication time.Duration // how long at least one bucket was under way
	// What an exchange adds to a step: its time without StepWithoutExchange where that is known; else how long forward
	// and the end of backward waited.
	ExposedCommunication time.Duration
	StepWithoutExchange  time.Duration // this and the next: of separate iterations, see [DDP.SetSeparateExchanges]
	CommunicationAlone   time.Duration // the same buckets, one after the other, beside nothing else
}

// DDPIteration is one iteration, from the first forward to the averaged gradients of the backward that follows. What is
// in Total and in no other part of it is the program's own between Forward and Backward.
type DDPIteration struct {
	Number          int64         // of those that exchanged gradients, from 0
	Separate        bool          // see [DDP.SetSeparateExchanges]
	Begun           time.Duration // on the system's monotonic clock
	ForwardExchange time.Duration // before the module's forward: buffers, and who is there
	Forward         time.Duration // of the module; of several before one backward, together
	BackwardBegun   time.Duration // since Begun: the first gradient of an output
	Backward        time.Duration // computing: from then to the last gradient of a parameter
	Wait            time.Duration // from then until all averages are there
	Total           time.Duration
	Communication   time.Duration // how long at least one bucket was under way
	Buckets         []BucketTimes // in the order in which they began
}

// BucketTimes tell when a bucket was exchanged, since the iteration began.
type BucketTimes struct {
	Bytes       int64
	Begun, Done time.Duration // its gradients are there; their averages are
}

// Statistics of training so far.
func (d *DDP) Statistics() (s DDPStatistics, err error) {
	err = d.call("statistics", func() *c.Failure {
		raw, failure := c.GetDDPStatistics(d.handle)
		s = DDPStatistics{raw.Iterations, raw.BucketBytes, raw.BucketParameters, raw.BucketsRebuilt,
			time.Duration(raw.ForwardCompute), time.Duration(raw.BackwardCompute),
			time.Duration(raw.BackwardCommunication), time.Duration(raw.Overlap), time.Duration(raw.Step),
			time.Duration(raw.Communication), time.Duration(raw.ExposedCommunication),
			time.Duration(raw.StepWithoutExchange), time.Duration(raw.CommunicationAlone)}
		return failure
	})
	return s, err
}

// StatisticsTable gives the statistics as text, for people.
func (d *DDP) StatisticsTable() (table string, err error) {
	err = d.call("statistics", func() (failure *c.Failure) {
		table, failure = c.DDPStatisticsTable(d.handle)
		return failure
	})
	return table, err
}

// Iterations gives the last 256 iterations, oldest first; none on GPUs.
func (d *DDP) Iterations() (all []DDPIteration, err error) {
	err = d.call("statistics", func() *c.Failure {
		raw, failure := c.GetDDPIterations(d.handle)
		for _, one := range raw {
			iteration := DDPIteration{one.Number, one.Separate, time.Duration(one.Begun),
				time.Duration(one.ForwardExchange), time.Duration(one.Forward), time.Duration(one.BackwardBegun),
				time.Duration(one.Backward), time.Duration(one.Wait), time.Duration(one.Total),
				time.Duration(one.Communication), nil}
			for _, bucket := range one.Buckets {
				iteration.Buckets = append(iteration.Buckets,
					BucketTimes{bucket.Bytes, time.Duration(bucket.Begun), time.Duration(bucket.Done)})
			}
			all = append(all, iteration)
		}
		return failure
	})
	return all, err
}

// SetStatisticsSampleRate has the times of every so many iterations kept; 1 at first.
func (d *DDP) SetStatisticsSampleRate(iterations int) error {
	return d.call("statistics", func() *c.Failure { return c.SetDDPSampleRate(d.handle, iterations) })
}

// SetSeparateExchanges has the exchange of every so many iterations wait until backward has computed and all ranks are
// there; buckets are then exchanged one after the other. That tells what a step costs without an exchange, and an
// exchange without a step; the gradients are the same. 0 at first: never, nor in a join. All ranks call it with the same
// number, before the same Forward. On GPUs it is an error.
func (d *DDP) SetSeparateExchanges(every int) error {
	return d.call("statistics", func() *c.Failure { return c.SetDDPSeparateExchanges(d.handle, every) })
}
