#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "tandem/resident.h"

namespace tandem {

void keep_freed_memory() {
  for (const char* name : {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_ARENA_MAX"}) {
    if (std::getenv(name)) return;
  }
  const char* tunables = std::getenv("GLIBC_TUNABLES");
  for (const char* name : {"malloc.trim_threshold", "malloc.mmap_threshold", "malloc.arena_max"}) {
    if (tunables && std::strstr(tunables, name)) return;
  }
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that glibc takes
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  // Every arena keeps its own, and glibc's default is eight a core.
  mallopt(M_ARENA_MAX, static_cast<int>(2 * sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace tandem
