#include "comm/hosts/gloo_wire.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <string>

#include "comm/gloo/failure.h"
#include "comm/issue_turns.h"

namespace tandem::hosts {
namespace {

using std::chrono::milliseconds;

// A rank that ends the group says why, and then closes its connections: how long to wait for what it says.
constexpr milliseconds kForReason{100};

}  // namespace

class GlooWire::GlooTransfer final : public Transfer {
 public:
  GlooTransfer(std::shared_ptr<GlooWire> wire, WorkPtr work, bool is_send, int rank)
      : wire_(std::move(wire)), work_(std::move(work)), is_send_(is_send), rank_(rank) {}

  bool is_send() const override { return is_send_; }
  void wait(Clock::time_point deadline) override { wire_->wait(*work_, rank_, deadline); }

 private:
  const std::shared_ptr<GlooWire> wire_;
  const WorkPtr work_;
  const bool is_send_;
  const int rank_;
};

std::unique_ptr<Wire::Transfer> GlooWire::send(int rank, const std::byte* data, std::size_t bytes) {
  return start(true, rank, const_cast<std::byte*>(data), bytes);
}

std::unique_ptr<Wire::Transfer> GlooWire::receive(int rank, std::byte* data, std::size_t bytes) {
  return start(false, rank, data, bytes);
}

std::unique_ptr<Wire::Transfer> GlooWire::start(bool is_send, int rank, std::byte* data, std::size_t bytes) {
  check_latch();
  std::vector<at::Tensor> tensors = {at::from_blob(data, {static_cast<std::int64_t>(bytes)}, at::kByte)};
  try {
    std::lock_guard<std::mutex> lock(turn_to_issue());
    return std::make_unique<GlooTransfer>(
        shared_from_this(),
        is_send ? gloo_->send_unchecked(tensors, rank, kTag) : gloo_->recv_unchecked(tensors, rank, kTag), is_send,
        rank);
  } catch (const std::exception& error) {
    throw_lost(rank, plain_text(error));
  }
}

void GlooWire::wait(c10d::Work& work, int rank, Clock::time_point deadline) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    check_latch();
    waited_for_ = &work;
  }
  std::optional<std::string> failure;
  try {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    work.wait(std::max(left, milliseconds(1)));
  } catch (const std::exception& error) {
    failure = plain_text(error);
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    waited_for_ = nullptr;
  }
  check_latch();
  if (!failure) return;
  const std::string who = "rank " + std::to_string(rank);
  if (Clock::now() >= deadline) {
    throw Error(ErrorCode::kTimeout, "timed out, for " + who + ", on another host, did not take part, being stopped, " +
                                         "slow or busy with something else");
  }
  throw_lost(rank, *failure);
}

void GlooWire::throw_lost(int rank, const std::string& text) const {
  if (latch_->wait_until_ended(kForReason)) check_latch();
  throw Error(ErrorCode::kPeerLost, "rank " + std::to_string(rank) +
                                        " closed its connection, because it died or left the group (" + text + ")");
}

void GlooWire::wake() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (waited_for_) waited_for_->abort();
}

void GlooWire::check_latch() const {
  if (!latch_->has_ended()) return;
  const Error reason = latch_->reason_to_end();
  const char* how = reason.code() == ErrorCode::kAborted ? "a collective was aborted: " : "a collective failed after: ";
  throw Error(reason.code(), how + std::string(reason.what()));
}

}  // namespace tandem::hosts
