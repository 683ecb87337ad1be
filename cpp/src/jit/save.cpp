#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/export.h>

#include <exception>

#include "base/atomic_file.h"
#include "jit/errors.h"
#include "tandem/error.h"
#include "tandem/jit.h"

namespace tandem::jit {
namespace {

using Write = std::function<void(const void* data, std::size_t size)>;

class Writer {
 public:
  // Called by miniz, which is C: it learns of a failure by the number of bytes.
  explicit Writer(Write write)
      : write_(std::move(write)), archive_([this](const void* data, std::size_t size) {
          if (failed_) return std::size_t{0};
          try {
            write_(data, size);
            return size;
          } catch (...) {
            failed_ = std::current_exception();
            return std::size_t{0};
          }
        }) {}
  // LibTorch's destructor writes the directory of an archive that has none yet, and would end the process where that
  // fails.
  ~Writer() {
    if (archive_.finalized()) return;
    if (!failed_) failed_ = std::make_exception_ptr(Error(ErrorCode::kAborted, "given up"));
    try {
      archive_.writeEndOfFile();
    } catch (...) {
    }
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void write(const torch::jit::Module& module) {
    try {
      torch::jit::ScriptModuleSerializer(archive_).serialize(module, {}, /*bytecode_format=*/false,
                                                             /*save_mobile_debug_info=*/false);
      archive_.writeEndOfFile();
    } catch (...) {
      if (failed_) std::rethrow_exception(failed_);
      throw Error(ErrorCode::kUnsupported, "the module cannot be saved: " + reason_of_current());
    }
    if (failed_) std::rethrow_exception(failed_);
  }

 private:
  const Write write_;
  std::exception_ptr failed_;
  caffe2::serialize::PyTorchStreamWriter archive_;
};

}  // namespace

void ScriptModule::save(const std::string& path) const {
  AtomicFile file(path);
  Writer([&](const void* data, std::size_t size) { file.append(data, size); }).write(*script_);
  file.commit();
}

std::string ScriptModule::save_bytes() const {
  std::string bytes;
  Writer([&](const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
  }).write(*script_);
  return bytes;
}

}  // namespace tandem::jit
