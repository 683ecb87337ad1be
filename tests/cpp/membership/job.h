// A job for tests of the rules by which ranks come and go.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "membership/coordinator.h"

namespace tandem::membership {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using std::chrono::milliseconds;

// A coordinator, the messages that it sent last by member, and a clock that the test moves.
class Job {
 public:
  explicit Job(int most, int least = 1, milliseconds step = {}) : coordinator(options_of(most, least, step)) {}

  void start(int count) {
    for (int i = 0; i < count; ++i) coordinator.started(next_++, slots_++);
  }
  Member start_in(int slot) {
    coordinator.started(next_, slot);
    return next_++;
  }
  void say(Member member, const Message& message) {
    coordinator.received(member, message, now);
    collect();
  }
  void join(Member member, std::int64_t committed = -1, const std::string& reason = "") {
    say(member, Hello{member});
    say(member, Join{coordinator.epoch(), committed, reason});
  }
  void lose(Member member) {
    coordinator.lost(member, "it was killed", now);
    collect();
  }
  void pass(milliseconds time) {
    now += time;
    coordinator.tick(now);
    collect();
  }
  // The first rank of the epoch makes its store.
  void serve(Member first) { say(first, Serve{coordinator.epoch(), "127.0.0.1", 1234}); }

  template <typename Type>
  std::vector<Type> told(Member member) {
    std::vector<Type> all;
    for (const Message& message : messages_[member]) {
      if (const auto* one = std::get_if<Type>(&message)) all.push_back(*one);
    }
    return all;
  }
  void forget() { messages_.clear(); }
  int count(Event::Kind kind) const {
    return static_cast<int>(std::ranges::count(events, kind, &Event::kind));
  }

  Coordinator coordinator;
  Coordinator::Time now{};
  std::vector<Event> events;

 private:
  static CoordinatorOptions options_of(int most, int least, milliseconds step) {
    CoordinatorOptions options;
    options.most = most;
    options.least = least;
    options.step = step;
    return options;
  }
  void collect() {
    for (auto& [member, message] : coordinator.take_messages()) messages_[member].push_back(message);
    for (auto& event : coordinator.take_events()) events.push_back(event);
  }
  Member next_ = 0;
  int slots_ = 0;
  std::map<Member, std::vector<Message>> messages_;
};

// Three ranks that run.
inline Job three(int most = 3, milliseconds step = {}) {
  Job job(most, 1, step);
  job.start(3);
  for (Member member = 0; member < 3; ++member) job.join(member);
  job.serve(0);
  job.forget();
  return job;
}

}  // namespace tandem::membership
