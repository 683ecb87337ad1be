#include "membership/node.h"

#include <algorithm>
#include <utility>

#include "tandem/error.h"

namespace tandem::membership {
namespace {

constexpr std::chrono::milliseconds kLastWords{2000};  // until the other agent has what this one says last

}  // namespace

Node::Node(Link link, const Arrive& own, std::string keeper, std::chrono::milliseconds silence, Time now)
    : link_(std::move(link)), keeper_(std::move(keeper)), silence_(silence), heard_(now), beat_at_(now + kBeatEvery) {
  send(own);
}

void Node::started(Member member, int slot) { send(Started{member, slot}); }

void Node::lost(Member member, const std::string& reason, Time) { send(Lost{member, reason.substr(0, kMostReasonBytes)}); }

void Node::disconnected(Member member, const std::string& reason, Time) {
  send(Disconnected{member, reason.substr(0, kMostReasonBytes)});
}

void Node::received(Member member, const Message& message, Time) {
  is_elastic_ = true;
  if (std::holds_alternative<Done>(message)) done_.insert(member);
  if (std::holds_alternative<Join>(message)) done_.erase(member);
  if (std::holds_alternative<Bye>(message)) left_.insert(member);
  send(FromWorker{member, encode(message)});
}

void Node::add_polled(std::vector<pollfd>* polled) const {
  if (is_lost_) return;
  const int wanted = POLLIN | (link_.has_unsent() ? POLLOUT : 0);
  polled->push_back({link_.fd(), static_cast<short>(wanted), 0});
}

std::optional<Membership::Time> Node::deadline() const {
  if (is_lost_) return std::nullopt;
  return farewell_until_ ? std::min(beat_at_, *farewell_until_) : beat_at_;
}

void Node::serve(Time now, bool suspended) {
  if (is_lost_) return;
  // What this process slept through, with the other one perhaps, makes nobody late.
  if (served_at_ && now - *served_at_ > 2 * kBeatEvery) heard_ += now - *served_at_ - kBeatEvery;
  served_at_ = now;
  link_.write();
  for (const std::string& bytes : link_.read()) {
    heard_ = now;
    try {
      on(decode_node(bytes));
    } catch (const Error& error) {
      lose_keeper(std::string("sends what is not understood: ") + error.what());
      return;
    }
  }
  if (link_.broken()) return lose_keeper("is gone");
  if (now - heard_ > silence_) return lose_keeper("gives no sign of life");
  if (now >= beat_at_) {
    beat_at_ = now + kBeatEvery;
    send(Beat{suspended});
  }
}

void Node::on(const NodeMessage& message) {
  if (const auto* refused = std::get_if<Refused>(&message)) {
    refusal_ = refused->why;
    may_try_again_ = !refused->for_good;
    came_too_late_ = refused->is_over;
  } else if (const auto* begin = std::get_if<Begin>(&message)) {
    begin_ = *begin;
    epoch_ = begin->epoch;
    nodes_ = begin->nodes;
  } else if (const auto* beat = std::get_if<Beat>(&message)) {
    nodes_ = beat->nodes;
    is_elastic_ |= beat->elastic;
    is_uncertain_ = beat->uncertain;
  } else if (const auto* worker = std::get_if<ToWorker>(&message)) {
    Message told = decode(worker->message);
    if (std::holds_alternative<Released>(told)) left_.insert(worker->member);
    finished_ |= std::holds_alternative<Finished>(told);
    messages_.emplace_back(worker->member, std::move(told));
  } else if (const auto* told = std::get_if<Told>(&message)) {
    epoch_ = told->epoch;
    world_size_ = std::clamp(told->world_size, 0, kMostRanksOfAll);
    progress_ = told->progress;
    const auto kind = static_cast<Event::Kind>(told->event);
    finished_ |= kind == Event::Kind::kFinished;
    events_.push_back({kind, told->member, told->text, std::clamp(told->exit_code, 1, 255)});
  }
}

void Node::lose_keeper(const std::string& how) {
  if (std::exchange(is_lost_, true)) return;
  if (finished_) return;  // nobody is told anything any more
  const std::string what = "the agent at " + keeper_ + ", which keeps the job's membership, " + how;
  lost_ = what;
  if (survives_) return;
  if (refusal_.empty()) refusal_ = what;
  events_.push_back({Event::Kind::kStop, -1, what + "; the job ends with it", 1});
}

void Node::report(const std::vector<std::string>& parts) {
  if (is_lost_ || link_.has_unsent()) return;
  for (std::size_t i = 0; i < parts.size(); ++i) send(Reported{i == 0, parts[i]});
}

void Node::fail(const std::string& text, int exit_code, Time) { send(Failed{text, exit_code}); }

bool Node::may_end(Time now) {
  if (is_lost_) return true;
  if (!std::exchange(has_said_end_, true)) {
    send(Ended{});
    farewell_until_ = now + kLastWords;
  }
  link_.write();
  return !link_.has_unsent() || now >= *farewell_until_;
}

}  // namespace tandem::membership
