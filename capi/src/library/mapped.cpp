#include "library/mapped.h"

#include <link.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "loaded_file.h"

namespace fs = std::filesystem;

namespace tandem::loader {
namespace {

// Where the first part of a library lies.
std::uintptr_t address_of(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type == PT_LOAD) return info.dlpi_addr + info.dlpi_phdr[i].p_vaddr;
  }
  return info.dlpi_addr;
}

}  // namespace

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
  using Library = std::pair<std::string, std::uintptr_t>;
  std::vector<Library> libraries;
  // Under the linker's lock: nothing but copying.
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        if (info->dlpi_name && *info->dlpi_name)
          static_cast<std::vector<Library>*>(out)->emplace_back(info->dlpi_name, address_of(*info));
        return 0;
      },
      &libraries);
  std::vector<std::string> found;
  for (const auto& [path, address] : libraries) {
    if (!std::regex_match(fs::path(path).filename().string(), name)) continue;
    const std::string whole = resolved(loaded_file(path, address));
    if (std::find(found.begin(), found.end(), whole) == found.end()) found.push_back(whole);
  }
  return found;
}

}  // namespace tandem::loader
