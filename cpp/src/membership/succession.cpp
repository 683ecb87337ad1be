#include "membership/succession.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tandem::membership {
namespace {

constexpr std::chrono::milliseconds kTryAgain{200};
constexpr std::chrono::milliseconds kForConnecting{5000};
constexpr std::chrono::milliseconds kForResigning{2000};
constexpr std::chrono::milliseconds kTrouble{5000};  // before people hear of it

// A port of this machine's that nobody listens at can be the connection's own.
bool is_to_itself(int socket) {
  sockaddr_storage local{}, remote{};
  socklen_t local_size = sizeof local, remote_size = sizeof remote;
  return getsockname(socket, reinterpret_cast<sockaddr*>(&local), &local_size) == 0 && local.ss_family != AF_UNIX &&
         getpeername(socket, reinterpret_cast<sockaddr*>(&remote), &remote_size) == 0 && local_size == remote_size &&
         std::memcmp(&local, &remote, local_size) == 0;
}

std::string seconds_of(std::chrono::milliseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
}

}  // namespace

Succession::Succession(HubOptions options, std::unique_ptr<Election> election, Connect connect, Hub::Accept accept, int listener,
                       Time now)
    : options_(std::move(options)),
      election_(std::move(election)),
      connect_(std::move(connect)),
      accept_(std::move(accept)),
      listener_(listener),
      search_until_(now + options_.join),
      now_(now) {
  election_->look(true, false, !options_.is_only_job);
  options_.confirm = [this](std::int64_t epoch) {
    if (election_->confirm(epoch, begin_ ? begin_->job : "")) {
      confirming_since_.reset();
      return true;
    }
    if (!confirming_since_) confirming_since_ = now_;
    return false;
  };
  options_.is_certain = [this] { return election_->is_certain(); };
  options_.may_be_certain = [this] { return election_->may_be_certain(); };
}

// ------------------------------------------------------------------------------------------------------- own workers

void Succession::started(Member member, int slot) {
  Own own;
  own.now.member = member;
  own.now.slot = slot;
  own_[member] = own;
  if (current()) current()->started(member, slot);
}

void Succession::lost(Member member, const std::string& reason, Time now) {
  own_[member].is_gone = true;
  if (current()) current()->lost(member, reason, now);
}

void Succession::disconnected(Member member, const std::string& reason, Time now) {
  Returned& was = own_[member].now;
  if (was.state != Returned::kDone && was.state != Returned::kGone) was.state = Returned::kStarting;
  was.elastic = false;
  if (current()) current()->disconnected(member, reason, now);
}

void Succession::received(Member member, const Message& message, Time now) {
  note(member, message);
  if (current()) return current()->received(member, message, now);
  if (const auto* permit = std::get_if<Permit>(&message)) {
    messages_.emplace_back(member, Permitted{permit->epoch, permit->number, kEpochIsOver});
  }
}

void Succession::note(Member member, const Message& message) {
  Returned& was = own_[member].now;
  was.elastic = true;
  const bool is_over = was.state == Returned::kDone || was.state == Returned::kGone;
  if (const auto* join = std::get_if<Join>(&message); join && !is_over) {
    was.state = Returned::kWaiting;
    was.committed = join->committed;
  } else if (std::holds_alternative<Serve>(message)) {
    was.history = was.epoch;
  } else if (std::holds_alternative<Done>(message)) {
    was.state = Returned::kDone;
  } else if (std::holds_alternative<Leave>(message)) {
    was.leaving = true;
  } else if (std::holds_alternative<Bye>(message)) {
    was.state = Returned::kGone;
  }
}

void Succession::note_told(const std::vector<std::pair<Member, Message>>& messages) {
  for (const auto& [member, message] : messages) {
    Returned& was = own_[member].now;
    if (const auto* form = std::get_if<Form>(&message)) {
      was.state = Returned::kTaking;
      was.epoch = form->epoch;
      was.rank = form->rank;
      if (!form->serves) was.history = form->epoch;
    } else if (std::holds_alternative<Released>(message)) {
      was.state = Returned::kGone;
    } else if (std::holds_alternative<Finished>(message)) {
      finished_ = true;
    }
  }
}

std::vector<std::pair<Member, Message>> Succession::take_messages() {
  std::vector<std::pair<Member, Message>> all = std::exchange(messages_, {});
  if (!current()) return all;
  std::vector<std::pair<Member, Message>> told = current()->take_messages();
  note_told(told);
  std::ranges::move(told, std::back_inserter(all));
  return all;
}

