// Tensors' memory in a file that is mapped.
#pragma once

#include <c10/core/Storage.h>

#include <cstdint>
#include <memory>

#include "base/mapped_file.h"

namespace tandem::weights {

// Of bytes `offset` on of a file mapped with kCopyOnWrite; it stays mapped as long as the storage lives.
inline at::Storage mapped_storage(const std::shared_ptr<const MappedFile>& file, std::uint64_t offset,
                                  std::uint64_t size) {
  auto* const keeps = new std::shared_ptr<const MappedFile>(file);
  at::DataPtr data(
      file->writable() + offset, keeps,
      [](void* kept) { delete static_cast<std::shared_ptr<const MappedFile>*>(kept); }, at::kCPU);
  return at::Storage(at::Storage::use_byte_size_t(), static_cast<std::int64_t>(size), std::move(data),
                     /*allocator=*/nullptr, /*resizable=*/false);
}

}  // namespace tandem::weights
