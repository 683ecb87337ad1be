// LibTorch's flight recorder, one for all groups of a process, looks up and adds groups without a lock: groups of
// several threads take turns at handing collectives and messages to Gloo, which takes microseconds.
#pragma once

#include <mutex>

namespace tandem {

inline std::mutex& turn_to_issue() {
  static auto* one_at_a_time = new std::mutex;
  return *one_at_a_time;
}

}  // namespace tandem
