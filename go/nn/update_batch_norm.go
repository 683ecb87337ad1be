package nn

import (
	"runtime"
	"strings"

	"tandem.example/gotorch"
	"tandem.example/gotorch/internal/bridge"
	"tandem.example/gotorch/internal/c"
)

// UpdateBatchNorm computes the running statistics of all BatchNorm layers in the tree anew, as the means over the batches that
// pass puts through the model: for weights that were averaged, whose activations no batch has shown. pass is called once, in
// training mode and without recording, and not at all where there is no such layer; the mode of each module comes back
// afterwards, whatever pass returns or panics with.
//
//	err = nn.UpdateBatchNorm(model, func() error {
//		for batch := range batches {
//			model.Forward(batch)
//		}
//		return nil
//	})
//
// Source: torch.optim.swa_utils.update_bn.
func UpdateBatchNorm(model Module, pass func() error) (err error) {
	norms, training := batchNorms(model)
	if len(norms) == 0 {
		return nil
	}
	defer func() {
		for m, on := range training {
			m.setTraining(on)
		}
	}()
	Train(model)
	failure := gotorch.Try(func() {
		for _, norm := range norms {
			defer norm.cumulate()()
		}
		gotorch.NoGrad(func() { err = pass() })
	})
	if failure != nil {
		return failure
	}
	return err
}

// batchNorms finds them, and each module's mode.
func batchNorms(model Module) (norms []*Native, training map[Module]bool) {
	training = map[Module]bool{}
	walk("", model, map[Module]bool{}, func(_ string, m Module, _ parts) {
		training[m] = m.IsTraining()
		if n, ok := m.(*Native); ok && n.batchNorms() > 0 {
			norms = append(norms, n)
		}
	})
	return norms, training
}

// cumulate has running statistics begin anew and be means; undo puts the momentum back.
func (n *Native) cumulate() (undo func()) {
	for _, one := range n.owned.buffers {
		start := 0.0
		if strings.HasSuffix(one.Name, "running_var") {
			start = 1
		}
		gotorch.NoGrad(func() { one.Tensor.FillScalarI(start) })
	}
	before, err := c.SetBatchNormMomentum(n.handle, nil)
	bridge.Must(err)
	return func() {
		_, err := c.SetBatchNormMomentum(n.handle, before)
		runtime.KeepAlive(n)
		bridge.Must(err)
	}
}

// batchNorms is the number of BatchNorm layers that it is, or that are in it where it is a network, which has no other buffers.
func (n *Native) batchNorms() (count int) {
	if strings.HasPrefix(n.kind, "BatchNorm") {
		return 1
	}
	for _, one := range n.owned.buffers {
		if strings.HasSuffix(one.Name, ".num_batches_tracked") {
			count++
		}
	}
	return count
}