std::vector<Event> Succession::take_events() {
  std::vector<Event> all = std::exchange(events_, {});
  if (!current()) return all;
  std::vector<Event> told = current()->take_events();
  note_progress();
  for (Event& event : told) {
    finished_ |= event.kind == Event::Kind::kFinished;
    has_failed_ |= event.kind == Event::Kind::kStop || event.kind == Event::Kind::kTooFew;
    all.push_back(std::move(event));
  }
  return all;
}

bool Succession::is_done(Member member) const {
  const auto found = own_.find(member);
  return found != own_.end() && (found->second.now.state == Returned::kDone || found->second.now.state == Returned::kGone);
}

bool Succession::has_left(Member member) const {
  const auto found = own_.find(member);
  return found != own_.end() && found->second.now.state == Returned::kGone;
}

bool Succession::is_elastic() const {
  return epoch() > 0 || (current() && current()->is_elastic()) ||
         std::ranges::any_of(own_, [](const auto& one) { return one.second.now.elastic; });
}

// ---------------------------------------------------------------------------------------------------------- the loop

void Succession::add_polled(std::vector<pollfd>* polled) const {
  election_->add_polled(polled);
  if (current()) current()->add_polled(polled);
  if (!hub_) polled->push_back({listener_, POLLIN, 0});
  if (connecting_.valid()) polled->push_back({connecting_.get(), POLLOUT, 0});
}

std::optional<Membership::Time> Succession::deadline() const {
  std::optional<Time> next = election_->deadline();
  const auto consider = [&](const std::optional<Time>& time) {
    if (time && (!next || *time < *next)) next = time;
  };
  if (farewell_until_) consider(farewell_until_);
  if (ended_) return next;
  if (current()) {
    consider(current()->deadline());
  } else if (election_->has_resigned()) {
    consider(search_until_);
    if (connecting_.valid()) consider(connecting_until_);
    else if (election_->keeper()) consider(try_at_);
  }
  if (confirming_since_) consider(*confirming_since_ + options_.join);
  if (in_doubt_since_) consider(*in_doubt_since_ + options_.join);
  if (trouble_since_ && !has_said_trouble_) consider(*trouble_since_ + kTrouble);
  return next;
}

void Succession::serve(Time now, bool suspended) {
  now_ = now;
  const bool looks = !node_ || looks_for_another_keeper();
  // Whoever kept it comes first, should all have been cut off from what elects.
  const bool serves = begin_.has_value() && !node_;
  election_->look(looks && !resigned_ && !ended_, serves, !begin_ && !has_met_ && !options_.is_only_job);
  election_->serve(now);
  if (!hub_) {
    while (accept_()) {  // whoever asks this agent is told by that that it keeps nothing
    }
  }
  if (ended_) return;
  if (!resigned_) look_whether_still_elected(now);  // before the Hub acts on what is another one's to say
  if (hub_) hub_->serve(now, suspended);
  if (node_) node_->serve(now, suspended);
  if (current() && !begin_ && current()->begun()) begin_ = current()->begun();
  note_progress();
  if (!resigned_) {
    if (current()) look_at_keeper(now);
    else search(now);
  }
  look_at_trouble(now);
}

// The keeper cannot say whether it is elected. Only an elastic program can leave it, and only with enough nodes besides;
// any other one is better off with it, for nothing of it needs what elects.
bool Succession::looks_for_another_keeper() const {
  if (!node_->is_uncertain() || !begin_ || !is_elastic()) return false;
  const bool has_least = options_.least_nodes < options_.most_nodes;  // else any number goes on
  const int others = node_->nodes() - 1;                              // than the keeper, this one included
  const auto own = static_cast<int>(std::ranges::count_if(own_, [](const auto& one) { return !one.second.is_gone; }));
  return others >= (has_least ? options_.least_nodes : 1) && own + others - 1 >= options_.coordinator.least;
}

void Succession::note_progress() {
  if (!current()) return;
  finished_ |= current()->finished();
  progress_ = current()->progress();
  const std::int64_t epoch = current()->epoch();
  if (!hub_ || epoch <= election_->confirmed()) epoch_ = std::max(epoch_, epoch);
}

void Succession::look_whether_still_elected(Time now) {
  const auto& keeper = election_->keeper();
  if (!hub_ || (keeper && keeper->is_self && keeper->term == keeper_.term)) return;
  nodes_ = hub_->nodes();
  become_nobody("this agent's election to keep the membership has run out", now);
}

