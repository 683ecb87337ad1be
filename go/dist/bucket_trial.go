package dist

import (
	"cmp"
	"time"

	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// BucketTrialOptions of [DDP.TryBucketSizes].
type BucketTrialOptions struct {
	SizesMB    []float64 // as DDPOptions.BucketCapMB; nil: 0, 1, 5, 10, 25, 50 and 100
	Iterations int       // measured of each size in a round, after two that are not; 0: 4
	Rounds     int       // after each, sizes that are clearly slower than the best are given up; 0: 6
}

// BucketTrial is what came of one size.
type BucketTrial struct {
	BucketCapMB float64
	Buckets     int64         // that this makes
	Step        time.Duration // the mean over ranks of the median; 0: not known yet
}

// BucketAdvice is what a trial has come to.
type BucketAdvice struct {
	Done        bool
	BucketCapMB float64       // in use; after the trial the quickest
	Trials      []BucketTrial // sizes that make the same buckets are tried once, as the first of them
}

// TryBucketSizes finds the quickest bucket size while training goes on: it uses each for a few iterations, several times
// over, and keeps the one with the shortest step, on all ranks the same. It begins when the order of gradients is known,
// after the second iteration. Statistics begin anew when it ends. All ranks call it together, between two iterations, and
// make the same forwards until [DDP.BucketAdvice] says that it is done. It is an error in a join, with a communication
// hook, and on GPUs.
func (d *DDP) TryBucketSizes(options ...BucketTrialOptions) error {
	o, err := bridge.One(options)
	if err != nil {
		return err
	}
	return d.call("try_bucket_sizes", func() *c.Failure {
		return c.TryBucketSizes(d.handle, o.SizesMB, cmp.Or(o.Iterations, 4), cmp.Or(o.Rounds, 6))
	})
}

// BucketAdvice tells how far the last trial is, and which bucket size is in use.
func (d *DDP) BucketAdvice() (advice BucketAdvice, err error) {
	err = d.call("bucket_advice", func() *c.Failure {
		done, size, trials, failure := c.GetBucketAdvice(d.handle)
		advice = BucketAdvice{Done: done, BucketCapMB: size}
		for _, one := range trials {
			advice.Trials = append(advice.Trials, BucketTrial{one.BucketCapMB, one.Buckets, time.Duration(one.Step)})
		}
		return failure
	})
	return advice, err
}
