// Tensors that are combined where they lie.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "comm/shm/exchange.h"
#include "comm/shm/kernels.h"

namespace tandem::shm {

// From here on ranks look first whether all have their tensors where the others reach them.
constexpr std::size_t kInPlaceBytes = std::size_t{512} << 10;

// A row of label.bytes that each rank has in its segment. Ranks agree on who works on which part of it: nobody else
// touches that meanwhile.
class SharedRow {
 public:
  // Takes a step, in which each rank says with label.extent where its row lies. Nothing when not all lie in segments;
  // all ranks come to the same answer.
  static std::optional<SharedRow> find(Exchange& exchange, const Label& label);

  // Combines what all ranks have at [begin, begin + bytes) and writes it to this rank's row.
  void combine(Kernel kernel, Element element, std::size_t begin, std::size_t bytes);
  // Copies that from this rank's row to all others'.
  void spread(std::size_t begin, std::size_t bytes) const;

 private:
  SharedRow() = default;

  int self_ = 0;
  std::vector<std::byte*> rows_;
  std::vector<double> factors_;
  std::vector<const void*> inputs_;
};

// Takes a step, after which all ranks have done what they do with the row.
void await_end(Exchange& exchange);

}  // namespace tandem::shm
