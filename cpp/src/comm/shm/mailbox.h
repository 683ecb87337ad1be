// Messages of one rank that are under way: what it sends and wants to receive, and what has come.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "comm/shm/layout.h"
#include "comm/shm/local_connections.h"
#include "tandem/error.h"

namespace tandem::shm {

struct Message {
  using Clock = std::chrono::steady_clock;
  static constexpr int kAnyRank = -1;

  bool is_send = false;
  int peer = kAnyRank;  // of a send: to whom
  int tag = 0;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  Clock::time_point deadline;
  // Called once, with who sent or received.
  std::function<void(std::exception_ptr failure, int peer)> done;
};

// Moves messages through the pipes between this rank and the others; never waits. Between two ranks messages of one tag
// are matched in the order in which they were sent and the receives posted.
//
// A short message goes into the pipe at once, and whoever sent it is done; what nobody receives yet the receiver keeps
// aside, up to kMostUnexpected bytes for each sender. A long one, or a short one beyond that, is only announced: its
// bytes follow once a receive wants them, straight to where that wants them. So no order of sends and receives that MPI
// calls safe gets stuck, and no memory but that is taken, and an entry for each message. A sender of which
// kMostUnmatched messages wait for their receives, as many as 64 MiB of entries hold, keeps further ones until some
// have found theirs.
//
// One thread at a time.
class Mailbox {
 public:
  using Clock = Message::Clock;
  static constexpr std::size_t kMostUnexpected = std::size_t{4} << 20;
  static constexpr std::size_t kUnmatchedBytes = 192;  // of the entry of a message, under a tag of its own
  static constexpr std::uint64_t kMostUnmatched = (std::uint64_t{64} << 20) / kUnmatchedBytes;

  // `whereabouts` is for errors: "group 'default' (rank 0 of 2)".
  Mailbox(std::string whereabouts, int rank, std::shared_ptr<const LocalConnections> peers);

  // Leaves the message to the caller when it throws (std::bad_alloc), as move() and look() may, too.
  void post(Message&& message);
  // Moves what can be moved. Whether anything could.
  bool move();
  // Whether a rank has failed or closed the group since the last look(): time for another one.
  bool sees_end() const;
  // Ends a message that can no longer arrive (kPeerLost) or was not done in time (kTimeout), if there is one.
  void look(Clock::time_point now);
  // Ends all messages with an error of this code.
  void fail_all(const Error& failure);
  // What to say (kOutOfMemory) when post(), move() or look() found no memory.
  Error out_of_memory() const;

  struct Ended {
    Message message;
    std::exception_ptr failure;
    int peer = -1;

    void tell() const { message.done(failure, peer); }
  };
  // What has ended since, for the caller to tell.
  std::vector<Ended> take_ended() { return std::exchange(ended_, {}); }
  // Why the first of them failed, if one did: those above, or a peer sends what does not fit (kInvalidArgument).
  std::optional<Error> take_failure() { return std::exchange(failure_, std::nullopt); }

  // The first of all messages'.
  Clock::time_point next_deadline();

 private:
  struct Job {
    Message message;
    std::uint64_t number = 0;  // a send's in its pipe, where it is announced; a receive's among all
    std::size_t moved = 0;
  };
  using Jobs = std::list<Job>;
  // A message that came, or was announced.
  struct Arrival {
    std::uint64_t message = 0;  // its number in its pipe
    std::uint64_t message_bytes = 0;
    PartKind kind = PartKind::kShort;
    std::uint32_t bytes = 0;  // that came with it
  };
  // One without a receive for it.
  struct UnexpectedMessage {
    std::uint64_t number = 0;  // counts what came, from whomever
    Arrival arrival;
    std::vector<std::byte> bytes;  // of a short one
  };
  static_assert(sizeof(UnexpectedMessage) <= kUnmatchedBytes / 3, "the rest is for its list, its tag and its bytes");
  // By who sends and tag; in order for each. None is empty.
  template <typename Row>
  using ByTag = std::unordered_map<std::uint64_t, Row>;
  struct Peer {
    // To this peer.
    Jobs unsent;
    Jobs announced;
    std::unordered_map<std::uint64_t, Jobs::iterator> announced_as;  // by number
    std::uint64_t sent = 0;         // messages
    std::uint64_t short_bytes = 0;  // of short messages, sent
    // From this peer. The first one is on its way.
    Jobs wanted;
    std::uint64_t arrived = 0;  // messages
  };

  bool send_to(int rank);
  bool receive_from(int rank);
  void put(int rank, Job& job, PartKind kind, std::size_t bytes);
  void arrive(int rank, int tag, const Arrival& arrival, const std::byte* data);
  void take_piece(int rank, const PartLabel& label, const std::byte* data);
  // The first receive that what comes from this rank fits; empty: there is none.
  Jobs take_receive(int rank, int tag);
  // The first that came of what this receive fits, and from whom.
  std::optional<std::pair<int, UnexpectedMessage>> take_unexpected(const Message& receive);
  // Hands what came to the one receive that it is for.
  void deliver(int rank, const Arrival& arrival, const std::byte* data, Jobs receive);
  void want_next(int rank);
  void make_room_to_end_one();
  void end(Jobs& jobs, Jobs::iterator job, int peer, std::exception_ptr failure = nullptr);
  void fail(Jobs& jobs, Jobs::iterator job, const Error& failure, int peer);

  template <typename Visit>
  void for_each_list(Visit&& visit);
  std::optional<Error> trouble_of(const Message& message, Clock::time_point now) const;
  // Whether messages are kept back, by this rank or by who sends, until others have found their receives: the text of
  // an error says so.
  std::string why_late(const Message& message) const;
  std::string describe(const Message& message) const;

  Board& board(int rank) const { return *reinterpret_cast<Board*>(peers_->segments[rank]->data()); }
  std::byte* pipe_memory(int from, int to) const {
    return peers_->segments[from]->data() + kPipesBegin + static_cast<std::size_t>(to) * kPipeBytes;
  }
  Pipe& pipe(int from, int to) const { return *reinterpret_cast<Pipe*>(pipe_memory(from, to)); }
  std::byte* part(int from, int to, std::uint32_t count) const {
    return pipe_memory(from, to) + kPage + (count % kPipeParts) * kPartBytes;
  }

  const std::string whereabouts_;
  const int rank_;
  const int size_;
  const std::shared_ptr<const LocalConnections> peers_;
  std::vector<Peer> with_;  // each rank
  ByTag<Jobs> receives_;  // that nothing has come for
  ByTag<std::list<UnexpectedMessage>> unexpected_;
  std::uint64_t posted_ = 0;   // receives
  std::uint64_t arrived_ = 0;  // messages without a receive
  std::vector<Ended> ended_;
  std::optional<Error> failure_;
  // Of each rank, when it was last looked at.
  enum class PeerState { kThere, kGone, kFailed };
  std::vector<PeerState> peer_states_;
  int ended_ranks_ = 0;  // how many had failed or closed the group
};

}  // namespace tandem::shm
