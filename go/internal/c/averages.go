package c

// #include "shim.h"
import "C"
import "unsafe"

func averages(a Averages) *C.tdm_averaged_parameters {
	return (*C.tdm_averaged_parameters)(unsafe.Pointer(a))
}

// AveragedOptions are tdm_averaged_parameters_options, with the library's default decay and each tensor's own device
// where there is none.
type AveragedOptions struct {
	EMA        bool
	Decay      *float64
	UseBuffers bool
	Device     *Device
}

func CreateAverages(parameters, buffers []Tensor, o AveragedOptions) (Averages, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	var options C.tdm_averaged_parameters_options
	C.tdm_averaged_parameters_options_init(&options, C.size_t(unsafe.Sizeof(options)))
	if o.EMA {
		options.averaging = C.TDM_AVERAGING_EMA
	}
	if o.Decay != nil {
		options.decay = C.double(*o.Decay)
	}
	options.use_buffers = boolean(o.UseBuffers)
	if o.Device != nil {
		options.device = device(o.Device.Kind, o.Device.Index)
	}
	var a *C.tdm_averaged_parameters
	err := failure(C.tdm_averaged_parameters_create(handles(parameters), C.size_t(len(parameters)), handles(buffers),
		C.size_t(len(buffers)), &options, &a))
	return Averages(unsafe.Pointer(a)), err
}

func FreeAverages(a Averages) { C.tdm_averaged_parameters_free(averages(a)) }
func UpdateAverages(a Averages) *Failure {
	return failure(C.tdm_averaged_parameters_update(averages(a)))
}
func SwapAverages(a Averages) *Failure { return failure(C.tdm_averaged_parameters_swap(averages(a))) }

func AveragesState(a Averages) ([]Named, *Failure) {
	var list *C.tdm_named_tensors
	if err := failure(C.tdm_averaged_parameters_state(averages(a), &list)); err != nil {
		return nil, err
	}
	return named(list)
}

func LoadAveragesState(a Averages, names []string, tensors []Tensor) *Failure {
	cNames, done := cStrings(names)
	defer done()
	return failure(C.tdm_averaged_parameters_load_state(averages(a), cNames, handles(tensors), C.size_t(len(tensors))))
}
