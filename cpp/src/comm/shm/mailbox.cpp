#include "comm/shm/mailbox.h"

#include <algorithm>
#include <cstring>

#include "comm/shm/lost.h"

namespace tandem::shm {
namespace {

std::string name(int rank) {
  return rank == Message::kAnyRank ? "any rank" : "rank " + std::to_string(rank);
}

std::uint64_t key_of(int peer, int tag) {
  return std::uint64_t{static_cast<std::uint32_t>(peer)} << 32 | static_cast<std::uint32_t>(tag);
}

}  // namespace

Mailbox::Mailbox(std::string whereabouts, int rank, std::shared_ptr<const LocalConnections> peers)
    : whereabouts_(std::move(whereabouts)),
      rank_(rank),
      size_(static_cast<int>(peers->segments.size())),
      peers_(std::move(peers)),
      with_(static_cast<std::size_t>(size_)),
      peer_states_(static_cast<std::size_t>(size_)) {}

void Mailbox::post(Message&& message) {
  Jobs one(1);
  const auto append_to = [&](Jobs& jobs) {
    one.front().message = std::move(message);
    jobs.splice(jobs.end(), one);
  };
  if (message.is_send) return append_to(with_[message.peer].unsent);
  one.front().number = ++posted_;
  make_room_to_end_one();
  auto found = take_unexpected(message);
  if (!found) return append_to(receives_[key_of(message.peer, message.tag)]);
  const auto& [from, aside] = *found;
  one.front().message = std::move(message);
  deliver(from, aside.arrival, aside.bytes.data(), std::move(one));
  board(from).message_event.notify();  // it may have waited for room
}

std::optional<std::pair<int, Mailbox::UnexpectedMessage>> Mailbox::take_unexpected(const Message& receive) {
  const bool is_any = receive.peer == Message::kAnyRank;
  auto first = unexpected_.end();
  int from = -1;
  for (int rank = is_any ? 0 : receive.peer; rank < (is_any ? size_ : receive.peer + 1); ++rank) {
    const auto found = unexpected_.find(key_of(rank, receive.tag));
    if (found == unexpected_.end()) continue;
    if (first != unexpected_.end() && first->second.front().number < found->second.front().number) continue;
    first = found;
    from = rank;
  }
  if (first == unexpected_.end()) return std::nullopt;
  std::pair<int, UnexpectedMessage> taken(from, std::move(first->second.front()));
  first->second.pop_front();
  if (first->second.empty()) unexpected_.erase(first);
  return taken;
}

Mailbox::Jobs Mailbox::take_receive(int rank, int tag) {
  Jobs taken;
  auto found = receives_.find(key_of(rank, tag));
  const auto of_any = receives_.find(key_of(Message::kAnyRank, tag));
  if (found == receives_.end() ||
      (of_any != receives_.end() && of_any->second.front().number < found->second.front().number)) {
    found = of_any;
  }
  if (found == receives_.end()) return taken;
  taken.splice(taken.end(), found->second, found->second.begin());
  if (found->second.empty()) receives_.erase(found);
  return taken;
}

// A pipe's worth of each at a time, so that all get on.
bool Mailbox::move() {
  bool moved = false;
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_) continue;
    moved |= receive_from(rank);
    moved |= send_to(rank);
  }
  return moved;
}

bool Mailbox::send_to(int rank) {
  Peer& peer = with_[rank];
  if (peer.unsent.empty() && peer.announced.empty()) return false;
  Pipe& out = pipe(rank_, rank);
  bool moved = false;
  for (std::uint32_t i = 0; i < kPipeParts; ++i) {
    if (out.filled.load(std::memory_order_relaxed) - out.taken.load() >= kPipeParts) break;
    if (!peer.unsent.empty() && peer.sent - out.matched.load() < kMostUnmatched) {
      const auto job = peer.unsent.begin();
      const std::size_t bytes = job->message.bytes;
      job->number = ++peer.sent;
      if (bytes <= kPartBytes && peer.short_bytes + bytes - out.received.load() <= kMostUnexpected) {
        peer.short_bytes += bytes;
        put(rank, *job, PartKind::kShort, bytes);
        end(peer.unsent, job, rank);
      } else {
        put(rank, *job, PartKind::kAnnounced, 0);
        peer.announced_as.emplace(job->number, job);
        peer.announced.splice(peer.announced.end(), peer.unsent, job);
      }
    } else {
      const auto wanted = peer.announced_as.find(out.wanted.load());
      if (wanted == peer.announced_as.end()) break;
      const auto job = wanted->second;
      put(rank, *job, PartKind::kPiece, std::min(kPartBytes, job->message.bytes - job->moved));
      if (job->moved == job->message.bytes) {
        peer.announced_as.erase(wanted);
        end(peer.announced, job, rank);
      }
    }
    moved = true;
  }
  return moved;
}

