// How ranks tell each other what they need to connect: how often they call the store, and what happens when one of them
// does not come, cannot go on or is aborted.
#include "comm/bootstrap/bootstrap.h"

#include <gmock/gmock.h>

#include <thread>

#include "comm/bootstrap/pack.h"
#include "comm/store/store_limit.h"
#include "cpp/comm/counting_store.h"
#include "cpp/comm/threads.h"

namespace tandem::testing::bootstrap_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

using Counted = c10::intrusive_ptr<CountingStore>;

Bootstrap::Call call_of(milliseconds timeout) {
  Bootstrap::Call call;
  call.purpose = "the test's exchange";
  call.timeout = timeout;
  call.describe_timeout = [timeout](const std::string& who) {
    return who + " after " + std::to_string(timeout.count()) + " ms";
  };
  return call;
}

const auto kLong = call_of(seconds(100));

TEST(Packed, ComesBackOrIsRefused) {
  const std::vector<std::string> parts = {"", std::string("\0\n", 2), std::string(300, 'x')};
  const std::string packed = pack(parts);
  EXPECT_EQ(unpack(packed), parts);
  EXPECT_EQ(unpack(pack({})), std::vector<std::string>());
  for (const std::size_t size : {1ul, 7ul, 9ul, packed.size() - 1}) {
    EXPECT_EQ(error_of([&] { unpack(packed.substr(0, size)); }).code(), ErrorCode::kDataLoss) << size;
  }
  EXPECT_EQ(error_of([&] { unpack(std::string(8, '\xff')); }).code(), ErrorCode::kDataLoss);
}

std::string bytes_of(int rank, int round) {
  return std::string(static_cast<std::size_t>(rank % 5), '\0') + std::to_string(rank) + "\n" + std::to_string(round);
}

class OfSize : public ::testing::TestWithParam<int> {};

// What a group of n does goes up with n, not with its square, and nobody asks again and again.
TEST_P(OfSize, CallsTheStoreInProportion) {
  const int size = GetParam(), rounds = 3;
  const auto store = c10::make_intrusive<CountingStore>();
  run_ranks(size, [&](int rank) {
    Bootstrap bootstrap(WaitableStore(Store(store)), rank, size);
    for (int round = 0; round < rounds; ++round) {
      const auto gathered = bootstrap.all_gather(bytes_of(rank, round), kLong);
      ASSERT_THAT(gathered, SizeIs(size));
      for (int other = 0; other < size; ++other) ASSERT_EQ(gathered[other], bytes_of(other, round));
    }
    bootstrap.finish();
  });
  EXPECT_LE(store->calls(), rounds * 7 * size + 3 * size + 10);
  EXPECT_LE(store->checks(), rounds);  // one by rank 0
  EXPECT_EQ(store->getNumKeys(), 0);
}

INSTANTIATE_TEST_SUITE_P(Bootstraps, OfSize, ::testing::Values(2, 4, 16, 64, 256));

struct GroupOf {
  const char* backend;
  int size;
};

class Groups : public ::testing::TestWithParam<GroupOf> {};

