#include <torch/csrc/jit/serialization/import.h>

#include "base/mapped_file.h"
#include "base/shown_path.h"
#include "jit/archive.h"
#include "jit/attribute_types.h"
#include "jit/deep_stack.h"
#include "jit/errors.h"
#include "tandem/jit.h"

namespace tandem::jit {
namespace {

torch::jit::Module read(std::span<const std::uint8_t> bytes, const std::string& name) {
  try {
    const auto archive = std::make_shared<Archive>(bytes, name);
    torch::jit::ExtraFilesMap no_files;
    auto module = torch::jit::load(archive, at::kCPU, no_files, /*load_debug_files=*/false);
    require_attribute_types(module._ivalue(), name);
    return module;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    const std::string reason = reason_of_current();
    const bool lacks = reason.find("Unknown builtin op") != std::string::npos;
    throw Error(lacks ? ErrorCode::kUnsupported : ErrorCode::kDataLoss,
                name + " cannot be loaded as TorchScript: " + reason);
  }
}

}  // namespace

std::shared_ptr<ScriptModule> load_bytes(std::span<const std::uint8_t> bytes, const std::string& name) {
  std::shared_ptr<ScriptModule> module;
  run_on_deep_stack([&] { module = std::make_shared<ScriptModule>(read(bytes, name)); });
  return module;
}

std::shared_ptr<ScriptModule> load(const std::string& path) {
  const MappedFile file(path);
  auto module = load_bytes(file.bytes(), shown_path(path));
  file.look_for_end(file.bytes().size());
  file.check(0, file.bytes().size());
  return module;
}

}  // namespace tandem::jit
