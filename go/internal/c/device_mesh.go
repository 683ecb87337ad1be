package c

// #include "shim.h"
import "C"
import (
	"slices"
	"unsafe"
)

func mesh(m DeviceMesh) *C.tdm_device_mesh { return (*C.tdm_device_mesh)(unsafe.Pointer(m)) }

// CreateDeviceMesh arranges the ranks of a group in a grid.
func CreateDeviceMesh(world ProcessGroup, shape []int, names []string) (DeviceMesh, *Failure) {
	sizes := make([]C.int64_t, max(len(shape), len(names))) // what is missing is refused, on all ranks
	for i, size := range shape {
		sizes[i] = C.int64_t(size)
	}
	cNames, done := cStrings(append(slices.Clone(names), make([]string, len(sizes)-len(names))...))
	defer done()
	var made *C.tdm_device_mesh
	err := failure(C.tdm_device_mesh_create(group(world), unsafe.SliceData(sizes), cNames, C.size_t(len(sizes)), &made))
	return DeviceMesh(unsafe.Pointer(made)), err
}

func FreeDeviceMesh(m DeviceMesh) { C.tdm_device_mesh_free(mesh(m)) }

// DeviceMeshDimensions are names, sizes and this rank's place of each.
func DeviceMeshDimensions(m DeviceMesh) (names []string, shape, coordinate []int) {
	for i := range C.tdm_device_mesh_dimensions(mesh(m)) {
		names = append(names, C.GoString(C.tdm_device_mesh_name(mesh(m), i)))
		shape = append(shape, int(C.tdm_device_mesh_size(mesh(m), i)))
		coordinate = append(coordinate, int(C.tdm_device_mesh_coordinate(mesh(m), i)))
	}
	return names, shape, coordinate
}

// DeviceMeshGroup gives a handle of the group along a dimension, to be freed.
func DeviceMeshGroup(m DeviceMesh, name string) (ProcessGroup, *Failure) {
	cName := C.CString(name)
	defer free(cName)
	var made *C.tdm_process_group
	err := failure(C.tdm_device_mesh_group(mesh(m), cName, &made))
	return ProcessGroup(unsafe.Pointer(made)), err
}

// DeviceSubmesh is the mesh of some dimensions.
func DeviceSubmesh(m DeviceMesh, names []string) (DeviceMesh, *Failure) {
	cNames, done := cStrings(names)
	defer done()
	var made *C.tdm_device_mesh
	err := failure(C.tdm_device_mesh_submesh(mesh(m), cNames, C.size_t(len(names)), &made))
	return DeviceMesh(unsafe.Pointer(made)), err
}

// FlattenDeviceMesh is the mesh with all dimensions as one.
func FlattenDeviceMesh(m DeviceMesh, name string) (DeviceMesh, *Failure) {
	cName := C.CString(name)
	defer free(cName)
	var made *C.tdm_device_mesh
	err := failure(C.tdm_device_mesh_flatten(mesh(m), cName, &made))
	return DeviceMesh(unsafe.Pointer(made)), err
}
