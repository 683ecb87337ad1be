#include "data/tool/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace tandem::data_tool {

Progress::Progress(std::string what, std::int64_t total)
    : what_(std::move(what)), total_(std::max<std::int64_t>(total, 1)), shown_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (drawn_ != Clock::time_point{}) std::fputs("\r\033[K", stderr);
}

void Progress::draw(std::int64_t done) {
  constexpr int kWidth = 30;
  constexpr auto kEvery = std::chrono::milliseconds(100);
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  const Clock::time_point now = Clock::now();
  next_ = done + std::max<std::int64_t>(1, total_ / 1000);
  if (now - drawn_ < kEvery) return;
  drawn_ = now;
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  const double left = std::chrono::duration<double>(now - start_).count() * (1 - share) / std::max(share, 1e-9);
  const std::string bar(static_cast<std::size_t>(share * kWidth), '#');
  std::fprintf(stderr, "\r\033[K%s [%-*s] %3.0f %%, %.0f s left", what_.c_str(), kWidth, bar.c_str(), 100 * share,
               left);
}

}  // namespace tandem::data_tool
