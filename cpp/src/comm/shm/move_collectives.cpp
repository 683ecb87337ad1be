#include <algorithm>

#include "comm/shm/collectives.h"

namespace tandem::shm {
namespace {

std::uint32_t steps_for(std::size_t bytes, std::size_t a_step) {
  return static_cast<std::uint32_t>(std::max<std::size_t>((bytes + a_step - 1) / a_step, 1));
}

// Fills a slot in each step, and takes in each what came in the one before.
template <typename Give, typename Take>
void run_steps(Exchange& exchange, std::uint32_t steps, Give&& give, Take&& take) {
  const std::uint32_t first = exchange.step();
  for (std::uint32_t k = 0; k < steps; ++k) {
    give(k, exchange.open_slot());
    exchange.publish();
    if (k > 0) take(k - 1, first + k - 1);
  }
  take(steps - 1, first + steps - 1);
}

// The part of a row that step k moves.
void give_part(const Pieces& row, std::uint32_t k, std::size_t a_step, std::byte* slot) {
  const std::size_t begin = std::min(k * a_step, row.bytes());
  row.read(begin, std::min(a_step, row.bytes() - begin), slot);
}

void take_part(const Pieces& row, std::uint32_t k, std::size_t a_step, const std::byte* slot) {
  const std::size_t begin = std::min(k * a_step, row.bytes());
  row.write(begin, std::min(a_step, row.bytes() - begin), slot);
}

std::size_t part_of_slot(int ranks) {
  return Exchange::slot_bytes() / static_cast<std::size_t>(ranks) / kLine * kLine;
}

}  // namespace

void broadcast(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline, int root,
               const Pieces& data) {
  exchange.begin(label, deadline);
  const bool is_root = exchange.rank() == root;
  const std::size_t a_step = Exchange::slot_bytes();
  run_steps(
      exchange, steps_for(data.bytes(), a_step),
      [&](std::uint32_t k, std::byte* slot) {
        if (is_root) give_part(data, k, a_step, slot);
      },
      [&](std::uint32_t k, std::uint32_t step) {
        if (!is_root) take_part(data, k, a_step, exchange.read(root, step));
      });
}

void all_gather(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline,
                const std::vector<Pieces>& outputs, const Pieces& input) {
  exchange.begin(label, deadline);
  const int self = exchange.rank();
  const std::size_t a_step = Exchange::slot_bytes();
  std::size_t longest = 0;
  for (const Pieces& output : outputs) longest = std::max(longest, output.bytes());
  copy(input, outputs[self], 0, input.bytes());
  run_steps(
      exchange, steps_for(longest, a_step),
      [&](std::uint32_t k, std::byte* slot) { give_part(input, k, a_step, slot); },
      [&](std::uint32_t k, std::uint32_t step) {
        for (int rank = 0; rank < exchange.size(); ++rank) {
          if (rank == self) continue;
          const std::byte* slot = exchange.read(rank, step);
          const std::uint64_t theirs = exchange.label(rank, step).extent;
          if (theirs != outputs[rank].bytes()) {
            throw Error(ErrorCode::kInvalidArgument, Exchange::describe(label) + " on " + exchange.whereabouts() +
                                                         ": rank " + std::to_string(exchange.number(rank)) + " gives " +
                                                         std::to_string(theirs) + " bytes, but output " +
                                                         std::to_string(exchange.number(rank)) + " has room for " +
                                                         std::to_string(outputs[rank].bytes()));
          }
          take_part(outputs[rank], k, a_step, slot);
        }
      });
}

void gather(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline, int root,
            const std::vector<Pieces>& outputs, const Pieces& input) {
  exchange.begin(label, deadline);
  const bool is_root = exchange.rank() == root;
  const std::size_t a_step = Exchange::slot_bytes();
  if (is_root) copy(input, outputs[root], 0, input.bytes());
  run_steps(
      exchange, steps_for(input.bytes(), a_step),
      [&](std::uint32_t k, std::byte* slot) {
        if (!is_root) give_part(input, k, a_step, slot);
      },
      [&](std::uint32_t k, std::uint32_t step) {
        for (int rank = 0; rank < exchange.size() && is_root; ++rank) {
          if (rank != root) take_part(outputs[rank], k, a_step, exchange.read(rank, step));
        }
      });
}

void scatter(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline, int root,
             const std::vector<Pieces>& inputs, const Pieces& output) {
  exchange.begin(label, deadline);
  const int self = exchange.rank();
  const bool is_root = self == root;
  const std::size_t part = part_of_slot(exchange.size());
  if (is_root) copy(inputs[self], output, 0, output.bytes());
  run_steps(
      exchange, steps_for(output.bytes(), part),
      [&](std::uint32_t k, std::byte* slot) {
        for (int rank = 0; rank < exchange.size() && is_root; ++rank) {
          if (rank != self) give_part(inputs[rank], k, part, slot + rank * part);
        }
      },
      [&](std::uint32_t k, std::uint32_t step) {
        if (!is_root) take_part(output, k, part, exchange.read(root, step) + self * part);
      });
}

void all_to_all(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline,
                const std::vector<Pieces>& outputs, const std::vector<Pieces>& inputs) {
  const int self = exchange.rank();
  const int size = exchange.size();
  // Every slot begins with what its rank sends to each, in bytes.
  const std::size_t table = (size * sizeof(std::uint64_t) + kLine - 1) / kLine * kLine;
  const std::size_t part = (Exchange::slot_bytes() - table) / static_cast<std::size_t>(size) / kLine * kLine;
  const auto give = [&](std::uint32_t k, std::byte* slot) {
    for (int rank = 0; rank < size; ++rank) {
      const std::uint64_t bytes = inputs[rank].bytes();
      std::memcpy(slot + rank * sizeof bytes, &bytes, sizeof bytes);
      if (rank != self) give_part(inputs[rank], k, part, slot + table + rank * part);
    }
  };
  const auto take = [&](std::uint32_t k, std::uint32_t step) {
    for (int rank = 0; rank < size; ++rank) {
      if (rank == self) continue;
      const std::byte* slot = exchange.read(rank, step);
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, slot + self * sizeof bytes, sizeof bytes);
      if (bytes != outputs[rank].bytes()) {
        throw Error(ErrorCode::kInvalidArgument, Exchange::describe(label) + " on " + exchange.whereabouts() +
                                                     ": rank " + std::to_string(exchange.number(rank)) + " sends " +
                                                     std::to_string(bytes) + " bytes to this rank, which expects " +
                                                     std::to_string(outputs[rank].bytes()) + " from it");
      }
      take_part(outputs[rank], k, part, slot + table + self * part);
    }
  };
  Label own = label;
  for (const Pieces& input : inputs) own.extent = std::max<std::uint64_t>(own.extent, input.bytes());
  exchange.begin(own, deadline);
  copy(inputs[self], outputs[self], 0, inputs[self].bytes());

  // How many steps there are follows from the labels of the first.
  const std::uint32_t first = exchange.step();
  give(0, exchange.open_slot());
  exchange.publish();
  exchange.await_all(first);
  std::size_t longest = 0;
  for (int rank = 0; rank < size; ++rank) {
    longest = std::max<std::size_t>(longest, exchange.label(rank, first).extent);
  }
  take(0, first);
  const std::uint32_t more = steps_for(longest, part) - 1;
  if (more == 0) return;
  run_steps(
      exchange, more, [&](std::uint32_t k, std::byte* slot) { give(k + 1, slot); },
      [&](std::uint32_t k, std::uint32_t step) { take(k + 1, step); });
}

void barrier(Exchange& exchange, const Label& label, Exchange::Clock::time_point deadline) {
  exchange.begin(label, deadline);
  exchange.open_slot();
  exchange.publish();
  exchange.await_all(exchange.step() - 1);
}

}  // namespace tandem::shm
