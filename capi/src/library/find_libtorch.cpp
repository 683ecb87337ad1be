#include "library/find_libtorch.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "library/mapped.h"
#include "loaded_file.h"
#include "tandem/error.h"
#include "tandem/tandem.h"

namespace fs = std::filesystem;

namespace tandem::loader {
namespace {

constexpr const char* kLibrary = "libtorch_cpu.so";
// One line, beside libtandem: a folder, absolute or relative to that file's own.
constexpr const char* kPointerFile = "libtandem.libtorch";

std::string library_in(const fs::path& root) {
  for (const char* sub : {"lib", ""}) {
    fs::path candidate = root / sub / kLibrary;
    std::error_code ignored;
    if (fs::exists(candidate, ignored)) return resolved(candidate.string());
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
  return {root.string(), library, version_of(root), false};
}

LibTorch from_library(const std::string& library) {
  fs::path folder = fs::path(library).parent_path();
  return at(folder.filename() == "lib" ? folder.parent_path() : folder, library);
}

// The mapped libraries that tell a copy of LibTorch: as they are called in wheels and archives, by Debian (with a
// version) and by tools that bundle libraries into wheels (with a hash).
std::vector<std::string> mapped_parts() {
  static const std::regex name(R"((libtorch_cpu|libc10)(-[0-9a-f]+)?\.so(\.[0-9.]+)?)");
  return mapped(name);
}

std::string folder_of(const std::string& path) {
  return fs::path(path).parent_path().string();
}

[[noreturn]] void refuse_two(const std::string& first, const std::string& second) {
  throw Error(ErrorCode::kLibrary,
              "this process has two copies of LibTorch, " + first + " and " + second +
                  ", which corrupt each other; start it again with one: have the program, its extensions and Tandem "
                  "(TANDEM_LIBTORCH) use the same folder");
}

// libtorch_cpu.so of the copy that the process has mapped, "" when it has none.
std::string already_loaded() {
  const std::vector<std::string> parts = mapped_parts();
  if (parts.empty()) return "";
  for (const auto& part : parts) {
    if (folder_of(part) != folder_of(parts.front())) refuse_two(parts.front(), part);
  }
  const auto whole = std::find_if(parts.begin(), parts.end(), [](const std::string& part) {
    return fs::path(part).filename().string().rfind("libtorch_cpu", 0) == 0;
  });
  // libc10.so alone: the rest of that copy is to follow.
  return whole != parts.end() ? *whole : (fs::path(parts.front()).parent_path() / kLibrary).string();
}

}  // namespace

const std::string& own_folder() {
  static const std::string folder = folder_of(resolved(library_of(reinterpret_cast<const void*>(&tdm_load))));
  return folder;
}

bool has_more_rights() {
  return getauxval(AT_SECURE) != 0;
}

std::string environment(const char* name) {
  const char* value = secure_getenv(name);
  return value ? value : "";
}

LibTorch find_libtorch(const std::string& wanted, const std::string& wanted_by) {
  const std::string loaded = already_loaded();
  if (!wanted.empty()) {
    if (!fs::path(wanted).is_absolute()) {
      throw Error(ErrorCode::kLibrary, wanted_by + " is '" + wanted +
                                           "', a relative path, which means another folder in another working "
                                           "directory; give the absolute path of LibTorch's folder");
    }
    const std::string library = library_in(wanted);
    if (library.empty()) {
      throw Error(ErrorCode::kLibrary, wanted_by + " names " + wanted + ", which has no lib/" + kLibrary +
                                           "; point it to the folder of a LibTorch (of an installed Python package: "
                                           "site-packages/torch)");
    }
    if (!loaded.empty() && !same_file(loaded, library)) {
      throw Error(ErrorCode::kLibrary, "this process already has LibTorch from " + loaded +
                                           " (Python's torch, or the program's own), but " + wanted_by + " names " +
                                           library +
                                           "; two copies in one process corrupt each other: leave that unset or name " +
                                           from_library(loaded).root + ", so that Tandem uses the copy that is there");
    }
    return at(wanted, library);
  }
  if (!loaded.empty()) {
    LibTorch found = from_library(loaded);
    found.was_loaded = true;
    return found;
  }

  // Folders of others are never searched: what is beside the folder of libtandem may be anybody's.
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
    return at(resolved(root.string()), library);
  }
  for (const fs::path& root : {own, own / "libtorch"}) {
    const std::string library = library_in(root);
    if (!library.empty()) return at(root, library);
  }
  if (void* system = dlopen(kLibrary, RTLD_LAZY | RTLD_LOCAL)) {
    (void)system;
    return from_library(already_loaded());
  }
  const char* why = dlerror();
  const std::string variable =
      !has_more_rights()
          ? "not set"
          : "which does not count in a program with more rights than its user (setuid, setgid, capabilities)";
  throw Error(ErrorCode::kLibrary, std::string("LibTorch (") + kLibrary +
                                       ") was not found. It is looked for in the folder that TANDEM_LIBTORCH names (" +
                                       variable + "), in the folder that " + (own / kPointerFile).string() +
                                       " names (there is no such file), in " + own.string() + " and " +
                                       (own / "libtorch").string() +
                                       ", each with or without lib/, and among the "
                                       "system's libraries (" +
                                       (why ? why : "no reason is given") + "). Name it in " + kPointerFile +
                                       ", or set TANDEM_LIBTORCH to the absolute path of its folder");
}

}  // namespace tandem::loader
