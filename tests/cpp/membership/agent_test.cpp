#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "membership/agent_client.h"
#include "membership/agent_server.h"
#include "membership/socket.h"
#include "support/temporary_folder.h"
#include "tandem/error.h"

namespace tandem::membership {
namespace {

using std::chrono::milliseconds;

// The agent of a job, on a thread.
class Agent {
 public:
  Agent(const std::string& path, int most, int processes) : coordinator_(options_of(most)), server_(path) {
    for (Member member = 0; member < processes; ++member) coordinator_.started(member, static_cast<int>(member));
    known_.assign(static_cast<std::size_t>(processes), false);
    thread_ = std::thread([this] { run(); });
  }
  ~Agent() {
    ends_ = true;
    thread_.join();
  }
  int ended() const { return ended_; }
  // As a launch that stops its workers.
  void stop() { stops_ = true; }

 private:
  static CoordinatorOptions options_of(int most) {
    CoordinatorOptions options;
    options.most = most;
    return options;
  }
  void run() {
    while (!ends_) {
      std::vector<pollfd> polled;
      server_.add_polled(&polled);
      poll(polled.data(), polled.size(), 5);
      const auto now = Coordinator::Clock::now();
      server_.serve({.knows =
                         [&](Member member) {
                           const auto at = static_cast<std::size_t>(member);
                           if (member < 0 || at >= known_.size() || known_[at]) return false;
                           known_[at] = true;
                           return true;
                         },
                     .received = [&](Member member, const Message& message) { coordinator_.received(member, message, now); },
                     .ended =
                         [&](Member member, const std::string& reason) {
                           ++ended_;
                           coordinator_.lost(member, reason, now);
                         }});
      coordinator_.tick(now);
      const auto messages = coordinator_.take_messages();
      if (stops_) {
        server_.send_at_end(messages);
        continue;
      }
      for (const auto& [member, message] : messages) server_.send(member, message);
    }
  }

