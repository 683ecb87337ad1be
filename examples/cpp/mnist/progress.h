// A progress bar on one line of the terminal: share, rate and time left.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

class Progress {
 public:
  // `shown` false: a bar that prints nothing, for all ranks but the first.
  Progress(std::string title, std::int64_t steps, bool shown);
  // Wipes the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // One more step, with this many samples on all ranks together.
  void step(std::int64_t samples);
  // Whether it is time to print again; then call show() with what stands beside the bar.
  bool due() const;
  void show(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;

  const std::string title_;
  const std::int64_t steps_;
  const bool shown_;
  const Clock::time_point begun_ = Clock::now();
  Clock::time_point last_ = begun_;
  std::int64_t done_ = 0;
  std::int64_t samples_ = 0;
};
