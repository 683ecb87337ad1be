// The steps in which ranks exchange slots, and what ends a wait.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "comm/failure_latch.h"
#include "comm/shm/layout.h"
#include "comm/shm/local_connections.h"
#include "comm/shm/spin.h"
#include "tandem/error.h"

namespace tandem::shm {

// One rank's view of a group. All ranks take the same steps, each at its own pace:
//
//   exchange.begin(label, deadline);
//   std::byte* slot = exchange.open_slot();   // waits until nobody reads what it held
//   … fill it …
//   exchange.publish();
//   const std::byte* theirs = exchange.read(rank, exchange.step() - 1);   // waits until that rank published it
//
// A slot may be read in the step it was published in and in the next one, that is until the reader publishes the step
// after; its owner takes it anew no sooner. So nobody says when it has read.
//
// One thread at a time, but for the last three. Waiting throws Error: kTimeout names the ranks that are missing and
// what they do instead, kPeerLost those that are gone, kInvalidArgument those that call another collective, and that of
// the latch once the group has ended. After that no more steps can be taken; fail() tells the others.
class Exchange {
 public:
  using Clock = std::chrono::steady_clock;

  Exchange(std::shared_ptr<const LocalConnections> peers, std::shared_ptr<const FailureLatch> latch);

  int rank() const { return rank_; }
  int size() const { return size_; }
  // What a rank is in the group.
  int number(int rank) const { return peers_->ranks.numbers[rank]; }
  static constexpr std::size_t slot_bytes() { return kSlotBytes; }

  // Whether the program's own thread takes the steps from now on.
  void set_program_waits(bool program_waits) { spin_ = program_waits ? spin_time_.program : spin_time_.own_thread; }

  // A collective, or another part of one.
  void begin(const Label& label, Clock::time_point deadline);
  std::uint32_t step() const { return step_; }
  std::byte* open_slot();
  void publish();
  const std::byte* read(int rank, std::uint32_t step);
  // That rank's label of the slot. After read().
  const Label& label(int rank, std::uint32_t step) const { return board(rank).labels[step % kSlots].label; }
  void await_all(std::uint32_t step);
  // The whole segment of a rank.
  std::byte* memory(int rank) const { return peers_->segments[rank]->data(); }
  std::size_t memory_bytes() const { return peers_->segments[rank_]->bytes(); }
  // A place for each rank, for what is combined: small collectives allocate nothing.
  struct Scratch {
    std::vector<const void*> inputs;
    std::vector<double> factors;
  };
  Scratch& scratch() { return scratch_; }
  // Throws when the group has ended.
  void check_latch() {
    if (latch_->has_ended()) throw_ended();
  }

  // Tells the others that this rank takes no more steps. From any thread.
  void fail(const std::string& reason);
  // Tells them that it takes none because the program closed the group. Of the steps before, nobody misses any. From
  // any thread.
  void close();
  // Has a wait look at the latch. From any thread.
  void wake();

  // "all_reduce #12 of 4000 bytes (float32, SUM)".
  static std::string describe(const Label& label);
  // "group 'default' (rank 0 of 2)".
  std::string whereabouts() const { return peers_->ranks.whereabouts(); }

 private:
  Board& board(int rank) const { return *boards_[rank]; }
  bool has_published(int rank, std::uint32_t count);
  void await(int rank, std::uint32_t count);
  void sleep_until_published(int rank, std::uint32_t count);
  void verify(int rank, std::uint32_t step);
  int count_ended() const;
  void notify_all();
  void look_around(std::uint32_t count);
  [[noreturn]] void throw_lost(int rank);
  [[noreturn]] void time_out(std::uint32_t count);
  [[noreturn]] void throw_ended();

  const std::shared_ptr<const LocalConnections> peers_;
  const std::shared_ptr<const FailureLatch> latch_;
  const int rank_;
  const int size_;
  std::vector<Board*> boards_;
  const SpinTime spin_time_;
  std::chrono::nanoseconds spin_;

  std::uint32_t step_ = 0;               // steps that this rank has published
  std::vector<std::uint32_t> seen_;      // the same of each rank, as far as known
  std::vector<std::uint32_t> verified_;  // steps of each rank whose labels were compared with ours
  Scratch scratch_;
  Label label_;
  Clock::time_point begun_;
  Clock::time_point deadline_;

  std::mutex telling_;
};

}  // namespace tandem::shm
