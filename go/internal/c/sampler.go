package c

// #include "shim.h"
import "C"
import "unsafe"

func sampler(s Sampler) *C.tdm_sampler { return (*C.tdm_sampler)(unsafe.Pointer(s)) }

// makeSampler calls what gives one.
func makeSampler(call func(out **C.tdm_sampler) *C.tdm_error) (Sampler, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	var s *C.tdm_sampler
	err := failure(call(&s))
	return Sampler(unsafe.Pointer(s)), err
}

func FreeSampler(s Sampler)     { C.tdm_sampler_free(sampler(s)) }
func SamplerSize(s Sampler) int { return int(C.tdm_sampler_size(sampler(s))) }

func SamplerSamples(s Sampler, seed uint64, epoch, first, count int) ([]int, *Failure) {
	samples := make([]int, count+1) // one more, so that there is an address
	err := failure(C.tdm_sampler_samples(sampler(s), C.uint64_t(seed), C.int64_t(epoch), C.int64_t(first),
		sizes(samples), C.size_t(count)))
	return samples[:count], err
}

func SequentialSampler(size int) (Sampler, *Failure) {
	return makeSampler(func(out **C.tdm_sampler) *C.tdm_error { return C.tdm_sampler_sequential(C.int64_t(size), out) })
}

func RandomSampler(size int) (Sampler, *Failure) {
	return makeSampler(func(out **C.tdm_sampler) *C.tdm_error { return C.tdm_sampler_random(C.int64_t(size), out) })
}

func WeightedSampler(weights []float64, positions int, replacement bool) (Sampler, *Failure) {
	return makeSampler(func(out **C.tdm_sampler) *C.tdm_error {
		return C.tdm_sampler_weighted((*C.double)(unsafe.SliceData(weights)), C.size_t(len(weights)),
			C.int64_t(positions), boolean(replacement), out)
	})
}

func SubsetSampler(samples []int, shuffle bool) (Sampler, *Failure) {
	return makeSampler(func(out **C.tdm_sampler) *C.tdm_error {
		return C.tdm_sampler_subset(sizes(samples), C.size_t(len(samples)), boolean(shuffle), out)
	})
}

func BatchSampler(samples []int, batchSize int, shuffle bool) (Sampler, *Failure) {
	return makeSampler(func(out **C.tdm_sampler) *C.tdm_error {
		return C.tdm_sampler_batches(sizes(samples), C.size_t(len(samples)), C.int64_t(batchSize), boolean(shuffle), out)
	})
}

func LengthSampler(lengths []int, batchSize, window int) (Sampler, *Failure) {
	return makeSampler(func(out **C.tdm_sampler) *C.tdm_error {
		return C.tdm_sampler_by_length(sizes(lengths), C.size_t(len(lengths)), C.int64_t(batchSize), C.int64_t(window),
			out)
	})
}

func DistributedSampler(all Sampler, rank, worldSize int) (Sampler, *Failure) {
	return makeSampler(func(out **C.tdm_sampler) *C.tdm_error {
		return C.tdm_sampler_distributed(sampler(all), C.int32_t(rank), C.int32_t(worldSize), out)
	})
}

func CreateSampler(name string, positions int, byEpoch bool, list Callback) (Sampler, *Failure) {
	if err := Load(); err != nil {
		return nil, err
	}
	cName := C.CString(name)
	defer free(cName)
	var s *C.tdm_sampler
	err := register(list, func(handle C.uintptr_t) *C.tdm_error {
		return C.tg_sampler_create(cName, C.int64_t(positions), boolean(byEpoch), handle, &s)
	})
	return Sampler(unsafe.Pointer(s)), err
}
