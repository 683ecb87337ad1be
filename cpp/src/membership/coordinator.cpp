#include "membership/coordinator.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tandem::membership {
namespace {

// Time is counted by looks, so that what this process sleeps through, with all others, makes nobody late.
constexpr Coordinator::Clock::duration kLook = std::chrono::milliseconds(1000);

constexpr std::chrono::seconds kForState{5};

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

std::string ranks_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " rank" : " ranks"); }

}  // namespace

void Coordinator::open(Time now) {
  if (!std::exchange(held_, false)) return;
  if (taken_over_) go_on(now);
  meet(now);
}

void Coordinator::take_over(std::int64_t epoch) {
  held_ = true;
  taken_over_ = over_ = epoch;
}

void Coordinator::returned(Member member, const Returned& was, Time now) {
  Process process;
  process.slot = was.slot;
  process.elastic = was.elastic;
  process.leaving = was.leaving;
  process.rank = was.rank;
  process.epoch = was.epoch;
  process.committed = was.committed;
  process.history = was.history;
  process.state = was.state == Returned::kTaking    ? State::kTaking
                  : was.state == Returned::kWaiting ? State::kWaiting
                  : was.state == Returned::kDone    ? State::kDone
                  : was.state == Returned::kGone    ? State::kGone
                                                    : State::kStarting;
  process.came_back = true;
  // Of an epoch that is over here: it has been told, and comes.
  if (!taken_over_ && process.state == State::kTaking) process.state = State::kStarting;
  if (!processes_.emplace(member, process).second) return;
  has_elastic_ |= was.elastic;
  if (process.state == State::kDone && (taken_over_ || was.epoch == epoch_)) ++done_;
  if (taken_over_) return;
  if (process.state == State::kWaiting && process.leaving && process.committed < 0) release(member, processes_.at(member));
  want_stop(now);
  meet(now);
}

void Coordinator::tells(Time now) {
  if (phase_ == Phase::kRunning && meeting_until_) meeting_until_ = now + options_.meeting;
}

// From where those stand that have returned: the last epoch was ended by who is gone.
void Coordinator::go_on(Time now) {
  if (*std::exchange(taken_over_, std::nullopt) > 0) without_state_until_ = now + kForState;
  for (const auto& [member, process] : processes_) {
    if (process.state != State::kStarting) epoch_ = std::max(epoch_, process.epoch);
  }
  if (epoch_ == 0) return;
  for (auto& [member, process] : processes_) {
    if (process.epoch == epoch_ && process.rank >= 0) {
      ranks_.push_back(member);
    } else if (process.state == State::kTaking) {
      process.state = State::kStarting;
    }
  }
  ranks_ = in_order(std::move(ranks_));
  phase_ = Phase::kRunning;
  served_ = true;
  end_epoch("who kept the membership is gone", now);
}

void Coordinator::limit(int most, int least) {
  options_.most = most;
  options_.least = least;
}

void Coordinator::started(Member member, int slot) {
  Process process;
  process.slot = slot;
  processes_.emplace(member, process);
}

void Coordinator::lost(Member member, const std::string& reason, Time now) {
  const auto found = processes_.find(member);
  if (found == processes_.end()) return;
  const bool took_part = takes_part(found->second);
  processes_.erase(found);
  if (took_part) end_epoch(reason, now);
  if (stop_ && !stop_->agreed) look_at_answers();
  meet(now);
}

void Coordinator::disconnected(Member member, const std::string& reason, Time now) {
  const auto found = processes_.find(member);
  if (found == processes_.end() || is_done(member)) return;
  const bool took_part = takes_part(found->second);
  found->second.state = State::kStarting;  // as one of which nothing is known yet
  found->second.elastic = false;
  if (took_part) end_epoch(reason, now);
  meet(now);
}

void Coordinator::received(Member member, const Message& message, Time now) {
  const auto found = processes_.find(member);
  if (found == processes_.end()) return;
  found->second.elastic = has_elastic_ = true;
  found->second.silent = {};
  std::visit([&](const auto& content) { on(member, found->second, content, now); }, message);
}

