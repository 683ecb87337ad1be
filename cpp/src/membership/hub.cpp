#include "membership/hub.h"

#include <algorithm>
#include <cerrno>
#include <random>
#include <utility>

#include "base/printable.h"
#include "tandem/error.h"

namespace tandem::membership {
namespace {

constexpr Member kStride = Member{1} << 24;  // key of the node · kStride + what its agent calls the process
constexpr int kSpareSlot = 1 << 24;          // no rank's: a spare is no process that the first epoch waits for
constexpr std::chrono::milliseconds kFarewell{10000};  // for other agents, once the job has failed
constexpr std::size_t kMostNodes = 65536;
constexpr std::size_t kMostStrangers = 64;   // connections of who has not said yet who it is
constexpr std::chrono::seconds kForArrival{15};
constexpr std::chrono::seconds kForStarting{60};
constexpr std::chrono::milliseconds kAskAgain{100};
constexpr std::chrono::seconds kForPermits{10};
constexpr int kMostRanks = 65536;            // of a node
constexpr std::size_t kMostParts = 256;      // in which it tells how they get on

Member member_of(std::int64_t key, Member own) { return key * kStride + own; }
Member own_of(Member member) { return member % kStride; }
std::int64_t key_of(Member member) { return member / kStride; }

// Who may not be elected any more does not end the job.
CoordinatorOptions with_doubt(const HubOptions& options) {
  CoordinatorOptions wanted = options.coordinator;
  wanted.is_certain = options.is_certain;
  return wanted;
}

}  // namespace

Hub::Hub(const HubOptions& options, Time now, Accept accept, int listener)
    : options_(options),
      coordinator_(with_doubt(options)),
      accept_(std::move(accept)),
      listener_(listener),
      join_until_(now + options.join),
      return_until_(now + options.return_within),
      least_return_until_(now + std::max(options.return_within, options.silence)) {
  if (options_.most_nodes > 1) coordinator_.hold();
  if (options_.confirm) coordinator_.take_over(options_.over);
  if (options_.begun) {
    begin_ = options_.begun;
    first_slot_ = begin_->first_rank;
    next_slot_ = std::max(begin_->world_size, first_slot_ + options_.own.ranks);
    next_node_ = std::max(begin_->nodes, begin_->node + 1);
    started_ = options_.own.ranks;
    most_ranks_ = begin_->world_size;
  }
  count(nullptr, options_.own.ranks);
  look_whether_all_are_there(now);
}

// ---------------------------------------------------------------------------------------------------- own workers

void Hub::started(Member member, int slot) {
  const bool is_rank = slot < options_.own.ranks;
  started_ += is_rank;
  coordinator_.started(member, is_rank ? first_slot_ + slot : kSpareSlot);
}

void Hub::returned(const Returned& was, Time now) {
  Returned here = was;
  here.slot = was.slot < options_.own.ranks ? first_slot_ + was.slot : kSpareSlot;
  coordinator_.returned(was.member, here, now);
}

void Hub::lost(Member member, const std::string& reason, Time now) { coordinator_.lost(member, reason, now); }

void Hub::disconnected(Member member, const std::string& reason, Time now) {
  coordinator_.disconnected(member, reason, now);
}

void Hub::received(Member member, const Message& message, Time now) { coordinator_.received(member, message, now); }

std::vector<std::pair<Member, Message>> Hub::take_messages() {
  route();
  return std::exchange(messages_, {});
}

std::vector<Event> Hub::take_events() {
  route();
  return std::exchange(events_, {});
}

// ------------------------------------------------------------------------------------------------------ other agents

// One that is not confirmed yet is none.
std::int64_t Hub::told_epoch() const { return is_unconfirmed_ ? epoch() - 1 : epoch(); }

std::string Hub::place_of(const Node& node) const {
  return (node.number >= 0 ? "node " + std::to_string(node.number) + " (" : "a node (") +
         (node.said ? node.said->host + ", " : "") + node.seen_address + ")";
}

Hub::Node* Hub::node_of(Member member) {
  const auto found = std::ranges::find_if(nodes_, [key = key_of(member)](const Node& node) { return node.key == key; });
  return found == nodes_.end() ? nullptr : &*found;
}

void Hub::add_polled(std::vector<pollfd>* polled) const {
  const auto strangers = std::ranges::count_if(nodes_, [](const Node& node) { return !node.said; });
  const bool has_room = nodes_.size() < kMostNodes && static_cast<std::size_t>(strangers) < kMostStrangers;
  if (listener_ >= 0 && has_room && !is_short_) polled->push_back({listener_, POLLIN, 0});
  for (const Node& node : nodes_) {
    const int wanted = POLLIN | (node.link.has_unsent() ? POLLOUT : 0);
    polled->push_back({node.link.fd(), static_cast<short>(wanted), 0});
  }
}

std::optional<Membership::Time> Hub::deadline() const {
  std::optional<Time> next = suspended_ || is_unconfirmed_ ? std::nullopt : coordinator_.deadline();
  const auto consider = [&](const std::optional<Time>& time) {
    if (time && (!next || *time < *next)) next = time;
  };
  if (!nodes_.empty() || is_short_) consider(beat_at_.value_or(Time()));
  if (!begin_) consider(last_call_until_ ? last_call_until_ : join_until_);
  if (options_.begun && !opened_ && served_at_) {
    for (const Time until : {return_until_, least_return_until_}) {
      if (*served_at_ < until) consider(until);
    }
  }
  if (asked_since_ && served_at_) consider(*served_at_ + kAskAgain);
  if (failed_ && !nodes_.empty()) consider(failed_at_ + kFarewell);
  return next;
}

void Hub::serve(Time now, bool suspended) {
  suspended_ = suspended;
  // What this process slept through, with others perhaps, makes nobody late.
  if (served_at_ && now - *served_at_ > 2 * kBeatEvery) {
    for (Node& node : nodes_) node.heard += now - *served_at_ - kBeatEvery;
  }
  served_at_ = now;
  std::size_t strangers = 0;
  for (const Node& node : nodes_) strangers += !node.said;
  while (accept_ && nodes_.size() < kMostNodes && strangers < kMostStrangers && !is_short_) {
    errno = 0;
    auto connection = accept_();
    is_short_ = !connection && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
    if (!connection) break;
    nodes_.emplace_back(Link(std::move(connection->first)), next_key_++, std::move(connection->second), now);
    ++strangers;
  }
  for (auto node = nodes_.begin(); node != nodes_.end();) {
    node->link.write();
    for (const std::string& bytes : node->link.read()) {
      node->heard = now;
      if (!on(*node, decode_node_or_end(*node, bytes), now)) break;
    }
    const bool silent = now - node->heard > options_.silence || (!node->said && now - node->came > kForArrival);
    const bool idle = node->number >= 0 && node->started < node->said->ranks && !node->ends && now - node->begun > kForStarting;
    const bool has_last_words = node->ends && node->link.has_unsent() && !silent;
    if (!node->link.broken() && !idle && ((!silent && !node->ends) || has_last_words)) {
      ++node;
      continue;
    }
    lose(*node,
         !node->wrong.empty() ? "has sent what is not understood: " + node->wrong
         : idle               ? "has not started its ranks"
         : silent             ? "gives no sign of life"
                              : "has closed its connection",
         now);
    node = nodes_.erase(node);
  }
  if (!beat_at_ || now >= *beat_at_) {
    beat_at_ = now + kBeatEvery;
    is_short_ = false;
    tell_nodes(Beat{suspended, arrived_, is_elastic(), has_been_uncertain(now)});
  }
  if (failed_ && now >= failed_at_ + kFarewell) nodes_.clear();
  look_whether_all_are_there(now);
  look_whether_all_have_started(now);
  if (!suspended && !is_unconfirmed_) coordinator_.tick(now);
  if (too_few_in_doubt_) look_whether_too_few();
  look_whether_permitted(now);
  route();
}

// Others may reach what elects, where this agent does not: then they elect another one.
bool Hub::has_been_uncertain(Time now) {
  const bool is_heard = options_.may_be_certain && options_.may_be_certain();  // and waits for what a lease takes
  if (!options_.is_certain || options_.is_certain() || is_heard) {
    uncertain_since_.reset();
  } else if (!uncertain_since_) {
    uncertain_since_ = now;
  }
  return uncertain_since_ && now - *uncertain_since_ >= options_.silence;
}

NodeMessage Hub::decode_node_or_end(Node& node, const std::string& bytes) {
  try {
    return decode_node(bytes);
  } catch (const Error& error) {
    node.wrong = error.what();
    return Ended{};
  }
}

bool Hub::on(Node& node, const NodeMessage& message, Time now) {
  if (const auto* said = std::get_if<Arrive>(&message)) {
    if (!node.said) arrive(node, *said, now);
    return true;
  }
  if (std::holds_alternative<Ended>(message)) {
    if (!node.wrong.empty() && !node.said) {
      node.link.send(encode_node(Refused{"it does not understand what this agent says; is Tandem of one release on both?"}));
    }
    node.ends = true;
    return false;
  }
  if (const auto* beat = std::get_if<Beat>(&message)) {
    if (beat->suspended) {
      for (const Member member : node.members) coordinator_.seen(member);
    }
    return true;
  }
  if (node.number < 0) return true;  // before its job began it has nothing to say
  const auto own = [&](Member member) {
    return member >= 0 && member < kStride ? member_of(node.key, member) : Member{-1};
  };
  const std::string where = " on " + node.said->host;
  if (const auto* started = std::get_if<Started>(&message)) {
    if (own(started->member) < 0 || !node.members.insert(own(started->member)).second) return true;
    const bool is_rank = started->slot >= 0 && started->slot < node.said->ranks;
    node.started += is_rank;
    coordinator_.started(own(started->member), is_rank ? node.first_slot + started->slot : kSpareSlot);
  } else if (const auto* lost = std::get_if<Lost>(&message)) {
    node.members.erase(own(lost->member));
    coordinator_.lost(own(lost->member), lost->reason + where, now);
  } else if (const auto* gone = std::get_if<Disconnected>(&message)) {
    coordinator_.disconnected(own(gone->member), gone->reason + where, now);
  } else if (const auto* worker = std::get_if<FromWorker>(&message)) {
    try {
      coordinator_.received(own(worker->member), decode(worker->message), now);
    } catch (const Error& error) {
      node.wrong = error.what();
      node.ends = true;
    }
  } else if (const auto* reported = std::get_if<Reported>(&message)) {
    if (reported->begins) node.reported.clear();
    if (node.reported.size() < kMostParts) node.reported.push_back(reported->part);
  } else if (const auto* failed = std::get_if<Failed>(&message)) {
    const int exit_code = std::clamp(failed->exit_code, 1, 255);
    if (epoch() > 0 && !finished() && !coordinator_.too_few() && !too_few_nodes_) {  // the others train without it
      events_.push_back({Event::Kind::kSaid, -1, place_of(node) + " ends: " + failed->text, 1});
      return true;
    }
    if (!failed_) events_.push_back({Event::Kind::kStop, -1, failed->text, exit_code});
    fail(failed->text, exit_code, now);
  }
  return !node.ends;
}

std::string Hub::why_not(const Arrive& said, bool* for_good) const {
  if (said.protocol != options_.own.protocol) return "another release of Tandem keeps the job's membership there";
  if (said.run != options_.own.run) return "the job there is --rdzv-id " + options_.own.run + ", not " + printable(said.run);
  if (said.ranks < 1 || said.ranks > kMostRanks || ranks_ + said.ranks > kMostRanksOfAll || said.port < 0 || said.port > 65535 ||
      said.node > static_cast<int>(kMostNodes) || said.first_slot < 0 || said.first_slot > kMostRanksOfAll) {
    return "it says of itself what cannot be";
  }
  if (said.node >= 0 && begin_ && said.job != begin_->job) return "it is another job of this name that is there";
  if (is_over()) {
    *for_good = said.node >= 0 || !options_.confirm;  // else the next job of this name begins once all have ended
    return "the job there is over";
  }
  if (opened_ && !coordinator_.is_elastic() && started_ > 0) {
    *for_good = false;
    return "the program there has begun, and has not shown that it takes others in later (elastic.Run)";
  }
  if (arrived_ >= options_.most_nodes) {
    *for_good = false;
    return "the job there has its " + std::to_string(options_.most_nodes) + " nodes";
  }
  return "";
}

void Hub::arrive(Node& node, const Arrive& said, Time now) {
  node.said = said;
  node.said->host = printable(said.host);
  node.said->address = printable(said.address);
  bool for_good = true;
  if (const std::string why = why_not(said, &for_good); !why.empty()) {
    node.link.send(encode_node(Refused{why, for_good, is_over()}));
    node.ends = true;
    return;
  }
  if (said.node >= 0 && !begin_) {
    is_of_no_use_ = true;
    node.link.send(encode_node(Refused{"this agent knows nothing of the job so far", false}));
    node.ends = true;
    return;
  }
  count(&node, said.ranks);
  if (said.node >= 0) return take_back(node, now);
  if (begin_) {
    Begin begin = *begin_;  // what the first ones were told, and where it would be in a larger job
    begin.node = next_node_++;
    begin.first_rank = next_slot_;
    begin.epoch = told_epoch();
    begin_one(node, begin, next_slot_, now);
  }
}

// One that was part of the job before.
void Hub::take_back(Node& node, Time now) {
  const Arrive& said = *node.said;
  const bool is_taken = said.node == begin_->node || std::ranges::any_of(nodes_, [&](const Node& other) { return other.number == said.node; });
  Begin begin = *begin_;
  begin.node = is_taken ? next_node_ : said.node;
  begin.first_rank = said.first_slot;
  begin.epoch = told_epoch();
  const int next_slot = next_slot_;
  begin_one(node, begin, said.first_slot, now);
  next_slot_ = std::max(next_slot, said.first_slot + said.ranks);
  next_node_ = std::max(next_node_, begin.node + 1);
  node.started = said.ranks;  // those that are left of them
  for (Returned was : said.members) {
    if (was.member < 0 || was.member >= kStride || !node.members.insert(member_of(node.key, was.member)).second) continue;
    was.slot = was.slot >= 0 && was.slot < said.ranks ? said.first_slot + was.slot : kSpareSlot;
    if (was.epoch > std::max(options_.over, epoch())) was = {was.member, was.slot};  // of which nobody knows
    coordinator_.returned(member_of(node.key, was.member), was, now);
  }
}

// As one of the nodes that are there; null: this one.
void Hub::count(Node* node, int ranks) {
  if (node) node->counts = true;
  ++arrived_;
  ranks_ += ranks;
  most_ranks_ = begin_ ? std::max(most_ranks_, ranks_) : ranks_;
  coordinator_.limit(most_ranks_, options_.coordinator.least);
}

void Hub::uncount(Node& node) {
  if (!std::exchange(node.counts, false)) return;
  --arrived_;
  ranks_ -= node.said->ranks;
  if (begin_) return;
  most_ranks_ = ranks_;
  coordinator_.limit(most_ranks_, options_.coordinator.least);
  if (arrived_ < options_.least_nodes) last_call_until_.reset();
}

void Hub::look_whether_all_are_there(Time now) {
  if (begin_ || !refusal_.empty()) return;
  if (!last_call_until_ && arrived_ >= options_.least_nodes) last_call_until_ = now + options_.last_call;
  if (arrived_ >= options_.most_nodes || (last_call_until_ && now >= *last_call_until_)) {
    begin_all(now);
  } else if (arrived_ < options_.least_nodes && now >= join_until_) {
    refusal_ = "of " + std::to_string(options_.least_nodes) + " nodes " + std::to_string(arrived_) + " came within " +
               std::to_string(std::chrono::duration_cast<std::chrono::seconds>(options_.join).count()) + " s";
    tell_nodes(Refused{refusal_});
  }
}

// Nodes get the places that they want, and the others in the order in which they came.
void Hub::begin_all(Time now) {
  std::vector<Node*> order = {nullptr};  // this one
  for (Node& node : nodes_) {
    if (node.said && !node.ends) order.push_back(&node);
  }
  const auto said = [this](const Node* node) -> const Arrive& { return node ? *node->said : options_.own; };
  std::vector<Node*> placed(order.size(), nullptr);
  std::vector<bool> taken(order.size(), false);
  std::vector<Node*> others;
  for (Node* node : order) {
    const int wanted = said(node).wanted;
    if (wanted < 0 || static_cast<std::size_t>(wanted) >= order.size() || taken[static_cast<std::size_t>(wanted)]) {
      others.push_back(node);
      continue;
    }
    placed[static_cast<std::size_t>(wanted)] = node;
    taken[static_cast<std::size_t>(wanted)] = true;
  }
  for (Node* node : others) {
    const auto free = static_cast<std::size_t>(std::ranges::find(taken, false) - taken.begin());
    placed[free] = node;
    taken[free] = true;
  }
  Begin begin;
  std::random_device random;
  begin.job = !options_.job.empty() ? options_.job : std::to_string(random()) + "-" + std::to_string(random());
  begin.nodes = static_cast<int>(placed.size());
  begin.world_size = ranks_;
  const Arrive& first = said(placed.front());
  begin.master_address = !first.address.empty() || !placed.front() ? first.address : placed.front()->seen_address;
  begin.master_port = first.port;
  for (std::size_t place = 0; place < placed.size(); ++place) {
    begin.node = static_cast<int>(place);
    begin.first_rank = next_slot_;
    if (Node* node = placed[place]) {
      begin_one(*node, begin, next_slot_, now);
    } else {
      begin_ = begin;
      first_slot_ = next_slot_;
      next_slot_ += options_.own.ranks;
    }
  }
  next_node_ = begin.nodes;
}

void Hub::look_whether_all_have_started(Time now) {
  if (opened_ || !begin_ || started_ < options_.own.ranks) return;
  const auto starts = [](const Node& node) { return node.number >= 0 && node.started < node.said->ranks; };
  if (std::ranges::any_of(nodes_, starts)) return;
  if (options_.begun && arrived_ < options_.returning && now < return_until_) return;
  if (options_.begun && arrived_ < options_.least_nodes && now < least_return_until_) return;
  opened_ = true;
  coordinator_.open(now);
  look_whether_too_few();
}

void Hub::begin_one(Node& node, const Begin& begin, int first_slot, Time now) {
  node.begun = now;
  node.number = begin.node;
  node.first_slot = first_slot;
  next_slot_ += node.said->ranks;
  node.link.send(encode_node(begin));
}

void Hub::lose(Node& node, const std::string& reason, Time now) {
  uncount(node);
  if (node.number < 0) return;
  const bool in_peace = node.ends && node.wrong.empty();
  const std::string what = in_peace ? place_of(node) + " has ended" : place_of(node) + " " + reason;
  if (!in_peace) events_.push_back({Event::Kind::kSaid, -1, what + "; its ranks are lost", 1});
  for (const Member member : node.members) coordinator_.lost(member, what, now);
  if (!in_peace && !is_elastic() && !failed_) {
    const std::string text = what + ": the program's other ranks cannot go on without it";
    events_.push_back({Event::Kind::kStop, -1, text, 1});
    fail(text, 1, now);
  }
  look_whether_too_few();
}

// Of MIN:MAX nodes.
void Hub::look_whether_too_few() {
  too_few_in_doubt_ = false;
  if (!opened_ || too_few_nodes_ || options_.least_nodes == options_.most_nodes || arrived_ >= options_.least_nodes) return;
  if (!is_elastic() || finished() || failed_ || coordinator_.is_ending()) return;
  too_few_in_doubt_ = options_.is_certain && !options_.is_certain();
  if (too_few_in_doubt_) return;
  too_few_nodes_ = true;
  const Event event{Event::Kind::kTooFew, -1,
                    "of the " + std::to_string(options_.least_nodes) + " nodes that it takes to go on " + std::to_string(arrived_) +
                        (arrived_ == 1 ? " is left" : " are left"),
                    1};
  tell_nodes(Told{static_cast<int>(event.kind), -1, event.text, 1, epoch(), world_size(), progress()});
  events_.push_back(event);
}

void Hub::tell_nodes(const NodeMessage& message) {
  const std::string bytes = encode_node(message);
  for (Node& node : nodes_) {
    if (node.said) node.link.send(bytes);
  }
}

void Hub::look_whether_permitted(Time now) {
  if (!coordinator_.is_asked()) {
    asked_since_.reset();
  } else if (!options_.is_certain || options_.is_certain()) {
    coordinator_.permit();
    asked_since_.reset();
  } else if (!asked_since_) {
    asked_since_ = now;
  } else if (now - *asked_since_ >= kForPermits && !(options_.may_be_certain && options_.may_be_certain())) {
    const std::string why = "it is not known whether the agents have elected another one to keep the membership";
    coordinator_.permit(why);
    events_.push_back({Event::Kind::kSaid, -1, "a checkpoint is not written: " + why, 1});
    asked_since_.reset();
  }
}

std::vector<std::pair<std::string, std::string>> Hub::reports() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Node& node : nodes_) {
    for (const std::string& part : node.reported) all.emplace_back(node.said->host, part);
  }
  return all;
}

