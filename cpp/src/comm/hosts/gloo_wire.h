// Bytes between hosts, through Gloo.
#pragma once

#include <climits>
#include <memory>
#include <mutex>
#include <string>

#include "comm/failure_latch.h"
#include "comm/gloo/gloo_backend.h"
#include "comm/hosts/wire.h"

namespace tandem::hosts {

// Sends and receives of a Gloo group that has all ranks, under a tag of their own.
class GlooWire final : public Wire, public std::enable_shared_from_this<GlooWire> {
 public:
  static constexpr int kTag = INT_MAX;  // not for the program's messages

  GlooWire(c10::intrusive_ptr<GlooBackend> gloo, std::shared_ptr<const FailureLatch> latch)
      : gloo_(std::move(gloo)), latch_(std::move(latch)) {}

  std::unique_ptr<Transfer> send(int rank, const std::byte* data, std::size_t bytes) override;
  std::unique_ptr<Transfer> receive(int rank, std::byte* data, std::size_t bytes) override;
  void wake() override;

 private:
  class GlooTransfer;
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;

  std::unique_ptr<Transfer> start(bool is_send, int rank, std::byte* data, std::size_t bytes);
  void wait(c10d::Work& work, int rank, Clock::time_point deadline);
  void check_latch() const;
  [[noreturn]] void throw_lost(int rank, const std::string& text) const;

  const c10::intrusive_ptr<GlooBackend> gloo_;
  const std::shared_ptr<const FailureLatch> latch_;
  std::mutex mutex_;
  c10d::Work* waited_for_ = nullptr;
};

}  // namespace tandem::hosts