void Coordinator::seen(Member member) {
  const auto found = processes_.find(member);
  if (found != processes_.end()) found->second.silent = {};
}

bool Coordinator::is_elastic(Member member) const {
  const auto found = processes_.find(member);
  return found != processes_.end() && found->second.elastic;
}

bool Coordinator::is_done(Member member) const {
  const auto found = processes_.find(member);
  return found != processes_.end() && (found->second.state == State::kDone || found->second.state == State::kGone);
}

bool Coordinator::has_left(Member member) const {
  const auto found = processes_.find(member);
  return found != processes_.end() && found->second.state == State::kGone;
}

// ------------------------------------------------------------------------------------------------------- messages

void Coordinator::on(Member, Process&, const Hello&, Time) {}

void Coordinator::on(Member member, Process& process, const Join& join, Time now) {
  if (process.state == State::kDone || process.state == State::kGone) {
    tell(member, Finished{});
    return;
  }
  const bool took_part = takes_part(process);
  process.state = State::kWaiting;
  process.committed = join.committed;
  if (finished_) {
    tell(member, Finished{});
    return;
  }
  if (took_part) {
    if (join.reason.empty() && stop_ && stop_->agreed) {
      ending_ = true;
      if (!meeting_until_) meeting_until_ = now + options_.meeting;
    } else {
      end_epoch("rank " + std::to_string(process.rank) + ": " + join.reason, now);
    }
  } else if (process.leaving && process.committed < 0) {
    release(member, process);
  } else {
    want_stop(now);
  }
  meet(now);
}

void Coordinator::release_leavers(const std::vector<Member>& but) {
  for (auto& [member, process] : processes_) {
    if (process.state != State::kWaiting || !process.leaving) continue;
    if (std::ranges::find(but, member) == but.end()) release(member, process);
  }
}

// It waits, and is not needed.
void Coordinator::release(Member member, Process& process) {
  process.state = State::kGone;
  tell(member, Released{});
}

void Coordinator::on(Member member, Process& process, const Serve& serve, Time now) {
  if (!takes_part(process) || serve.epoch != epoch_ || served_ || ending_ || ranks_.front() != member) return;
  served_ = true;
  without_step_ = {};
  meeting_until_.reset();
  for (const Member each : ranks_) processes_.at(each).history = epoch_;
  Form form;
  form.epoch = epoch_;
  form.host = serve.host;
  form.port = serve.port;
  for (const Member each : ranks_) form.committed.push_back(processes_.at(each).committed);
  for (const Member each : ranks_) {
    if (each == member) continue;
    form.rank = processes_.at(each).rank;
    tell(each, form);
  }
  want_stop(now);
}

void Coordinator::on(Member member, Process& process, const PauseAnswer& answer, Time) {
  if (!takes_part(process) || answer.epoch != epoch_) return;
  if (!stop_ || stop_->agreed || answer.number != stop_->number) return;
  stop_->answers[member] = answer;
  look_at_answers();
}

void Coordinator::on(Member, Process& process, const Progress& progress, Time) {
  if (!takes_part(process) || progress.epoch != epoch_) return;
  if (progress.step != process.step) without_step_ = {};
  process.step = progress.step;
  process.waits = progress.waits;
  if (process.rank == 0 && !progress.text.empty()) progress_ = progress.text;
}

void Coordinator::on(Member, Process& process, const Done& done, Time now) {
  const bool may_come = process.state == State::kTaking || process.state == State::kStarting;
  const bool was_past_it = process.came_back && may_come && done.epoch == process.epoch;  // when the keeper was lost
  if (!was_past_it && (!takes_part(process) || done.epoch != epoch_)) return;
  process.state = State::kDone;
  ++done_;
  if (stop_ && !stop_->agreed) {  // nobody is to wait for it at the step that was asked for
    stop_at(kNever);
    stop_.reset();
  }
  meet(now);
}

void Coordinator::on(Member member, Process& process, const Leave&, Time now) {
  process.leaving = true;
  if (process.state == State::kWaiting && process.committed < 0) {
    release(member, process);
    meet(now);
    return;
  }
  want_stop(now);
}

