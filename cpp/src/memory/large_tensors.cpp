#include "memory/large_tensors.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "memory/fork_locks.h"

namespace tandem {
namespace {

constexpr std::size_t kAlignment = 64;      // that LibTorch's kernels expect
constexpr std::size_t kSmallest = 1024;     // bytes of the first size
constexpr std::size_t kPacked = 128 << 10;  // from here on blocks lie side by side
constexpr std::size_t kSpare = 64 << 20;    // that may be idle in any case
constexpr std::size_t kLoose = 8 << 20;     // that sizes may keep in pages that others use
constexpr std::uint64_t kRecent = 1 << 16;  // allocations in which the most that a program needed is looked for
constexpr std::size_t kMostBlocks = 64;     // of a span, which has that many bits
static_assert(kSmallestPiece % kSpanUnit == 0);

std::size_t stride_of(std::size_t size) {
  // Many small ones at multiples of a power of two would share few sets of the processor's cache.
  return size < kPacked ? size + kAlignment : size;
}

std::size_t in_pieces(std::size_t bytes) {
  return (bytes + kSmallestPiece - 1) / kSmallestPiece * kSmallestPiece;
}

// The least that wastes no more than an eighth.
std::size_t span_bytes(std::size_t stride) {
  for (std::size_t bytes = in_pieces(stride);; bytes += kSmallestPiece) {
    if (bytes / stride <= kMostBlocks && bytes % stride <= bytes / 8) return bytes;
  }
}

// Going on would corrupt memory, and whoever frees cannot be given an error.
[[noreturn]] void end_for(const char* reason, const void* data) {
  std::fprintf(stderr, "tandem: tensor memory at %p was freed %s\n", data, reason);
  std::abort();
}

}  // namespace

LargeTensors::LargeTensors() : spare_(kSpare) {
  hold_in_fork(ForkLock::large_tensors, mutex_);
}

std::size_t LargeTensors::number_of(std::size_t bytes) {
  if (bytes <= kSmallest) return 0;
  const auto power = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;
  const std::size_t base = std::size_t{1} << power;
  return (power - static_cast<std::size_t>(std::countr_zero(kSmallest))) * kSteps +
         (bytes - 1 - base) / (base / kSteps) + 1;
}

std::size_t LargeTensors::size_of(std::size_t number) {
  if (number == 0) return kSmallest;
  const std::size_t base = kSmallest << (number - 1) / kSteps;
  return base + ((number - 1) % kSteps + 1) * (base / kSteps);
}

void* LargeTensors::take(std::size_t bytes) {
  if (bytes >= std::size_t{1} << 50) return nullptr;
  const std::size_t number = number_of(bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  Size& size = sizes_[number];
  ++clock_;
  Span* span = size.partial.first();
  if (!span) {
    span = size.idle.first() ? size.idle.first() : make_span(number);
    if (!span) return nullptr;
    remove_idle(*span);
    occupy(*span->mapping);
    size.partial.push_front(*span);
  }
  const auto index = static_cast<std::size_t>(std::countr_zero(span->free));
  span->free &= span->free - 1;
  if (!span->free) size.partial.remove(*span);
  used_ += size_of(number);
  if (clock_ % kRecent == 0) {
    most_before_ = std::exchange(most_, 0);
    spare_ = std::max(kSpare, spare_ / 2);
  }
  most_ = std::max(most_, used_);
  return span->begin + index * span->stride;
}

void LargeTensors::give_back(void* data) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Span* span = span_of(data);
  if (!span) end_for("twice", data);
  const auto offset = static_cast<std::size_t>(static_cast<char*>(data) - span->begin);
  if (offset % span->stride != 0 || offset / span->stride >= span->bytes / span->stride) {
    end_for("that is not the beginning of a block", data);
  }
  const std::uint64_t block = std::uint64_t{1} << offset / span->stride;
  if (span->free & block) end_for("twice", data);
  Size& size = sizes_[span->number];
  if (!span->free) size.partial.push_front(*span);
  span->free |= block;
  used_ -= size_of(span->number);
  if (span->free == span->all) {
    size.partial.remove(*span);
    vacate(*span->mapping);
    add_idle(*span);
  }
}

void LargeTensors::empty() {
  const std::lock_guard<std::mutex> lock(mutex_);
  release(0);
  for (Size& size : sizes_) size.gave_back = 0;  // that some are wanted again says nothing about what to keep
  release_loose();
}

// Bytes in use at once, lately.
std::size_t LargeTensors::most() const {
  return std::max(most_, most_before_);
}

// Sizes take turns: what a step needs of all of them may be more than what it needs at once.
std::size_t LargeTensors::spare() const {
  return std::min(spare_, std::max(kSpare, most() / 2));
}

// Is idle.
Span* LargeTensors::make_span(std::size_t number) {
  const std::size_t stride = stride_of(size_of(number));
  const std::size_t bytes = span_bytes(stride);
  // What is wanted again so soon should have been kept.
  if (const auto gave_back = sizes_[number].gave_back; gave_back > 0 && clock_ - gave_back < kRecent) {
    spare_ = spare() + bytes;
  }
  release(std::max(most(), used_ + size_of(number)) + spare());
  Span* span = map_span(number, bytes);
  if (!span) {
    release(0);
    release_loose();
    span = map_span(number, bytes);
  }
  if (!span) span = map_span(number, in_pieces(stride));  // where addresses are limited
  return span;
}

Span* LargeTensors::map_span(std::size_t number, std::size_t bytes) {
  const HugePages::Piece piece = bytes < kHugePage ? piece_of(bytes) : huge_pages_.map(bytes);
  if (!piece.begin) return nullptr;
  const std::size_t stride = stride_of(size_of(number));
  const std::uint64_t all = ~std::uint64_t{0} >> (kMostBlocks - bytes / stride);
  auto* span = new Span{piece.begin, bytes, stride, all, all, static_cast<std::uint32_t>(number), piece.mapping};
  const bool is_first = piece.mapping->busy == 0 && piece.mapping->idle == 0;
  if (!enter_span(*span)) {
    delete span;
    if (is_first) {
      huge_pages_.unmap(*piece.mapping);
    } else {
      huge_pages_.give_back(piece, bytes);
    }
    return nullptr;
  }
  if (is_first) {
    idle_ += piece.mapping->bytes;
    idle_mappings_.push_front(*piece.mapping);
  }
  add_idle(*span);
  return span;
}

HugePages::Piece LargeTensors::piece_of(std::size_t bytes) {
  if (const auto piece = huge_pages_.find(bytes); piece.begin) return piece;
  if (loose_ > kLoose + used_ / 8) {
    release_loose();
    if (const auto piece = huge_pages_.find(bytes); piece.begin) return piece;
  }
  return huge_pages_.map_piece(bytes);
}

void LargeTensors::add_idle(Span& span) {
  sizes_[span.number].idle.push_front(span);
  span.mapping->idle += span.bytes;
  if (span.mapping->busy > 0) loose_ += span.bytes;
}

void LargeTensors::remove_idle(Span& span) {
  sizes_[span.number].idle.remove(span);
  span.mapping->idle -= span.bytes;
  if (span.mapping->busy > 0) loose_ -= span.bytes;
}

void LargeTensors::occupy(Mapping& mapping) {
  if (mapping.busy++ > 0) return;
  idle_mappings_.remove(mapping);
  idle_ -= mapping.bytes;
  loose_ += mapping.idle;
}

void LargeTensors::vacate(Mapping& mapping) {
  if (--mapping.busy > 0) return;
  loose_ -= mapping.idle;
  idle_ += mapping.bytes;
  idle_mappings_.push_front(mapping);
}

// Gives mappings back to the system until no more than `limit` bytes are in use or idle.
void LargeTensors::release(std::size_t limit) {
  while (used_ + idle_ > limit && idle_mappings_.last()) {
    Mapping& mapping = *idle_mappings_.last();
    idle_mappings_.remove(mapping);
    idle_ -= mapping.bytes;
    for (std::size_t at = 0; at < mapping.bytes;) {
      Span* span = span_of(mapping.begin + at);
      at += span ? span->bytes : kSmallestPiece;
      if (!span) continue;
      sizes_[span->number].gave_back = clock_;
      remove_idle(*span);
      leave_span(*span);
      delete span;
    }
    huge_pages_.unmap(mapping);
  }
}

// Gives idle spans in pages that others use to other sizes.
void LargeTensors::release_loose() {
  for (Size& size : sizes_) {
    for (Span* next = size.idle.first(); next;) {
      Span& span = *std::exchange(next, next->after);
      if (span.mapping->busy == 0) continue;
      remove_idle(span);
      leave_span(span);
      huge_pages_.give_back({span.begin, span.mapping}, span.bytes);
      delete &span;
    }
  }
}

}  // namespace tandem
