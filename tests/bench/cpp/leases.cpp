// Our side of `leases`: ranks that take parts of the dynamic partition and compute nothing.
//
//   bench-leases RANKS PARTS STEPS     PARTS of a step, of all ranks
//
// Each rank is a thread with a connection of its own, and asks as a loader does: for parts until the step is whole, for
// its record, and to commit it, after an exchange with the others that is a barrier here. Writes rank-0.json into the
// folder BENCH_OUT: parts a second, from the first step's end on, and bytes and requests a part, with those of commits
// and records; and how many of these bytes are records, which each rank gets.
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "comm/requests/server_connection.h"
#include "elastic/lease_channel.h"
#include "elastic/lease_host.h"

namespace {

using Clock = std::chrono::steady_clock;
using tandem::LeaseQueue;
using tandem::elastic::LeaseChannel;
using tandem::elastic::LeaseHost;
using Answer = LeaseQueue::Answer;

constexpr std::chrono::milliseconds kLostAfter{30000};

// A rank of the program's own.
class Rank {
 public:
  Rank(const LeaseHost& host, const tandem::LeasePlan& plan, int rank, int ranks) {
    auto connection = tandem::requests::connect_to_server(host.address(), "the keeper", Clock::now() + kLostAfter);
    if (!connection) throw std::runtime_error("the keeper is gone");
    channel_ = std::make_unique<LeaseChannel>(tandem::elastic::LeaseRank{1, rank, ranks}, "the keeper",
                                              *std::move(connection), kLostAfter, kLostAfter);
    channel_->begin(plan, 0, 0, {});
    channel_->on_wake([this] {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++wakes_;
      changed_.notify_one();
    });
  }
  ~Rank() { channel_->on_wake(nullptr); }

  // Up to the exchange.
  void compute(std::int64_t step) {
    for (;;) {
      const long before = wakes();
      tandem::Lease part;
      const Answer answer = channel_->lease(0, step, &part);
      if (answer == Answer::kWhole) break;
      if (answer == Answer::kDone) {
        channel_->complete(part, part.size, {});
        continue;
      }
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [&] { return wakes_ != before; });
    }
    record_ = channel_->record(0, step);
    samples_ += record_.samples();
  }
  void commit(std::int64_t step) { channel_->commit(0, step); }
  std::int64_t samples() const { return samples_; }
  // Of the last record, as it came.
  std::size_t record_bytes() const {
    tandem::elastic::LeaseReply reply;
    reply.record = record_;
    return reply.bytes().size();
  }

 private:
  long wakes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return wakes_;
  }

  std::unique_ptr<LeaseChannel> channel_;
  std::mutex mutex_;
  std::condition_variable changed_;
  long wakes_ = 0;
  tandem::CommittedStep record_;
  std::int64_t samples_ = 0;
};

std::string measure(int ranks, std::int64_t parts, std::int64_t steps) {
  const tandem::LeasePlan plan{.positions = parts * (steps + 1), .batch_size = parts, .micro_batch = 1};
  LeaseHost host(plan, 1, -1, kLostAfter, "127.0.0.1");
  host.start();
  Clock::time_point begin, end;
  tandem::requests::RequestServer::Counts before, after;
  std::size_t record_bytes = 0;
  std::barrier all(ranks);
  std::atomic<bool> is_wrong = false;
  std::vector<std::thread> threads;
  for (int number = 0; number < ranks; ++number) {
    threads.emplace_back([&, number] {
      Rank rank(host, plan, number, ranks);
      for (std::int64_t step = 0; step <= steps; ++step) {
        rank.compute(step);
        all.arrive_and_wait();
        rank.commit(step);
        if (number == 0 && step == 0) begin = Clock::now(), before = host.counts();
      }
      all.arrive_and_wait();
      if (number == 0) end = Clock::now(), after = host.counts(), record_bytes = rank.record_bytes();
      if (rank.samples() != plan.positions) is_wrong = true;
      all.arrive_and_wait();  // nobody leaves before
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (is_wrong) throw std::runtime_error("parts are missing");
  const double taken = static_cast<double>(parts * steps);
  const double seconds = std::chrono::duration<double>(end - begin).count();
  const double of_records = static_cast<double>(record_bytes * threads.size()) / static_cast<double>(parts);
  const auto bytes = after.bytes_received + after.bytes_sent - before.bytes_received - before.bytes_sent;
  return "\"parts_per_s\": " + std::to_string(taken / seconds) +
         ", \"bytes\": " + std::to_string(static_cast<double>(bytes) / taken) +
         ", \"record_bytes\": " + std::to_string(of_records) +
         ", \"requests\": " + std::to_string(static_cast<double>(after.requests - before.requests) / taken);
}

}  // namespace

int main(int argc, char** argv) {
  const char* out = std::getenv("BENCH_OUT");
  if (argc != 4 || !out) {
    std::cerr << "usage: BENCH_OUT=FOLDER bench-leases RANKS PARTS STEPS\n";
    return 1;
  }
  try {
    const std::string result = measure(std::stoi(argv[1]), std::stoll(argv[2]), std::stoll(argv[3]));
    std::ofstream(std::string(out) + "/rank-0.json") << "{" << result << "}\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