// Fills the next part of the pipe. There is room.
void Mailbox::put(int rank, Job& job, PartKind kind, std::size_t bytes) {
  Pipe& out = pipe(rank_, rank);
  const std::uint32_t filled = out.filled.load(std::memory_order_relaxed);
  PartLabel& label = out.labels[filled % kPipeParts];
  label.message = job.number;
  label.message_bytes = job.message.bytes;
  label.kind = kind;
  label.tag = job.message.tag;
  label.bytes = static_cast<std::uint32_t>(bytes);
  if (bytes > 0) std::memcpy(part(rank_, rank, filled), job.message.data + job.moved, bytes);
  job.moved += bytes;
  out.filled.store(filled + 1);
  board(rank).message_event.notify();
}

bool Mailbox::receive_from(int rank) {
  Pipe& in = pipe(rank, rank_);
  std::uint32_t taken = in.taken.load(std::memory_order_relaxed);
  bool moved = false;
  for (std::uint32_t i = 0; i < kPipeParts && taken != in.filled.load(); ++i, ++taken) {
    PartLabel label = in.labels[taken % kPipeParts];
    label.bytes = std::min<std::uint32_t>(label.bytes, kPartBytes);  // whatever a peer writes
    const std::byte* data = part(rank, rank_, taken);
    if (label.kind == PartKind::kPiece) {
      take_piece(rank, label, data);
    } else {
      ++with_[rank].arrived;
      arrive(rank, label.tag, {label.message, label.message_bytes, label.kind, label.bytes}, data);
    }
    in.taken.store(taken + 1);
    board(rank).message_event.notify();
    moved = true;
  }
  return moved;
}

void Mailbox::arrive(int rank, int tag, const Arrival& arrival, const std::byte* data) {
  make_room_to_end_one();
  Jobs receive = take_receive(rank, tag);
  if (!receive.empty()) return deliver(rank, arrival, data, std::move(receive));
  std::list<UnexpectedMessage> one(1);
  one.front().number = ++arrived_;
  one.front().arrival = arrival;
  if (arrival.kind == PartKind::kShort) one.front().bytes.assign(data, data + arrival.bytes);
  auto& row = unexpected_[key_of(rank, tag)];
  row.splice(row.end(), one);
}

void Mailbox::deliver(int rank, const Arrival& arrival, const std::byte* data, Jobs receive) {
  const bool is_short = arrival.kind == PartKind::kShort;
  Pipe& in = pipe(rank, rank_);
  if (is_short) in.received.store(in.received.load(std::memory_order_relaxed) + arrival.bytes);
  in.matched.store(in.matched.load(std::memory_order_relaxed) + 1);
  const auto job = receive.begin();
  const Message& message = job->message;
  if (arrival.message_bytes != message.bytes || (is_short && arrival.bytes != message.bytes)) {
    const Error misfit(ErrorCode::kInvalidArgument, describe(message) + " on " + whereabouts_ + ": rank " +
                                                        std::to_string(rank) + " sends " +
                                                        std::to_string(arrival.message_bytes) +
                                                        " bytes; give a tensor of the size and dtype that is sent");
    return fail(receive, job, misfit, rank);
  }
  if (is_short) {
    if (arrival.bytes > 0) std::memcpy(message.data, data, arrival.bytes);
    return end(receive, job, rank);
  }
  Jobs& wanted = with_[rank].wanted;
  job->number = arrival.message;
  wanted.splice(wanted.end(), receive);
  if (wanted.size() == 1) want_next(rank);
}

// One long message at a time, so that its pieces need no further matching.
void Mailbox::want_next(int rank) {
  const Jobs& wanted = with_[rank].wanted;
  if (wanted.empty()) return;
  pipe(rank, rank_).wanted.store(wanted.front().number);
  board(rank).message_event.notify();
}

void Mailbox::take_piece(int rank, const PartLabel& label, const std::byte* data) {
  Jobs& wanted = with_[rank].wanted;
  if (wanted.empty() || wanted.front().number != label.message) return;  // of a receive that has failed
  Job& job = wanted.front();
  const std::size_t bytes = std::min<std::size_t>(label.bytes, job.message.bytes - job.moved);
  std::memcpy(job.message.data + job.moved, data, bytes);
  job.moved += bytes;
  if (job.moved < job.message.bytes) return;
  end(wanted, wanted.begin(), rank);
  want_next(rank);
}

// So that no message is lost on its way to those that have ended.
void Mailbox::make_room_to_end_one() {
  if (ended_.size() == ended_.capacity()) ended_.reserve(std::max<std::size_t>(16, 2 * ended_.capacity()));
}

void Mailbox::end(Jobs& jobs, Jobs::iterator job, int peer, std::exception_ptr failure) {
  make_room_to_end_one();
  ended_.push_back({std::move(job->message), std::move(failure), peer});
  jobs.erase(job);
}

