// Bytes between hosts, through Gloo.
#pragma once

#include <climits>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "comm/gloo_messages.h"
#include "comm/hosts/wire.h"

namespace tandem::hosts {

// Sends and receives of a Gloo group that has all ranks, under a tag of their own.
class GlooWire final : public Wire, public std::enable_shared_from_this<GlooWire> {
 public:
  static constexpr int kTag = INT_MAX;  // not for the program's messages

  explicit GlooWire(c10::intrusive_ptr<GlooBackend> gloo) : gloo_(std::move(gloo)) {}

  std::unique_ptr<Transfer> send(int rank, const std::byte* data, std::size_t bytes) override;
  std::unique_ptr<Transfer> receive(int rank, std::byte* data, std::size_t bytes) override;
  void abort(const Error& reason) override;

 private:
  class GlooTransfer;
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;

  std::unique_ptr<Transfer> start(bool is_send, int rank, std::byte* data, std::size_t bytes);
  void wait(c10d::Work& work, int rank, Clock::time_point deadline);
  void heed_abort();
  [[noreturn]] void throw_lost(std::unique_lock<std::mutex>& lock, int rank, const std::string& text);

  const c10::intrusive_ptr<GlooBackend> gloo_;
  std::mutex mutex_;
  std::condition_variable aborted_;
  std::optional<Error> reason_;
  c10d::Work* waited_for_ = nullptr;
};

}  // namespace tandem::hosts