  Coordinator coordinator_;
  AgentServer server_;
  std::vector<bool> known_;
  std::atomic<bool> ends_ = false;
  std::atomic<bool> stops_ = false;
  std::atomic<int> ended_ = 0;
  std::thread thread_;
};

TEST(Agent, WorkersMeetAndOnesLossReachesTheOther) {
  const testing::TemporaryFolder folder;
  Agent agent(folder / "agent", 2, 2);
  AgentClient first(folder / "agent", 0);
  auto second = std::make_unique<AgentClient>(folder / "agent", 1);
  std::thread other([&] {
    const auto form = second->join({});
    ASSERT_TRUE(form);
    EXPECT_EQ(form->rank, 1);
    EXPECT_EQ(form->port, 77);
  });
  const auto form = first.join({});
  ASSERT_TRUE(form);
  EXPECT_TRUE(form->serves);
  first.serve(form->epoch, "127.0.0.1", 77);
  other.join();
  std::atomic<int> interrupts = 0;
  first.on_interrupt([&] { ++interrupts; });
  EXPECT_FALSE(first.interrupted());
  second.reset();
  EXPECT_TRUE(first.wait_for_interrupt(milliseconds(10000)));
  const auto alone = first.join({form->epoch, 3, "peer lost"});
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->committed, std::vector<std::int64_t>{3});
  EXPECT_EQ(interrupts, 1);
}

// One that trains, and a spare that waits.
TEST(Agent, WhoLeavesWhileTheLaunchStopsIsServed) {
  const testing::TemporaryFolder folder;
  Agent agent(folder / "agent", 1, 2);
  AgentClient first(folder / "agent", 0);
  AgentClient spare(folder / "agent", 1);
  const auto form = first.join({});
  ASSERT_TRUE(form);
  first.serve(form->epoch, "127.0.0.1", 1);
  std::thread waiting([&] { EXPECT_FALSE(spare.join({})); });
  agent.stop();
  spare.leave();
  waiting.join();
  EXPECT_TRUE(spare.released());
  first.leave();
  std::int64_t step = 0;
  AgentClient::Next next = AgentClient::Next::kGoOn;
  while ((next = first.completed(++step)) == AgentClient::Next::kGoOn) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(next, AgentClient::Next::kLeave);
}

TEST(Agent, RanksStopAtTheSameStepForAThird) {
  const testing::TemporaryFolder folder;
  Agent agent(folder / "agent", 3, 3);
  // The third comes late: until then the first epoch waits for it, unless it is lost.
  std::atomic<std::int64_t> stopped[2] = {0, 0};
  std::vector<std::thread> ranks;
  { AgentClient lost(folder / "agent", 2); }
  for (int rank = 0; rank < 2; ++rank) {
    ranks.emplace_back([&, rank] {
      AgentClient client(folder / "agent", rank);
      const auto form = client.join({});
      ASSERT_TRUE(form);
      if (form->serves) client.serve(form->epoch, "127.0.0.1", 1);
      client.leave();
      std::int64_t step = 0;
      AgentClient::Next next = AgentClient::Next::kGoOn;
      while ((next = client.completed(++step)) == AgentClient::Next::kGoOn) {
        std::this_thread::sleep_for(milliseconds(rank + 1));
      }
      EXPECT_EQ(next, AgentClient::Next::kLeave);
      stopped[rank] = step;
      client.bye();
    });
  }
  for (auto& rank : ranks) rank.join();
  EXPECT_EQ(stopped[0], stopped[1]);
}

TEST(Agent, AWorkerThatTheJobDoesNotNeedIsTold) {
  const testing::TemporaryFolder folder;
  Agent agent(folder / "agent", 1, 2);
  AgentClient first(folder / "agent", 0);
  AgentClient spare(folder / "agent", 1);
  const auto form = first.join({});
  ASSERT_TRUE(form);
  first.serve(form->epoch, "127.0.0.1", 1);
  std::thread waits([&] { EXPECT_FALSE(spare.join({})); });
  first.done();
  waits.join();
}

TEST(Agent, RefusesStrangersAndNonsense) {
  const testing::TemporaryFolder folder;
  Agent agent(folder / "agent", 1, 1);
  EXPECT_THROW(AgentClient(folder / "agent", 5).join({}), Error);  // no process of the job
  AgentClient first(folder / "agent", 0);
  EXPECT_THROW(AgentClient(folder / "agent", 0).join({}), Error);  // twice
  const Descriptor rude = connect_to(folder / "agent");
  send(rude, "nonsense");
  pollfd ready{rude.get(), POLLIN, 0};
  EXPECT_EQ(poll(&ready, 1, 10000), 1);  // it is cut off
  std::string message;
  EXPECT_EQ(receive(rude, &message), Received::kEnd);
  EXPECT_TRUE(first.join({}));
}

TEST(Agent, ItsEndEndsEveryWait) {
  const testing::TemporaryFolder folder;
  auto agent = std::make_unique<Agent>(folder / "agent", 2, 2);
  AgentClient first(folder / "agent", 0);
  std::atomic<int> interrupts = 0;
  first.on_interrupt([&] { ++interrupts; });
  std::thread waits([&] {
    try {
      first.join({});
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
    }
  });
  std::this_thread::sleep_for(milliseconds(20));
  agent.reset();
  waits.join();
  first.on_interrupt(nullptr);
  EXPECT_EQ(interrupts, 1);
  EXPECT_THROW(first.completed(1), Error);
}

TEST(Agent, ListensWhereAnAddressIsTooShort) {
  const testing::TemporaryFolder folder;
  const std::string deep = folder / std::string(120, 'x');
  std::filesystem::create_directory(deep);
  const std::string path = deep + "/agent";
  Agent agent(path, 1, 1);
  AgentClient client(path, 0);
  EXPECT_TRUE(client.join({}));
}

}  // namespace
}  // namespace tandem::membership
