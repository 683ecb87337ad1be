// Memory that is cut into blocks of one size, and the finding of it by an address.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem {

struct Mapping;

struct Span {
  char* begin = nullptr;
  std::size_t bytes = 0;
  std::size_t stride = 0;      // from one block to the next
  std::uint64_t all = 0;       // a bit for each block
  std::uint64_t free = 0;      // those that are not out
  std::uint32_t number = 0;    // of the blocks' size
  Mapping* mapping = nullptr;  // that it lies in
  Span* before = nullptr;      // in its list
  Span* after = nullptr;
};

// The process's map from addresses to spans, in units of kSpanUnit.
constexpr std::size_t kSpanUnit = 64 << 10;

// NULL for memory of others. Takes any address; any thread may call it at any time.
Span* span_of(const void* address);
// Maps the span's addresses to it. False when there is no memory for that. Calls must not overlap.
bool enter_span(Span& span);
void leave_span(const Span& span);

}  // namespace tandem
