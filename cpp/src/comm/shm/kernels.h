// Arithmetic of reductions.
#pragma once

#include <cstddef>

#include "comm/shm/layout.h"

namespace tandem::shm {

// out[i] = in[0][i] op in[1][i] op … op in[n - 1][i], in this order, for `count` elements. `out` may be one of the
// inputs, but must not overlap them otherwise. Pointers need the alignment of the element. kAverage divides the sum
// by the sum of `factors`, which say for how many values each input stands, of integers towards zero; kScaledSum
// multiplies in[k] by factors[k] first, others ignore `factors`. float16 and
// bfloat16 are computed in float32 and rounded once, to nearest even. Integers wrap around. kMin and kMax give NaN
// where an input is NaN. Of bool, a sum or maximum is "any", a product or minimum "all".
using Kernel = void (*)(void* out, const void* const* in, int n, std::size_t count, const double* factors);

// The quickest for this processor, or null where the operation has no meaning for the element: bits of floats, the
// average of bool, a scaled sum of integers. All give the same bits.
Kernel find_kernel(Element element, Operation operation);

// Of one instruction set.
namespace baseline {
Kernel find_kernel(Element element, Operation operation);
}
#ifdef TANDEM_SHM_AVX2
namespace avx2 {
Kernel find_kernel(Element element, Operation operation);
}
#endif

}  // namespace tandem::shm
