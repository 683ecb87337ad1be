// Package tensorboard writes what a training run measures to files that TensorBoard shows.
//
//	writer, err := tensorboard.NewSummaryWriter("runs/first")
//	...
//	defer writer.Close()
//	err = writer.AddScalar("loss", loss, step)     // then: tensorboard --logdir runs
//
// In a distributed run usually rank 0 alone has a writer. Source: torch.utils.tensorboard.SummaryWriter, whose tags and
// histogram buckets these are.
package tensorboard

import (
	"strings"
	"sync"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
	"tandem.example/gotorch/internal/leak"
)

// Layout says how an image's dimensions lie in its tensor: channels (C), height (H), width (W), and a batch (N) of
// those.
type Layout int32

// The layouts. The numbers are the C ABI's.
const (
	CHW  Layout = 0
	HWC  Layout = 1
	HW   Layout = 2
	NCHW Layout = 3
	NHWC Layout = 4
)

// Options of [NewSummaryWriter].
type Options struct {
	FilenameSuffix string
}

// SummaryWriter writes one event file of its own, so that several processes may write into a folder. Every event is in
// the file when its call returns, so that a process that is killed loses none. It may be used from several goroutines.
type SummaryWriter struct {
	mutex  sync.RWMutex
	path   string
	handle c.SummaryWriter
	watch  *leak.Watch
}

// NewSummaryWriter makes the folder if need be, and a file in it. Errors: gotorch.ErrIO.
func NewSummaryWriter(folder string, options ...Options) (*SummaryWriter, error) {
	o, err := bridge.One(options)
	if err != nil {
		return nil, err
	}
	handle, failure := c.CreateSummaryWriter(folder, o.FilenameSuffix)
	if failure != nil {
		return nil, bridge.Error(failure)
	}
	w := &SummaryWriter{path: c.SummaryPath(handle), handle: handle}
	w.watch = leak.Track(w, "tensorboard.SummaryWriter")
	return w, nil
}

// Path of the file.
func (w *SummaryWriter) Path() string { return w.path }

// An Event's time where it is not that of the call.
type Event struct {
	Time time.Time
}

func (w *SummaryWriter) add(op, tag string, event []Event, write func(seconds float64) *c.Failure) error {
	if strings.ContainsRune(tag, 0) {
		return &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: op, Message: "a tag has a NUL character"}
	}
	seconds := 0.0
	if len(event) > 0 && !event[0].Time.IsZero() {
		seconds = float64(event[0].Time.UnixNano()) / 1e9
	}
	w.mutex.RLock()
	defer w.mutex.RUnlock()
	if w.handle == nil {
		return &gotorch.Error{Code: gotorch.ErrClosed, Op: op, Message: w.path + ": the summary writer was closed before this use"}
	}
	return bridge.Error(write(seconds))
}

// AddScalar writes a number, which is kept as float32.
func (w *SummaryWriter) AddScalar(tag string, value float64, step int, event ...Event) error {
	return w.add("tensorboard.AddScalar", tag, event, func(seconds float64) *c.Failure {
		return c.AddScalar(w.handle, tag, value, step, seconds)
	})
}

// AddHistogram writes how many of the elements are of which size, in buckets whose limits grow by a tenth. The tensor
// has any shape, device and real dtype; elements that are not finite are left out, and at least one must be.
func (w *SummaryWriter) AddHistogram(tag string, values *gotorch.Tensor, step int, event ...Event) error {
	const op = "tensorboard.AddHistogram"
	return w.add(op, tag, event, func(seconds float64) *c.Failure {
		return c.AddHistogram(w.handle, tag, bridge.Handle(values, op), step, seconds)
	})
}

// AddImage writes a picture with 1 (grey), 3 (RGB) or 4 (RGBA) channels: uint8 from 0 to 255, or floating point from 0
// to 1, cut off outside. A batch becomes one picture, eight images a row.
func (w *SummaryWriter) AddImage(tag string, image *gotorch.Tensor, layout Layout, step int, event ...Event) error {
	const op = "tensorboard.AddImage"
	return w.add(op, tag, event, func(seconds float64) *c.Failure {
		return c.AddImage(w.handle, tag, bridge.Handle(image, op), int32(layout), step, seconds)
	})
}

// AddText writes Markdown.
func (w *SummaryWriter) AddText(tag, text string, step int, event ...Event) error {
	const op = "tensorboard.AddText"
	if strings.ContainsRune(text, 0) {
		return &gotorch.Error{Code: gotorch.ErrInvalidArgument, Op: op, Message: "the text of " + tag + " has a NUL character"}
	}
	return w.add(op, tag, event, func(seconds float64) *c.Failure { return c.AddText(w.handle, tag, text, step, seconds) })
}

// Flush has the system write all events to the disk.
func (w *SummaryWriter) Flush() error {
	return w.add("tensorboard.Flush", "", nil, func(float64) *c.Failure { return c.FlushSummaries(w.handle) })
}

// Close flushes. A second Close does nothing.
func (w *SummaryWriter) Close() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.handle == nil {
		return nil
	}
	failure := c.CloseSummaries(w.handle)
	w.watch.Done()
	c.FreeSummaryWriter(w.handle)
	w.handle = nil
	return bridge.Error(failure)
}
