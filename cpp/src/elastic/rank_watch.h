// Says that this rank lives, and gives up those behind it that do not.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "elastic/lease_channel.h"

namespace tandem::elastic {

// Looks after the next rank, in a ring, that has ever lived and is not given up yet, and while that is silent after
// those behind it as well, up to one that lives: each rank is looked after by one other, whoever is lost, and the ranks
// of a lost host are given up together. One that never came holds no leases.
class RankWatch {
 public:
  // `channel` must outlive it.
  RankWatch(LeaseChannel& channel, std::chrono::milliseconds lost_after);
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  struct Watched {
    std::int64_t beats = 0;
    Clock::duration silent{};  // for so long, by looks of this process
  };

  void run();
  void look_after();

  LeaseChannel& channel_;
  const std::chrono::milliseconds lost_after_;
  const std::chrono::milliseconds interval_;  // of looks
  std::map<std::int32_t, Watched> watched_;  // by rank; of the last look
  Clock::time_point looked_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace tandem::elastic
