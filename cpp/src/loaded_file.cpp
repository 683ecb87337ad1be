#include "loaded_file.h"

#include <dlfcn.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>

#include "tandem/error.h"

namespace tandem {
namespace {

// "" when no file is mapped there.
std::string mapped_at(std::uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &begin, &end) != 2 || address < begin || address >= end) {
      continue;
    }
    const std::size_t path = line.find('/');
    return path == std::string::npos ? "" : line.substr(path);
  }
  return "";
}

}  // namespace

std::string loaded_file(const std::string& name, std::uintptr_t address) {
  if (!name.empty() && name.front() == '/') return name;
  const std::string file = mapped_at(address);
  if (file.empty()) {
    throw Error(ErrorCode::kLibrary, "cannot tell where " + (name.empty() ? "a library of this process" : name) +
                                         " lies, which was opened by a relative path; open it by an absolute one");
  }
  return file;
}

std::string library_of(const void* function) {
  Dl_info info{};
  dladdr(function, &info);
  return loaded_file(info.dli_fname ? info.dli_fname : "", reinterpret_cast<std::uintptr_t>(function));
}

}  // namespace tandem
