package c

// #include "shim.h"
import "C"
import "unsafe"

func optimizer(o Optimizer) *C.tdm_optimizer { return (*C.tdm_optimizer)(unsafe.Pointer(o)) }

// CreateOptimizer makes an optimizer of the registry from a frame of options, and releases the frame.
func CreateOptimizer(kind string, parameters []Tensor, f *Frame) (Optimizer, *Failure) {
	defer f.Release()
	if err := Load(); err != nil {
		return nil, err
	}
	cKind := C.CString(kind)
	defer free(cKind)
	values, count, pool := f.arguments()
	var o *C.tdm_optimizer
	err := failure(C.tg_optimizer_create(cKind, handles(parameters), C.size_t(len(parameters)), f.optionNames(), values,
		count, pool, &o))
	return Optimizer(unsafe.Pointer(o)), err
}

func FreeOptimizer(o Optimizer) { C.tdm_optimizer_free(optimizer(o)) }
func Step(o Optimizer) *Failure { return failure(C.tdm_optimizer_step(optimizer(o))) }

// StepClosure has closure, which gives the loss, be called once or several times, and gives the loss of the first.
func StepClosure(o Optimizer, closure Callback) (loss Made, err *Failure) {
	err = register(closure, func(handle C.uintptr_t) *C.tdm_error {
		given := C.tg_optimizer_step_closure(optimizer(o), handle)
		if given.error == nil {
			loss, _ = made(given)
		}
		return given.error
	})
	return loss, err
}

func ZeroGrad(o Optimizer, setToNone bool) *Failure {
	return failure(C.tdm_optimizer_zero_grad(optimizer(o), boolean(setToNone)))
}

// AllGroups is the number that stands for all of an optimizer's groups.
const AllGroups = int(C.TDM_ALL_GROUPS)

// AddGroup has the optimizer step more parameters, with a frame of options, and releases the frame.
func AddGroup(o Optimizer, parameters []Tensor, f *Frame) *Failure {
	defer f.Release()
	values, count, pool := f.arguments()
	return failure(C.tg_optimizer_add_group(optimizer(o), handles(parameters), C.size_t(len(parameters)), f.optionNames(),
		values, count, pool))
}

func GroupCount(o Optimizer) (int, *Failure) {
	var count C.int64_t
	err := failure(C.tdm_optimizer_group_count(optimizer(o), &count))
	return int(count), err
}

// SetOption sets the one option in the frame, and releases the frame.
func SetOption(o Optimizer, group int, f *Frame) *Failure {
	defer f.Release()
	values, _, pool := f.arguments()
	return failure(C.tg_optimizer_set_option(optimizer(o), C.int64_t(group), f.optionNames(), values, pool))
}

// GetOption gives a float64, a bool or a []float64.
func GetOption(o Optimizer, group int, name string) (Value, *Failure) {
	cName := C.CString(name)
	defer free(cName)
	return oneValue(func(out *C.tdm_value) *C.tdm_error {
		return C.tdm_optimizer_get_option(optimizer(o), C.int64_t(group), cName, out)
	})
}

func OptimizerState(o Optimizer) ([]Named, *Failure) {
	var list *C.tdm_named_tensors
	if err := failure(C.tdm_optimizer_state(optimizer(o), &list)); err != nil {
		return nil, err
	}
	return named(list)
}

func LoadOptimizerState(o Optimizer, names []string, tensors []Tensor) *Failure {
	cNames, done := cStrings(names)
	defer done()
	return failure(C.tdm_optimizer_load_state(optimizer(o), cNames, handles(tensors), C.size_t(len(tensors))))
}

// OptimizerStateDict is the state as Python has it.
func OptimizerStateDict(o Optimizer) (Value, *Failure) {
	var value C.tdm_value
	if err := failure(C.tdm_optimizer_state_dict(optimizer(o), &value)); err != nil {
		return nil, err
	}
	return takeValue(&value), nil
}

// LoadOptimizerStateDict takes the one value of the frame, which it releases.
func LoadOptimizerStateDict(o Optimizer, f *Frame) *Failure {
	defer f.Release()
	value, _, pool := f.arguments()
	return failure(C.tg_optimizer_load_state_dict(optimizer(o), value, pool))
}
