package gotorch

import (
	"runtime"

	"tandem.example/gotorch/internal/c"
)

// inMode calls body in a mode of LibTorch, which is its thread's: the goroutine stays there until body has returned,
// panicked or ended the goroutine, and the mode that was before is back.
func inMode(enter func() (c.Mode, *c.Failure), body func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	mode, err := enter()
	must(err)
	defer c.ExitMode(mode)
	body()
}

// NoGrad calls body without recording operations for Backward. Goroutines that body starts record. Source:
// torch.no_grad.
func NoGrad(body func()) { inMode(func() (c.Mode, *c.Failure) { return c.EnterGrad(false) }, body) }

// EnableGrad calls body with operations recorded, inside [NoGrad] too. Source: torch.enable_grad.
func EnableGrad(body func()) { inMode(func() (c.Mode, *c.Failure) { return c.EnterGrad(true) }, body) }

// InferenceMode calls body without recording, faster than [NoGrad]: tensors that it makes can never take part in what
// Backward goes through. Source: torch.inference_mode.
func InferenceMode(body func()) {
	inMode(func() (c.Mode, *c.Failure) { return c.EnterInference(true) }, body)
}

// Infer computes in [InferenceMode] and in a [Scope], and gives what body gives; a *[Error] that it panics with is its
// error. Tensors in the value outlive the scope as with [InScope]. Several goroutines may call it with one model at once:
//
//	scores, err := gotorch.Infer(func() ([]float32, error) { return gotorch.ToSlice[float32](model.Forward(x)), nil })
func Infer[T any](body func() (T, error)) (value T, err error) {
	panicked := Try(func() {
		inScope(func(id uint64) {
			InferenceMode(func() { value, err = body() })
			if err == nil {
				keepFrom(id, value)
			}
		})
	})
	if panicked != nil {
		err = panicked
	}
	if err != nil {
		var none T
		return none, err
	}
	return value, nil
}

// Autocast calls body with operators that gain from it computing in dtype, Float16 or BFloat16, on devices of that
// kind, and with those that need it in float32. Run forward and loss in it, not Backward. Parameters stay as they are;
// a cast of one is kept until body returns, so optimizers step outside. ErrUnsupported for a GPU that is not there.
// Source: torch.autocast.
func Autocast(device Device, dtype DType, body func()) {
	inMode(func() (c.Mode, *c.Failure) { return c.EnterAutocast(int32(device.Kind), int32(dtype), true) }, body)
}

// NoAutocast calls body, a part of what [Autocast] runs, with operators computing in the types that they are given.
func NoAutocast(device Device, body func()) {
	inMode(func() (c.Mode, *c.Failure) { return c.EnterAutocast(int32(device.Kind), -1, false) }, body)
}

// DetectAnomaly calls body, forward and Backward, and has Backward fail at the first operator whose gradient is NaN,
// naming it; where forward called it is printed. It is slow, and on for the whole process. Source:
// torch.autograd.detect_anomaly.
func DetectAnomaly(body func()) {
	inMode(func() (c.Mode, *c.Failure) { return c.EnterAnomaly(true) }, body)
}

func modes() c.Modes {
	now, err := c.GetModes()
	must(err)
	return now
}

// IsGradEnabled tells whether operations are recorded for Backward here.
func IsGradEnabled() bool { return modes().Grad }

// IsInferenceMode tells whether [InferenceMode] is open here.
func IsInferenceMode() bool { return modes().Inference }

// AutocastDType is the type that [Autocast] computes in here on devices of that kind, and whether it does.
func AutocastDType(device Device) (DType, bool) {
	dtype := modes().AutocastCPU
	if device.Kind == CUDADevice {
		dtype = modes().AutocastCUDA
	}
	return DType(dtype), dtype >= 0
}
