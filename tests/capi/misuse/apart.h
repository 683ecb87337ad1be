// Runs what may crash in a process of its own.
#pragma once

#include <functional>
#include <string>

namespace misuse {

// How a process ended.
struct End {
  std::string how;     // "" when well: else "signal 11", "exit status 1"
  std::string output;  // what it wrote to stderr, and where a sanitizer reported
};

// Runs `body` in a fork of this process, with bounded memory and `seconds` of processor time. This process must have no
// threads that compute: call tdm_set_num_threads(1) before. Failed expectations in `body` are an exit status of 1.
End run_apart(const std::function<void()>& body, unsigned seconds);

// A T that this process and its forks share, zero at first. It stays for the process's life.
void* shared_memory(std::size_t bytes);

template <typename T>
T* shared() {
  return new (shared_memory(sizeof(T))) T{};
}

}  // namespace misuse