void Coordinator::on(Member, Process& process, const Bye&, Time now) {
  const bool took_part = takes_part(process);
  process.state = State::kGone;
  if (took_part) {
    if (stop_ && stop_->agreed) {
      ending_ = true;
      if (!meeting_until_) meeting_until_ = now + options_.meeting;
    } else {
      end_epoch("rank " + std::to_string(process.rank) + " has left", now);
    }
  }
  meet(now);
}

void Coordinator::on(Member member, Process& process, const Permit& permit, Time) {
  if (takes_part(process) && permit.epoch == epoch_ && !interrupted_) {
    asked_.emplace_back(member, permit);
  } else {
    tell(member, Permitted{permit.epoch, permit.number, kEpochIsOver});
  }
}

void Coordinator::permit(const std::string& why_not) {
  for (const auto& [member, permit] : std::exchange(asked_, {})) tell(member, Permitted{permit.epoch, permit.number, why_not});
}

// --------------------------------------------------------------------------------------------------------- epochs

int Coordinator::taking_part() const {
  return static_cast<int>(std::ranges::count_if(ranks_, [this](Member member) {
    const auto found = processes_.find(member);
    return found != processes_.end() && takes_part(found->second);
  }));
}

bool Coordinator::is_starting() const {
  return std::ranges::any_of(processes_, [](const auto& item) { return item.second.state == State::kStarting; });
}

void Coordinator::tell_running(const Message& message) {
  for (const Member member : ranks_) {
    const auto found = processes_.find(member);
    if (found != processes_.end() && takes_part(found->second)) tell(member, message);
  }
}

void Coordinator::end_epoch(const std::string& reason, Time now) {
  if (interrupted_) return;
  interrupted_ = ending_ = true;
  permit(kEpochIsOver);
  stop_.reset();
  stop_after_.reset();
  meeting_until_ = now + options_.meeting;
  if (!served_) {  // the others do not know of it yet
    for (auto& [member, process] : processes_) {
      if (takes_part(process) && process.rank != 0) process.state = State::kWaiting;
    }
  }
  tell_running(Interrupt{epoch_, reason.substr(0, kMostReasonBytes)});
}

void Coordinator::meet(Time now) {
  in_doubt_ = false;
  if (finished_ || too_few_ || held_ || !has_elastic_) return;
  std::vector<Member> members;
  if (phase_ == Phase::kRunning) {
    if (taking_part() > 0) return;
    if (done_ > 0) {
      // What is left to do is the end of these ranks' training; others would begin anew.
      for (const auto& [member, process] : processes_) {
        if (is_candidate(process) && process.epoch == epoch_) members.push_back(member);
      }
      if (members.empty()) {
        finish();
      } else {
        form(in_order(std::move(members)), now);
      }
      return;
    }
    phase_ = Phase::kMeeting;
    meeting_until_.reset();
  }
  const auto comes_first = [this](const auto& item) {
    return item.second.state == State::kStarting && item.second.slot < options_.most;
  };
  if (epoch_ == 0 && std::ranges::any_of(processes_, comes_first)) return;
  for (const auto& [member, process] : processes_) {
    if (is_candidate(process)) members.push_back(member);
  }
  // Who wants to leave stays for another epoch where nobody else has the state, and goes once others have it.
  const auto has_state = [this](Member member) { return processes_.at(member).committed >= 0; };
  if (without_state_until_ && std::ranges::any_of(members, has_state)) without_state_until_.reset();
  if (without_state_until_ && now < *without_state_until_) return;
  std::size_t leavers = 0;
  if (!members.empty() && std::ranges::none_of(members, has_state)) {
    for (const auto& [member, process] : processes_) {
      if (process.state != State::kWaiting || !process.leaving || process.committed < 0) continue;
      members.push_back(member);
      ++leavers;
    }
  }
  if (members.empty() && !is_starting()) {
    release_leavers(members);
    if (std::ranges::any_of(processes_, [](const auto& item) { return item.second.state == State::kGone; })) {
      finish();  // all that were left have left
      return;
    }
  }
  if (members.size() < static_cast<std::size_t>(std::max(options_.least, 1))) {
    if (is_starting()) return;
    in_doubt_ = !members.empty() && options_.is_certain && !options_.is_certain();
    if (in_doubt_) return;
    too_few_ = true;
    say(Event::Kind::kTooFew, "of the " + ranks_text(static_cast<std::size_t>(std::max(options_.least, 1))) +
                                  " that it takes to go on " + std::to_string(members.size()) + " are left");
    return;
  }
  release_leavers(members);
  members = in_order(std::move(members));
  const std::size_t most = static_cast<std::size_t>(options_.most) + leavers;
  if (members.size() > most) members.resize(most);
  form(std::move(members), now);
}

