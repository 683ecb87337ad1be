// Bytes of files, and memory for what they hold.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "base/bytes.h"

namespace tandem::recordio {

using Bytes = std::span<const std::uint8_t>;

// A block of memory on a multiple of 64 that is not zeroed first.
struct Buffer {
  struct Free {
    void operator()(std::uint8_t* block) const { ::operator delete (block, std::align_val_t{64}); }
  };
  std::unique_ptr<std::uint8_t[], Free> data;
  std::size_t size = 0;
};

inline Buffer allocate(std::uint64_t size) {
  return {std::unique_ptr<std::uint8_t[], Buffer::Free>(
              static_cast<std::uint8_t*>(::operator new (static_cast<std::size_t>(size), std::align_val_t{64}))),
          static_cast<std::size_t>(size)};
}

// What is wrong with a part of a file; whoever knows file and chunk adds them.
struct Damaged {
  std::string reason;
};

// A part of a file would take more memory than is allowed.
struct TooLarge {
  std::uint64_t bytes;
};

inline void require_at_most(std::uint64_t bytes, std::uint64_t most) {
  if (bytes > most) throw TooLarge{bytes};
}

std::string hex(std::uint32_t value);

}  // namespace tandem::recordio