void Succession::look_at_keeper(Time now) {
  if (hub_) {
    if (!hub_->refusal().empty()) {
      refusal_ = hub_->refusal();
    } else if (hub_->is_of_no_use()) {
      election_->resign(/*is_over=*/false);
      become_nobody("another agent, which knows the job, is to keep its membership", now);
    }
    return;
  }
  nodes_ = std::max(node_->nodes() - 1, 1);  // without the keeper
  has_met_ |= node_->begun() || node_->nodes() > 0 || (!node_->refusal().empty() && !node_->came_too_late());
  const auto& elected = election_->keeper();
  if (!node_->refusal().empty()) {  // what it said last, though it is gone by now
    why_ = node_->refusal();
    if (!begin_ && node_->came_too_late()) {
      const bool had_come_too_late = std::exchange(came_too_late_, true);
      if (options_.is_only_job) refusal_ = why_;
      else if (!had_come_too_late) say("the job here is over; waiting for its last agents to end, to begin the next one");
    }
    if (node_->may_try_again() && refusal_.empty()) {
      node_.reset();
      try_at_ = now + kTryAgain;
    } else if (begin_) {
      end("this node is not taken back: " + why_);
    } else {
      refusal_ = why_;
    }
  } else if (!node_->lost().empty()) {
    if (finished_ || has_failed_) return;
    if (node_->begun()) return become_nobody(node_->lost(), now);
    why_ = node_->lost();
    node_.reset();
    try_at_ = now + kTryAgain;
  } else if (elected && elected->is_self) {
    become_nobody("this agent has been elected to keep the job's membership", now);
  } else if (elected && looks_for_another_keeper() &&
             (elected->address != keeper_.address || elected->port != keeper_.port)) {
    become_nobody("another agent has been elected, for that which kept the job's membership cannot reach what elects", now);
  }
}

// Whoever kept the membership is gone, or keeps it no longer.
void Succession::become_nobody(std::string why, Time now) {
  if (node_) {
    for (Event& event : take_events()) events_.push_back(std::move(event));  // the last that the keeper has said
  }
  if (finished_ || has_failed_) return;
  hub_.reset();
  node_.reset();
  search_until_ = now + options_.join;
  try_at_ = now;
  why_ = why;
  if (!begin_) return;
  if (!is_elastic()) return end(why + ": the program's other ranks cannot go on without it");
  say(why + "; the agents elect another one");
  for (auto& [member, own] : own_) {
    if (own.is_gone || own.now.state != Returned::kTaking) continue;
    messages_.emplace_back(member, Interrupt{own.now.epoch, why.substr(0, kMostReasonBytes)});
  }
}

void Succession::search(Time now) {
  if (!refusal_.empty() || !election_->has_resigned()) return;
  if (now >= search_until_) {
    const std::string& trouble = election_->trouble();
    end("no agent was found that keeps the job's membership for " + seconds_of(options_.join) + " (" +
        (trouble.empty() ? why_.empty() ? "none is elected" : why_ : trouble) + ")");
    return;
  }
  const auto& elected = election_->keeper();
  if (connecting_.valid() && elected && elected->term != keeper_.term) connecting_.reset();
  if (connecting_.valid()) return look_at_connection(now);
  if (!elected) return;
  if (elected->is_self) return keep(now);
  if (now >= try_at_) connect(*elected, now);
}

void Succession::connect(const Election::Keeper& keeper, Time now) {
  keeper_ = keeper;
  int failure = 0;
  connecting_ = connect_(keeper.address, keeper.port, &failure);
  connecting_until_ = now + kForConnecting;
  if (failure == 0) return look_at_connection(now);
  give_up_connecting(failure, now);
}

void Succession::look_at_connection(Time now) {
  pollfd ready{connecting_.get(), POLLOUT, 0};
  int failure = ETIMEDOUT;
  if (poll(&ready, 1, 0) > 0) {
    socklen_t size = sizeof failure;
    if (getsockopt(connecting_.get(), SOL_SOCKET, SO_ERROR, &failure, &size) != 0) failure = errno;
    if (failure == 0 && is_to_itself(connecting_.get())) failure = ECONNREFUSED;
    if (failure == 0) return be_node(std::move(connecting_), now);
  } else if (now < connecting_until_) {
    return;
  }
  give_up_connecting(failure, now);
}

void Succession::give_up_connecting(int failure, Time now) {
  connecting_.reset();
  why_ = keeper_.address + ":" + std::to_string(keeper_.port) + ": " + std::strerror(failure);
  // Where it was reached before, and nobody listens now, its process has ended. Of any other its lease says whether it lives.
  if (failure == ECONNREFUSED && keeper_.term == met_term_) election_->has_ended(keeper_.term);
  try_at_ = now + kTryAgain;
}

void Succession::be_node(Descriptor socket, Time now) {
  connecting_.reset();
  met_term_ = keeper_.term;
  Arrive own = options_.own;
  if (begin_) {
    own.node = begin_->node;
    own.first_slot = begin_->first_rank;
    own.job = begin_->job;
    for (const auto& [member, each] : own_) {
      if (!each.is_gone) own.members.push_back(each.now);
    }
  }
  node_ = std::make_unique<Node>(Link(std::move(socket)), own, keeper_.address + ":" + std::to_string(keeper_.port),
                                 options_.silence, now);
  node_->survives();
}

