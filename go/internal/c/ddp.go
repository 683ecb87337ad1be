package c

// #include "shim.h"
import "C"
import "unsafe"

func ddp(d DDP) *C.tdm_ddp { return (*C.tdm_ddp)(unsafe.Pointer(d)) }

// DDPOptions are tdm_ddp_options.
type DDPOptions struct {
	BucketCapMB                                                                         float64
	BroadcastBuffers, FindUnusedParameters, GradientAsBucketView, StaticGraph, InitSync bool
}

func CreateDDP(g ProcessGroup, parameters []Tensor, names []string, buffers []Tensor, o DDPOptions) (DDP, *Failure) {
	cNames, done := cStrings(names)
	defer done()
	options := C.tdm_ddp_options{
		bucket_cap_mb: C.double(o.BucketCapMB), broadcast_buffers: boolean(o.BroadcastBuffers),
		find_unused_parameters:  boolean(o.FindUnusedParameters),
		gradient_as_bucket_view: boolean(o.GradientAsBucketView), static_graph: boolean(o.StaticGraph),
		init_sync: boolean(o.InitSync),
	}
	options.struct_size = C.sizeof_tdm_ddp_options
	var d *C.tdm_ddp
	err := failure(C.tdm_ddp_create(group(g), handles(parameters), cNames, C.size_t(len(parameters)), handles(buffers),
		C.size_t(len(buffers)), &options, &d))
	return DDP(unsafe.Pointer(d)), err
}

func FreeDDP(d DDP) { C.tdm_ddp_free(ddp(d)) }

func PrepareForward(d DDP, training bool) *Failure {
	return failure(C.tdm_ddp_prepare_forward(ddp(d), boolean(training)))
}

func PrepareBackward(d DDP, outputs []Tensor) *Failure {
	return failure(C.tdm_ddp_prepare_backward(ddp(d), handles(outputs), C.size_t(len(outputs))))
}

func PrepareBackwardOne(d DDP, output Tensor) *Failure {
	return failure(C.tg_ddp_prepare_backward_one(ddp(d), tensor(output)))
}

func SetGradSync(d DDP, on bool) *Failure {
	return failure(C.tdm_ddp_set_require_backward_grad_sync(ddp(d), boolean(on)))
}
