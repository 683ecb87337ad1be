#include "comm/shm/kernels.h"

namespace tandem::shm {

Kernel find_kernel(Element element, Operation operation) {
#ifdef TANDEM_SHM_AVX2
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
  if (has_avx2) return avx2::find_kernel(element, operation);
#endif
  return baseline::find_kernel(element, operation);
}

}  // namespace tandem::shm