void Succession::keep(Time now) {
  connecting_.reset();
  keeper_ = *election_->keeper();
  kept_since_ = now;
  if (!begin_ && (has_met_ || options_.is_only_job) && election_->is_over()) {
    election_->resign(/*is_over=*/false);
    came_too_late_ = true;
    return end("it has come to its end");
  }
  if (begin_ && !election_->job().empty() && election_->job() != begin_->job) {
    election_->resign(/*is_over=*/false);
    return end("the job has come to its end without this node, and another one of this name runs");
  }
  std::int64_t told = 0;  // to this agent's workers
  for (const auto& [member, own] : own_) told = std::max(told, own.now.epoch);
  if (begin_ && (election_->is_over() || election_->confirmed() < told)) {
    const bool is_over = election_->is_over();
    election_->resign(/*is_over=*/false);
    return end(is_over ? "the job has come to its end without this node"
                       : "what elects has lost what it was told: it knows of no membership epoch " + std::to_string(told));
  }
  HubOptions options = options_;
  options.over = election_->confirmed();
  options.job = election_->job();
  options.begun = begin_;
  options.returning = nodes_;
  hub_ = std::make_unique<Hub>(options, now, accept_, listener_);
  for (const auto& [member, own] : own_) {
    if (!own.is_gone) hub_->returned(own.now, now);
  }
  if (begin_) say("this agent keeps the job's membership now");
}

void Succession::look_at_trouble(Time now) {
  if (ended_) return;
  if (!hub_ || !hub_->is_in_doubt()) in_doubt_since_.reset();
  else if (!in_doubt_since_) in_doubt_since_ = now;
  const auto waits_since = confirming_since_ ? confirming_since_ : in_doubt_since_;
  if (waits_since && now >= *waits_since + options_.join) {
    return end("ranks that want to go on together could not for " + seconds_of(options_.join) + ", for " +
               (election_->trouble().empty() ? "nobody confirms their epoch" : election_->trouble()));
  }
  if (hub_ && confirming_since_ && !election_->trouble().empty() && now >= std::max(*confirming_since_, kept_since_) + 2 * options_.silence) {
    nodes_ = hub_->nodes();
    become_nobody("this agent keeps the job's membership and cannot reach what elects", now);  // others may
  }
  if (election_->trouble().empty()) {
    const bool is_asked = !node_ || looks_for_another_keeper() || !node_->is_uncertain();
    if (std::exchange(has_said_trouble_, false) && is_asked) say("the election's servers answer again");
    trouble_since_.reset();
  } else if (!trouble_since_) {
    trouble_since_ = now;
  } else if (!has_said_trouble_ && now >= *trouble_since_ + kTrouble) {
    has_said_trouble_ = true;
    say(election_->trouble() + (begin_ ? "; training goes on, but ranks cannot come and go until it answers" : "; waiting for it"));
  }
}

void Succession::end(const std::string& why) {
  ended_ = true;
  hub_.reset();
  node_.reset();
  connecting_.reset();
  if (refusal_.empty()) refusal_ = why;
  if (begin_) events_.push_back({Event::Kind::kStop, -1, why, 1});
}

// ------------------------------------------------------------------------------------------------------------ its end

void Succession::fail(const std::string& text, int exit_code, Time now) {
  if (hub_ && hub_->epoch() > 0 && !finished_ && !has_failed_ && hub_->has_other_nodes()) {
    hub_->say("the node that keeps the job's membership (" + options_.own.host + ") ends: " + text);
    return;
  }
  has_failed_ = true;
  if (current()) current()->fail(text, exit_code, now);
}

bool Succession::may_end(Time now) {
  if (node_) return node_->may_end(now);
  if (!hub_ && !resigned_) {
    if (election_->has_resigned()) return true;
    if (!farewell_until_) farewell_until_ = now + kForResigning;
    return now >= *farewell_until_;
  }
  const bool is_done = std::ranges::any_of(own_, [](const auto& one) { return one.second.now.state == Returned::kDone; });
  const bool is_over = finished_ || has_failed_;
  if (hub_ && (is_over || is_done || !is_elastic()) && !hub_->may_end(now)) return false;
  if (!std::exchange(resigned_, true)) {
    election_->resign(is_over || (!hub_->has_other_nodes() && !hub_->waits_for_nodes()));
    farewell_until_ = now + kForResigning;
  }
  return election_->has_resigned() || now >= *farewell_until_;
}

}  // namespace tandem::membership
