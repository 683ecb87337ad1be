// The kernels for every processor.
#define TANDEM_SHM_KERNELS baseline
#include "comm/shm/kernels.inl"
