#include "exported/compiled/libtorch_name.h"

#include <ATen/Context.h>
#include <dlfcn.h>

#include <filesystem>
#include <mutex>
#include <string>

#include "loaded_file.h"
#include "tandem/error.h"
#include "tandem/runtime.h"

namespace tandem::exported {

void provide_libtorch() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (dlopen("libtorch.so", RTLD_NOW | RTLD_NOLOAD)) return;
    const std::filesystem::path beside_libtorch = library_of(reinterpret_cast<const void*>(&at::globalContext));
    const std::filesystem::path beside_core = library_of(reinterpret_cast<const void*>(&provide_libtorch));
    const auto library = has_cuda() ? beside_libtorch.parent_path() / "libtorch.so"
                                    : beside_core.parent_path() / "libtandem_libtorch_stub.so";
    // Never closed: what was linked with it may stay.
    if (!dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      throw Error(ErrorCode::kLibrary, std::string("what compiled programs are linked with does not load: ") + dlerror());
    }
  });
}

}  // namespace tandem::exported
