package data

import (
	"runtime"
	"sync"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// Dataset is samples by number, each a list of tensors with a name each. Any goroutine may use it. What is made of it,
// a loader or another data set, keeps what it needs: it may be closed right after, and need not be, as the collector
// frees it too.
type Dataset struct {
	mutex   sync.RWMutex
	handle  c.Dataset // nil: closed
	names   []string
	samples int
	cleanup runtime.Cleanup

	iterable bool // samples come one after the other
}

// wrapDataset takes the handle.
func wrapDataset(handle c.Dataset, failure *c.Failure) (*Dataset, error) {
	if failure != nil {
		return nil, bridge.Error(failure)
	}
	d := &Dataset{handle: handle, names: c.DatasetNames(handle), samples: c.DatasetSize(handle)}
	d.cleanup = runtime.AddCleanup(d, func(handle c.Dataset) { c.FreeDataset(handle) }, handle)
	return d, nil
}

// Records are those of files of any format, of that layout: paths of this host, patterns and lists, and URLs on http://,
// https:// and s3://. Errors: ErrNotFound, ErrIO and ErrDataLoss of the files, ErrInvalidArgument for fields and options
// that cannot be.
func Records(paths []string, fields []Field, options ...FileOptions) (*Dataset, error) {
	o, err := bridge.One(options)
	if err != nil {
		return nil, err
	}
	files, err := o.raw("data.Records")
	if err != nil {
		return nil, err
	}
	raw := make([]c.Field, len(fields))
	for i, f := range fields {
		raw[i] = c.Field{Name: f.Name, DType: int32(f.DType), OutDType: int32(f.Out), Sizes: f.Shape, Mean: f.Mean,
			Std: or(f.Std, 1), Scale: or(f.Scale, 1)}
	}
	return wrapDataset(c.CreateRecordDataset(paths, raw, files))
}

// Get gives sample i. Errors: ErrOutOfRange; what the batch with that sample would fail with.
func (d *Dataset) Get(i int) ([]*gotorch.Tensor, error) {
	var made []c.Made
	if err := d.use("data.Get", func(handle c.Dataset) (failure *c.Failure) {
		made, failure = c.DatasetGet(handle, i, len(d.names))
		return failure
	}); err != nil {
		return nil, err
	}
	sample := make([]*gotorch.Tensor, len(made))
	for j, m := range made {
		sample[j] = bridge.Wrap(m).(*gotorch.Tensor)
	}
	return sample, nil
}

// Len is the number of samples; -1 where it is unknown, see [FromIterable].
func (d *Dataset) Len() int { return d.samples }

// Names are those of a sample's tensors.
func (d *Dataset) Names() []string { return append([]string(nil), d.names...) }

// Close frees it before the collector does. A second Close does nothing.
func (d *Dataset) Close() error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.handle != nil {
		d.cleanup.Stop()
		c.FreeDataset(d.handle)
		d.handle = nil
	}
	return nil
}

// use calls with the handle, which no Close ends meanwhile; operation names the error of a closed data set.
func (d *Dataset) use(operation string, call func(c.Dataset) *c.Failure) error {
	d.mutex.RLock()
	defer d.mutex.RUnlock()
	if d.handle == nil {
		return closedDataset(operation)
	}
	return bridge.Error(call(d.handle))
}

func closedDataset(op string) error {
	return &gotorch.Error{Code: gotorch.ErrClosed, Op: op, Message: "the data set was closed before this use"}
}
