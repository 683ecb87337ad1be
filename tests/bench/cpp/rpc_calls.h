// How the programs of `rpc` time calls.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

// What --seconds says that each case takes.
inline double seconds_of(int argc, char** argv) {
  double seconds = 0.5;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--seconds") seconds = std::atof(argv[i + 1]);
  }
  return seconds;
}

// Microseconds from one call's end to the next one's, by so many threads.
inline double time_calls(double seconds, int threads, const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  constexpr int kWarmup = 20;
  for (int i = 0; i < (seconds > 0 ? kWarmup : 1); ++i) call();
  if (seconds <= 0) return 0;
  std::atomic<long> calls{0};
  const auto begun = Clock::now();
  const auto end = begun + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  const auto run = [&] {
    while (Clock::now() < end) {
      call();
      ++calls;
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(run);
  run();
  for (std::thread& other : others) other.join();
  return std::chrono::duration<double, std::micro>(Clock::now() - begun).count() / static_cast<double>(calls);
}
