// Many agents on a clock that the test moves, in whatever order they and what elects them come and go.
#include "membership/succession.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>

namespace tandem::membership {
namespace {

using ::testing::HasSubstr;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kLease{3000};
constexpr std::int64_t kSteps = 60;  // of the training

// What etcd is to the agents: one record, with a lease.
struct Register {
  bool is_there = true;  // can be reached
  int keeper = -1;       // by its agent's port
  std::int64_t term = 0;
  Membership::Time lasts_until{};
  std::int64_t epoch = 0;
  std::int64_t terms = 0;
  bool is_over = false;
  std::string job;

  void expire(Membership::Time now) {
    if (is_there && keeper >= 0 && now > lasts_until) keeper = -1;
  }
};

class FakeElection final : public Election {
 public:
  FakeElection(Register& shared, int port, const bool& is_cut_off, const bool& cannot_ask)
      : shared_(shared), port_(port), is_cut_off_(is_cut_off), cannot_ask_(cannot_ask) {}

  void look(bool looks, bool serves, bool is_new) override {
    is_new_ = is_new;
    looks_ = looks;
    serves_ = serves;
  }
  const std::optional<Keeper>& keeper() const override { return keeper_; }
  void has_ended(std::int64_t term) override {
    if (can_ask() && shared_.term == term) shared_.keeper = -1;
    if (keeper_ && !keeper_->is_self) keeper_.reset();
  }
  void resign(bool is_over) override {
    if (can_ask() && keeper_ && keeper_->is_self && shared_.term == keeper_->term) {
      shared_.keeper = -1;
      if (is_over) shared_.epoch = 0;
      shared_.is_over |= is_over;
    }
    keeper_.reset();
  }
  bool has_resigned() const override { return true; }
  std::int64_t confirmed() const override { return confirmed_; }
  bool is_over() const override { return shared_.is_over; }
  const std::string& job() const override { return job_; }
  bool confirm(std::int64_t epoch, const std::string& job) override {
    if (epoch <= confirmed_) return true;
    if (!can_ask() || !keeper_ || shared_.keeper != port_ || shared_.term != keeper_->term) return false;
    EXPECT_GT(epoch, shared_.epoch);
    confirmed_ = shared_.epoch = epoch;
    shared_.is_over = false;
    shared_.job = job;
    return true;
  }
  bool is_certain() const override { return keeper_ && keeper_->is_self && now_ >= certain_from_ && now_ + kLease / 3 < lasts_until_; }
  bool may_be_certain() const override { return keeper_ && keeper_->is_self && can_ask(); }
  const std::string& trouble() const override { return trouble_; }
  void add_polled(std::vector<pollfd>*) const override {}
  std::optional<Time> deadline() const override { return std::nullopt; }
  void serve(Time now) override {
    now_ = now;
    trouble_ = can_ask() ? "" : "the register is away";
    if (!can_ask()) return;
    shared_.expire(now);
    const bool was_self = keeper_ && keeper_->is_self;
    if (was_self && now < renew_at_) return;
    renew_at_ = now + kLease / 3;
    if (was_self && shared_.keeper == port_ && shared_.term == keeper_->term) {
      shared_.lasts_until = lasts_until_ = now + kLease;
      return;
    }
    if (was_self && shared_.keeper < 0 && shared_.terms == keeper_->term) {  // it ran out, and nobody has noticed
      shared_.keeper = port_;
      shared_.term = keeper_->term;
      shared_.lasts_until = lasts_until_ = now + kLease;
      return;
    }
    if (was_self) keeper_.reset();
    if (!looks_) return;
    if (shared_.keeper >= 0) nobody_since_.reset();
    else if (!nobody_since_) nobody_since_ = now;
    if (shared_.keeper < 0 && (serves_ || shared_.epoch == 0 || now - *nobody_since_ > 2 * kLease)) {
      shared_.keeper = port_;
      shared_.term = ++shared_.terms;
      shared_.lasts_until = lasts_until_ = now + kLease;
      confirmed_ = shared_.epoch;
      job_ = shared_.epoch > 0 ? shared_.job : "";
      if (is_new_) shared_.is_over = false;
      certain_from_ = confirmed_ > 0 ? now + kLease : now;
    }
    keeper_.reset();
    if (shared_.keeper >= 0) keeper_ = Keeper{"agent", shared_.keeper, shared_.term, shared_.keeper == port_};
  }

 private:
  bool can_ask() const { return shared_.is_there && !is_cut_off_ && !cannot_ask_; }

