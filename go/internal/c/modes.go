package c

// #include "shim.h"
import "C"
import "unsafe"

// enterMode opens a mode on this thread, which stays with its goroutine until ExitMode.
func enterMode(enter func(*unsafe.Pointer) *C.tdm_error) (Mode, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	var mode unsafe.Pointer
	err := failure(enter(&mode))
	return Mode(mode), err
}

func modeSlot(mode *unsafe.Pointer) **C.tdm_mode { return (**C.tdm_mode)(unsafe.Pointer(mode)) }

func EnterGrad(on bool) (Mode, *Failure) {
	return enterMode(func(m *unsafe.Pointer) *C.tdm_error { return C.tdm_mode_enter_grad(boolean(on), modeSlot(m)) })
}

func EnterInference(on bool) (Mode, *Failure) {
	return enterMode(func(m *unsafe.Pointer) *C.tdm_error { return C.tdm_mode_enter_inference(boolean(on), modeSlot(m)) })
}

// EnterAutocast computes in dtype on devices of that kind, or not when it is not on.
func EnterAutocast(deviceKind, dtype int32, on bool) (Mode, *Failure) {
	return enterMode(func(m *unsafe.Pointer) *C.tdm_error {
		return C.tdm_mode_enter_autocast(C.tdm_device_type(deviceKind), C.tdm_dtype(dtype), boolean(on), modeSlot(m))
	})
}

func EnterAnomaly(checkNaN bool) (Mode, *Failure) {
	return enterMode(func(m *unsafe.Pointer) *C.tdm_error {
		return C.tdm_mode_enter_anomaly(boolean(checkNaN), modeSlot(m))
	})
}

func ExitMode(m Mode) *Failure { return failure(C.tdm_mode_exit((*C.tdm_mode)(unsafe.Pointer(m)))) }

// Modes of this thread; a dtype is -1 where autocast is off.
type Modes struct {
	Grad, Inference           bool
	AutocastCPU, AutocastCUDA int32
}

func GetModes() (Modes, *Failure) {
	if err := Load(); err != nil {
		return Modes{}, err
	}
	var now C.tdm_modes
	now.struct_size = C.sizeof_tdm_modes
	err := failure(C.tdm_get_modes(&now))
	return Modes{now.grad != 0, now.inference != 0, int32(now.autocast_cpu), int32(now.autocast_cuda)}, err
}
