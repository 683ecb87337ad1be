package c

// #include "shim.h"
import "C"

// Named is a tensor with its name, in a list of a fixed order.
type Named struct {
	Name   string
	Tensor Made
}

// named takes an owned list.
func named(list *C.tdm_named_tensors) ([]Named, *Failure) {
	defer C.tdm_named_tensors_free(list)
	all := make([]Named, int(C.tdm_named_tensors_size(list)))
	for i := range all {
		t, err := made(C.tg_named_tensors_get(list, C.size_t(i)))
		if err != nil {
			for _, one := range all[:i] {
				Free(one.Tensor.Handle)
			}
			return nil, err
		}
		all[i] = Named{C.GoString(C.tdm_named_tensors_name(list, C.size_t(i))), t}
	}
	return all, nil
}
