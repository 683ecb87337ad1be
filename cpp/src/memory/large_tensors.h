// Memory of tensors of more than a few cache lines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "memory/huge_pages.h"
#include "memory/linked_list.h"
#include "memory/span.h"

namespace tandem {

// Blocks of some hundred sizes, each reused for its size alone, so that steps that free and allocate the same tensors
// always get the same memory. A heap that also holds small objects, as malloc's, leaves a hole too small for the next
// step's tensor wherever one of them outlives the step, and grows: 300 steps of an MLP took it from 150 to 860 MB.
//
// Blocks of a size lie in spans, and spans in mappings: larger ones in their own, small ones in one huge page with
// others. Mappings of which nothing is out are kept up to a limit, and count towards it; what is free in others cannot
// go back to the system and does not count, but goes from size to size. Nothing is written into free blocks.
// Thread-safe.
class LargeTensors {
 public:
  LargeTensors();

  // Lie at multiples of 64 bytes. NULL when the system has no more memory.
  void* take(std::size_t bytes);
  // Whether the address is of memory of ours: all other is another allocator's.
  static bool owns(const void* data) { return span_of(data) != nullptr; }
  // Ends the process with a message if no such block is out.
  void give_back(void* data);
  // Gives all mappings of which nothing is out back to the system.
  void empty();

 private:
  static constexpr std::size_t kSteps = 8;                // sizes from one power of two to the next
  static constexpr std::size_t kSizes = 40 * kSteps + 1;  // up to 2^50

  struct Size {
    LinkedList<Span> partial;     // with blocks out and blocks free
    LinkedList<Span> idle;        // with no block out
    std::uint64_t gave_back = 0;  // when memory of it last went back to the system
  };

  static std::size_t number_of(std::size_t bytes);
  static std::size_t size_of(std::size_t number);
  std::size_t most() const;
  std::size_t spare() const;
  Span* make_span(std::size_t number);
  Span* map_span(std::size_t number, std::size_t bytes);
  HugePages::Piece piece_of(std::size_t bytes);
  void add_idle(Span& span);
  void remove_idle(Span& span);
  void occupy(Mapping& mapping);
  void vacate(Mapping& mapping);
  void release(std::size_t limit);
  void release_loose();

  std::mutex mutex_;  // of all that follows
  std::array<Size, kSizes> sizes_{};
  HugePages huge_pages_;
  LinkedList<Mapping> idle_mappings_;  // of which nothing is out, the last one for the longest
  std::uint64_t clock_ = 0;            // allocations
  std::size_t used_ = 0;               // bytes of blocks that are out
  std::size_t idle_ = 0;               // bytes of idle mappings
  std::size_t loose_ = 0;              // bytes of idle spans in others
  std::size_t most_ = 0;               // of used_, since the clock's last round
  std::size_t most_before_ = 0;        // in the round before
  std::size_t spare_;                  // what may be idle beside what programs need
};

}  // namespace tandem
