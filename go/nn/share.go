package nn

import (
	"runtime"
	"time"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// ShareOptions of [ShareParameters].
type ShareOptions struct {
	Name    string        // of the model, in a program that shares several
	Timeout time.Duration // for local rank 0 to share its own; 0: five minutes
}

// ShareParameters puts the parameters and buffers of m, in place, into memory that all processes of
// "tandem run --shared-parameters" have (without a launcher: into memory of this process, for modules of its goroutines).
// Each process then steps an optimizer of its own on them, without locks: Hogwild! An optimizer's moments and momentum stay
// its process's. All begin with what local rank 0 has, which made tells of its own; a process that comes later, or was
// started again, finds what they are by then. Processes may end at any time. The module is a CPU's, and stays there: a later
// To would leave the memory.
//
//	model := NewNet()
//	if _, err := nn.ShareParameters(model); err != nil {
//		return err
//	}
//	optimizer := optim.SGD(nn.Parameters(model), 0.01)
//
// A module that differs from the other processes' is an error that names the first parameter. Source:
// torch.nn.Module.share_memory.
func ShareParameters(m Module, options ...ShareOptions) (made bool, err error) {
	o, err := bridge.One(options)
	if err != nil {
		return false, err
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Minute
	}
	err = gotorch.Try(func() {
		var names []string
		var handles []c.Tensor
		for _, one := range append(NamedParameters(m), NamedBuffers(m)...) {
			names = append(names, one.Name)
			handles = append(handles, bridge.Handle(one.Tensor, "nn.ShareParameters"))
		}
		var failure *c.Failure
		made, failure = c.ShareParameters(names, handles, o.Name, o.Timeout.Milliseconds())
		runtime.KeepAlive(m)
		bridge.Must(failure)
	})
	return made, err
}