  Register& shared_;
  const int port_;
  const bool &is_cut_off_, &cannot_ask_;
  std::optional<Keeper> keeper_;
  std::int64_t confirmed_ = 0;
  Time now_{}, lasts_until_{}, certain_from_{}, renew_at_{};
  std::optional<Time> nobody_since_;
  std::string trouble_, job_;
  bool looks_ = false, serves_ = false, is_new_ = false;
};

// A rank's side: what elastic.Run does, without a network.
struct Rank {
  Member member = 0;
  bool runs = false, taking = false, done = false, finished = false;
  std::int64_t epoch = 0, committed = -1;
  int rank = -1, world = 0, store = 0;
  std::int64_t stop = -1;  // the step where it waits for the others
  bool stops = false;      // they all do
};

struct Place {
  bool is_alive = true, is_asleep = false, is_cut_off = false;
  bool cannot_ask = false;  // what elects; the other agents it reaches
  int port = 0;
  std::deque<std::pair<Descriptor, std::string>> waiting;  // to be accepted
  std::unique_ptr<Succession> membership;
  Rank worker;
  std::string said;
  bool ended = false;
  bool says_done = false;  // once it is awake
};

class World {
 public:
  World(int agents, int least, unsigned seed, int least_ranks = 1) : random(seed), least_ranks_(least_ranks) {
    for (int i = 0; i < agents; ++i) add(least, agents + 4);
  }

  void add(int least, int most) {
    const int port = static_cast<int>(agents.size()) + 1;
    agents.push_back(std::make_unique<Place>());
    Place& agent = *agents.back();
    agent.port = port;
    HubOptions options;
    options.own.run = "job";
    options.own.host = "host" + std::to_string(port);
    options.own.address = "agent";
    options.own.port = 4000 + port;
    options.least_nodes = least;
    options.most_nodes = most;
    options.coordinator.least = least_ranks_;
    options.last_call = milliseconds(0);
    options.join = seconds(120);
    options.silence = seconds(4);
    const auto connect = [this, &agent](const std::string&, int to, int* failure) {
      Place& other = *agents.at(static_cast<std::size_t>(to) - 1);
      if (!other.is_alive) *failure = ECONNREFUSED;
      else if (other.is_cut_off != agent.is_cut_off) *failure = EHOSTUNREACH;
      if (*failure) return Descriptor();
      int ends[2];
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
      other.waiting.emplace_back(Descriptor(ends[1]), "10.0.0." + std::to_string(agent.port));
      links_.push_back({agent.port, to, Descriptor(fcntl(ends[0], F_DUPFD_CLOEXEC, 0))});
      return Descriptor(ends[0]);
    };
    const auto accept = [&agent]() -> std::optional<std::pair<Descriptor, std::string>> {
      if (agent.waiting.empty()) return std::nullopt;
      auto next = std::move(agent.waiting.front());
      agent.waiting.pop_front();
      return next;
    };
    auto election = std::make_unique<FakeElection>(shared, port, agent.is_cut_off, agent.cannot_ask);
    agent.membership = std::make_unique<Succession>(options, std::move(election), connect, accept, -1, now);
  }

  void kill(Place& agent) {
    agent.is_alive = false;
    agent.membership.reset();
    agent.waiting.clear();
    agent.worker = {};
  }

  // From all others, and from what elects; its connections end.
  void cut_off(Place& agent) {
    agent.is_cut_off = true;
    for (Wire& wire : links_) {
      const bool crosses = agents[static_cast<std::size_t>(wire.from) - 1]->is_cut_off != agents[static_cast<std::size_t>(wire.to) - 1]->is_cut_off;
      if (crosses) shutdown(wire.socket.get(), SHUT_RDWR);
    }
  }

  void step(milliseconds passed = milliseconds(100)) {
    now += passed;
    for (auto& agent : agents) {
      if (agent->is_alive && !agent->is_asleep && !agent->ended) serve(*agent);
    }
    train();
  }

  bool all_have_ended() const {
    return std::ranges::all_of(agents, [](const auto& agent) { return !agent->is_alive || agent->ended; });
  }
  int alive() const {
    return static_cast<int>(std::ranges::count_if(agents, [](const auto& agent) { return agent->is_alive && !agent->ended; }));
  }
  Place* keeper() {
    if (shared.keeper < 0) return nullptr;
    Place& agent = *agents.at(static_cast<std::size_t>(shared.keeper) - 1);
    return agent.is_alive ? &agent : nullptr;
  }
  // Of the epoch that came farthest.
  std::int64_t steps() const {
    std::int64_t most = 0;
    for (const auto& [epoch, step] : at_) most = std::max(most, step);
    return most;
  }
  std::string said() const {
    std::string all;
    for (const auto& agent : agents) all += "agent " + std::to_string(agent->port) + ":\n" + agent->said;
    return all;
  }

