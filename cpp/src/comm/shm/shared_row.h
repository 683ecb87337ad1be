// Memory that is combined where it lies.
#pragma once

#include <cstddef>
#include <vector>

#include "comm/shm/exchange.h"
#include "comm/shm/kernels.h"
#include "comm/shm/pieces.h"

namespace tandem::shm {

// From here on ranks look first what of their rows lies where the others reach it.
constexpr std::size_t kInPlaceBytes = std::size_t{512} << 10;

// What of a row every rank has in its segment. Ranks agree on who works on which part of it: nobody else touches that
// meanwhile.
class SharedRow {
 public:
  // Takes a step, in which each rank tells where the pieces of its row lie. All ranks find the same. Throws
  // Error(kInvalidArgument) when a rank names a place that cannot be.
  static SharedRow find(Exchange& exchange, const Label& label, const Pieces& row);

  std::size_t bytes() const { return bytes_; }
  // This rank's memory for the rest of the row.
  const Pieces& rest() const { return rest_; }

  // Combines what all ranks have at [begin, begin + bytes) of it and writes it to this rank's.
  void combine(Kernel kernel, Element element, std::size_t begin, std::size_t bytes);
  // Copies that from this rank's to all others'.
  void spread(std::size_t begin, std::size_t bytes) const;

 private:
  SharedRow() = default;
  template <typename Visit>
  void for_each(std::size_t begin, std::size_t bytes, Visit&& visit) const;

  std::size_t self_ = 0;
  std::size_t bytes_ = 0;
  std::vector<std::size_t> ends_;   // of runs that lie in one place on every rank
  std::vector<std::byte*> places_;  // of each run, on each rank
  Pieces rest_;
  std::vector<double> factors_;
  std::vector<const void*> inputs_;
};

// Takes a step, after which all ranks have done what they do with the row.
void await_end(Exchange& exchange);

}  // namespace tandem::shm
