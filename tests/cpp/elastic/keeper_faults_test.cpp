// The rank that keeps the queue of leases is stopped, killed or out of date: a process of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cpp/comm/job.h"
#include "cpp/comm/network.h"
#include "cpp/data/expect_error.h"
#include "cpp/elastic/dynamic_ranks.h"
#include "tandem/dynamic_loader.h"

namespace tandem::keeper_faults_test {
namespace {

using namespace dynamic_ranks;
using namespace tandem::testing;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int64_t kSamples = 61, kBatch = 8, kMicro = 3, kEpochs = 3;

// A process that keeps the queue for this one, and computes nothing.
class Keeper : public ::testing::Test {
 protected:
  static DynamicLoaderOptions options(milliseconds timeout, milliseconds lost_after) {
    DynamicLoaderOptions options = options_of(kBatch, kMicro);
    options.timeout = timeout;
    options.lost_after = lost_after;
    return options;
  }
  // It is missed after two seconds where lost_after is less.
  std::unique_ptr<DynamicLoader> loader(milliseconds lost_after = milliseconds(50)) {
    return std::make_unique<DynamicLoader>(data_, options(kLong, lost_after),
                                           LeaseMembership{store_, 1, 1, 2});
  }
  void stop_keeper() {
    keeper_->stop();
    since_ = Clock::now();
  }
  // Within seconds on a machine that does nothing else.
  void expect_soon() const { EXPECT_LT(Clock::now() - since_, seconds(60)); }

  // Trains the epochs in the next generation, alone, from where the model is, and compares what is in it by then.
  void go_on(const std::string& state, Ledger& ledger) {
    DynamicLoader loader(data_, options(kLong, kLong), {store_, 2, 0, 1}, state);
    Exchange alone(1);
    train(loader, kEpochs, alone, &ledger);
    EXPECT_EQ(ledger.steps(), static_steps(data_, kBatch, kEpochs, Tail::kShort));
  }
  // The open step, up to its exchange.
  static void compute(DynamicLoader& loader, Ledger& ledger) {
    while (const auto part = loader.next()) ledger.add(loader, *part);
  }

  static Store served() {
    TCPStoreOptions server;
    server.is_server = true;
    return tcp_store("127.0.0.1", 0, server);
  }

  static constexpr milliseconds kLong{300000};
  const std::shared_ptr<Numbers> data_ = std::make_shared<Numbers>(kSamples);
  const Job job_;
  const Store store_ = served();
  const std::unique_ptr<Child> keeper_ = [this] {
    auto child = job_.start({"--keep", std::to_string(store_port(store_))}, 0, 1);
    EXPECT_EQ(child->line(), "keeps the queue");
    return child;
  }();
  Clock::time_point since_;
};

TEST_F(Keeper, ThatIsStoppedEndsACallThatChangesTheQueue) {
  auto loader = this->loader();
  loader->next_step();
  ASSERT_TRUE(loader->next().has_value());
  stop_keeper();
  EXPECT_ERROR(loader->next(), ErrorCode::kTimeout, "rank 0, which keeps the queue of leases of 'loader'",
               "does not answer", "form a new group");
  EXPECT_ERROR(loader->next(), ErrorCode::kTimeout, "does not answer");
  loader.reset();
  expect_soon();
}

TEST_F(Keeper, ThatIsStoppedEndsAWaitForParts) {
  auto loader = this->loader();
  stop_keeper();
  loader->next_step();
  EXPECT_ERROR(loader->next(), ErrorCode::kTimeout, "rank 0, which keeps the queue", "does not answer");
  loader.reset();
  expect_soon();
}

TEST_F(Keeper, ThatIsStoppedHoldsNoAbortUp) {
  auto loader = this->loader(kLong);
  loader->next_step();
  ASSERT_TRUE(loader->next().has_value());
  stop_keeper();
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(300));
    loader->abort();
  });
  // Whichever comes first: next() is ended by the abort, or refused after it.
  const Error error = error_of([&] { loader->next(); });
  EXPECT_EQ(error.code(), ErrorCode::kAborted) << error.what();
  other.join();
  loader.reset();
  expect_soon();
}

TEST_F(Keeper, ThatIsStoppedHoldsNoNewLoaderUp) {
  stop_keeper();
  EXPECT_ERROR(loader(), ErrorCode::kTimeout, "rank 0, which keeps the queue", "does not answer");
  expect_soon();
}

TEST_F(Keeper, ThatGoesOnIsNotMissed) {
  auto loader = this->loader(kLong);
  loader->next_step();
  ASSERT_TRUE(loader->next().has_value());
  stop_keeper();
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(300));
    keeper_->signal(SIGCONT);
  });
  while (loader->next()) {
  }
  other.join();
  EXPECT_EQ(loader->commit().samples(), kBatch);
}

// Whoever waits learns it at once; the next generation goes on from the model's position.
TEST_F(Keeper, ThatIsKilledInAStepEndsTheGeneration) {
  auto loader = this->loader(kLong);
  loader->next_step();
  Ledger ledger;
  compute(*loader, ledger);
  loader->commit();
  const std::string state = loader->state();
  loader->next_step();
  ASSERT_TRUE(loader->next().has_value());
  keeper_->signal(SIGKILL);
  EXPECT_ERROR(
      {
        while (loader->next()) {
        }
      },
      ErrorCode::kPeerLost, "rank 0, which keeps the queue of leases of 'loader', closed its connection",
      "form a new group");
  EXPECT_ERROR(loader->next(), ErrorCode::kPeerLost, "rank 0");
  EXPECT_EQ(loader->state(), state);
  go_on(state, ledger);
}

