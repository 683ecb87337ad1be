package c

// #include "shim.h"
import "C"
import "unsafe"

func scaler(s GradScaler) *C.tdm_grad_scaler { return (*C.tdm_grad_scaler)(unsafe.Pointer(s)) }

// ScalerState is tdm_grad_scaler_state.
type ScalerState struct {
	Scale, GrowthFactor, BackoffFactor float64
	GrowthInterval, GrowthTracker      int64
}

// CreateGradScaler starts at state's scale and factors.
func CreateGradScaler(state ScalerState, enabled bool) (GradScaler, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	options := C.tdm_grad_scaler_options{
		init_scale: C.double(state.Scale), growth_factor: C.double(state.GrowthFactor),
		backoff_factor: C.double(state.BackoffFactor), growth_interval: C.int64_t(state.GrowthInterval),
		enabled: boolean(enabled),
	}
	options.struct_size = C.sizeof_tdm_grad_scaler_options
	var s *C.tdm_grad_scaler
	err := failure(C.tdm_grad_scaler_create(&options, &s))
	return GradScaler(unsafe.Pointer(s)), err
}

func FreeGradScaler(s GradScaler) { C.tdm_grad_scaler_free(scaler(s)) }

func ScaleLoss(s GradScaler, t Tensor) (Made, *Failure) {
	var scaled *C.tdm_tensor
	if err := failure(C.tdm_grad_scaler_scale(scaler(s), tensor(t), &scaled)); err != nil {
		return Made{}, err
	}
	return made(C.tg_describe(scaled))
}

func UnscaleGradients(s GradScaler, o Optimizer) *Failure {
	return failure(C.tdm_grad_scaler_unscale(scaler(s), optimizer(o)))
}

// ScalerStep tells whether it stepped.
func ScalerStep(s GradScaler, o Optimizer) (bool, *Failure) {
	var stepped C.int32_t
	err := failure(C.tdm_grad_scaler_step(scaler(s), optimizer(o), &stepped))
	return stepped != 0, err
}

// UpdateScale sets the scale when it is above 0, and adapts it else.
func UpdateScale(s GradScaler, scale float64) *Failure {
	return failure(C.tdm_grad_scaler_update(scaler(s), C.double(scale)))
}

func GetScalerState(s GradScaler) (ScalerState, *Failure) {
	var state C.tdm_grad_scaler_state
	state.struct_size = C.sizeof_tdm_grad_scaler_state
	err := failure(C.tdm_grad_scaler_get_state(scaler(s), &state))
	return ScalerState{float64(state.scale), float64(state.growth_factor), float64(state.backoff_factor),
		int64(state.growth_interval), int64(state.growth_tracker)}, err
}

func SetScalerState(s GradScaler, state ScalerState) *Failure {
	native := C.tdm_grad_scaler_state{
		scale: C.double(state.Scale), growth_factor: C.double(state.GrowthFactor),
		backoff_factor: C.double(state.BackoffFactor), growth_interval: C.int64_t(state.GrowthInterval),
		growth_tracker: C.int64_t(state.GrowthTracker),
	}
	native.struct_size = C.sizeof_tdm_grad_scaler_state
	return failure(C.tdm_grad_scaler_set_state(scaler(s), &native))
}