TEST_P(Groups, CallTheStoreInProportion) {
  const int size = GetParam().size;
  const auto store = c10::make_intrusive<CountingStore>();
  std::vector<std::shared_ptr<ProcessGroup>> groups(size), halves(size);
  run_ranks(size, [&](int rank) {
    auto options = options_for(rank, size, GetParam().backend);
    options.timeout = seconds(100);
    groups[rank] = ProcessGroup::create(options, Store(store));
  });
  const int calls = store->calls(), checks = store->checks();
  EXPECT_LE(calls, 20 * size + 10);
  EXPECT_LE(checks, 4);  // by rank 0, one for each exchange
  run_ranks(size, [&](int rank) { halves[rank] = groups[rank]->new_subgroups(size / 2); });
  EXPECT_LE(store->calls() - calls, 20 * size + 20);
  run_ranks(size, [&](int rank) {
    const at::Tensor tensor = at::ones({3});
    halves[rank]->all_reduce(tensor);
    EXPECT_EQ(tensor[2].item<float>(), static_cast<float>(size / 2));
    groups[rank]->barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, Groups,
                         ::testing::Values(GroupOf{"gloo", 2}, GroupOf{"gloo", 4}, GroupOf{"gloo", 16},
                                           GroupOf{"shm", 2}, GroupOf{"shm", 4}, GroupOf{"shm", 16},
                                           GroupOf{"auto", 4}),
                         [](const auto& info) {
                           return std::string(info.param.backend) + std::to_string(info.param.size);
                         });

TEST(BootstrapFaults, NameWhoIsMissingOnEveryRank) {
  const int size = 16;
  for (const int missing : {0, 1, 15}) {
    const auto store = c10::make_intrusive<CountingStore>();
    run_ranks(size, [&](int rank) {
      if (rank == missing) return;
      Bootstrap bootstrap(WaitableStore(Store(store)), rank, size);
      const Error error = error_of([&] { bootstrap.all_gather("", call_of(seconds(1))); });
      EXPECT_EQ(error.code(), ErrorCode::kTimeout);
      EXPECT_EQ(error.what(), "rank " + std::to_string(missing) + " is missing after 1000 ms");
    });
    // One rank looks who is missing, however many have waited in vain.
    EXPECT_LE(store->checks(), size + 1) << missing;
    // Who comes later is told at once.
    Bootstrap late(WaitableStore(Store(store)), missing, size);
    const auto begun = Clock::now();
    const Error error = error_of([&] { late.all_gather("", kLong); });
    EXPECT_LT(Clock::now() - begun, seconds(20));
    EXPECT_EQ(error.what(), "rank " + std::to_string(missing) + " is missing after 1000 ms");
  }
}

TEST(BootstrapFaults, NameARankThatEndedBetweenTwoExchanges) {
  const auto store = c10::make_intrusive<CountingStore>();
  run_ranks(4, [&](int rank) {
    Bootstrap bootstrap(WaitableStore(Store(store)), rank, 4);
    bootstrap.all_gather("", kLong);
    if (rank == 2) return;
    const Error error = error_of([&] { bootstrap.all_gather("", call_of(seconds(1))); });
    EXPECT_EQ(error.code(), ErrorCode::kTimeout);
    EXPECT_THAT(error.what(), HasSubstr("rank 2 is missing"));
  });
}

// A failure is of one exchange: the next one has all ranks again, and nothing stays behind.
TEST(BootstrapFaults, LeaveTheNextExchangeAlone) {
  const auto store = c10::make_intrusive<CountingStore>();
  std::atomic<int> failed = 0;
  run_ranks(4, [&](int rank) {
    Bootstrap bootstrap(WaitableStore(Store(store)), rank, 4);
    while (rank == 3 && failed < 3) std::this_thread::sleep_for(milliseconds(1));  // comes late
    EXPECT_THAT(error_of([&] { bootstrap.all_gather("", call_of(milliseconds(500))); }).what(),
                HasSubstr("rank 3 is missing"));
    ++failed;
    for (int round = 0; round < 2; ++round) EXPECT_EQ(bootstrap.all_gather("x", kLong).size(), 4u);
    bootstrap.finish();
  });
  EXPECT_EQ(store->getNumKeys(), 0);
}

TEST(BootstrapFaults, WhatOneRankRefusesIsToldToAll) {
  const Store store = hash_store();
  const auto begun = Clock::now();
  run_ranks(4, [&](int rank) {
    Bootstrap bootstrap(WaitableStore(store), rank, 4);
    bootstrap.all_gather("", kLong);
    if (rank == 3) return;  // never comes again
    if (rank == 1) return bootstrap.refuse(Error(ErrorCode::kIo, "rank 1 has no network"));
    const Error error = error_of([&] { bootstrap.all_gather("", kLong); });
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_STREQ(error.what(), "rank 1 has no network");
  });
  EXPECT_LT(Clock::now() - begun, seconds(50));
}

// Not once its own turn comes, after ranks that are not there yet.
TEST(BootstrapFaults, RankZeroLearnsOfARefusalWhileOthersAreMissing) {
  const Store store = hash_store();
  const auto begun = Clock::now();
  run_ranks(2, [&](int thread) {
    Bootstrap bootstrap(WaitableStore(store), thread == 0 ? 0 : 2, 3);
    if (thread == 1) {
      std::this_thread::sleep_for(milliseconds(100));
      return bootstrap.refuse(Error(ErrorCode::kIo, "no memory"));
    }
    const Error error = error_of([&] { bootstrap.all_gather("a", kLong); });
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_LT(Clock::now() - begun, seconds(50));
  });
  Bootstrap late(WaitableStore(store), 1, 3);
  EXPECT_EQ(error_of([&] { late.all_gather("b", kLong); }).code(), ErrorCode::kIo);
}

// What is wrong on one rank is said to be wrong there, and mended there all may come again.
TEST(BootstrapFaults, ARankThatCannotGoOnIsNamedAndMayComeAgain) {
  const Store store = hash_store();
  for (const bool mended : {false, true}) {
    run_ranks(3, [&](int rank) {
      ProcessGroupOptions options = options_for(rank, 3, "gloo");
      if (rank == 1 && !mended) options.interface_name = "no-such-interface";
      if (mended) {
        EXPECT_EQ(ProcessGroup::create(options, store)->size(), 3);
        return;
      }
      const Error error = error_of([&] { ProcessGroup::create(options, store); });
      EXPECT_EQ(error.code(), ErrorCode::kNotFound);
      EXPECT_THAT(error.what(), HasSubstr("no-such-interface"));
      EXPECT_THAT(error.what(), HasSubstr(rank == 1 ? "network interface" : "rank 1 on "));
    });
  }
}

TEST(BootstrapFaults, WhatRankZeroFindsWrongIsToldToAll) {
  const Store store = hash_store();
  run_ranks(3, [&](int rank) {
    Bootstrap bootstrap(WaitableStore(store), rank, 3);
    auto call = kLong;
    call.check = [](int other, const std::string& bytes) {
      if (bytes == "odd") throw Error(ErrorCode::kInvalidArgument, "rank " + std::to_string(other) + " is odd");
    };
    const Error error = error_of([&] { bootstrap.all_gather(rank == 1 ? "odd" : "even", call); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_STREQ(error.what(), "rank 1 is odd");
  });
}

// On the store of threads, whose waits cannot be ended, and on one of processes.
TEST(BootstrapFaults, AnInterruptEndsTheWait) {
  TCPStoreOptions server;
  server.is_server = true;
  for (const Store& store : {hash_store(), tcp_store("127.0.0.1", 0, server)}) {
    for (const int rank : {0, 1}) {
      const auto interrupt = std::make_shared<StoreInterrupt>();
      std::thread other([&] {
        std::this_thread::sleep_for(milliseconds(100));
        interrupt->interrupt();
      });
      const auto begun = Clock::now();
      {
        const StoreLimit limit(interrupt);
        Bootstrap bootstrap(WaitableStore(store).under(std::to_string(rank)), rank, 2);
        EXPECT_EQ(error_of([&] { bootstrap.all_gather("", kLong); }).code(), ErrorCode::kAborted);
      }
      EXPECT_LT(Clock::now() - begun, seconds(20));
      other.join();
    }
  }
}

// Who is interrupted tells the others, who would wait for the timeout: while a rank is missing, and once all have come.
TEST(BootstrapFaults, WhatARankIsInterruptedInIsToldToAll) {
  for (const int interrupted : {0, 1}) {
    for (const bool is_missing : {true, false}) {
      const Store store = hash_store();
      const auto begun = Clock::now();
      run_ranks(2, [&](int rank) {
        const auto interrupt = std::make_shared<StoreInterrupt>();
        Bootstrap bootstrap(WaitableStore(store), rank, is_missing ? 3 : 2);
        if (rank != interrupted) {
          if (!is_missing) bootstrap.all_gather("", kLong);
          const Error error = error_of([&] { bootstrap.all_gather("", kLong); });
          EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
          EXPECT_STREQ(error.what(), "given up");
          return;
        }
        const StoreLimit limit(interrupt);
        std::thread other([&] {
          std::this_thread::sleep_for(milliseconds(500));  // until the others wait
          interrupt->interrupt();
        });
        if (is_missing) {
          EXPECT_EQ(error_of([&] { bootstrap.all_gather("", kLong); }).code(), ErrorCode::kAborted);
          EXPECT_EQ(bootstrap.who_is_missing(), "rank 2 is missing");
        } else {
          bootstrap.all_gather("", kLong);
        }
        other.join();
        bootstrap.refuse(Error(ErrorCode::kPeerLost, "given up"));
      });
      EXPECT_LT(Clock::now() - begun, seconds(50)) << interrupted << is_missing;
    }
  }
}

// Two groups at once, which their ranks make in another order, through one client of a TCP store each.
TEST(Bootstraps, WaitWithoutHoldingUpOtherThreads) {
  TCPStoreOptions server;
  server.is_server = true;
  const Store served = tcp_store("127.0.0.1", 0, server);
  const auto begun = Clock::now();
  run_ranks(2, [&](int rank) {
    const WaitableStore store(rank == 0 ? served : tcp_store("127.0.0.1", store_port(served)));
    const auto meet = [&](const char* group) {
      EXPECT_EQ(Bootstrap(store.under(group), rank, 2).all_gather("x", kLong).size(), 2u);
    };
    if (rank == 1) {
      std::this_thread::sleep_for(milliseconds(300));
      meet("b");
      meet("a");
      return;
    }
    std::thread first([&] { meet("a"); });
    std::this_thread::sleep_for(milliseconds(100));
    meet("b");
    first.join();
  });
  EXPECT_LT(Clock::now() - begun, seconds(50));
}

}  // namespace
}  // namespace tandem::testing::bootstrap_test