void Mailbox::fail(Jobs& jobs, Jobs::iterator job, const Error& failure, int peer) {
  end(jobs, job, peer, std::make_exception_ptr(failure));
  if (!failure_) failure_ = failure;
}

template <typename Visit>
void Mailbox::for_each_list(Visit&& visit) {
  for (auto& [key, jobs] : receives_) visit(jobs);
  for (Peer& peer : with_) {
    visit(peer.unsent);
    visit(peer.announced);
    visit(peer.wanted);
  }
}

bool Mailbox::sees_end() const {
  int ended = 0;
  for (int rank = 0; rank < size_; ++rank) ended += rank != rank_ && has_ended(board(rank));
  return ended > ended_ranks_;
}

void Mailbox::look(Clock::time_point now) {
  ended_ranks_ = 0;
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_) continue;
    const bool is_gone = has_closed(board(rank)) || peers_->is_gone(rank);
    peer_states_[rank] = has_failed(board(rank)) ? PeerState::kFailed : is_gone ? PeerState::kGone : PeerState::kThere;
    ended_ranks_ += peer_states_[rank] == PeerState::kFailed || has_closed(board(rank));
  }
  // What a rank sent before that comes now; more will not.
  while (move()) {
  }
  bool found = false;
  for_each_list([&](Jobs& jobs) {
    for (auto job = jobs.begin(); job != jobs.end() && !found; ++job) {
      const auto trouble = trouble_of(job->message, now);
      if (!trouble) continue;
      found = true;
      return fail(jobs, job, *trouble, job->message.peer);
    }
  });
}

std::optional<Error> Mailbox::trouble_of(const Message& message, Clock::time_point now) const {
  int there = 0;
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_) continue;
    there += peer_states_[rank] == PeerState::kThere;
    // Whoever failed has ended the group.
    if (peer_states_[rank] == PeerState::kFailed) return lost(board(rank), rank);
    if (peer_states_[rank] == PeerState::kThere) continue;
    // A receive from any rank needs one that is left, unless a rank died that might have sent.
    const bool from_any = message.peer == Message::kAnyRank && !has_closed(board(rank));
    if (message.peer == rank || from_any) return lost(board(rank), rank);
  }
  if (there == 0) {
    return Error(ErrorCode::kPeerLost, "all other ranks closed the group, and send nothing more");
  }
  if (now < message.deadline) return std::nullopt;
  const std::string who = name(message.peer);
  return Error(ErrorCode::kTimeout, "timed out, for " +
                                        (message.is_send                     ? who + " does not receive it"
                                         : message.peer == Message::kAnyRank ? "no rank sends it"
                                                                             : who + " does not send it") +
                                        " (tag " + std::to_string(message.tag) +
                                        "), being stopped, slow or busy with something else" + why_late(message));
}

std::string Mailbox::why_late(const Message& message) const {
  const std::string most = std::to_string(kMostUnmatched) + " messages ";
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_ || (message.peer != rank && message.peer != Message::kAnyRank)) continue;
    if (message.is_send && with_[rank].sent - pipe(rank_, rank).matched.load() >= kMostUnmatched) {
      return "; " + most + "that were sent to " + name(rank) +
             " wait there for their receives, the most that are kept: further ones wait here until it receives some";
    }
    if (!message.is_send && with_[rank].arrived - pipe(rank, rank_).matched.load() >= kMostUnmatched) {
      return "; " + most + "of " + name(rank) +
             " wait here for their receives, the most that are kept: it keeps further ones back until some are "
             "received";
    }
  }
  return "";
}

void Mailbox::fail_all(const Error& failure) {
  for_each_list([&](Jobs& jobs) {
    while (!jobs.empty()) {
      const Message& message = jobs.front().message;
      const char* how = failure.code() == ErrorCode::kAborted ? " was aborted: " : " failed after: ";
      const Error error(failure.code(), describe(message) + how + failure.what());
      const int peer = message.peer;
      end(jobs, jobs.begin(), peer, std::make_exception_ptr(error));
    }
  });
  receives_.clear();
  unexpected_.clear();
  for (Peer& peer : with_) peer.announced_as.clear();
}

Error Mailbox::out_of_memory() const {
  return Error(ErrorCode::kOutOfMemory, "a message of " + whereabouts_ +
                                            " failed: this rank has no memory left for messages that are under way; "
                                            "receive them sooner, or send fewer at a time");
}

Mailbox::Clock::time_point Mailbox::next_deadline() {
  auto first = Clock::time_point::max();
  for_each_list([&](const Jobs& jobs) {
    for (const Job& job : jobs) first = std::min(first, job.message.deadline);
  });
  return first;
}

std::string Mailbox::describe(const Message& message) const {
  return (message.is_send ? "send of " : "recv of ") + std::to_string(message.bytes) + " bytes " +
         (message.is_send ? "to " : "from ") + name(message.peer) + " with tag " + std::to_string(message.tag);
}

}  // namespace tandem::shm
