package optim

import (
	"runtime"
	"strconv"
	"strings"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// Averages are averages of parameters over training, and of buffers, beside them: exponential moving ones (EMA) or means (SWA).
// They keep the tensors. One goroutine at a time may use them.
//
//	ema := optim.EMA(nn.Parameters(model), nn.Buffers(model), 0.999)
//	for ... {
//		... adam.Step() ...
//		err = ema.Update()
//	}
//	err = ema.Swap() // evaluate
//	err = ema.Swap() // train on
//
// Source: torch.optim.swa_utils.AveragedModel.
type Averages struct{ handle c.Averages }

// AveragesOptions of [EMA] and [SWA].
type AveragesOptions struct {
	UseBuffers bool                // averages buffers like parameters; else Update copies them
	Device     Opt[gotorch.Device] // of the averages; unset: each one's own
}

// EMA are exponential moving averages, decay * average + (1 - decay) * weight, which begin as what the tensors have at the first
// Update. buffers may be nil. It panics with *gotorch.Error on a decay that is not from 0 to 1. Source:
// torch.optim.swa_utils.get_ema_multi_avg_fn.
func EMA(parameters, buffers []*gotorch.Tensor, decay float64, more ...AveragesOptions) *Averages {
	return newAverages("optim.EMA", parameters, buffers, c.AveragedOptions{EMA: true, Decay: &decay}, more)
}

// SWA are the means of what the tensors have at each Update. buffers may be nil; [SWALR] has the rates that go with it, and
// nn.UpdateBatchNorm what batch normalization needs afterwards. Source: torch.optim.swa_utils.get_swa_multi_avg_fn.
func SWA(parameters, buffers []*gotorch.Tensor, more ...AveragesOptions) *Averages {
	return newAverages("optim.SWA", parameters, buffers, c.AveragedOptions{}, more)
}

func newAverages(op string, parameters, buffers []*gotorch.Tensor, options c.AveragedOptions, more []AveragesOptions) *Averages {
	o := first(more)
	options.UseBuffers = o.UseBuffers
	if device, ok := o.Device.Get(); ok {
		options.Device = &c.Device{Kind: int32(device.Kind), Index: int32(device.Index)}
	}
	handle, err := c.CreateAverages(handlesOf(parameters, op), handlesOf(buffers, op), options)
	runtime.KeepAlive(parameters)
	runtime.KeepAlive(buffers)
	if err != nil {
		err.Op, err.Message = op, strings.TrimPrefix(err.Message, "AveragedParameters: ")
		bridge.Must(err)
	}
	a := &Averages{handle}
	runtime.AddCleanup(a, func(handle c.Averages) { c.FreeAverages(handle) }, handle)
	return a
}

func (a *Averages) named(op string, err *c.Failure) error {
	runtime.KeepAlive(a)
	if err != nil {
		err.Op, err.Message = "optim.Averages."+op, strings.TrimPrefix(err.Message, "AveragedParameters: ")
	}
	return bridge.Error(err)
}

// Update takes what the tensors have now into the averages. Call it after the optimizer's Step; of [SWA] perhaps at the end of
// epochs alone.
func (a *Averages) Update() error { return a.named("Update", c.UpdateAverages(a.handle)) }

// Swap exchanges the numbers of the tensors and of the averages: to evaluate with these, and back.
func (a *Averages) Swap() error { return a.named("Swap", c.SwapAverages(a.handle)) }

// State has "n_averaged", the number of updates, and the averages as "parameter.0", "buffer.0" and so on, sharing storage.
func (a *Averages) State() (map[string]*gotorch.Tensor, error) {
	list, err := c.AveragesState(a.handle)
	if failure := a.named("State", err); failure != nil {
		return nil, failure
	}
	return adoptNamed(list), nil
}

// LoadState goes on from copies of a state, all or nothing.
func (a *Averages) LoadState(state map[string]*gotorch.Tensor) error {
	names, handles, err := splitNamed(state, "optim.Averages.LoadState")
	if err != nil {
		return err
	}
	failure := c.LoadAveragesState(a.handle, names, handles)
	runtime.KeepAlive(state)
	return a.named("LoadState", failure)
}

// Parameters are the averages, in the order of the parameters, sharing storage.
func (a *Averages) Parameters() ([]*gotorch.Tensor, error) { return a.list("parameter.") }

// Buffers are those of buffers.
func (a *Averages) Buffers() ([]*gotorch.Tensor, error) { return a.list("buffer.") }

func (a *Averages) list(prefix string) ([]*gotorch.Tensor, error) {
	state, err := a.State()
	var tensors []*gotorch.Tensor
	for err == nil {
		t, ok := state[prefix+strconv.Itoa(len(tensors))]
		if !ok {
			break
		}
		tensors = append(tensors, t)
	}
	return tensors, err
}
