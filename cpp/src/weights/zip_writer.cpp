#include "weights/zip_writer.h"

#include <caffe2/serialize/inline_container.h>

#include "tandem/error.h"

namespace tandem::weights {

ZipWriter::ZipWriter(const std::string& path)
    : file_(path),
      writer_(std::make_unique<caffe2::serialize::PyTorchStreamWriter>([this](const void* data, std::size_t size) {
        // Called by miniz, which is C: it learns of a failure by the number of bytes.
        if (failed_) return std::size_t{0};
        try {
          file_.append(data, size);
          return size;
        } catch (...) {
          failed_ = std::current_exception();
          return std::size_t{0};
        }
      })) {}

// LibTorch's destructor writes the directory of an archive that has none yet, and would end the process where that
// fails.
ZipWriter::~ZipWriter() {
  if (writer_->finalized()) return;
  if (!failed_) failed_ = std::make_exception_ptr(Error(ErrorCode::kAborted, "given up"));
  try {
    writer_->writeEndOfFile();
  } catch (...) {
  }
}

template <typename Body>
void ZipWriter::run(Body&& body) {
  try {
    body();
  } catch (const c10::Error& error) {
    if (failed_) std::rethrow_exception(failed_);
    throw Error(ErrorCode::kIo, "cannot write " + file_.path() + ": " + error.what_without_backtrace());
  }
  if (failed_) std::rethrow_exception(failed_);
}

void ZipWriter::add(const std::string& name, const void* data, std::size_t size) {
  run([&] { writer_->writeRecord(name, data, size); });
}

void ZipWriter::commit() {
  run([&] { writer_->writeEndOfFile(); });
  file_.commit();
}

}  // namespace tandem::weights
