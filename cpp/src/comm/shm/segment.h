// Memory that ranks of one host share.
#pragma once

#include <cstddef>
#include <memory>

#include "comm/sockets.h"

namespace tandem::shm {

using net::Descriptor;

// Anonymous shared memory (memfd): it has no name in any file system, and is gone with the last process that maps it,
// however that ends. Its size is sealed, so that no peer can take pages away under a reader.
class Segment {
 public:
  // New memory, all zero; pages are taken when they are first written, on the writer's NUMA node.
  // Throws Error (kOutOfMemory, kIo).
  static std::shared_ptr<Segment> create(std::size_t bytes);
  // Maps what another rank created. Ranks that are threads of one process get the one mapping of their process.
  // Throws Error (kInvalidArgument) when it is no sealed memory of `bytes`.
  static std::shared_ptr<Segment> open(Descriptor file, std::size_t bytes);

  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  // For passing it on.
  int descriptor() const { return file_.get(); }
  // Once it is passed on.
  void close_descriptor() { file_ = Descriptor(); }

 private:
  Segment(Descriptor file, std::byte* data, std::size_t bytes);

  Descriptor file_;
  std::byte* const data_;
  const std::size_t bytes_;
};

}  // namespace tandem::shm
