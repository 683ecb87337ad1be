#include "comm/nccl/library.h"

#include <dlfcn.h>

#include <filesystem>
#include <mutex>
#include <string>

#include "comm/nccl/factory.h"
#include "loaded_file.h"
#include "tandem/error.h"
#include "tandem/runtime.h"

namespace tandem {
namespace {

// libtandem_core-torch2.11.so → libtandem_nccl-torch2.11.so, in the same folder.
std::filesystem::path library_beside_core() {
  const std::filesystem::path core = library_of(reinterpret_cast<const void*>(&require_nccl));
  std::string name = core.filename().string();
  const std::string from = "libtandem_core";
  if (name.rfind(from, 0) == 0) name.replace(0, from.size(), "libtandem_nccl");
  return core.parent_path() / name;
}

NcclFactory* load_factory() {
  const auto path = library_beside_core();
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    throw Error(ErrorCode::kLibrary, std::string("backend nccl needs ") + path.string() + ", which does not load: " +
                                         dlerror() + "; install Tandem's CUDA part (script/bootstrap --cuda)");
  }
  auto* factory = static_cast<NcclFactory* const*>(dlsym(handle, TANDEM_NCCL_FACTORY));
  if (!factory) {
    throw Error(ErrorCode::kLibrary,
                path.string() + " lacks " TANDEM_NCCL_FACTORY "; install it and the core from one release");
  }
  return *factory;
}

NcclFactory* factory() {
  static std::mutex mutex;
  static NcclFactory* loaded = nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  if (!loaded) loaded = load_factory();
  return loaded;
}

}  // namespace

void require_nccl(c10::Device device) {
  require_cuda("backend 'nccl'");
  if (!device.is_cuda()) {
    throw Error(ErrorCode::kInvalidArgument,
                "backend 'nccl' needs this rank's GPU as its device (cuda:LOCAL_RANK), got " + device.str());
  }
  factory();
}

c10::intrusive_ptr<c10d::Backend> make_nccl_backend(const Store& store, int rank, int world_size,
                                                    std::chrono::milliseconds timeout, c10::Device device) {
  c10::intrusive_ptr<c10d::Backend> backend;
  factory()(store, rank, world_size, timeout, device, &backend);
  return backend;
}

}  // namespace tandem