  std::mt19937 random;
  Membership::Time now = Coordinator::Clock::now();
  Register shared;
  std::vector<std::unique_ptr<Place>> agents;
  std::map<std::int64_t, std::vector<std::int64_t>> formed;  // what the ranks of each epoch were told
  std::map<std::int64_t, int> stores;                        // of each epoch
  std::int64_t wanted = kSteps;
  std::int64_t permitted = 0;  // the newest epoch that was allowed to save
  bool is_elastic = true;      // the program
  bool is_one_history = true;  // no agent slept or was cut off, so that none trains beside the others

 private:
  struct Wire {
    int from, to;
    Descriptor socket;
  };

  void tell(Place& agent, const Message& message) { agent.membership->received(agent.worker.member, message, now); }
  void join(Place& agent, const std::string& why) {
    agent.worker.taking = false;
    tell(agent, Join{agent.worker.epoch, agent.worker.committed, why});
  }

  void serve(Place& agent) {
    Succession& membership = *agent.membership;
    Rank& worker = agent.worker;
    if (shared.is_over && !membership.begun()) agent.ended = true;  // it would begin another job of this name
    if (agent.ended) return;
    membership.serve(now, false);
    if (membership.begun() && !worker.runs) {
      worker.runs = true;
      membership.started(worker.member, 0);
      if (is_elastic) tell(agent, Hello{0});
      if (is_elastic) join(agent, "");
    }
    if (std::exchange(agent.says_done, false)) tell(agent, Done{worker.epoch});
    for (const auto& [member, message] : membership.take_messages()) {
      EXPECT_EQ(member, worker.member);
      if (const auto* form = std::get_if<Form>(&message)) take(agent, *form);
      if (const auto* interrupt = std::get_if<Interrupt>(&message)) {
        if (interrupt->epoch == worker.epoch && worker.taking && !worker.done) join(agent, "interrupted");
      }
      if (std::holds_alternative<Finished>(message)) worker.finished = true;
      if (const auto* pause = std::get_if<Pause>(&message); pause && pause->epoch == worker.epoch && worker.taking && !worker.done) {
        const std::int64_t step = steps_of(worker.epoch);
        worker.stop = step < pause->step ? pause->step : -1;
        tell(agent, PauseAnswer{pause->epoch, pause->number, step, step < pause->step});
      }
      if (const auto* go = std::get_if<Go>(&message); go && go->epoch == worker.epoch) worker.stops = worker.stop >= 0;
      if (const auto* permit = std::get_if<Permitted>(&message); permit && permit->why_not.empty()) {
        EXPECT_GE(permit->epoch, permitted) << "an epoch that is over may save\n" << said();
        permitted = std::max(permitted, permit->epoch);
      }
    }
    for (const Event& event : membership.take_events()) {
      agent.said += "  " + std::to_string(static_cast<int>(event.kind)) + " " + event.text + "\n";
      const auto says = [&](const char* text) { return event.text.find(text) != std::string::npos; };
      const bool came_late = says("has come to its end without this node") || says("not taken back: the job there is over");
      if (event.kind == Event::Kind::kStop && came_late) {
        agent.ended = true;
        continue;
      }
      if (event.kind == Event::Kind::kStop || event.kind == Event::Kind::kTooFew) ADD_FAILURE() << said();
    }
    if (!membership.refusal().empty() && !membership.begun()) {
      agent.said += "  refused: " + membership.refusal() + "\n";
      agent.ended = true;
    }
    if ((worker.done || worker.finished) && membership.may_end(now)) agent.ended = true;
  }

