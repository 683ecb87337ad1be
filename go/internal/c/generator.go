package c

// #include "shim.h"
import "C"
import "unsafe"

func generator(g Generator) *C.tdm_generator { return (*C.tdm_generator)(unsafe.Pointer(g)) }

// CreateGenerator makes a generator, or gives the default one of the device.
func CreateGenerator(deviceKind, deviceIndex int32, usual bool) (Generator, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	device := C.tdm_device{_type: C.tdm_device_type(deviceKind), index: C.int32_t(deviceIndex)}
	var g *C.tdm_generator
	if usual {
		err := failure(C.tdm_generator_default(device, &g))
		return Generator(unsafe.Pointer(g)), err
	}
	err := failure(C.tdm_generator_create(device, &g))
	return Generator(unsafe.Pointer(g)), err
}

func FreeGenerator(g Generator) { C.tdm_generator_free(generator(g)) }

func GeneratorDevice(g Generator) (kind, index int32) {
	device := C.tdm_generator_get_device(generator(g))
	return int32(device._type), int32(device.index)
}

func SeedGenerator(g Generator, seed uint64) *Failure {
	return failure(C.tdm_generator_manual_seed(generator(g), C.uint64_t(seed)))
}

// RandomSeed seeds from the system's randomness.
func RandomSeed(g Generator) (uint64, *Failure) {
	var seed C.uint64_t
	err := failure(C.tdm_generator_seed(generator(g), &seed))
	return uint64(seed), err
}

func InitialSeed(g Generator) (uint64, *Failure) {
	var seed C.uint64_t
	err := failure(C.tdm_generator_initial_seed(generator(g), &seed))
	return uint64(seed), err
}

func GeneratorState(g Generator) (Made, *Failure) {
	var state *C.tdm_tensor
	if err := failure(C.tdm_generator_get_state(generator(g), &state)); err != nil {
		return Made{}, err
	}
	return made(C.tg_describe(state))
}

func SetGeneratorState(g Generator, state Tensor) *Failure {
	return failure(C.tdm_generator_set_state(generator(g), tensor(state)))
}
