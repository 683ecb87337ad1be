// Under which of Gloo's slots messages go. Its collectives have a number from 1 to 8 in the first byte.
#pragma once

#include <cstdint>

namespace tandem {

constexpr std::uint64_t kMessageSlots = std::uint64_t{1} << 63;

// Of what a rank sends that closes the group.
constexpr std::uint64_t kClosedSlot = kMessageSlots - 1;

// Of a message's head.
constexpr std::uint64_t head_slot(int tag) {
  return kMessageSlots | static_cast<std::uint64_t>(tag) << 32;
}

// Of the `bytes` that follow a head, which are more than none: those of another size go under another slot. From 2 GiB
// on two sizes may share one, of 2^31; then Gloo's own check is left, which ends the process.
constexpr std::uint64_t data_slot(int tag, std::uint64_t bytes) {
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 31;
  const std::uint64_t size = bytes < kLarge ? bytes : kLarge | bytes * 0x9e3779b97f4a7c15 >> 33;
  return head_slot(tag) | size;
}

}  // namespace tandem
