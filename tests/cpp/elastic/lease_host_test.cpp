// The queue of leases in one process's memory, and its ranks, over real connections.
#include "elastic/lease_host.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "comm/requests/server_connection.h"
#include "cpp/data/expect_error.h"
#include "elastic/lease_channel.h"

namespace tandem::lease_host_test {
namespace {

using elastic::LeaseChannel;
using elastic::LeaseHost;
using elastic::LeaseMessage;
using elastic::LeaseRank;
using Answer = LeaseQueue::Answer;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

constexpr LeasePlan kPlan{.positions = 24, .batch_size = 8, .micro_batch = 4};
constexpr milliseconds kPatient{60000};

std::unique_ptr<LeaseHost> started(const LeasePlan& plan = kPlan, milliseconds lost_after = kPatient) {
  auto host = std::make_unique<LeaseHost>(plan, 1, -1, lost_after, "127.0.0.1");
  host->start();
  return host;
}

Descriptor connect(const LeaseHost& host) {
  auto connection = requests::connect_to_server(host.address(), "the keeper", Clock::now() + seconds(60));
  if (!connection) throw Error(ErrorCode::kPeerLost, "the keeper is gone");
  return *std::move(connection);
}

std::unique_ptr<LeaseChannel> join(const LeaseHost& host, std::int32_t rank, std::int32_t world_size,
                                   const LeasePlan& plan = kPlan, milliseconds lost_after = kPatient) {
  auto channel = std::make_unique<LeaseChannel>(LeaseRank{1, rank, world_size}, "the keeper", connect(host),
                                                lost_after, kPatient);
  channel->begin(plan, 0, 0, {});
  return channel;
}

Lease must_lease(LeaseChannel& rank, std::int64_t step = 0) {
  Lease part;
  EXPECT_EQ(rank.lease(0, step, &part), Answer::kDone);
  return part;
}

Answer try_lease(LeaseChannel& rank, std::int64_t step = 0, std::int64_t epoch = 0) {
  Lease part;
  return rank.lease(epoch, step, &part);
}

void await(const std::function<bool()>& happened) {
  const auto deadline = Clock::now() + seconds(60);
  while (!happened()) {
    ASSERT_LT(Clock::now(), deadline);
    std::this_thread::sleep_for(milliseconds(1));
  }
}

// Waits until the channel is woken.
class Wakes {
 public:
  explicit Wakes(LeaseChannel& channel) : channel_(channel) {
    channel_.on_wake([this] { ++count_; });
  }
  ~Wakes() { channel_.on_wake(nullptr); }
  int count() const { return count_; }

