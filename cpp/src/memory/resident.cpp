#include "tandem/resident.h"

#include <sys/mman.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

namespace tandem {
namespace {

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

// "/usr/lib/libfoo.so", "/usr/lib/libfoo.so.1.2"; the program itself is left alone.
bool is_shared_library(const std::string& path) {
  const auto name = path.rfind('/') + 1;
  const auto suffix = path.find(".so", name);
  return suffix != std::string::npos && (suffix + 3 == path.size() || path[suffix + 3] == '.');
}

}  // namespace

void drop_startup_pages() {
  std::vector<Range> clean;
  Range current;
  std::ifstream smaps("/proc/self/smaps");
  for (std::string line; std::getline(smaps, line);) {
    Range range;
    char access[5] = {};
    std::uint64_t anonymous = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &range.begin, &range.end, access) == 3) {
      const auto path = line.find('/');
      const bool library = path != std::string::npos && is_shared_library(line.substr(path));
      current = library && access[1] == '-' && access[3] == 'p' ? range : Range();
    } else if (current.end && std::sscanf(line.c_str(), "Anonymous: %" SCNu64, &anonymous) == 1 && anonymous == 0) {
      clean.push_back(current);
    }
  }
  for (const Range& range : clean) {
    madvise(reinterpret_cast<void*>(range.begin), range.end - range.begin, MADV_DONTNEED);
  }
}

void startup_is_over() {
  static std::once_flag once;
  std::call_once(once, drop_startup_pages);
}

}  // namespace tandem
