// The kernels for processors with AVX2 and F16C; compiled with these.
#include <immintrin.h>
#define TANDEM_SHM_KERNELS avx2
#define TANDEM_SHM_F16C
#include "comm/shm/kernels.inl"
