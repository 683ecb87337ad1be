// A zip archive as torch.save writes it, by LibTorch's own writer, that appears whole or not at all.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <string>

#include "base/atomic_file.h"

namespace caffe2::serialize {
class PyTorchStreamWriter;
}

namespace tandem::weights {

// Each call throws tandem::Error as AtomicFile does; then there will be no file.
class ZipWriter {
 public:
  explicit ZipWriter(const std::string& path);
  ~ZipWriter();

  // Stored, at a multiple of 64 bytes of the file, with its CRC-32.
  void add(const std::string& name, const void* data, std::size_t size);
  void commit();

 private:
  template <typename Body>
  void run(Body&& body);

  AtomicFile file_;
  std::exception_ptr failed_;  // of the file, when LibTorch's writer wrote to it
  std::unique_ptr<caffe2::serialize::PyTorchStreamWriter> writer_;
};

}  // namespace tandem::weights
