#include <algorithm>
#include <utility>

#include "comm/shm/collectives.h"
#include "comm/shm/shared_row.h"

namespace tandem::shm {
namespace {

// Up to here every rank reads everything and combines it alone, in one step.
constexpr std::size_t kDirectBytes = std::size_t{16} << 10;

std::size_t round_up(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

struct Range {
  std::size_t begin = 0;
  std::size_t bytes = 0;
};

// How much each rank's part of a slot holds.
std::size_t largest_part(int ranks) {
  return Exchange::slot_bytes() / static_cast<std::size_t>(ranks) / kLine * kLine;
}

// A row cut into chunks, and each chunk into a part for each rank to combine.
class Cut {
 public:
  Cut(std::size_t bytes, int ranks)
      : bytes_(bytes),
        ranks_(static_cast<std::size_t>(ranks)),
        part_(std::min(largest_part(ranks), round_up((bytes + ranks_ - 1) / ranks_, kLine))) {}

  std::uint32_t chunks() const { return static_cast<std::uint32_t>((bytes_ + part_ * ranks_ - 1) / (part_ * ranks_)); }

  // In the row.
  Range part(std::uint32_t chunk, int rank) const {
    const std::size_t begin = chunk * part_ * ranks_;
    const std::size_t size = std::min(part_ * ranks_, bytes_ - begin);
    const std::size_t part = round_up((size + ranks_ - 1) / ranks_, kLine);
    const std::size_t from = std::min(size, static_cast<std::size_t>(rank) * part);
    return {begin + from, std::min(part, size - from)};
  }
  // In the slot.
  std::size_t place(int rank) const { return static_cast<std::size_t>(rank) * part_; }

 private:
  const std::size_t bytes_;
  const std::size_t ranks_;
  const std::size_t part_;
};

// Combines what all ranks have at one place: the others' in their slots, this rank's in its own memory.
class Combiner {
 public:
  Combiner(Exchange& exchange, Kernel kernel, Element element)
      : exchange_(exchange),
        kernel_(kernel),
        element_(size_of(element)),
        inputs_(exchange.scratch().inputs),
        factors_(exchange.scratch().factors) {}

  // to(mine, after): where the result goes of this rank's bytes at `mine`, which are `after` the beginning of `range`.
  template <typename Target>
  void run(std::uint32_t step, std::size_t place, const Pieces& own, Range range, Target&& to) {
    own.for_each(range.begin, range.bytes, [&](std::byte* mine, std::size_t after, std::size_t size) {
      for (int rank = 0; rank < exchange_.size(); ++rank) {
        const std::byte* slot = exchange_.read(rank, step);
        inputs_[rank] = rank == exchange_.rank() ? mine : slot + place + after;
        factors_[rank] = exchange_.label(rank, step).factor;
      }
      kernel_(to(mine, after), inputs_.data(), exchange_.size(), size / element_, factors_.data());
    });
  }

 private:
  Exchange& exchange_;
  const Kernel kernel_;
  const std::size_t element_;
  std::vector<const void*>& inputs_;
  std::vector<double>& factors_;
};

// In one step: everyone tells everyone.
void combine_directly(Exchange& exchange, const Label& label, Kernel kernel, const Pieces& data, bool take) {
  data.read(0, data.bytes(), exchange.open_slot());
  exchange.publish();
  if (!take) return;
  const std::uint32_t step = exchange.step() - 1;
  exchange.await_all(step);
  Combiner(exchange, kernel, label.element).run(step, 0, data, {0, data.bytes()}, [](std::byte* mine, std::size_t) {
    return mine;
  });
}

// Each rank combines a part of each chunk and tells the others. In step k a slot has chunk k to be combined, but at
// this rank's own place there is the result of its part of chunk k - 1. So each wait is for what was done a step ago.
void combine_in_parts(Exchange& exchange, const Label& label, Kernel kernel, const Pieces& data, bool take) {
  const Cut cut(data.bytes(), exchange.size());
  const std::uint32_t chunks = cut.chunks();
  const std::uint32_t first = exchange.step();
  const int self = exchange.rank();
  Combiner combiner(exchange, kernel, label.element);

  const auto give = [&](std::uint32_t chunk, std::byte* slot) {
    for (int rank = 0; rank < exchange.size(); ++rank) {
      const Range part = cut.part(chunk, rank);
      if (rank != self) data.read(part.begin, part.bytes, slot + cut.place(rank));
    }
  };
  const auto combine = [&](std::uint32_t chunk, std::byte* slot) {
    const Range part = cut.part(chunk, self);
    std::byte* result = slot + cut.place(self);
    combiner.run(first + chunk, cut.place(self), data, part,
                 [&](std::byte*, std::size_t after) { return result + after; });
    if (take) data.write(part.begin, part.bytes, result);
  };
  const auto take_results = [&](std::uint32_t chunk) {
    for (int rank = 0; rank < exchange.size() && take; ++rank) {
      const Range part = cut.part(chunk, rank);
      if (rank != self) data.write(part.begin, part.bytes, exchange.read(rank, first + chunk + 1) + cut.place(rank));
    }
  };

  for (std::uint32_t k = 0; k <= chunks; ++k) {
    std::byte* slot = exchange.open_slot();
    if (k < chunks) give(k, slot);
    if (k > 0) combine(k - 1, slot);
    exchange.publish();
    if (k > 1) take_results(k - 2);
  }
  take_results(chunks - 1);
}

constexpr std::size_t kBlockBytes = std::size_t{32} << 10;

// Each rank combines a part of what all have, where it lies, and writes it to all.
void combine_in_place(Exchange& exchange, const Label& label, Kernel kernel, SharedRow row) {
  const auto ranks = static_cast<std::size_t>(exchange.size());
  const std::size_t part = round_up((label.bytes + ranks - 1) / ranks, kLine);
  const std::size_t begin = std::min<std::size_t>(label.bytes, exchange.rank() * part);
  const std::size_t end = std::min<std::size_t>(label.bytes, begin + part);
  for (std::size_t at = begin; at < end; at += kBlockBytes) {
    exchange.check_latch();
    const std::size_t size = std::min(kBlockBytes, end - at);
    row.combine(kernel, label.element, at, size);
    row.spread(at, size);
  }
  await_end(exchange);
}

void combine(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline, Kernel kernel,
             const Pieces& data, bool take) {
  exchange.begin(label, deadline);
  if (label.collective == CollectiveKind::kAllReduce && data.bytes() >= kInPlaceBytes) {
    if (auto row = SharedRow::find(exchange, label)) return combine_in_place(exchange, label, kernel, std::move(*row));
  }
  if (data.bytes() * static_cast<std::size_t>(exchange.size()) <= 2 * kDirectBytes || data.bytes() < kLine) {
    combine_directly(exchange, label, kernel, data, take);
  } else {
    combine_in_parts(exchange, label, kernel, data, take);
  }
}

}  // namespace

void all_reduce(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline, Kernel kernel,
                const Pieces& data) {
  combine(exchange, label, deadline, kernel, data, true);
}

void reduce(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline, Kernel kernel,
            const Pieces& data) {
  combine(exchange, label, deadline, kernel, data, exchange.rank() == label.root);
}

void reduce_scatter(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline, Kernel kernel,
                    const std::vector<Pieces>& inputs, std::byte* output) {
  const int self = exchange.rank();
  const std::size_t part = largest_part(exchange.size());
  std::size_t longest = 0;
  for (const Pieces& input : inputs) longest = std::max(longest, input.bytes());
  const auto steps = static_cast<std::uint32_t>(std::max<std::size_t>((longest + part - 1) / part, 1));
  const auto range = [&](int rank, std::uint32_t k) -> Range {
    const std::size_t begin = std::min(k * part, inputs[rank].bytes());
    return {begin, std::min(part, inputs[rank].bytes() - begin)};
  };
  exchange.begin(label, deadline);
  const std::uint32_t first = exchange.step();
  Combiner combiner(exchange, kernel, label.element);
  const auto combine = [&](std::uint32_t k) {
    const Range mine = range(self, k);
    exchange.await_all(first + k);
    combiner.run(first + k, self * part, inputs[self], mine,
                 [&](std::byte*, std::size_t after) { return output + mine.begin + after; });
  };
  for (std::uint32_t k = 0; k < steps; ++k) {
    std::byte* slot = exchange.open_slot();
    for (int rank = 0; rank < exchange.size(); ++rank) {
      const Range theirs = range(rank, k);
      if (rank != self) inputs[rank].read(theirs.begin, theirs.bytes, slot + rank * part);
    }
    exchange.publish();
    if (k > 0) combine(k - 1);
  }
  combine(steps - 1);
}

}  // namespace tandem::shm
