#include "loader/resident.h"

#include <sys/mman.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <vector>

namespace tandem::loader {
namespace {

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

}  // namespace

void drop_loading_pages(const std::string& prefix) {
  std::vector<Range> clean;
  Range current;
  std::ifstream smaps("/proc/self/smaps");
  for (std::string line; std::getline(smaps, line);) {
    Range range;
    char access[5] = {};
    std::uint64_t anonymous = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &range.begin, &range.end, access) == 3) {
      const auto path = line.find('/');
      const bool ours = path != std::string::npos && line.compare(path, prefix.size(), prefix) == 0;
      current = ours && access[1] == '-' && access[3] == 'p' ? range : Range();
    } else if (current.end && std::sscanf(line.c_str(), "Anonymous: %" SCNu64, &anonymous) == 1 && anonymous == 0) {
      clean.push_back(current);
    }
  }
  for (const Range& range : clean) {
    madvise(reinterpret_cast<void*>(range.begin), range.end - range.begin, MADV_DONTNEED);
  }
}

}  // namespace tandem::loader
