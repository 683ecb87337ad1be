// Keeps threads of the language out of the native libraries while the process ends.
//
// A managed runtime leaves its daemon threads running inside native calls while it calls exit(), whose destructors pull
// the libraries from under them. Every wrapped call therefore counts itself; leave() turns later calls away, ends what
// blocks (tdm_shutdown) and waits for those inside to come out.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "tandem/abi.hpp"

namespace tandem_swig {

struct Gate {
  std::atomic<bool> closed{false};
  std::atomic<int64_t> inside{0};
};

inline Gate& gate() {
  static auto* instance = new Gate;  // outlives static destructors
  return *instance;
}

class Call {
 public:
  explicit Call(const char* operation) {
    gate().inside.fetch_add(1);
    if (gate().closed.load()) {
      gate().inside.fetch_sub(1);
      throw tandem::abi::Error(TDM_ERROR_CLOSED, operation, "Tandem was shut down before this call");
    }
  }
  ~Call() { gate().inside.fetch_sub(1); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
};

// False when calls were still inside after timeout_ms.
inline bool leave(int64_t timeout_ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  gate().closed = true;
  tandem::abi::shutdown(timeout_ms);
  while (gate().inside.load() != 0) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace tandem_swig
