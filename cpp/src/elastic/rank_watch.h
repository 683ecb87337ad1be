// Says that this rank lives, and gives up the next one when that does not.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "elastic/lease_channel.h"

namespace tandem::elastic {

// Looks after the next rank, in a ring, that has ever lived and is not given up yet; so each rank is looked after by
// one other, whoever is lost. One that never came holds no leases.
class RankWatch {
 public:
  // `channel` must outlive it.
  RankWatch(LeaseChannel& channel, std::chrono::milliseconds lost_after);
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  void look_after();

  LeaseChannel& channel_;
  const std::chrono::milliseconds lost_after_;
  const std::chrono::milliseconds interval_;  // of looks
  std::int32_t watched_ = -1;
  std::int64_t beats_ = 0;
  Clock::duration silent_{};  // for so long, by looks of this process
  Clock::time_point looked_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace tandem::elastic
