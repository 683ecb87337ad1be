#include "elastic/lease_host.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <variant>
#include <vector>

#include "tandem/error.h"

namespace tandem::elastic {
namespace {

using Answer = LeaseQueue::Answer;
using std::chrono::milliseconds;

constexpr milliseconds kShortestTick{1}, kLongestTick{1000};
// For the thread to say who is there: it does so at once, but a machine may be busy.
constexpr milliseconds kMostUntilTick{1000};

milliseconds tick_of(milliseconds lost_after) {
  return std::clamp(lost_after / 5, kShortestTick, kLongestTick);
}

}  // namespace

LeaseHost::LeaseHost(const LeasePlan& plan, std::int64_t generation, std::int32_t own_rank, milliseconds lost_after,
                     const std::string& address)
    : generation_(generation),
      own_rank_(own_rank),
      lost_after_(lost_after),
      queue_(plan),
      server_(net::GuardedListener(address), tick_of(lost_after), *this) {}

bool LeaseHost::leave() {
  std::unique_lock<std::mutex> lock(leaving_mutex_);
  is_leaving_ = true;
  server_.tick_soon();
  looked_.wait_for(lock, kMostUntilTick, [this] { return is_alone_.has_value(); });
  return is_alone_.value_or(false);
}

void LeaseHost::end_if_left(Clock::time_point now) {
  const std::lock_guard<std::mutex> lock(leaving_mutex_);
  if (!is_leaving_) return;
  if (!is_alone_) {
    is_alone_ = rank_of_.empty();
    looked_.notify_all();
  }
  if (!left_by_) left_by_ = now + lost_after_;
  if (rank_of_.empty() || now >= *left_by_) server_.end();
}

void LeaseHost::on_request(Peer from, std::uint64_t number, std::string_view bytes) {
  const LeaseMessage message = LeaseMessage::parse(bytes);
  std::string reply;
  try {
    if (const auto* fence = std::get_if<FenceRequest>(&message.request)) {
      newer_ = std::max(newer_, fence->generation > generation_ ? fence->generation : 0);
      reply = LeaseReply().bytes();
      wake_all();
    } else if (const auto* begins = std::get_if<BeginRequest>(&message.request)) {
      LeaseReply begun;
      begin(from, *begins, &begun);
      reply = begun.bytes();
    } else if (const auto found = rank_of_.find(from); found != rank_of_.end()) {
      reply = answer(from, found->second, message).bytes();
    } else {
      server_.close(from);  // it has to begin first
      return;
    }
  } catch (const std::exception& error) {
    reply = LeaseReply::bytes_of(error);
  }
  server_.answer(from, number, reply);
}

void LeaseHost::begin(Peer from, const BeginRequest& request, LeaseReply* reply) {
  queue_.require(request.plan);
  if (request.generation != generation_ || newer_ != 0) {
    reply->answer = Answer::kStale;
    reply->generation = std::max(newer_, generation_);
    return;
  }
  if (request.rank < 0 || request.rank >= request.world_size || rank_of_.count(from) != 0) {
    throw Error(ErrorCode::kInvalidArgument, "rank " + std::to_string(request.rank) + " of " +
                                                 std::to_string(request.world_size) + " cannot begin here, or again");
  }
  reply->answer =
      queue_.begin(request.generation, request.world_size, request.epoch, request.position, request.quarantine);
  if (reply->answer != Answer::kDone) return;
  rank_of_[from] = request.rank;
  Rank& rank = ranks_[request.rank];
  ++rank.connections;
  rank.was_heard = true;
}

LeaseReply LeaseHost::answer(Peer from, std::int32_t rank, const LeaseMessage& message) {
  LeaseReply reply;
  ranks_[rank].was_heard = true;
  if (newer_ != 0 || queue_.is_lost(rank)) {
    reply.answer = Answer::kStale;
    reply.generation = newer_ != 0 ? newer_ : generation_;
    return reply;
  }
  if (const auto* part = std::get_if<PartRequest>(&message.request)) {
    Lease lease;
    reply.answer = queue_.lease(generation_, rank, part->epoch, part->step, &lease);
    if (reply.answer == Answer::kDone) reply.part = lease;
    if (reply.answer == Answer::kWait) waiting_[{part->epoch, part->step}].insert(from);
  } else if (const auto* done = std::get_if<CompleteRequest>(&message.request)) {
    reply.answer = queue_.complete(generation_, rank, done->part, done->samples, done->skipped);
    const Place place(done->part.epoch, done->part.step);
    if (queue_.look(generation_, rank, place.first, place.second) == Answer::kWhole) wake(place);
  } else if (const auto* failed = std::get_if<FailRequest>(&message.request)) {
    reply.answer = queue_.fail(generation_, rank, failed->part, failed->sample, failed->reason);
    wake({failed->part.epoch, failed->part.step});
  } else if (const auto* record = std::get_if<RecordRequest>(&message.request)) {
    reply.record = record_of({record->epoch, record->step});
  } else if (const auto* commit = std::get_if<CommitRequest>(&message.request)) {
    CommittedStep committed;
    const Place before(queue_.epoch(), queue_.position());
    reply.answer = queue_.commit(generation_, rank, commit->epoch, commit->step, &committed);
    if (Place(queue_.epoch(), queue_.position()) != before) wake_all();  // another step's turn has come
  } else if (const auto* held = std::get_if<HoldersRequest>(&message.request)) {
    reply.holders = queue_.holders(held->epoch, held->step);
  }
  const auto& quarantine = queue_.quarantine();
  if (message.known < quarantine.size()) {
    reply.first_quarantined = message.known;
    reply.quarantine.assign(quarantine.begin() + static_cast<std::ptrdiff_t>(message.known), quarantine.end());
  }
  return reply;
}

const CommittedStep& LeaseHost::record_of(Place place) {
  if (!record_ || Place(record_->epoch, record_->step) != place) record_ = queue_.record(place.first, place.second);
  return *record_;
}

void LeaseHost::wake(Place place) {
  const auto found = waiting_.find(place);
  if (found == waiting_.end()) return;
  const std::set<Peer> woken = std::move(found->second);
  waiting_.erase(found);
  for (const Peer peer : woken) server_.wake(peer);
}

void LeaseHost::wake_all() {
  std::set<Peer> woken;
  for (const auto& [place, peers] : waiting_) woken.insert(peers.begin(), peers.end());
  waiting_.clear();
  for (const Peer peer : woken) server_.wake(peer);
}

void LeaseHost::lose(std::int32_t rank) {
  queue_.lose(generation_, rank);
  wake_all();
}

void LeaseHost::on_closed(Peer peer) {
  const auto found = rank_of_.find(peer);
  if (found == rank_of_.end()) return;
  const std::int32_t rank = found->second;
  rank_of_.erase(found);
  for (auto& [place, peers] : waiting_) peers.erase(peer);
  if (--ranks_[rank].connections == 0 && !queue_.is_lost(rank)) lose(rank);
  end_if_left(Clock::now());
}

void LeaseHost::on_tick() {
  const Clock::time_point now = Clock::now();
  // Time in which this process stood still does not count: the others may have done so too.
  const auto passed = std::min<Clock::duration>(now - ticked_, 2 * tick_of(lost_after_));
  ticked_ = now;
  std::vector<std::int32_t> lost;
  for (auto& [number, rank] : ranks_) {
    const bool was_heard = std::exchange(rank.was_heard, false) || number == own_rank_;
    rank.silent = was_heard ? Clock::duration{} : rank.silent + passed;
    if (rank.silent > lost_after_ && !queue_.is_lost(number)) lost.push_back(number);
  }
  for (const std::int32_t number : lost) lose(number);
  end_if_left(now);
}

}  // namespace tandem::elastic
