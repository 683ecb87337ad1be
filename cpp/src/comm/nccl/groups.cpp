#include "comm/nccl/groups.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

namespace tandem {
namespace {

constexpr std::chrono::seconds kShutDown{2};  // for NCCL, at a close
constexpr std::chrono::seconds kAtEnd{5};     // for what still runs when the program ends

}  // namespace

NcclGroups& NcclGroups::instance() {
  static auto* groups = new NcclGroups;
  return *groups;
}

NcclGroups::NcclGroups() : hook_("NCCL groups that end", [this] { await_all(); }) {}

class NcclGroups::Control final : public BackendControl {
 public:
  Control(NcclGroups& groups, c10::intrusive_ptr<c10d::Backend> backend)
      : groups_(groups), backend_(std::move(backend)) {}

  BackendTraits traits() const override {
    BackendTraits traits;
    traits.completes = false;
    return traits;
  }
  const c10::intrusive_ptr<c10d::Backend>& backend() const { return backend_; }
  void finish(const std::string&) override { groups_.shut_down(backend_); }
  void fail(const Error& failure) override { groups_.fail_all(failure); }
  // Its program's own will: the other groups are left alone.
  void abort(const Error&) override { backend_->abort(); }

 private:
  NcclGroups& groups_;
  const c10::intrusive_ptr<c10d::Backend> backend_;
};

std::shared_ptr<BackendControl> NcclGroups::add(const std::shared_ptr<GroupState>& state,
                                                const c10::intrusive_ptr<c10d::Backend>& backend) {
  auto control = std::make_shared<Control>(*this, backend);
  std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(entries_, [](const Entry& entry) { return entry.state.expired() || entry.control.expired(); });
  entries_.push_back({state, control});
  return control;
}

void NcclGroups::fail_all(const Error& reason) {
  std::vector<Entry> entries;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    entries.swap(entries_);
  }
  // First: an abort ends kernels as if they were done.
  for (const Entry& entry : entries) {
    const auto state = entry.state.lock();
    if (!state) continue;
    state->fail(Error(reason.code(), std::string("another NCCL group of this process failed: ") + reason.what()));
  }
  for (const Entry& entry : entries) {
    if (const auto control = entry.control.lock()) run(control->backend(), [](c10d::Backend& backend) { backend.abort(); });
  }
}

void NcclGroups::shut_down(const c10::intrusive_ptr<c10d::Backend>& backend) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) {
      const auto control = entry.control.lock();
      return !control || control->backend() == backend;
    });
  }
  run(backend, [](c10d::Backend& each) { each.shutdown(); }).wait_for(kShutDown);
}

std::shared_future<void> NcclGroups::run(c10::intrusive_ptr<c10d::Backend> backend, void (*end)(c10d::Backend&)) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(running_, [](const std::shared_future<void>& one) {
    return one.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  running_.push_back(std::async(std::launch::async, [backend = std::move(backend), end]() mutable {
                       try {
                         end(*backend);
                       } catch (const std::exception& error) {
                         std::fprintf(stderr, "tandem: an NCCL group did not end well: %s\n", error.what());
                       }
                       // Here, should it be the last: its destructor waits for its threads.
                       backend.reset();
                     }).share());
  return running_.back();
}

void NcclGroups::await_all() {
  std::vector<std::shared_future<void>> running;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    running = running_;
  }
  const auto deadline = std::chrono::steady_clock::now() + kAtEnd;
  for (const auto& one : running) one.wait_until(deadline);
}

}  // namespace tandem
