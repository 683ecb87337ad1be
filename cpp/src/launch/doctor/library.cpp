#include "launch/doctor/library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>

#include "launch/failure.h"

namespace fs = std::filesystem;

namespace tandem::doctor {
namespace {

constexpr const char* kLibraryName = "libtandem.so.0";

std::string named_library(const std::string& named) {
  if (!fs::path(named).is_absolute()) {
    throw launch::Failure("TANDEM_LIBRARY=" + named +
                          " is a relative path, which means another file in another folder; give an absolute one");
  }
  std::error_code error;
  if (fs::is_regular_file(named, error)) return named;
  for (const char* name : {kLibraryName, "libtandem.so"}) {
    if (const fs::path file = fs::path(named) / name; fs::is_regular_file(file, error)) return file.string();
  }
  throw launch::Failure("TANDEM_LIBRARY=" + named +
                        " is neither libtandem.so nor a folder that holds it; correct it or unset it");
}

}  // namespace

FoundLibrary find_library(const std::string& given) {
  if (!given.empty()) return {given, "--libtandem names it"};
  if (const char* named = std::getenv("TANDEM_LIBRARY"); named && *named)
    return {named_library(named), "TANDEM_LIBRARY names it"};
  std::error_code error;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  for (const char* folder : {TANDEM_LIBDIR, "lib"}) {
    const fs::path candidate = prefix / folder / kLibraryName;
    if (fs::exists(candidate, error)) return {candidate.string(), "it belongs to this tool"};
  }
  return {kLibraryName, "it is among the system's libraries"};
}

Library::Library(const std::string& wanted) {
  void* handle = dlopen(wanted.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw launch::Failure(dlerror());
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name) path = map->l_name;
  std::string missing;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, name));
    if (!function) missing += (missing.empty() ? "" : ", ") + std::string(name);
  };
  find(version, "tdm_version");
  find(libtorch_version, "tdm_libtorch_version");
  find(load, "tdm_load");
  find(shutdown, "tdm_shutdown");
  find(error_message, "tdm_error_message");
  find(error_free, "tdm_error_free");
  find(cuda_device_count, "tdm_cuda_device_count");
  find(store_hash, "tdm_store_hash");
  find(store_free, "tdm_store_free");
  find(group_create, "tdm_process_group_create");
  find(group_free, "tdm_process_group_free");
  find(group_rank, "tdm_process_group_rank");
  find(group_size, "tdm_process_group_size");
  find(all_reduce, "tdm_all_reduce");
  find(tensor_from_data, "tdm_tensor_from_data");
  find(tensor_copy_to, "tdm_tensor_copy_to");
  find(tensor_copy_from, "tdm_tensor_copy_from");
  find(tensor_free, "tdm_tensor_free");
  if (missing.empty()) return;
  throw launch::Failure(path + (version ? " is release " + std::string(version()) + " and" : "") + " lacks " + missing);
}

void Library::check(tdm_error* error) const {
  if (!error) return;
  const std::string message = error_message(error);
  error_free(error);
  throw launch::Failure(message);
}

}  // namespace tandem::doctor