std::vector<Member> Coordinator::in_order(std::vector<Member> members) const {
  const auto key = [this](Member member) {
    const Process& process = processes_.at(member);
    const bool survives = epoch_ > 0 && process.epoch == epoch_;
    return std::tuple(!survives, survives ? process.rank : process.slot, member);
  };
  std::ranges::sort(members, {}, key);
  return members;
}

// Nobody's commits count that were made beside the newest epoch: training went on elsewhere, with the same samples.
void Coordinator::drop_other_histories(const std::vector<Member>& members) {
  std::int64_t newest = 0;
  for (const Member member : members) {
    const Process& process = processes_.at(member);
    if (process.committed >= 0) newest = std::max(newest, process.history);
  }
  for (const Member member : members) {
    Process& process = processes_.at(member);
    if (process.history < newest) process.committed = -1;
  }
}

void Coordinator::form(std::vector<Member> members, Time now) {
  drop_other_histories(members);
  epoch_ = std::max(epoch_, over_) + 1;
  phase_ = Phase::kRunning;
  ranks_ = std::move(members);
  served_ = ending_ = interrupted_ = false;
  slow_ = {};
  stop_.reset();
  stop_after_.reset();
  meeting_until_ = now + options_.meeting;
  Form first;
  first.epoch = epoch_;
  first.serves = true;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    Process& process = processes_.at(ranks_[rank]);
    process.rank = static_cast<int>(rank);
    process.epoch = epoch_;
    process.state = State::kTaking;
    process.waits = false;
    first.committed.push_back(process.committed);
  }
  const std::int64_t newest = std::ranges::max(first.committed);
  tell(ranks_.front(), std::move(first));
  say(Event::Kind::kFormed, ranks_text(ranks_.size()) + (newest > 0 ? ", from step " + std::to_string(newest) + " on" : ""));
}

void Coordinator::finish() {
  finished_ = true;
  for (const auto& [member, process] : processes_) {
    if (process.state == State::kWaiting) tell(member, Finished{});
  }
  say(Event::Kind::kFinished, "");
}

// ---------------------------------------------------------------------------------------- stops between two steps

// And others wait for it.
bool Coordinator::only_leavers_have_the_state() const {
  const bool all_leave = std::ranges::all_of(processes_, [this](const auto& item) {
    return !takes_part(item.second) || item.second.leaving;
  });
  return all_leave && std::ranges::any_of(processes_, [this](const auto& item) { return is_candidate(item.second); });
}

bool Coordinator::wants_stop() const {
  const bool has_room = ranks_.size() < static_cast<std::size_t>(options_.most);
  return std::ranges::any_of(processes_, [&](const auto& item) {
    return takes_part(item.second) ? item.second.leaving : has_room && is_candidate(item.second);
  });
}

void Coordinator::want_stop(Time now) {
  if (phase_ != Phase::kRunning || !served_ || ending_ || done_ > 0 || stop_ || stop_after_ || !wants_stop()) return;
  stop_after_ = now + options_.gather;
}

void Coordinator::stop_at(std::int64_t step) {
  stop_->number = ++stops_;
  stop_->step = step;
  stop_->answers.clear();
  tell_running(Pause{epoch_, stop_->number, step});
}

