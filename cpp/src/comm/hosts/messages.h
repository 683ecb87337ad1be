// What ranks of several hosts give each other in one part of a collective.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "comm/hosts/wire.h"
#include "comm/shm/layout.h"
#include "comm/shm/pieces.h"

namespace tandem::hosts {

// Each message begins with a header, which names the sender's call and holds a few bytes itself; only when the calls
// match is the rest received. So ranks whose calls do not match find out, as they do inside a host.
class Messages {
 public:
  // What goes in the header.
  static constexpr std::size_t kInlineBytes = 968;

  // `whereabouts` is for errors: "group 'default' (rank 0 of 4)".
  Messages(Wire& wire, const shm::Label& label, std::string whereabouts)
      : wire_(wire), label_(label), whereabouts_(std::move(whereabouts)) {}

  // One of each for a rank, also of no bytes; the same on the other side.
  void send(int rank, const shm::Pieces& data);
  void receive(int rank, const shm::Pieces& data);
  // Waits until all have come and gone. Errors: those of the wire; kInvalidArgument for a rank that calls something
  // else.
  void finish(Wire::Clock::time_point deadline);

 private:
  struct Header {
    shm::Label label;
    std::uint64_t bytes = 0;
    std::byte data[kInlineBytes]{};
  };
  static_assert(sizeof(Header) == 1024);

  struct Incoming {
    int rank;
    shm::Pieces data;
    Header header;
    std::unique_ptr<std::byte[]> staging;
    std::unique_ptr<Wire::Transfer> transfer;
  };

  void check(const Incoming& incoming) const;

  Wire& wire_;
  const shm::Label label_;
  const std::string whereabouts_;
  // Memory goes after the transfers that use it.
  std::list<std::unique_ptr<std::byte[]>> staging_;
  std::list<Header> outgoing_;
  std::list<Incoming> incoming_;
  Wire::Transfers transfers_;
};

}  // namespace tandem::hosts
