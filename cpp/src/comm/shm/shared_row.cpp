#include "comm/shm/shared_row.h"

#include <cstring>
#include <string>

namespace tandem::shm {

std::optional<SharedRow> SharedRow::find(Exchange& exchange, const Label& label) {
  await_end(exchange);
  const std::uint32_t step = exchange.step() - 1;
  SharedRow row;
  row.self_ = exchange.rank();
  for (int rank = 0; rank < exchange.size(); ++rank) {
    const Label& theirs = exchange.label(rank, step);
    const std::uint64_t place = theirs.extent;
    if (place == 0) return std::nullopt;
    if (place > exchange.memory_bytes() || label.bytes > exchange.memory_bytes() - place) {
      throw Error(ErrorCode::kInvalidArgument,
                  "rank " + std::to_string(exchange.number(rank)) + " says that its tensor of " +
                      std::to_string(label.bytes) + " bytes lies at " + std::to_string(place) +
                      " of shared memory that ends at " + std::to_string(exchange.memory_bytes()));
    }
    row.rows_.push_back(exchange.memory(rank) + place);
    row.factors_.push_back(theirs.factor);
  }
  row.inputs_.resize(row.rows_.size());
  return row;
}

void SharedRow::combine(Kernel kernel, Element element, std::size_t begin, std::size_t bytes) {
  for (std::size_t rank = 0; rank < rows_.size(); ++rank) inputs_[rank] = rows_[rank] + begin;
  kernel(rows_[self_] + begin, inputs_.data(), static_cast<int>(rows_.size()), bytes / size_of(element),
         factors_.data());
}

void SharedRow::spread(std::size_t begin, std::size_t bytes) const {
  for (std::byte* row : rows_) {
    if (row != rows_[self_]) std::memcpy(row + begin, rows_[self_] + begin, bytes);
  }
}

void await_end(Exchange& exchange) {
  exchange.open_slot();
  exchange.publish();
  exchange.await_all(exchange.step() - 1);
}

}  // namespace tandem::shm
