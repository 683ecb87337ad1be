package gotorch

import (
	"unsafe"
)

// GC does nothing: bytes of tensors are counted and the collector is called as they grow, in the middle of an iteration,
// too. Who wants all tensors of an iteration freed at its end runs it in a Scope of tandem.example/gotorch.
func GC() {}

// FinishGC does nothing, as [GC].
func FinishGC() {}

// SetTensorFinalizer does nothing: the collector frees every tensor.
func SetTensorFinalizer(t *unsafe.Pointer) {}

// MustNil panics with the text, ended by a zero byte, that err points to; nil is no error.
func MustNil(err unsafe.Pointer) {
	if err == nil {
		return
	}
	var text []byte
	for at := (*byte)(err); *at != 0; at = (*byte)(unsafe.Add(unsafe.Pointer(at), 1)) {
		text = append(text, *at)
	}
	panic(string(text))
}
