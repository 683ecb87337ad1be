// The agent that keeps a job's membership, and others that speak with it, or at it.
#include "membership/hub.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <deque>

#include "membership/link.h"
#include "membership/node.h"

namespace tandem::membership {
namespace {

using ::testing::HasSubstr;
using std::chrono::milliseconds;
using std::chrono::seconds;

class Keeper : public ::testing::Test {
 protected:
  Hub& begin(int least, int most, milliseconds last_call = milliseconds(0)) {
    HubOptions options;
    options.own.run = "job";
    options.own.host = "first";
    options.own.address = "10.0.0.1";
    options.own.port = 4000;
    options.least_nodes = least;
    options.most_nodes = most;
    options.last_call = last_call;
    hub_ = std::make_unique<Hub>(options, now_, [this]() -> std::optional<std::pair<Descriptor, std::string>> {
      if (waiting_.empty()) return std::nullopt;
      auto next = std::pair(std::move(waiting_.front()), std::string("10.0.0.2"));
      waiting_.pop_front();
      return next;
    });
    return *hub_;
  }

  // The other end of a new connection.
  Descriptor new_connection() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    waiting_.emplace_back(ends[0]);
    return Descriptor(ends[1]);
  }
  static Arrive arrival(int ranks = 1) {
    Arrive own;
    own.run = "job";
    own.host = "second";
    own.ranks = ranks;
    return own;
  }
  void serve(milliseconds passed = milliseconds(1)) {
    now_ += passed;
    hub_->serve(now_, false);
  }
  static std::vector<NodeMessage> told(Link& link) {
    std::vector<NodeMessage> all;
    for (const std::string& bytes : link.read()) all.push_back(decode_node(bytes));
    return all;
  }
  template <typename Kind>
  static const Kind* find(const std::vector<NodeMessage>& messages) {
    for (const NodeMessage& message : messages) {
      if (const auto* found = std::get_if<Kind>(&message)) return found;
    }
    return nullptr;
  }

