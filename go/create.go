package gotorch

// TensorOptions of the functions that make tensors. Unset: Float32 (Int64 where all arguments are integers), strided,
// CPU, pageable memory; of functions that make a tensor like another, that one's.
type TensorOptions struct {
	DType     Opt[DType]
	Layout    Opt[Layout]
	Device    Opt[Device]
	PinMemory Opt[bool]
}

// ToDevice moves the elements; t itself when they are there already.
func (t *Tensor) ToDevice(device Device) *Tensor { return t.ToDeviceDType(device, t.DType()) }
