#include "comm/shm/mailbox.h"

#include <algorithm>
#include <cstring>

#include "comm/shm/lost.h"

namespace tandem::shm {
namespace {

std::string name(int rank) {
  return rank == Message::kAnyRank ? "any rank" : "rank " + std::to_string(rank);
}

bool fits(const Message& receive, int from, int tag) {
  return receive.tag == tag && (receive.peer == from || receive.peer == Message::kAnyRank);
}

}  // namespace

Mailbox::Mailbox(std::string whereabouts, int rank, std::shared_ptr<const Peers> peers)
    : whereabouts_(std::move(whereabouts)),
      rank_(rank),
      size_(static_cast<int>(peers->segments.size())),
      peers_(std::move(peers)),
      with_(static_cast<std::size_t>(size_)),
      sight_(static_cast<std::size_t>(size_)) {}

void Mailbox::post(Message message) {
  if (message.is_send) {
    Jobs& unsent = with_[message.peer].unsent;
    unsent.push_back({std::move(message)});
    return;
  }
  receives_.push_back({std::move(message)});
  const auto receive = std::prev(receives_.end());
  const auto found = std::find_if(aside_.begin(), aside_.end(), [&](const Aside& aside) {
    return fits(receive->message, aside.from, aside.label.tag);
  });
  if (found == aside_.end()) return;
  const Aside aside = std::move(*found);
  aside_.erase(found);
  deliver(aside.from, aside.label, aside.bytes.data(), receive);
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
    if (!peer.unsent.empty()) {
      const auto job = peer.unsent.begin();
      const std::size_t bytes = job->message.bytes;
      job->number = ++peer.sent;
      if (bytes <= kPartBytes && peer.short_bytes + bytes - out.received.load() <= kMostAside) {
        peer.short_bytes += bytes;
        put(rank, *job, PartKind::kShort, bytes);
        end(peer.unsent, job, rank);
      } else {
        put(rank, *job, PartKind::kAnnounced, 0);
        peer.announced.splice(peer.announced.end(), peer.unsent, job);
      }
    } else {
      const std::uint64_t wanted = out.wanted.load();
      const auto job = std::find_if(peer.announced.begin(), peer.announced.end(),
                                    [&](const Job& one) { return one.number == wanted; });
      if (job == peer.announced.end()) break;
      put(rank, *job, PartKind::kPiece, std::min(kPartBytes, job->message.bytes - job->moved));
      if (job->moved == job->message.bytes) end(peer.announced, job, rank);
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
  board(rank).message_bell.ring();
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
      arrive(rank, label, data);
    }
    in.taken.store(taken + 1);
    board(rank).message_bell.ring();
    moved = true;
  }
  return moved;
}

void Mailbox::arrive(int rank, const PartLabel& label, const std::byte* data) {
  const auto receive = std::find_if(receives_.begin(), receives_.end(),
                                    [&](const Job& job) { return fits(job.message, rank, label.tag); });
  if (receive != receives_.end()) return deliver(rank, label, data, receive);
  Aside aside{rank, label, {}};
  if (label.kind == PartKind::kShort) aside.bytes.assign(data, data + label.bytes);
  aside_.push_back(std::move(aside));
}

void Mailbox::deliver(int rank, const PartLabel& label, const std::byte* data, Jobs::iterator receive) {
  const bool is_short = label.kind == PartKind::kShort;
  if (is_short) {
    Pipe& in = pipe(rank, rank_);
    in.received.store(in.received.load(std::memory_order_relaxed) + label.bytes);
  }
  const Message& message = receive->message;
  if (label.message_bytes != message.bytes || (is_short && label.bytes != message.bytes)) {
    const Error misfit(ErrorCode::kInvalidArgument, describe(message) + " on " + whereabouts_ + ": rank " +
                                                        std::to_string(rank) + " sends " +
                                                        std::to_string(label.message_bytes) +
                                                        " bytes; give a tensor of the size and dtype that is sent");
    return fail(receives_, receive, misfit, rank);
  }
  if (is_short) {
    if (label.bytes > 0) std::memcpy(message.data, data, label.bytes);
    return end(receives_, receive, rank);
  }
  Jobs& wanted = with_[rank].wanted;
  receive->number = label.message;
  wanted.splice(wanted.end(), receives_, receive);
  if (wanted.size() == 1) want_next(rank);
}

// One long message at a time, so that its pieces need no further matching.
void Mailbox::want_next(int rank) {
  const Jobs& wanted = with_[rank].wanted;
  if (wanted.empty()) return;
  pipe(rank, rank_).wanted.store(wanted.front().number);
  board(rank).message_bell.ring();
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

void Mailbox::end(Jobs& jobs, Jobs::iterator job, int peer, std::exception_ptr failure) {
  ended_.push_back({std::move(job->message), std::move(failure), peer});
  jobs.erase(job);
}

void Mailbox::fail(Jobs& jobs, Jobs::iterator job, const Error& failure, int peer) {
  end(jobs, job, peer, std::make_exception_ptr(failure));
  if (!failure_) failure_ = failure;
}

template <typename Visit>
void Mailbox::for_each_list(Visit&& visit) {
  visit(receives_);
  for (Peer& peer : with_) {
    visit(peer.unsent);
    visit(peer.announced);
    visit(peer.wanted);
  }
}

bool Mailbox::sees_failure() const {
  for (int rank = 0; rank < size_; ++rank) {
    if (rank != rank_ && has_failed(board(rank))) return true;
  }
  return false;
}

void Mailbox::look(Clock::time_point now) {
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_) continue;
    sight_[rank] = has_failed(board(rank)) ? Sight::kFailed : peers_->is_gone(rank) ? Sight::kGone : Sight::kThere;
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
    there += sight_[rank] == Sight::kThere;
    // Whoever failed has ended the group.
    if (sight_[rank] == Sight::kFailed) return lost(board(rank), rank);
    if (sight_[rank] == Sight::kThere) continue;
    // A receive from any rank needs one that is left, unless a rank died that might have sent.
    const bool from_any = message.peer == Message::kAnyRank && !has_left(board(rank));
    if (message.peer == rank || from_any) return lost(board(rank), rank);
  }
  if (there == 0) {
    return Error(ErrorCode::kPeerLost, "all other ranks closed their connections, because they left the group");
  }
  if (now < message.deadline) return std::nullopt;
  const std::string who = name(message.peer);
  return Error(ErrorCode::kTimeout, "timed out, for " +
                                        (message.is_send                     ? who + " does not receive it"
                                         : message.peer == Message::kAnyRank ? "no rank sends it"
                                                                             : who + " does not send it") +
                                        " (tag " + std::to_string(message.tag) +
                                        "), being stopped, slow or busy with something else");
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
  aside_.clear();
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
