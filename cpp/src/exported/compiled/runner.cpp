#include "exported/compiled/runner.h"

#include <torch/csrc/inductor/aoti_runtime/constant_type.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "exported/compiled/libtorch_name.h"

namespace tandem::exported {
namespace {

class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& for_what) {
    std::error_code error;
    path_ = (std::filesystem::temp_directory_path(error) / "tandem-compiled-XXXXXX").string();
    if (error || !mkdtemp(path_.data())) {
      throw Error(ErrorCode::kIo, for_what + " cannot be unpacked into a temporary folder: " +
                                      (error ? error.message() : std::strerror(errno)) + "; TMPDIR names another");
    }
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void succeeded(AOTIRuntimeError error, const char* what) {
  if (error != AOTI_RUNTIME_SUCCESS) throw std::runtime_error(std::string("it does not tell ") + what);
}

}  // namespace

Runner::Runner(const std::string& library, std::size_t at_once)
    : AOTIModelContainerRunner(library, at_once, "cpu", "", false) {}

std::unique_ptr<Runner> Runner::load(const Package& package, std::size_t at_once) {
  provide_libtorch();
  // The linker has mapped the library once it is open, and the runner has read the rest.
  const TemporaryFolder folder(package.name());
  const std::string library = package.extract(folder.path());
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kLibrary, package.name() + " does not load: " + why +
                                         "; it has to be of this LibTorch's version, and TMPDIR a folder that may hold "
                                         "programs");
  };
  try {
    return std::unique_ptr<Runner>(new Runner(library, at_once));
  } catch (const c10::Error& error) {
    refuse(error.what_without_backtrace());
  } catch (const std::exception& error) {
    refuse(error.what());
  }
  return nullptr;
}

template <typename Function>
Function* Runner::function(const char* name) const {
  return reinterpret_cast<Function*>(model_so_->sym(name));
}

std::vector<Runner::Constant> Runner::constants() const {
  using torch::aot_inductor::ConstantType;
  auto* const type_of =
      function<decltype(AOTInductorModelContainerGetConstantType)>("AOTInductorModelContainerGetConstantType");
  auto* const folded_of =
      function<decltype(AOTInductorModelContainerGetConstantFromFolded)>("AOTInductorModelContainerGetConstantFromFolded");
  std::size_t count = 0;
  succeeded(get_num_constants_func_(container_handle_, &count), "how many constants it has");
  std::vector<Constant> result;
  for (std::size_t i = 0; i < count; ++i) {
    const char *name = nullptr, *in_model = nullptr;
    std::int32_t type = 0;
    bool folded = false;
    succeeded(get_constant_name_func_(container_handle_, i, &name), "the name of a constant");
    succeeded(get_constant_original_fqn_func_(container_handle_, i, &in_model), "which parameter a constant is");
    succeeded(type_of(container_handle_, i, &type), "of which kind a constant is");
    succeeded(folded_of(container_handle_, i, &folded), "whether a constant is computed");
    result.push_back({name ? name : "", in_model ? in_model : "",
                      type == ConstantType::Parameter || type == ConstantType::Buffer,
                      folded || type == ConstantType::FoldedConstant});
  }
  return result;
}

std::size_t Runner::inputs() const {
  auto* const count_of = function<decltype(AOTInductorModelContainerGetNumInputs)>("AOTInductorModelContainerGetNumInputs");
  std::size_t count = 0;
  succeeded(count_of(container_handle_, &count), "how many inputs it takes");
  return count;
}

std::size_t Runner::outputs() const {
  std::size_t count = 0;
  succeeded(get_num_outputs_func_(container_handle_, &count), "how many outputs it gives");
  return count;
}

}  // namespace tandem::exported
