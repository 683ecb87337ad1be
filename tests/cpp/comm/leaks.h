// What a process holds, counted before and after something that must leave nothing.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <thread>

namespace tandem::testing {

inline std::ptrdiff_t entries(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

inline std::ptrdiff_t descriptors() {
  return entries("/proc/self/fd");
}

// The system lists a thread for a moment after it was joined: a count taken before may be too high by some of those,
// so that what is left is compared by "at most", and waited for.
inline std::ptrdiff_t threads() {
  return entries("/proc/self/task");
}

// The count, once it is at most that, or after 30 s.
inline std::ptrdiff_t settled(std::ptrdiff_t (*count)(), std::ptrdiff_t most) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (count() > most && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return count();
}

inline void expect_at_most(std::ptrdiff_t (*count)(), std::ptrdiff_t most) {
  EXPECT_LE(settled(count, most), most);
}

}  // namespace tandem::testing
