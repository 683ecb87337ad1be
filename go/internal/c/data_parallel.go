package c

// #include <stdlib.h>
// #include "shim.h"
import "C"
import "unsafe"

func dataParallel(d DataParallel) *C.tdm_data_parallel {
	return (*C.tdm_data_parallel)(unsafe.Pointer(d))
}

func nativeDevice(d Device) C.tdm_device {
	return C.tdm_device{_type: C.tdm_device_type(d.Kind), index: C.int32_t(d.Index)}
}

// CreateDataParallel makes threads for replicas; 0 replicas or threads: as many as fit.
func CreateDataParallel(replicas, threads, dim int, module Device, devices []Device) (DataParallel, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	options := C.tdm_data_parallel_options{replicas: C.int32_t(replicas), threads: C.int32_t(threads),
		device: nativeDevice(module), dim: C.int64_t(dim)}
	options.struct_size = C.sizeof_tdm_data_parallel_options
	if len(devices) > 0 {
		block := C.malloc(C.size_t(len(devices)) * C.sizeof_tdm_device)
		defer C.free(block)
		for i, device := range devices {
			unsafe.Slice((*C.tdm_device)(block), len(devices))[i] = nativeDevice(device)
		}
		options.devices, options.device_count = (*C.tdm_device)(block), C.size_t(len(devices))
	}
	var d *C.tdm_data_parallel
	err := failure(C.tdm_data_parallel_create(&options, &d))
	return DataParallel(unsafe.Pointer(d)), err
}

func FreeDataParallel(d DataParallel) { C.tdm_data_parallel_free(dataParallel(d)) }

func ReplicaCount(d DataParallel) int { return int(C.tdm_data_parallel_replicas(dataParallel(d))) }

// ReplicaTensors are those of a module, and of its replicas one after another.
type ReplicaTensors struct {
	Parameters, ReplicaParameters, Buffers, ReplicaBuffers []Tensor
}

// ForwardReplicas gives at most room outputs. It calls released when nothing uses the replicas any more; after an error it
// does not.
func ForwardReplicas(d DataParallel, of ReplicaTensors, inputs []Tensor, room int, forward Callback,
	released func()) ([]Made, *Failure) {
	results := make([]Tensor, room)
	count := C.size_t(room)
	if err := registerValue(owned{forward, released}, func(handle C.uintptr_t) *C.tdm_error {
		return C.tg_data_parallel_forward(dataParallel(d), handles(of.Parameters), C.size_t(len(of.Parameters)),
			handles(of.ReplicaParameters), handles(of.Buffers), C.size_t(len(of.Buffers)), handles(of.ReplicaBuffers),
			handle, handles(inputs), C.size_t(len(inputs)), handles(results), &count)
	}); err != nil {
		return nil, err
	}
	list := make([]Made, int(count))
	for i := range list {
		if results[i] != nil {
			list[i], _ = made(C.tg_describe(tensor(results[i])))
		}
	}
	return list, nil
}