  void take(Place& agent, const Form& form) {
    Rank& worker = agent.worker;
    EXPECT_GT(form.epoch, worker.epoch);
    worker.epoch = form.epoch;
    worker.rank = form.rank;
    worker.world = static_cast<int>(form.committed.size());
    worker.taking = true;
    worker.stop = -1;
    worker.stops = false;
    const auto place = formed.emplace(form.epoch, form.committed).first;
    EXPECT_EQ(place->second, form.committed) << "epoch " << form.epoch << " was formed twice\n" << said();
    if (is_one_history) {
      EXPECT_GE(*std::ranges::max_element(form.committed), worker.committed) << "a commit is lost\n" << said();
    }
    if (form.serves) {
      EXPECT_TRUE(stores.emplace(form.epoch, agent.port).second) << "epoch " << form.epoch << " was served twice\n" << said();
      worker.store = agent.port;
      tell(agent, Serve{form.epoch, "agent", agent.port});
    } else {
      worker.store = form.port;
    }
  }

  // An epoch whose ranks all are there makes a step; one that has lost some fails, sooner or later.
  void train() {
    std::map<std::pair<std::int64_t, int>, std::vector<Place*>> groups;
    for (auto& agent : agents) {
      const Rank& worker = agent->worker;
      if (agent->is_alive && worker.taking && !worker.done) groups[{worker.epoch, worker.store}].push_back(agent.get());
    }
    for (auto& [key, members] : groups) {
      const auto in_world = static_cast<std::size_t>(members.front()->worker.world);
      const bool is_split = std::ranges::any_of(members, [&](Place* one) { return one->is_cut_off != members.front()->is_cut_off; });
      if (members.size() < in_world || is_split) {
        for (Place* one : members) {
          // A stopped agent's worker goes on, and is not heard.
          if (!one->is_asleep && random() % 4 == 0) join(*one, "a peer is lost");
        }
        continue;
      }
      const auto waits = [&](Place* one) { return one->worker.stop >= 0 && steps_of(key.first) >= one->worker.stop; };
      if (std::ranges::any_of(members, waits)) {
        for (Place* one : members) {
          if (one->worker.stops && !one->is_asleep) join(*one, "");
        }
        continue;
      }
      const std::int64_t step = ++at_.try_emplace(key.first, steps_of(key.first)).first->second;
      for (Place* one : members) one->worker.committed = step;
      Place& first = **std::ranges::find_if(members, [](Place* one) { return one->worker.rank == 0; });
      if (!first.is_asleep && step % 5 == 0) tell(first, Permit{key.first, step});
      if (step < wanted) continue;
      for (Place* one : members) {
        one->worker.done = true;
        one->says_done = true;
      }
    }
  }

  std::int64_t steps_of(std::int64_t epoch) const {
    const auto found = at_.find(epoch);
    return found != at_.end() ? found->second : std::max<std::int64_t>(*std::ranges::max_element(formed.at(epoch)), 0);
  }