 private:
  LeaseChannel& channel_;
  std::atomic<int> count_ = 0;
};

TEST(LeaseHost, DealsToWhoeverAsks) {
  const auto host = started();
  const auto first = join(*host, 0, 2), second = join(*host, 1, 2);
  EXPECT_EQ(must_lease(*second), (Lease{0, 0, 0, 0, 4}));
  const Lease part = must_lease(*first);
  EXPECT_EQ(part, (Lease{0, 0, 1, 4, 4}));
  EXPECT_EQ(first->holders(0, 0), (std::map<std::int32_t, int>{{0, 1}, {1, 1}}));
  EXPECT_EQ(try_lease(*first), Answer::kWait);
  first->complete(part, 3, {{1, 2, 1}});
  EXPECT_ERROR(first->complete(part, 4, {}), ErrorCode::kInvalidArgument, "rank 0 does not hold part 1");
  second->complete({0, 0, 0, 0, 4}, 4, {});
  EXPECT_EQ(try_lease(*first), Answer::kWhole);
  const CommittedStep record = second->record(0, 0);
  EXPECT_EQ(record, (CommittedStep{1, 0, 0, {{0, 1, 4}, {1, 0, 3}}, {}, {{1, 2, 1}}}));
  first->commit(0, 0);
  second->commit(0, 0);
  EXPECT_EQ(first->record(0, 0), record);
  EXPECT_EQ(must_lease(*first, 1).begin, 8);
}

// Nothing is asked meanwhile: the answer to lease() says to wait, and comes to be another one with a wake.
TEST(LeaseHost, WhoWaitsIsWokenAndDoesNotAsk) {
  const auto host = started();
  const auto slow = join(*host, 0, 3), waits = join(*host, 1, 3), also = join(*host, 2, 3);
  const Lease a = must_lease(*slow), b = must_lease(*slow);
  const Wakes wakes(*waits), others(*also);
  EXPECT_EQ(try_lease(*waits), Answer::kWait);
  EXPECT_EQ(try_lease(*also), Answer::kWait);
  const auto before = host->counts();
  slow->complete(a, 4, {});  // one part is still computed
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_EQ(wakes.count(), 0);
  EXPECT_EQ(host->counts().requests - before.requests, 1);  // completing
  slow->complete(b, 4, {});
  await([&] { return wakes.count() == 1 && others.count() == 1; });
  EXPECT_EQ(try_lease(*waits), Answer::kWhole);
  EXPECT_EQ(host->counts().requests - before.requests, 3);
  EXPECT_EQ(host->counts().wakes - before.wakes, 2);
}

TEST(LeaseHost, APartThatGoesBackWakesWhoWaits) {
  const auto host = started();
  const auto fails = join(*host, 0, 3), waits = join(*host, 1, 3);
  auto leaves = join(*host, 2, 3);
  const Lease part = must_lease(*fails), other = must_lease(*leaves);
  const Wakes wakes(*waits);
  EXPECT_EQ(try_lease(*waits), Answer::kWait);
  fails->fail(part, 2, "the loss is NaN");
  await([&] { return wakes.count() == 1; });
  EXPECT_EQ(must_lease(*waits), part);
  EXPECT_EQ(try_lease(*waits), Answer::kWait);
  leaves.reset();  // as when its process dies
  await([&] { return wakes.count() == 2; });
  EXPECT_EQ(must_lease(*waits), other);
}

TEST(LeaseHost, AStepsTurnWakesWhoWaitsForIt) {
  const auto host = started();
  const auto rank = join(*host, 0, 1);
  const Wakes wakes(*rank);
  EXPECT_EQ(try_lease(*rank, 2), Answer::kWait);  // two steps ahead
  for (int i = 0; i < 2; ++i) {
    const Lease part = must_lease(*rank);
    rank->complete(part, part.size, {});
  }
  EXPECT_EQ(wakes.count(), 0);
  rank->commit(0, 0);
  await([&] { return wakes.count() == 1; });
  EXPECT_EQ(must_lease(*rank, 2).begin, 16);
}

TEST(LeaseHost, AQuarantineComesWithTheNextAnswer) {
  LeasePlan plan = kPlan;
  plan.most_failures = 1;
  const auto host = started(plan);
  const auto first = join(*host, 0, 2, plan), second = join(*host, 1, 2, plan);
  first->fail(must_lease(*first), 2, "it is broken");
  const std::vector<Quarantined> expected = {{2, 0, 0, 1, "it is broken"}};
  EXPECT_EQ(first->quarantine(), expected);
  EXPECT_TRUE(second->quarantine().empty());
  must_lease(*second);
  EXPECT_EQ(second->quarantine(), expected);
  must_lease(*second);
  EXPECT_EQ(second->quarantine(), expected);
}

TEST(LeaseHost, AStaleGenerationIsFenced) {
  const auto host = started();
  const auto old = join(*host, 0, 2), waits = join(*host, 1, 2);
  const Lease part = must_lease(*old);
  must_lease(*old);
  const Wakes wakes(*waits);
  EXPECT_EQ(try_lease(*waits), Answer::kWait);
  LeaseChannel newer({2, 0, 1}, "the keeper", connect(*host), kPatient, kPatient);
  EXPECT_ERROR(newer.begin(kPlan, 0, 0, {}), ErrorCode::kAborted, "rank 0 of generation 2 is out of date");
  {
    requests::RequestClient fence(connect(*host), {});
    EXPECT_EQ(elastic::LeaseReply::parse(fence.call(LeaseMessage{0, elastic::FenceRequest{1}}.bytes())).answer,
              Answer::kDone);  // of its own generation: it goes on
    EXPECT_EQ(try_lease(*old, 1), Answer::kDone);
    fence.call(LeaseMessage{0, elastic::FenceRequest{5}}.bytes());
    fence.call(LeaseMessage{0, elastic::FenceRequest{3}}.bytes());
  }
  await([&] { return wakes.count() >= 1; });
  EXPECT_ERROR(try_lease(*waits), ErrorCode::kAborted, "rank 1 of generation 1", "generation 5 has begun");
  EXPECT_ERROR(old->complete(part, 4, {}), ErrorCode::kAborted, "generation 5 has begun");
  EXPECT_ERROR(old->commit(0, 0), ErrorCode::kAborted, "generation 5 has begun");
  EXPECT_ERROR(old->record(0, 0), ErrorCode::kAborted, "generation 5 has begun");
  EXPECT_ERROR(join(*host, 1, 2), ErrorCode::kAborted, "generation 5 has begun");
}

TEST(LeaseHost, ARankThatIsSilentIsGivenUp) {
  const auto host = started(kPlan, milliseconds(400));
  const auto lives = join(*host, 0, 2, kPlan, milliseconds(400));
  const auto silent = join(*host, 1, 2, kPlan, kPatient);  // it beats every twelve seconds
  must_lease(*silent);
  must_lease(*silent);
  const Wakes wakes(*lives);
  EXPECT_EQ(try_lease(*lives), Answer::kWait);
  await([&] { return wakes.count() == 1; });
  EXPECT_EQ(must_lease(*lives).micro, 0);
  EXPECT_ERROR(try_lease(*silent), ErrorCode::kAborted, "rank 1 of generation 1 was given up");
}

TEST(LeaseHost, RefusesRanksThatDiffer) {
  constexpr auto kInvalid = ErrorCode::kInvalidArgument;
  const auto host = started();
  const auto rank = join(*host, 0, 2);
  LeasePlan other = kPlan;
  other.micro_batch = 2;
  EXPECT_ERROR(join(*host, 1, 2, other), kInvalid, "another plan, with micro_batch 4 rather than 2");
  EXPECT_ERROR(join(*host, 1, 3), kInvalid, "2 ranks", "3");
  EXPECT_ERROR(join(*host, 3, 2), kInvalid, "rank 3 of 2");
  EXPECT_ERROR(rank->begin(kPlan, 0, 0, {}), kInvalid, "again");
  EXPECT_EQ(must_lease(*rank).micro, 0);
}

// The parts of a rank that sends nonsense go back: its connection is closed.
TEST(LeaseHost, ARankThatSendsNonsenseIsLost) {
  const auto host = started();
  const auto good = join(*host, 0, 2);
  const Descriptor bad = connect(*host);
  const auto say = [&](const std::string& message) {
    std::string frame;
    requests::append_frame(frame, 1, message);
    ASSERT_EQ(send(bad.get(), frame.data(), frame.size(), MSG_NOSIGNAL), static_cast<ssize_t>(frame.size()));
    pollfd answered{bad.get(), POLLIN, 0};
    ASSERT_EQ(poll(&answered, 1, 60000), 1);
    char bytes[4096];
    [[maybe_unused]] const ssize_t size = recv(bad.get(), bytes, sizeof bytes, 0);
  };
  elastic::BeginRequest begin{kPlan, 1, 1, 2, 0, 0, {}};
  say(LeaseMessage{0, begin}.bytes());
  say(LeaseMessage{0, elastic::PartRequest{0, 0}}.bytes());
  must_lease(*good);
  const Wakes wakes(*good);
  EXPECT_EQ(try_lease(*good), Answer::kWait);
  // Refused, but no nonsense: parts and steps that cannot be.
  constexpr std::int64_t kFar = std::int64_t{1} << 62;
  say(LeaseMessage{0, elastic::CompleteRequest{{kFar, kFar, 0, 0, kFar}, kFar, {}}}.bytes());
  say(LeaseMessage{0, elastic::CompleteRequest{{0, 0, 0, 0, kFar}, 4, {{99, kFar, kFar}}}}.bytes());
  say(LeaseMessage{0, elastic::PartRequest{0, kFar}}.bytes());
  say(LeaseMessage{0, elastic::RecordRequest{kFar, kFar}}.bytes());
  say(LeaseMessage{0, elastic::CommitRequest{0, kFar}}.bytes());
  say(LeaseMessage{7, elastic::HoldersRequest{0, kFar}}.bytes());
  EXPECT_EQ(wakes.count(), 0);
  say("what?");
  await([&] { return wakes.count() == 1; });
  EXPECT_EQ(must_lease(*good).micro, 0);
}

// Who asks before it said who it is, too.
TEST(LeaseHost, WhoDoesNotBeginIsSentAway) {
  const auto host = started();
  requests::RequestClient::Options options;
  options.server = "the keeper";
  requests::RequestClient client(connect(*host), options);
  EXPECT_ERROR(client.call(LeaseMessage{0, elastic::PartRequest{0, 0}}.bytes()), ErrorCode::kPeerLost, "the keeper");
}

TEST(LeaseHost, StaysUntilTheOthersHaveLeft) {
  const auto host = started();
  auto own = join(*host, 0, 2), other = join(*host, 1, 2);
  own.reset();
  EXPECT_FALSE(host->leave());
  for (int i = 0; i < 2; ++i) {
    const Lease part = must_lease(*other);
    other->complete(part, part.size, {});
  }
  other->commit(0, 0);
  EXPECT_FALSE(host->has_ended());
  other.reset();
  await([&] { return host->has_ended(); });
  EXPECT_TRUE(started()->leave());  // where nobody is there
  EXPECT_FALSE(requests::connect_to_server(host->address(), "the keeper", Clock::now() + seconds(60)).has_value());
}

TEST(LeaseHost, DoesNotStayForEver) {
  const auto host = started(kPlan, milliseconds(50));
  const auto own = join(*host, 0, 1, kPlan, milliseconds(50));
  EXPECT_FALSE(host->leave());
  await([&] { return host->has_ended(); });
  EXPECT_ERROR(try_lease(*own), ErrorCode::kPeerLost, "closed its connection");
}

// Ranks that are threads, each with a connection of its own.
TEST(LeaseHost, DealsToManyRanks) {
  constexpr std::int32_t kRanks = 96;
  constexpr std::int64_t kSteps = 6, kParts = 150;  // some ranks get none
  const LeasePlan plan{.positions = kSteps * kParts * 2, .batch_size = kParts * 2, .micro_batch = 2};
  const auto host = started(plan);
  std::mutex mutex;
  std::multiset<std::int64_t> computed;
  std::vector<std::vector<CommittedStep>> logs(kRanks);
  std::barrier exchange(kRanks);
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      const auto channel = join(*host, rank, kRanks, plan);
      std::mutex waiting;
      std::condition_variable changed;
      int woken = 0;
      channel->on_wake([&] {
        const std::lock_guard<std::mutex> lock(waiting);
        ++woken;
        changed.notify_one();
      });
      for (std::int64_t step = 0; step < kSteps; ++step) {
        for (bool is_whole = false; !is_whole;) {
          std::unique_lock<std::mutex> lock(waiting);
          const int before = woken;
          lock.unlock();
          Lease part;
          const Answer answer = channel->lease(0, step, &part);
          if (answer == Answer::kDone) {
            channel->complete(part, part.size, {});
            const std::lock_guard<std::mutex> all(mutex);
            for (std::int64_t i = 0; i < part.size; ++i) computed.insert(part.begin + i);
          }
          is_whole = answer == Answer::kWhole;
          lock.lock();
          if (answer == Answer::kWait) changed.wait(lock, [&] { return woken != before; });
        }
        logs[static_cast<std::size_t>(rank)].push_back(channel->record(0, step));
        exchange.arrive_and_wait();
        channel->commit(0, step);
      }
      channel->on_wake(nullptr);
      exchange.arrive_and_wait();  // nobody is lost before all are done
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(computed.size(), static_cast<std::size_t>(plan.positions));
  EXPECT_EQ(std::set<std::int64_t>(computed.begin(), computed.end()).size(), computed.size());
  for (const auto& log : logs) EXPECT_EQ(log, logs[0]);
  // A part costs two requests, and a step a few of each rank, however long it waits: to begin, to be told to wait, that
  // the step is whole, of its record and that it is committed. A commit wakes those who wait for the next step.
  const auto counts = host->counts();
  EXPECT_LE(counts.requests, 2 * kSteps * kParts + kRanks * (1 + kSteps * 5));
}

}  // namespace
}  // namespace tandem::lease_host_test
