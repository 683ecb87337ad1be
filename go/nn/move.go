package nn

import "tandem.example/gotorch"

// To moves all parameters and buffers to a device. References to them stay valid.
func To(m Module, device gotorch.Device) {
	convert(m, gotorch.Some(device), gotorch.Opt[gotorch.DType]{})
}

// ToDType converts all floating-point parameters and buffers. It panics with *gotorch.Error on other dtypes.
func ToDType(m Module, dtype gotorch.DType) {
	if !dtype.IsFloat() {
		panic(misuse("ToDType: parameters can only be of a floating-point dtype, not %v", dtype))
	}
	convert(m, gotorch.Opt[gotorch.Device]{}, gotorch.Some(dtype))
}

func convert(m Module, device gotorch.Opt[gotorch.Device], dtype gotorch.Opt[gotorch.DType]) {
	walk("", m, map[Module]bool{}, func(_ string, m Module, has parts) {
		all := append(append([]Named(nil), has.parameters...), has.buffers...)
		if native, ok := m.(*Native); ok {
			current := gotorch.CPU
			if len(all) > 0 {
				current = all[0].Tensor.Device()
			}
			native.move(device, dtype, current)
			if native.tied == nil {
				return
			}
		}
		for _, one := range all {
			replaceData(one.Tensor, device, dtype)
		}
	})
}

// replaceData of a tensor, and of its gradient: the one is refused while the other has another type.
func replaceData(t *gotorch.Tensor, device gotorch.Opt[gotorch.Device], dtype gotorch.Opt[gotorch.DType]) {
	gotorch.NoGrad(func() {
		gotorch.Scope(func() {
			converted := func(x *gotorch.Tensor) *gotorch.Tensor {
				if to, ok := device.Get(); ok {
					x = x.ToDevice(to)
				}
				if to, ok := dtype.Get(); ok && x.DType().IsFloat() {
					x = x.To(to)
				}
				return x
			}
			grad := t.Grad()
			if grad != nil {
				grad = converted(grad.Detach())
				t.SetGrad(nil)
			}
			gotorch.Call("aten::set_data", "", t, converted(t.Detach()))
			if grad != nil {
				t.SetGrad(grad)
			}
		})
	})
}
