#include "comm/hosts/messages.h"

#include "comm/shm/exchange.h"

namespace tandem::hosts {

void Messages::send(int rank, const shm::Pieces& data) {
  Header& header = outgoing_.emplace_back();
  header.label = label_;
  header.bytes = data.bytes();
  const bool is_inline = data.bytes() <= kInlineBytes;
  if (is_inline) data.read(0, data.bytes(), header.data);
  transfers_.push_back(wire_.send(rank, reinterpret_cast<const std::byte*>(&header), sizeof header));
  if (is_inline) return;
  const std::byte* place = data.one_place();
  if (!place) {
    staging_.push_back(std::make_unique_for_overwrite<std::byte[]>(data.bytes()));
    data.read(0, data.bytes(), staging_.back().get());
    place = staging_.back().get();
  }
  transfers_.push_back(wire_.send(rank, place, data.bytes()));
}

void Messages::receive(int rank, const shm::Pieces& data) {
  Incoming& incoming = incoming_.emplace_back();
  incoming.rank = rank;
  incoming.data = data;
  incoming.transfer = wire_.receive(rank, reinterpret_cast<std::byte*>(&incoming.header), sizeof incoming.header);
}

void Messages::finish(Wire::Clock::time_point deadline) {
  for (Incoming& incoming : incoming_) {
    incoming.transfer->wait(deadline);
    incoming.transfer.reset();
    check(incoming);
    const shm::Pieces& data = incoming.data;
    if (data.bytes() <= kInlineBytes) {
      data.write(0, data.bytes(), incoming.header.data);
      continue;
    }
    std::byte* place = data.one_place();
    if (!place) {
      incoming.staging = std::make_unique_for_overwrite<std::byte[]>(data.bytes());
      place = incoming.staging.get();
    }
    incoming.transfer = wire_.receive(incoming.rank, place, data.bytes());
  }
  for (Incoming& incoming : incoming_) {
    if (!incoming.transfer) continue;
    incoming.transfer->wait(deadline);
    incoming.transfer.reset();
    if (incoming.staging) incoming.data.write(0, incoming.data.bytes(), incoming.staging.get());
  }
  hosts::finish(transfers_, deadline);
}

void Messages::check(const Incoming& incoming) const {
  const std::string rank = "rank " + std::to_string(incoming.rank);
  if (!shm::are_alike(incoming.header.label, label_)) {
    throw Error(ErrorCode::kInvalidArgument,
                "ranks of " + whereabouts_ + " call different collectives: this rank " +
                    shm::Exchange::describe(label_) + ", " + rank + " " +
                    shm::Exchange::describe(incoming.header.label) +
                    "; all ranks must call the same ones in the same order, with tensors of the same shape and dtype");
  }
  if (incoming.header.bytes == incoming.data.bytes()) return;
  throw Error(ErrorCode::kInvalidArgument, shm::Exchange::describe(label_) + " on " + whereabouts_ + ": " + rank +
                                               " sends " + std::to_string(incoming.header.bytes) +
                                               " bytes to this rank, which expects " +
                                               std::to_string(incoming.data.bytes()) + " from it");
}

}  // namespace tandem::hosts
