// What LibTorch keeps for a thread and a replica must find on its own: grad and inference mode, autocast, streams.
#pragma once

#include <ATen/ThreadLocalState.h>
#include <c10/core/Stream.h>

#include <array>
#include <vector>

namespace tandem::internal {

// Of the thread that constructs it. at::ThreadLocalState has all but autocast's types and the current streams.
class CallerState {
 public:
  // `devices`: whose current streams are taken.
  explicit CallerState(const std::vector<at::Device>& devices);

  // Puts a thread there, and back at its end.
  class Guard;

 private:
  struct Autocast {
    at::DeviceType device;
    at::ScalarType dtype;
  };

  void restore_rest() const;

  at::ThreadLocalState modes_;
  std::vector<at::Device> devices_;
  std::array<Autocast, 2> autocast_;
  bool caches_casts_;
  std::vector<c10::Stream> streams_;
};

class CallerState::Guard {
 public:
  explicit Guard(const CallerState& state);
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  CallerState before_;
  at::ThreadLocalStateGuard modes_;
};

}  // namespace tandem::internal