bool Hub::has_reports() const {
  return std::ranges::any_of(nodes_, [](const Node& node) { return !node.reported.empty(); });
}

bool Hub::has_other_nodes() const {
  return std::ranges::any_of(nodes_, [](const Node& node) { return node.number >= 0 && !node.ends; });
}

void Hub::say(const std::string& text) {
  tell_nodes(Told{static_cast<int>(Event::Kind::kSaid), -1, text, 1, epoch(), world_size(), progress()});
}

// Messages and events go to where their member is.
void Hub::route() {
  if (options_.confirm && coordinator_.epoch() > 0) {
    const bool was_unconfirmed = std::exchange(is_unconfirmed_, !options_.confirm(coordinator_.epoch()));
    if (is_unconfirmed_) return;
    if (was_unconfirmed) coordinator_.tells(*served_at_);
  }
  for (auto& [member, message] : coordinator_.take_messages()) {
    Node* node = node_of(member);
    if (auto* form = std::get_if<Form>(&message); form && form->serves) {
      form->host = node ? (node->said->address.empty() ? node->seen_address : node->said->address) : options_.own.address;
    }
    if (node) {
      node->link.send(encode_node(ToWorker{own_of(member), encode(message)}));
    } else if (key_of(member) == 0) {
      messages_.emplace_back(own_of(member), std::move(message));
    }
  }
  for (Event& event : coordinator_.take_events()) {
    const Told told{static_cast<int>(event.kind), event.member < 0 ? -1 : own_of(event.member), event.text, event.exit_code, epoch(),
                    world_size(), progress()};
    Node* node = event.member < 0 ? nullptr : node_of(event.member);
    if (node) {
      node->link.send(encode_node(told));
      continue;
    }
    if (event.member < 0) tell_nodes(told);
    if (event.member < 0 || key_of(event.member) == 0) events_.push_back(std::move(event));
  }
}

void Hub::fail(const std::string& text, int exit_code, Time now) {
  if (failed_) return;
  failed_ = Failed{text, exit_code};
  failed_at_ = now;
  tell_nodes(Told{static_cast<int>(Event::Kind::kStop), -1, text, exit_code, epoch(), world_size(), progress()});
}

bool Hub::may_end(Time now) {
  return std::ranges::none_of(nodes_, [](const Node& node) { return node.number >= 0; }) || (failed_ && now >= failed_at_ + kFarewell);
}

}  // namespace tandem::membership