void Coordinator::look_at_answers() {
  std::int64_t most = 0;
  bool all_accept = true;
  for (const Member member : ranks_) {
    const auto found = processes_.find(member);
    if (found == processes_.end() || !takes_part(found->second)) continue;
    const auto answer = stop_->answers.find(member);
    if (answer == stop_->answers.end()) return;
    most = std::max(most, answer->second.step);
    all_accept &= answer->second.accepted;
  }
  if (all_accept) {
    stop_->agreed = true;
    tell_running(Go{epoch_, stop_->number, !only_leavers_have_the_state()});
    return;
  }
  // Short steps go by while messages do.
  stop_at(most + stop_->margin);
  stop_->margin *= 4;
}

std::optional<Coordinator::Time> Coordinator::deadline() const {
  if (finished_ || too_few_) return std::nullopt;
  std::optional<Time> next;
  const auto consider = [&](const std::optional<Time>& time) {
    if (time && (!next || *time < *next)) next = time;
  };
  consider(meeting_until_);
  consider(stop_after_);
  consider(without_state_until_);
  const bool has_watched = std::ranges::any_of(processes_, [](const auto& item) { return item.second.elastic; });
  if (has_watched) consider(looked_ ? *looked_ + kLook : Time());
  return next;
}

void Coordinator::look_for_silence(Clock::duration passed) {
  if (options_.silence.count() == 0) return;
  for (auto& [member, process] : processes_) {
    if (!process.elastic || process.state == State::kDone || process.state == State::kGone) continue;
    process.silent += passed;
    if (process.silent < options_.silence) continue;
    process.silent = {};
    say(Event::Kind::kHung, "gives no sign of life: it is stopped, or gets no time to run", member);
  }
}

void Coordinator::look_for_steps(Clock::duration passed, Time now) {
  if (options_.step.count() == 0 || phase_ != Phase::kRunning || !served_ || ending_) return;
  without_step_ += passed;
  if (without_step_ < options_.step) return;
  without_step_ = {};
  const std::string seconds = std::to_string(std::chrono::duration_cast<std::chrono::seconds>(options_.step).count());
  bool all_wait = true;
  for (const Member member : ranks_) {
    const auto found = processes_.find(member);
    if (found == processes_.end() || !takes_part(found->second) || found->second.waits) continue;
    all_wait = false;
    say(Event::Kind::kHung, "has completed no step for " + seconds + " s, and waits for no other rank", member);
  }
  if (all_wait) end_epoch("no rank has completed a step for " + seconds + " s; all of them wait for each other", now);
}

void Coordinator::look_for_slow_ranks() {
  if (phase_ != Phase::kRunning || !served_ || ending_ || ranks_.size() < 2) return;
  std::int64_t step = kNever;
  std::vector<Member> compute;
  for (const Member member : ranks_) {
    const auto found = processes_.find(member);
    if (found == processes_.end() || !takes_part(found->second)) return;  // some have come to their end
    step = std::min(step, found->second.step);
    if (!found->second.waits) compute.push_back(member);
  }
  const auto slow = slow_.look(compute.size() == 1 ? compute.front() : SlowRank::kNone, step);
  if (slow) say(Event::Kind::kSlow, slow->text, slow->member);
}

void Coordinator::tick(Time now) {
  if (in_doubt_) meet(now);
  if (!looked_) looked_ = now;
  if (const auto passed = now - *looked_; passed >= kLook) {
    looked_ = now;
    look_for_silence(std::min(passed, 2 * kLook));
    look_for_steps(std::min(passed, 2 * kLook), now);
    look_for_slow_ranks();
  }
  if (without_state_until_ && now >= *without_state_until_) {
    without_state_until_.reset();
    meet(now);
  }
  if (stop_after_ && now >= *stop_after_) {
    stop_after_.reset();
    if (wants_stop()) {
      stop_.emplace();
      stop_at(0);
    }
  }
  if (!meeting_until_ || now < *meeting_until_ || phase_ != Phase::kRunning) return;
  meeting_until_ = now + options_.meeting;
  if (!served_ && !ending_) {
    say(Event::Kind::kHung, "has made no store for the others to meet at", ranks_.front());
    return;
  }
  for (const Member member : ranks_) {
    const auto found = processes_.find(member);
    if (found == processes_.end() || !takes_part(found->second)) continue;
    say(Event::Kind::kHung, "does not meet the others", member);
  }
}

}  // namespace tandem::membership
