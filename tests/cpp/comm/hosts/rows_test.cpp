// What hosts send each other for a short row: a wire in memory counts it. Each host is a thread with one rank.
#include <gmock/gmock.h>

#include <bit>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "comm/hosts/row_reduction.h"

namespace tandem::testing::rows_test {
namespace {

using hosts::Wire;

// Carries bytes between ranks of this process.
class Memory {
 public:
  void put(int from, int to, std::string bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    sent_[{from, to}].push_back(std::move(bytes));
    arrived_.notify_all();
  }
  std::string take(int from, int to, Wire::Clock::time_point deadline) {
    std::unique_lock<std::mutex> lock(mutex_);
    auto& waiting = sent_[{from, to}];
    if (!arrived_.wait_until(lock, deadline, [&] { return !waiting.empty(); })) {
      throw Error(ErrorCode::kTimeout, "rank " + std::to_string(from));
    }
    std::string bytes = std::move(waiting.front());
    waiting.pop_front();
    return bytes;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::pair<int, int>, std::deque<std::string>> sent_;
};

class MemoryWire final : public Wire {
 public:
  MemoryWire(Memory& memory, int rank) : memory_(memory), rank_(rank) {}

  std::unique_ptr<Transfer> send(int rank, const std::byte* data, std::size_t bytes) override {
    ++sends_;
    memory_.put(rank_, rank, std::string(reinterpret_cast<const char*>(data), bytes));
    return std::make_unique<Sent>();
  }
  std::unique_ptr<Transfer> receive(int rank, std::byte* data, std::size_t bytes) override {
    return std::make_unique<Received>(*this, rank, data, bytes);
  }
  void wake() override {}

  int sends_ = 0;

 private:
  struct Sent final : Transfer {
    bool is_send() const override { return true; }
    void wait(Clock::time_point) override {}
  };
  struct Received final : Transfer {
    Received(MemoryWire& wire, int from, std::byte* data, std::size_t bytes)
        : wire_(wire), from_(from), data_(data), bytes_(bytes) {}
    bool is_send() const override { return false; }
    void wait(Clock::time_point deadline) override {
      if (done_) return;
      const std::string came = wire_.memory_.take(from_, wire_.rank_, deadline);
      ASSERT_EQ(came.size(), bytes_);
      std::memcpy(data_, came.data(), bytes_);
      done_ = true;
    }
    MemoryWire& wire_;
    const int from_;
    std::byte* const data_;
    const std::size_t bytes_;
    bool done_ = false;
  };

  Memory& memory_;
  const int rank_;
};

shm::Label label_of(shm::Operation operation, std::size_t bytes) {
  shm::Label label;
  label.collective = shm::CollectiveKind::kAllReduce;
  label.element = shm::Element::kF32;
  label.operation = operation;
  label.bytes = bytes;
  return label;
}

struct Reduced {
  std::vector<float> row;
  int sends = 0;
};

// A rank, alone on its host, of an all-reduce.
Reduced reduce(Memory& memory, int rank, int size, std::vector<float> row, shm::Operation operation) {
  auto connections = std::make_shared<shm::LocalConnections>();
  connections->ranks = {"default", size, {rank}, 0};
  connections->segments = {shm::Segment::create(shm::segment_bytes(1))};
  connections->sockets.resize(1);
  shm::Exchange inside(connections, std::make_shared<FailureLatch>());
  MemoryWire wire(memory, rank);
  std::vector<std::string> names;
  for (int i = 0; i < size; ++i) names.push_back("host " + std::to_string(i));
  const hosts::HostMap map(names, rank);
  hosts::Staging staging;
  const std::size_t bytes = row.size() * sizeof(float);
  // As HostsPerformer has it: a host's sums are averaged once, between hosts.
  const shm::Kernel between = shm::find_kernel(shm::Element::kF32, operation);
  const shm::Kernel within = shm::find_kernel(shm::Element::kF32, shm::Operation::kSum);
  hosts::RowReduction({inside, wire, map, staging}, label_of(operation, bytes),
                      {Wire::Clock::now() + std::chrono::seconds(20)}, within, between,
                      shm::Pieces(reinterpret_cast<std::byte*>(row.data()), bytes))
      .run();
  return {std::move(row), wire.sends_};
}

class ShortRow : public ::testing::TestWithParam<std::tuple<int, std::size_t, shm::Operation>> {};

TEST_P(ShortRow, IsCombinedInOrderOfHostWithAMessageForEachBinaryDigit) {
  const auto [hosts, elements, operation] = GetParam();
  std::vector<std::vector<float>> rows(static_cast<std::size_t>(hosts));
  std::mt19937 random(7);
  for (auto& row : rows) {
    // Of sizes so different that every order of additions has bits of its own.
    for (std::size_t i = 0; i < elements; ++i) {
      row.push_back(std::ldexp(std::uniform_real_distribution<float>(-1, 1)(random), static_cast<int>(random() % 12)));
    }
  }
  std::vector<float> expected = rows[0];
  for (std::size_t i = 0; i < elements; ++i) {
    for (int host = 1; host < hosts; ++host) expected[i] += rows[static_cast<std::size_t>(host)][i];
    if (operation == shm::Operation::kAverage) expected[i] /= static_cast<float>(hosts);
  }
  Memory memory;
  std::vector<Reduced> reduced(static_cast<std::size_t>(hosts));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < hosts; ++rank) {
    threads.emplace_back([&, rank] {
      const auto at = static_cast<std::size_t>(rank);
      reduced[at] = reduce(memory, rank, hosts, rows[at], operation);
    });
  }
  for (auto& thread : threads) thread.join();
  const int rounds = std::bit_width(static_cast<unsigned>(hosts - 1));
  for (const Reduced& one : reduced) {
    EXPECT_TRUE(elements == 0 || std::memcmp(one.row.data(), expected.data(), elements * sizeof(float)) == 0);
    EXPECT_GE(one.sends, rounds);
    EXPECT_LE(one.sends, 2 * rounds);  // what does not fit into a message's header follows it
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, ShortRow,
                         ::testing::Combine(::testing::Values(2, 3, 4, 5, 6, 7, 8, 9, 17),
                                            ::testing::Values(0, 1, 60, 242, 243, 4096),
                                            ::testing::Values(shm::Operation::kSum, shm::Operation::kAverage)));

TEST(ShortRows, ThatNobodyElseReducesIsATimeoutOfTheRankItWaitsFor) {
  Memory memory;
  try {
    auto connections = std::make_shared<shm::LocalConnections>();
    connections->ranks = {"default", 3, {1}, 0};
    connections->segments = {shm::Segment::create(shm::segment_bytes(1))};
    connections->sockets.resize(1);
    shm::Exchange inside(connections, std::make_shared<FailureLatch>());
    MemoryWire wire(memory, 1);
    const hosts::HostMap map({"a", "b", "c"}, 1);
    hosts::Staging staging;
    float value = 1;
    hosts::RowReduction({inside, wire, map, staging}, label_of(shm::Operation::kSum, sizeof value),
                        {Wire::Clock::now() + std::chrono::milliseconds(50)},
                        shm::find_kernel(shm::Element::kF32, shm::Operation::kSum),
                        shm::find_kernel(shm::Element::kF32, shm::Operation::kSum),
                        shm::Pieces(reinterpret_cast<std::byte*>(&value), sizeof value))
        .run();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kTimeout);
    EXPECT_STREQ(error.what(), "rank 0");
  }
}

}  // namespace
}  // namespace tandem::testing::rows_test
