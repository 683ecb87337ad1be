#include "tandem/resident.h"

#include <link.h>
#include <sys/mman.h>

#include <cinttypes>
#include <cstdio>
#include <filesystem>
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

// "/path/to/torch/lib/"; "" when LibTorch is not loaded.
std::string libtorch_folder() {
  std::string folder;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* out) {
        const std::string path = library->dlpi_name;
        const auto end = path.rfind('/');
        if (end == std::string::npos || path.compare(end, std::string::npos, "/libtorch_cpu.so") != 0) return 0;
        std::error_code ignored;
        const auto resolved = std::filesystem::canonical(path, ignored);
        *static_cast<std::string*>(out) = resolved.parent_path().string() + "/";
        return 1;
      },
      &folder);
  return folder;
}

}  // namespace

void drop_startup_pages() {
  const std::string folder = libtorch_folder();
  if (folder.size() < 2) return;
  std::vector<Range> clean;
  Range current;
  std::ifstream smaps("/proc/self/smaps");
  for (std::string line; std::getline(smaps, line);) {
    Range range;
    char access[5] = {};
    std::uint64_t anonymous = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &range.begin, &range.end, access) == 3) {
      const auto path = line.find('/');
      const bool libtorch = path != std::string::npos && line.compare(path, folder.size(), folder) == 0;
      current = libtorch && access[1] == '-' && access[3] == 'p' ? range : Range();
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
