package dist

import (
	"cmp"
	"sync"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// CommHook is how [DDP] exchanges a bucket of gradients. All ranks set the same one, once, before the first Forward:
//
//	err := ddp.SetCommHook(dist.BF16Compress())
//
// Source: torch.distributed.algorithms.ddp_comm_hooks.
type CommHook struct {
	kind    int32
	options c.CommHookOptions
	group   *ProcessGroup
	own     BucketHook
}

func newHook(kind int32) CommHook {
	return CommHook{kind: kind, options: c.CommHookOptions{CompressDType: -1, ChannelSize: 512, MatrixApproximationRank: 1,
		StartPowerSGDIter: 1000, MinCompressionRate: 2, UseErrorFeedback: true, WarmStart: true,
		PostLocalGradientAllReduce: true}}
}

// AllReduce is the mean over all ranks, which is what happens without a hook.
func AllReduce() CommHook { return newHook(0) }

// FP16Compress exchanges gradients as float16.
func FP16Compress() CommHook { return newHook(1) }

// BF16Compress exchanges gradients as bfloat16.
func BF16Compress() CommHook { return newHook(2) }

// QuantizePerTensor exchanges gradients as bytes, with one scale a bucket.
func QuantizePerTensor() CommHook { return newHook(3) }

// QuantizePerChannel exchanges gradients as bytes, with a scale for every size gradients, such as 512.
func QuantizePerChannel(size int) CommHook {
	h := newHook(4)
	h.options.ChannelSize = int64(size)
	return h
}

// PowerSGDOptions of [PowerSGD].
type PowerSGDOptions struct {
	MatrixApproximationRank  int                  // columns of the thin matrices; 0: 1
	StartIter                gotorch.Opt[int]     // before it gradients are all-reduced; unset: 1000, at least 2 with the next two
	UseErrorFeedback         gotorch.Opt[bool]    // what was lost is added to the next gradient; unset: true
	WarmStart                gotorch.Opt[bool]    // begin where the step before ended; unset: true
	MinCompressionRate       gotorch.Opt[float64] // of gradients that are worth it; unset: 2
	OrthogonalizationEpsilon float64              // above 0: Gram-Schmidt with it
	RandomSeed               uint64               // the same on all ranks
	Batched                  bool                 // a whole bucket as one matrix: quicker, less exact
}

// PowerSGD exchanges gradients as products of two thin matrices. Source: powerSGD_hook; Vogels, Karimireddy, Jaggi,
// "PowerSGD", 2019.
func PowerSGD(options ...PowerSGDOptions) CommHook {
	o := bridge.First(options)
	h := newHook(5)
	if o.Batched {
		h.kind = 6
	}
	h.options.MatrixApproximationRank = int64(cmp.Or(o.MatrixApproximationRank, 1))
	h.options.StartPowerSGDIter = int64(o.StartIter.Or(1000))
	h.options.UseErrorFeedback, h.options.WarmStart = o.UseErrorFeedback.Or(true), o.WarmStart.Or(true)
	h.options.MinCompressionRate = o.MinCompressionRate.Or(2)
	h.options.OrthogonalizationEpsilon = o.OrthogonalizationEpsilon
	h.options.RandomSeed = o.RandomSeed
	return h
}

// PostLocalSGD averages over all ranks in the first iterations, and over subgroup afterwards, or not at all when that is
// nil; models are then averaged, see [NewPeriodicModelAverager].
func PostLocalSGD(subgroup *ProcessGroup, startIter int) CommHook {
	h := newHook(7)
	h.group = subgroup
	h.options.StartLocalSGDIter, h.options.PostLocalGradientAllReduce = int64(startIter), subgroup != nil
	return h
}

// Noop leaves each rank its own gradients.
func Noop() CommHook { return newHook(8) }

// Compressed exchanges what the hook exchanges as float16 or bfloat16.
func (h CommHook) Compressed(dtype gotorch.DType) CommHook {
	h.options.CompressDType = int32(dtype)
	return h
}

// GradBucket is a bucket of gradients. Its tensors are there until the function that was given it returns.
type GradBucket struct {
	Index  int
	IsLast bool // of this Backward
	// The gradients, flat; a sparse tensor for an embedding with sparse gradients.
	Buffer *gotorch.Tensor
	// Views of the buffer, of the parameters' shapes; none where it is sparse.
	Gradients  []*gotorch.Tensor
	Parameters []*gotorch.Tensor
}

// BucketHook begins the exchange of a bucket: it may change the buffer in place, and start a collective, which it returns
// as work. When that is done, finish, if not nil, is called with the bucket again: it may change the buffer, wait for
// more collectives, and return a tensor of the buffer's shape and dtype to take its place, or nil. Hooks divide, for a
// mean. They run within Backward, in an order that is the same on all ranks, and must not use the DDP wrapper.
type BucketHook func(bucket *GradBucket) (work *Work, finish func(bucket *GradBucket) (*gotorch.Tensor, error), err error)

// Hook makes a CommHook of a function.
func Hook(body BucketHook) CommHook { return CommHook{own: body} }

// SetCommHook has gradients exchanged by the hook.
func (d *DDP) SetCommHook(hook CommHook) error {
	if hook.own != nil {
		callback, endAll := callbackOf(hook.own)
		err := d.call("set_comm_hook", func() *c.Failure { return c.RegisterCommHook(d.handle, callback) })
		if err == nil {
			d.endHook = endAll
		}
		return err
	}
	if hook.group == nil {
		return d.call("set_comm_hook", func() *c.Failure { return c.SetCommHook(d.handle, hook.kind, hook.options) })
	}
	return hook.group.use("ddp_set_comm_hook", func(subgroup c.ProcessGroup) (failure *c.Failure) {
		hook.options.Subgroup = subgroup
		return c.SetCommHook(d.handle, hook.kind, hook.options)
	})
}

// begun is what a hook has begun for a bucket.
type begun struct {
	work   *Work
	finish func(*GradBucket) (*gotorch.Tensor, error)
}

// end closes the work. That of a backward that failed may go on until its timeout, or its group's end: nobody waits for it.
func (b begun) end() {
	switch {
	case b.work == nil:
	case b.work.IsDone():
		b.work.takeBack()
	default:
		go b.work.takeBack()
	}
}

// callbackOf keeps what is begun between the two calls for each bucket.
func callbackOf(hook BucketHook) (callback c.Callback, endAll func()) {
	var mutex sync.Mutex
	pending := map[int]begun{}
	endAll = func() {
		mutex.Lock()
		left := pending
		pending = map[int]begun{}
		mutex.Unlock()
		for _, one := range left {
			one.end()
		}
	}
	callback = func(call c.Invocation) ([]c.Tensor, error) {
		raw := call.Bucket
		given := append([]c.Made{raw.Buffer}, append(raw.Gradients, raw.Parameters...)...)
		return bridge.InScopeOf(call, given, func(tensors []any) ([]any, error) {
			all := make([]*gotorch.Tensor, len(tensors))
			for i, t := range tensors {
				all[i] = t.(*gotorch.Tensor)
			}
			bucket := &GradBucket{raw.Index, raw.IsLast, all[0], all[1 : 1+len(raw.Gradients)], all[1+len(raw.Gradients):]}
			mutex.Lock()
			before := pending[raw.Index]
			delete(pending, raw.Index)
			mutex.Unlock()
			defer before.end() // after finish, which may ask how it ended
			if raw.Finishes {
				if before.finish == nil {
					return nil, nil
				}
				result, err := before.finish(bucket)
				if result == nil {
					return nil, err
				}
				return []any{result}, err
			}
			work, finish, err := hook(bucket)
			mutex.Lock()
			pending[raw.Index] = begun{work, finish}
			mutex.Unlock()
			if err != nil || work == nil {
				return nil, err
			}
			if !work.lend(raw.SetWork) { // waited for already
				return nil, work.Err()
			}
			return nil, nil
		})
	}
	return callback, endAll
}
