#include "comm/shm/shared_row.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace tandem::shm {
namespace {

// A rank's row, in its slot: how many entries there are, and then these. A row of more pieces than fit has none, and
// lies where no other rank reaches it.
struct Entry {
  std::uint64_t place = 0;  // in the rank's segment; 0: somewhere else
  std::uint64_t bytes = 0;
};
constexpr std::size_t kEntriesBegin = kLine;
constexpr std::uint64_t kMostEntries = (kSlotBytes - kEntriesBegin) / sizeof(Entry);

void write_table(Exchange& exchange, const Pieces& row, std::byte* slot) {
  const std::byte* const memory = exchange.memory(exchange.rank());
  std::uint64_t count = 0;
  row.for_each(0, row.bytes(), [&](const std::byte* data, std::size_t, std::size_t bytes) {
    if (count < kMostEntries) {
      const auto at = reinterpret_cast<std::uintptr_t>(data) - reinterpret_cast<std::uintptr_t>(memory);
      const bool reached = at < exchange.memory_bytes() && bytes <= exchange.memory_bytes() - at;
      const Entry entry{reached ? at : 0, bytes};
      std::memcpy(slot + kEntriesBegin + count * sizeof entry, &entry, sizeof entry);
    }
    ++count;
  });
  if (count > kMostEntries) count = 0;
  std::memcpy(slot, &count, sizeof count);
}

// The entries of one rank, one after the other, of which parts may be taken.
class Reader {
 public:
  Reader(Exchange& exchange, int rank, const Label& label)
      : exchange_(exchange), rank_(rank), label_(label), slot_(exchange.read(rank, exchange.step() - 1)) {
    std::memcpy(&count_, slot_, sizeof count_);
    if (count_ > kMostEntries) refuse(std::to_string(count_) + " pieces");
    if (count_ == 0) entry_.bytes = label.bytes;
  }

  // That lie in one place, or in none that is reached.
  std::size_t left() {
    if (entry_.bytes == 0) next();
    return entry_.bytes;
  }
  // Of the next `bytes`, at most left(). Null: not reached.
  std::byte* take(std::size_t bytes) {
    std::byte* const place = entry_.place == 0 ? nullptr : exchange_.memory(rank_) + entry_.place;
    entry_.bytes -= bytes;
    if (place) entry_.place += bytes;
    return place;
  }

 private:
  void next() {
    if (read_ == count_) refuse("a row that ends early");
    std::memcpy(&entry_, slot_ + kEntriesBegin + read_++ * sizeof entry_, sizeof entry_);
    const std::size_t memory = exchange_.memory_bytes();
    const std::size_t element = size_of(label_.element);
    if (entry_.bytes == 0 || entry_.bytes % element != 0 || entry_.place % element != 0 || entry_.place > memory ||
        (entry_.place != 0 && entry_.bytes > memory - entry_.place)) {
      refuse("a piece of " + std::to_string(entry_.bytes) + " bytes at " + std::to_string(entry_.place) +
             " of memory that ends at " + std::to_string(memory));
    }
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorCode::kInvalidArgument, "rank " + std::to_string(exchange_.number(rank_)) +
                                                 " says of its memory for " + Exchange::describe(label_) +
                                                 " what cannot be: " + what);
  }

  Exchange& exchange_;
  const int rank_;
  const Label& label_;
  const std::byte* const slot_;
  std::uint64_t count_ = 0;
  std::uint64_t read_ = 0;
  Entry entry_;
};

}  // namespace

SharedRow SharedRow::find(Exchange& exchange, const Label& label, const Pieces& row) {
  write_table(exchange, row, exchange.open_slot());
  exchange.publish();
  const std::uint32_t step = exchange.step() - 1;
  exchange.await_all(step);
  SharedRow shared;
  shared.self_ = static_cast<std::size_t>(exchange.rank());
  std::vector<Reader> readers;
  for (int rank = 0; rank < exchange.size(); ++rank) {
    readers.emplace_back(exchange, rank, label);
    shared.factors_.push_back(exchange.label(rank, step).factor);
  }
  shared.inputs_.resize(readers.size());
  std::vector<std::byte*> places(readers.size());
  for (std::size_t at = 0; at < label.bytes;) {
    std::size_t bytes = label.bytes - at;
    for (Reader& reader : readers) bytes = std::min(bytes, reader.left());
    std::ranges::transform(readers, places.begin(), [&](Reader& reader) { return reader.take(bytes); });
    if (std::ranges::count(places, nullptr) == 0) {
      shared.bytes_ += bytes;
      shared.ends_.push_back(shared.bytes_);
      shared.places_.insert(shared.places_.end(), places.begin(), places.end());
    } else {
      shared.rest_.add(row.part(at, bytes));
    }
    at += bytes;
  }
  return shared;
}

// visit(std::byte* const* places, std::size_t into, std::size_t size): `size` bytes from `into` of each rank's place.
template <typename Visit>
void SharedRow::for_each(std::size_t begin, std::size_t bytes, Visit&& visit) const {
  const std::size_t end = begin + bytes;
  auto run = static_cast<std::size_t>(std::ranges::upper_bound(ends_, begin) - ends_.begin());
  for (; begin < end; ++run) {
    const std::size_t run_begin = run == 0 ? 0 : ends_[run - 1], run_end = std::min(end, ends_[run]);
    visit(&places_[run * inputs_.size()], begin - run_begin, run_end - begin);
    begin = run_end;
  }
}

void SharedRow::combine(Kernel kernel, Element element, std::size_t begin, std::size_t bytes) {
  for_each(begin, bytes, [&](std::byte* const* places, std::size_t into, std::size_t size) {
    for (std::size_t rank = 0; rank < inputs_.size(); ++rank) inputs_[rank] = places[rank] + into;
    kernel(places[self_] + into, inputs_.data(), static_cast<int>(inputs_.size()), size / size_of(element),
           factors_.data());
  });
}

void SharedRow::spread(std::size_t begin, std::size_t bytes) const {
  for_each(begin, bytes, [&](std::byte* const* places, std::size_t into, std::size_t size) {
    for (std::size_t rank = 0; rank < inputs_.size(); ++rank) {
      if (rank != self_) std::memcpy(places[rank] + into, places[self_] + into, size);
    }
  });
}

void await_end(Exchange& exchange) {
  exchange.open_slot();
  exchange.publish();
  exchange.await_all(exchange.step() - 1);
}

}  // namespace tandem::shm
