// A package of AOTInductor (torch._inductor.aoti_compile_and_package): a shared library compiled from a program.
#pragma once

#include <string>
#include <vector>

#include "exported/archive.h"

namespace tandem::exported {

// What a package has to be compiled with, and says of itself: by default AOTInductor writes values that weights have by then
// into the code: small tensors, and what it can compute from those whose elements are all the same (ones, zeros, counters).
inline constexpr const char* kSharedWeights =
    "inductor_configs={\"always_keep_tensor_constants\": True, \"joint_graph_constant_folding\": False, "
    "\"cpp.dynamic_threads\": True, \"aot_inductor.metadata\": {\"weights\": \"shared\"}}";

// Immutable, and shared by the copies of a module.
class Package {
 public:
  // Maps it. Throws tandem::Error: kNotFound, kIo, kDataLoss; kUnsupported for one that was compiled for another device,
  // platform or processor, which are named, and for one that has sources in the place of a library, or weights in its code.
  explicit Package(const std::string& path);

  const std::string& name() const { return archive_.name(); }  // for messages
  // Writes the library into a folder, with the files that are looked for beside it. Gives its path. Throws Error:
  // kDataLoss, kIo.
  std::string extract(const std::string& folder) const;

 private:
  void check_target(const Json& metadata, const std::string& where) const;

  const Archive archive_;
  const weights::ZipMember* library_ = nullptr;
  std::vector<const weights::ZipMember*> beside_;
};

}  // namespace tandem::exported