  int least_ranks_;
  std::vector<Wire> links_;
  std::map<std::int64_t, std::int64_t> at_;  // step of each epoch
};

void run_to_the_end(World& world) {
  for (int i = 0; i < 3000 && !world.all_have_ended(); ++i) world.step();
  EXPECT_TRUE(world.all_have_ended()) << world.said();
  EXPECT_EQ(world.steps(), world.wanted) << world.said();
}

TEST(Succession, TrainsToTheEnd) {
  World world(3, 3, 1);
  run_to_the_end(world);
  EXPECT_EQ(world.formed.size(), 1u) << world.said();
  EXPECT_EQ(world.shared.keeper, -1);
}

TEST(Succession, GoesOnWithoutTheKeeper) {
  World world(3, 1, 2);
  while (world.steps() < 10) world.step();
  Place* keeper = world.keeper();
  ASSERT_TRUE(keeper);
  world.kill(*keeper);
  run_to_the_end(world);
  EXPECT_THAT(world.said(), HasSubstr("this agent keeps the job's membership now"));
  EXPECT_EQ(world.formed.rbegin()->second.size(), 2u) << world.said();
}

TEST(Succession, OneThatIsCutOffComesBack) {
  World world(3, 1, 3);
  while (world.steps() < 10) world.step();
  Place* keeper = world.keeper();
  ASSERT_TRUE(keeper);
  world.cut_off(*keeper);
  for (int i = 0; i < 40; ++i) world.step();
  EXPECT_EQ(world.formed.rbegin()->second.size(), 2u) << world.said();
  keeper->is_cut_off = false;
  run_to_the_end(world);
  EXPECT_EQ(world.formed.rbegin()->second.size(), 3u) << world.said();
}

TEST(Succession, AKeeperThatAloneCannotReachWhatElectsIsReplaced) {
  World world(3, 1, 4);
  world.wanted = 900;
  while (world.steps() < 10) world.step();
  Place* keeper = world.keeper();
  ASSERT_TRUE(keeper);
  keeper->cannot_ask = true;
  for (int i = 0; i < 250; ++i) world.step();
  EXPECT_NE(world.keeper(), keeper) << world.said();
  EXPECT_EQ(world.formed.rbegin()->second.size(), 2u) << world.said();
  EXPECT_EQ(world.permitted, world.formed.rbegin()->first) << "who goes on saves\n" << world.said();
  EXPECT_THAT(world.said(), HasSubstr("cannot reach what elects"));
  keeper->cannot_ask = false;
  run_to_the_end(world);
  EXPECT_EQ(world.formed.rbegin()->second.size(), 3u) << world.said();
}

TEST(Succession, AKeeperThatIsReplacedDoesNotEndForWantOfTheOthers) {
  for (const auto& [nodes, ranks] : {std::pair(2, 1), {1, 2}}) {
    World world(3, nodes, 6, ranks);
    world.wanted = 900;
    while (world.steps() < 10) world.step();
    Place* keeper = world.keeper();
    ASSERT_TRUE(keeper);
    keeper->cannot_ask = true;
    for (int i = 0; i < 250; ++i) world.step();
    EXPECT_EQ(world.formed.rbegin()->second.size(), 2u) << world.said();
    keeper->cannot_ask = false;
    run_to_the_end(world);
    EXPECT_EQ(world.formed.rbegin()->second.size(), 3u) << world.said();
  }
}

TEST(Succession, AKeeperIsNotReplacedWhereTooFewWouldGoOn) {
  for (const auto& [nodes, ranks] : {std::pair(2, 1), {1, 2}}) {
    World world(2, nodes, 7, ranks);
    world.wanted = 400;
    while (world.steps() < 10) world.step();
    world.keeper()->cannot_ask = true;
    run_to_the_end(world);
    EXPECT_EQ(world.formed.size(), 1u) << world.said();
  }
}

TEST(Succession, TheKeeperOfAProgramThatIsNotElasticIsNotReplaced) {
  World world(3, 1, 8);
  world.is_elastic = false;
  for (int i = 0; i < 20; ++i) world.step();
  ASSERT_TRUE(world.keeper());
  world.keeper()->cannot_ask = true;
  for (int i = 0; i < 400; ++i) world.step();
  EXPECT_EQ(world.shared.keeper, -1) << world.said();
  EXPECT_EQ(world.alive(), 3) << world.said();
}

TEST(Succession, NobodyIsReplacedWhereAllCannotReachWhatElects) {
  World world(3, 1, 5);
  world.wanted = 400;
  while (world.steps() < 10) world.step();
  world.shared.is_there = false;
  const std::int64_t before = world.formed.rbegin()->first;
  for (int i = 0; i < 300; ++i) world.step();
  world.shared.is_there = true;
  run_to_the_end(world);
  EXPECT_EQ(world.formed.rbegin()->first, before) << world.said();
}

// Anything, at random moments.
TEST(Succession, AnyOrderOfLossesComesToAnEnd) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(2 + static_cast<int>(seed % 4), 1, seed);
    world.is_one_history = seed % 3 == 0;
    int kills = static_cast<int>(world.agents.size()) - 1, joins = 2;
    for (int i = 0; i < 400 && !world.all_have_ended(); ++i) {
      world.step();
      const unsigned what = world.random() % 200;
      Place& any = *world.agents[world.random() % world.agents.size()];
      if (!any.is_alive || any.ended || world.formed.empty()) continue;
      if (what == 0 && kills > 0 && world.alive() > 1 ) {
        --kills;
        world.kill(any);
      } else if (what == 1 && !world.is_one_history) {
        any.is_asleep = true;
      } else if (what == 2 && !world.is_one_history) {
        world.cut_off(any);
      } else if (what == 3) {
        world.shared.is_there = false;
      } else if (what == 4 && joins > 0) {
        --joins;
        world.add(1, 9);
      } else if (what == 5 && world.shared.is_there) {
        world.shared.keeper = -1;  // somebody deleted it
        ++world.shared.terms;
      } else if (what == 6) {
        any.cannot_ask = true;
      } else if (what >= 180) {
        any.is_asleep = any.is_cut_off = any.cannot_ask = false;
        world.shared.is_there = true;
      }
    }
    for (auto& agent : world.agents) agent->is_asleep = agent->is_cut_off = agent->cannot_ask = false;
    world.shared.is_there = true;
    run_to_the_end(world);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tandem::membership
