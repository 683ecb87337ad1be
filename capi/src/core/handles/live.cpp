// Counts of live handles.
#include <cstring>

#include "live_errors.h"
#include "tandem/tandem.h"
#include "thread_state.h"

std::int64_t tdm_live_count(const char* type) {
  if (!type) return -1;
  for (int i = 0; i < tandem::kKindCount; ++i) {
    const auto kind = static_cast<tandem::Kind>(i);
    if (std::strcmp(type, tandem::kind_name(kind)) == 0) return tandem::live_count(kind);
  }
  return std::strcmp(type, "error") == 0 ? __atomic_load_n(tandem_live_errors, __ATOMIC_RELAXED) : -1;
}

std::int64_t tdm_tensor_live_bytes(void) {
  return tandem::live_bytes();
}
