#include <malloc.h>

#include <cstdlib>
#include <initializer_list>

#include "tandem/resident.h"

namespace tandem {

void keep_freed_memory() {
  for (const char* name : {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"}) {
    if (std::getenv(name)) return;
  }
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that glibc takes
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

}  // namespace tandem