// The step is the model's, whoever else knows; what comes next is an error.
TEST_F(Keeper, ThatIsKilledBeforeACommitDoesNotUndoIt) {
  auto loader = this->loader(kLong);
  loader->next_step();
  Ledger ledger;
  compute(*loader, ledger);
  keeper_->signal(SIGKILL);
  keeper_->wait();
  const CommittedStep record = loader->commit();
  EXPECT_EQ(record.samples(), kBatch);
  EXPECT_ERROR(loader->next_step(), ErrorCode::kPeerLost, "rank 0, which keeps the queue");
  go_on(loader->state(), ledger);
}

// It is told that its generation is over, and that it is not needed, when it goes on.
TEST_F(Keeper, ThatStoodStillIsFenced) {
  stop_keeper();
  Ledger ledger;
  go_on("", ledger);
  keeper_->signal(SIGCONT);
  keeper_->signal(SIGUSR1);  // it asks for a part
  const std::string said = keeper_->line();
  EXPECT_THAT(said, IsError(ErrorCode::kAborted, ::testing::HasSubstr("generation 2 has begun")));
}

int keep(std::uint16_t port) {
  sigset_t asks;
  sigemptyset(&asks);
  sigaddset(&asks, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &asks, nullptr);
  DynamicLoaderOptions options = options_of(kBatch, kMicro);
  options.lost_after = std::chrono::minutes(5);
  DynamicLoader loader(std::make_shared<Numbers>(kSamples), options, {tcp_store("127.0.0.1", port), 1, 0, 2});
  say("keeps the queue");
  int signal = 0;
  sigwait(&asks, &signal);
  say_error([&] {
    loader.next_step();
    loader.next();
  });
  for (;;) ::pause();
}

// A rank of several machines, which meet where the store is. "FIRST": the rank that keeps the queue.
int train_on_host() {
  const int rank = std::atoi(std::getenv("RANK")), size = std::atoi(std::getenv("WORLD_SIZE"));
  TCPStoreOptions server;
  server.is_server = rank == 0;
  const Store store =
      tcp_store(std::getenv("MASTER_ADDR"), static_cast<std::uint16_t>(std::atoi(std::getenv("MASTER_PORT"))), server);
  const auto meet = [&](const std::string& where) {
    store->add(where, 1);
    while (store->add(where, 0) < size) std::this_thread::sleep_for(milliseconds(1));
  };
  const bool is_first = std::getenv("FIRST") == std::to_string(rank);
  if (!is_first) store->wait({"kept"});
  DynamicLoader loader(std::make_shared<Numbers>(kSamples), options_of(kBatch, kMicro), {store, 1, rank, size});
  if (is_first) store->set("kept", std::vector<std::uint8_t>{1});
  std::int64_t samples = 0;
  while (loader.epoch() < kEpochs) {
    while (loader.next_step()) {
      while (loader.next()) {
      }
      meet("step " + std::to_string(loader.epoch()) + "." + std::to_string(loader.step()));
      samples += loader.commit().samples();
    }
  }
  meet("end");
  say("all computed " + std::to_string(samples));
  store->add("said", 1);
  while (rank == 0 && store->add("said", 0) < size) std::this_thread::sleep_for(milliseconds(1));
  return 0;
}

TEST(KeeperOnAnotherHost, IsReachedWhereTheStoreIs) {
  if (!Network::why_not().empty()) GTEST_SKIP() << "NOT TESTED: no hosts on this machine: " << Network::why_not();
  for (const char* first : {"0", "2"}) {
    HostRanks("001", {"train"}, {{"FIRST", first}}).expect_all("all computed " + std::to_string(kSamples * kEpochs));
  }
}

// A store's server that stands still leaves its connections open, and answers nobody.
TEST(StoppedStore, HoldsNoNewLoaderUp) {
  const Job job;
  const auto server = job.start(std::vector<std::string>{"--serve"}, 0, 1);
  const Store store = tcp_store("127.0.0.1", static_cast<std::uint16_t>(std::stoi(server->line())));
  DynamicLoaderOptions options;
  options.timeout = milliseconds(500);
  server->stop();
  const auto since = Clock::now();
  EXPECT_ERROR(DynamicLoader(std::make_shared<Numbers>(kSamples), options, {store, 1, 0, 1}), ErrorCode::kTimeout,
               "connecting", "store does not answer");
  EXPECT_LT(Clock::now() - since, seconds(60));
}

int serve() {
  TCPStoreOptions server;
  server.is_server = true;
  const Store store = tcp_store("127.0.0.1", 0, server);
  say(std::to_string(store_port(store)));
  for (;;) ::pause();
}

}  // namespace
}  // namespace tandem::keeper_faults_test

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "--role") {
    tandem::testing::Network::join();
    return std::string(argv[2]) == "host" ? tandem::testing::Network::be_host()
                                          : tandem::keeper_faults_test::train_on_host();
  }
  if (argc == 3 && std::string(argv[1]) == "--keep") {
    return tandem::keeper_faults_test::keep(static_cast<std::uint16_t>(std::stoi(argv[2])));
  }
  if (argc == 2 && std::string(argv[1]) == "--serve") return tandem::keeper_faults_test::serve();
  tandem::testing::Network::enter();
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