  Membership::Time now_ = Coordinator::Clock::now();
  std::deque<Descriptor> waiting_;
  std::unique_ptr<Hub> hub_;
};

TEST_F(Keeper, BeginsOnceAllAreThere) {
  Hub& hub = begin(2, 2);
  Link other(new_connection());
  serve();
  EXPECT_FALSE(hub.begun());
  other.send(encode_node(arrival(3)));
  serve();
  ASSERT_TRUE(hub.begun());
  EXPECT_EQ(hub.begun()->world_size, 4);
  const auto messages = told(other);
  const auto* told_begin = find<Begin>(messages);
  ASSERT_NE(told_begin, nullptr);
  EXPECT_EQ(told_begin->node, 1);
  EXPECT_EQ(told_begin->first_rank, 1);
  EXPECT_EQ(told_begin->master_address, "10.0.0.1");
  EXPECT_EQ(told_begin->master_port, 4000);
}

TEST_F(Keeper, WhatIsNoMessageEndsTheConnectionAndCountsForNobody) {
  Hub& hub = begin(3, 3);
  const std::string rubbish[] = {"", "[]", "{\"kind\":7}", "{\"kind\":\"arrive\"}", std::string(300000, 'x'),
                                 R"({"kind":"arrive","protocol":1e300,"run":"job","host":"a","address":"","port":0,"ranks":1,"wanted":-1})",
                                 encode_node(Ended{}), encode_node(Refused{"no", true})};
  for (const std::string& bytes : rubbish) {
    Link other(new_connection());
    other.send(encode_node(arrival()));
    Link stranger(new_connection());
    stranger.send(bytes);
    serve();
    other.send(bytes);
    serve();
    EXPECT_FALSE(hub.begun()) << bytes.substr(0, 100);
  }
  serve();
  // Raw bytes that begin as a message of 4 GB.
  const Descriptor raw = new_connection();
  ASSERT_EQ(::send(raw.get(), "\xff\xff\xff\xff....", 8, 0), 8);
  serve();
  char byte = 0;
  EXPECT_EQ(recv(raw.get(), &byte, 1, MSG_DONTWAIT), 0);
}

// After a takeover nobody is certain for a lease, which may be longer than ranks are let wait otherwise.
TEST_F(Keeper, IsAskedForAPermitUntilItIsCertainOrCannotBecomeSo) {
  for (const bool may_be_certain : {true, false}) {
    bool is_certain = false;
    HubOptions options;
    options.confirm = [](std::int64_t) { return true; };
    options.is_certain = [&] { return is_certain; };
    options.may_be_certain = [&] { return may_be_certain; };
    hub_ = std::make_unique<Hub>(options, now_);
    serve();
    hub_->started(0, 0);
    hub_->received(0, Hello{0}, now_);
    hub_->received(0, Join{0, -1, ""}, now_);
    serve();
    hub_->received(0, Serve{1, "127.0.0.1", 1}, now_);
    hub_->received(0, Permit{1, 1}, now_);
    hub_->take_messages();
    const auto answer = [&](milliseconds passed) -> std::optional<std::string> {
      serve(passed);
      for (const auto& [member, message] : hub_->take_messages()) {
        if (const auto* permitted = std::get_if<Permitted>(&message)) return permitted->why_not;
      }
      return std::nullopt;
    };
    EXPECT_EQ(answer(milliseconds(1)), std::nullopt);
    if (!may_be_certain) {
      EXPECT_THAT(answer(seconds(11)).value_or(""), HasSubstr("it is not known whether the agents have elected another one"));
      continue;
    }
    EXPECT_EQ(answer(seconds(11)), std::nullopt);
    is_certain = true;
    EXPECT_EQ(answer(seconds(1)), "");
  }
}

TEST_F(Keeper, NodesThatCameAndWentBeforeItBeganDoNotCount) {
  Hub& hub = begin(3, 3);
  for (int i = 0; i < 5; ++i) {
    Link other(new_connection());
    other.send(encode_node(arrival()));
    serve();
    if (i % 2) other.send("rubbish");
  }
  serve();
  serve();
  EXPECT_FALSE(hub.begun());
}

TEST_F(Keeper, RefusesWithAReason) {
  begin(2, 2);
  struct Case {
    Arrive arrival;
    const char* why;
  };
  std::vector<Case> cases(4, Case{arrival(), ""});
  cases[0].arrival.run = "other";
  cases[0].why = "--rdzv-id job, not other";
  cases[1].arrival.protocol = 99;
  cases[1].why = "another release";
  cases[2].arrival.ranks = 0;
  cases[2].why = "cannot be";
  cases[3].arrival.ranks = 1 << 30;
  cases[3].why = "cannot be";
  for (const Case& each : cases) {
    Link other(new_connection());
    other.send(encode_node(each.arrival));
    serve();
    const auto messages = told(other);
    const auto* refused = find<Refused>(messages);
    ASSERT_NE(refused, nullptr) << each.why;
    EXPECT_THAT(refused->why, HasSubstr(each.why));
  }
}

TEST_F(Keeper, MembersOfAnAgentAreItsOwnOnly) {
  Hub& hub = begin(2, 2);
  Link other(new_connection());
  other.send(encode_node(arrival()));
  serve();
  hub.started(0, 0);
  hub.received(0, Hello{0}, now_);
  for (const Member member : {Member{-1}, Member{0}, Member{1} << 24, Member{1} << 62}) {
    other.send(encode_node(Lost{member, "is gone"}));
    other.send(encode_node(FromWorker{member, encode(Join{0, -1, ""})}));
    other.send(encode_node(Disconnected{member, "is gone"}));
  }
  other.send(encode_node(Started{0, 0}));
  other.send(encode_node(Started{0, 0}));
  serve();
  hub.received(0, Join{0, -1, ""}, now_);
  other.send(encode_node(FromWorker{0, encode(Join{0, -1, ""})}));
  serve();
  hub.take_messages();
  EXPECT_EQ(hub.epoch(), 1);
}

TEST_F(Keeper, ASilentNodeIsLostAndOneThatSpeaksIsNot) {
  Hub& hub = begin(2, 2);
  Link quiet(new_connection());
  quiet.send(encode_node(arrival()));
  serve();
  ASSERT_TRUE(hub.begun());
  quiet.send(encode_node(Started{0, 0}));
  for (int i = 0; i < 9; ++i) serve(seconds(1));
  EXPECT_TRUE(hub.take_events().empty());
  quiet.send(encode_node(Beat{}));
  for (int i = 0; i < 9; ++i) serve(seconds(1));
  EXPECT_TRUE(hub.take_events().empty());
  for (int i = 0; i < 3; ++i) serve(seconds(1));
  std::string said;
  for (const Event& event : hub.take_events()) said += event.text + "\n";
  EXPECT_THAT(said, HasSubstr("node 1 (second, 10.0.0.2) gives no sign of life"));
}

// Both were stopped, with all others, and go on.
TEST_F(Keeper, WhatTheAgentItselfSleptThroughMakesNobodyLate) {
  Hub& hub = begin(2, 2);
  Link other(new_connection());
  other.send(encode_node(arrival()));
  serve();
  other.send(encode_node(Started{0, 0}));
  serve(seconds(3600));
  serve();
  EXPECT_TRUE(hub.take_events().empty());
}

TEST_F(Keeper, StrangersDoNotTakeAllDescriptors) {
  begin(2, 2);
  std::vector<Descriptor> strangers;
  for (int i = 0; i < 200; ++i) strangers.push_back(new_connection());
  serve();
  EXPECT_EQ(waiting_.size(), 200u - 64u);
  for (int i = 0; i < 16; ++i) serve(seconds(1));
  serve();
  EXPECT_EQ(waiting_.size(), 200u - 128u);
}

// The two sides as they are.
TEST_F(Keeper, AnAgentAndTheKeeperUnderstandEachOther) {
  Hub& hub = begin(2, 2);
  Node node(Link(new_connection()), arrival(), "10.0.0.1:29400", seconds(10), now_);
  serve();
  node.serve(now_, false);
  ASSERT_TRUE(node.begun());
  hub.started(0, 0);
  node.started(0, 0);
  serve();
  hub.received(0, Hello{0}, now_);
  hub.received(0, Join{0, -1, ""}, now_);
  node.received(0, Hello{0}, now_);
  node.received(0, Join{0, 5, ""}, now_);
  serve();
  node.serve(now_, false);
  const auto to_first = hub.take_messages();
  ASSERT_EQ(to_first.size(), 1u);
  const auto& form = std::get<Form>(to_first.front().second);
  EXPECT_TRUE(form.serves);
  EXPECT_EQ(form.host, "10.0.0.1");
  EXPECT_THAT(form.committed, ::testing::ElementsAre(-1, 5));
  hub.received(0, Serve{1, "10.0.0.1", 77}, now_);
  serve();
  node.serve(now_, false);
  const auto to_second = node.take_messages();
  ASSERT_EQ(to_second.size(), 1u);
  EXPECT_EQ(std::get<Form>(to_second.front().second).port, 77);
  EXPECT_EQ(node.epoch(), 1);
  node.fail("it broke", 7, now_);
  serve();
  for (const Event& event : hub.take_events()) EXPECT_NE(event.kind, Event::Kind::kStop);  // the others train
}

TEST_F(Keeper, HasWhatOtherNodesSayOfTheirRanks) {
  Hub& hub = begin(2, 2);
  auto other = std::make_unique<Node>(Link(new_connection()), arrival(), "10.0.0.1:29400", seconds(10), now_);
  serve();
  other->serve(now_, false);
  ASSERT_TRUE(other->begun());
  EXPECT_TRUE(hub.gathers());
  EXPECT_FALSE(other->gathers());
  EXPECT_FALSE(hub.has_reports());
  other->report({"one", "two"});
  serve();
  EXPECT_THAT(hub.reports(), ::testing::ElementsAre(std::pair("second", "one"), std::pair("second", "two")));
  other->report({"three"});
  serve();
  EXPECT_THAT(hub.reports(), ::testing::ElementsAre(std::pair("second", "three"))) << "in the place of those before";
  // More than anybody has to say is not kept.
  other->report(std::vector<std::string>(1000, "x"));
  for (int i = 0; i < 20; ++i) {
    other->serve(now_, false);
    serve();
  }
  EXPECT_LE(hub.reports().size(), 256u);
  other.reset();
  serve();
  EXPECT_FALSE(hub.has_reports()) << "it is lost";
}

TEST_F(Keeper, IsToldNothingMoreOfRanksWhileItReadsNothing) {
  begin(2, 2);
  Node other(Link(new_connection()), arrival(), "10.0.0.1:29400", seconds(10), now_);
  serve();
  other.serve(now_, false);
  ASSERT_TRUE(other.begun());
  std::vector<pollfd> polled;
  // Without a bound on what waits the connection would be broken after 64 MiB.
  for (int i = 0; i < 2000; ++i) other.report({std::string(100000, 'x')});
  other.serve(now_, false);  // which sees that a connection is broken
  other.add_polled(&polled);
  ASSERT_EQ(polled.size(), 1u) << "the connection is there";
  EXPECT_TRUE(other.lost().empty());
}

}  // namespace
}  // namespace tandem::membership
