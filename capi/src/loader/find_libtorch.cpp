#include "loader/find_libtorch.h"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "tandem/error.h"
#include "tandem/tandem.h"

namespace fs = std::filesystem;

namespace tandem::loader {
namespace {

constexpr const char* kLibrary = "libtorch_cpu.so";
// One line, beside libtandem: a folder, absolute or relative to that file's own.
constexpr const char* kPointerFile = "libtandem.libtorch";

std::string resolved(const fs::path& path) {
  std::error_code ignored;
  fs::path result = fs::canonical(path, ignored);
  return ignored ? path.string() : result.string();
}

std::string library_in(const fs::path& root) {
  for (const char* sub : {"lib", ""}) {
    fs::path candidate = root / sub / kLibrary;
    std::error_code ignored;
    if (fs::exists(candidate, ignored)) return resolved(candidate);
  }
  return "";
}

std::string version_of(const fs::path& root) {
  // version.py is in the wheel, build-version in the zip archives and in our packages.
  for (const char* name : {"version.py", "build-version"}) {
    std::ifstream file(root / name);
    std::string line;
    while (std::getline(file, line)) {
      std::smatch match;
      static const std::regex pattern(R"(^(?:__version__ *= *')?(\d+\.\d+\.\d+))");
      if (std::regex_search(line, match, pattern)) return match[1];
    }
  }
  return "";
}

LibTorch at(const fs::path& root, const std::string& library) {
  return {root.string(), library, version_of(root)};
}

LibTorch from_library(const std::string& library) {
  fs::path folder = fs::path(library).parent_path();
  return at(folder.filename() == "lib" ? folder.parent_path() : folder, library);
}

std::string already_loaded() {
  std::string found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        fs::path path(info->dlpi_name ? info->dlpi_name : "");
        if (path.filename() != kLibrary) return 0;
        *static_cast<std::string*>(out) = resolved(path);
        return 1;
      },
      &found);
  return found;
}

}  // namespace

std::string own_folder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void*>(&tdm_load), &info) || !info.dli_fname) return ".";
  return fs::path(resolved(info.dli_fname)).parent_path().string();
}

LibTorch find_libtorch(const std::string& wanted, const std::string& wanted_by) {
  const std::string loaded = already_loaded();
  if (!wanted.empty()) {
    const std::string library = library_in(wanted);
    if (library.empty()) {
      throw Error(ErrorCode::kLibrary, wanted_by + " names " + wanted + ", which has no lib/" + kLibrary +
                                           "; point it to the folder of a LibTorch (of an installed Python package: "
                                           "site-packages/torch)");
    }
    if (!loaded.empty() && loaded != library) {
      throw Error(ErrorCode::kLibrary, "this process already has LibTorch from " + loaded + ", but " + wanted_by +
                                           " names " + library +
                                           "; two copies in one process corrupt each other: use the same one");
    }
    return at(wanted, library);
  }
  if (!loaded.empty()) return from_library(loaded);

  const fs::path own = own_folder();
  std::ifstream pointer(own / kPointerFile);
  std::string named;
  if (std::getline(pointer, named)) {
    const fs::path root = fs::path(named).is_absolute() ? fs::path(named) : own / named;
    const std::string library = library_in(root);
    if (library.empty()) {
      throw Error(ErrorCode::kLibrary, (own / kPointerFile).string() + " names " + root.string() +
                                           ", which has no lib/" + kLibrary + "; set TANDEM_LIBTORCH to a LibTorch");
    }
    return at(resolved(root), library);
  }
  for (const fs::path& root : {own, own / "libtorch", own.parent_path() / "libtorch"}) {
    const std::string library = library_in(root);
    if (!library.empty()) return at(root, library);
  }
  if (void* system = dlopen(kLibrary, RTLD_LAZY | RTLD_LOCAL)) {
    (void)system;
    return from_library(already_loaded());
  }
  throw Error(ErrorCode::kLibrary, std::string("LibTorch (") + kLibrary + ") was not found: not in TANDEM_LIBTORCH "
                                       "(not set), not beside " + own.string() + ", not among the system's libraries; "
                                       "set TANDEM_LIBTORCH to its folder");
}

}  // namespace tandem::loader
