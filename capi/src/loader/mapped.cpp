#include "loader/mapped.h"

#include <link.h>

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;

namespace tandem::loader {

std::string resolved(const std::string& path) {
  std::error_code ignored;
  const fs::path result = fs::canonical(path, ignored);
  return ignored ? path : result.string();
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return a == b || fs::equivalent(a, b, ignored);
}

std::vector<std::string> mapped(const std::regex& name) {
  std::vector<std::string> paths;
  // Under the linker's lock: nothing but copying.
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        if (info->dlpi_name && *info->dlpi_name)
          static_cast<std::vector<std::string>*>(out)->push_back(info->dlpi_name);
        return 0;
      },
      &paths);
  std::vector<std::string> found;
  for (const auto& path : paths) {
    if (!std::regex_match(fs::path(path).filename().string(), name)) continue;
    const std::string whole = resolved(path);
    if (std::find(found.begin(), found.end(), whole) == found.end()) found.push_back(whole);
  }
  return found;
}

}  // namespace tandem::loader
