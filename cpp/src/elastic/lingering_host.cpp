#include "elastic/lingering_host.h"

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "tandem/error.h"
#include "tandem/runtime.h"

namespace tandem::elastic {
namespace {

// Of this process. Threads are joined once they have ended, when the next one comes, or at the end.
class LingeringHosts {
 public:
  void add(std::unique_ptr<LeaseHost> host) {
    if (host->leave()) return;  // nobody listens there from now on
    std::vector<std::unique_ptr<LeaseHost>> over;  // ends without the lock
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto& one : hosts_) {
      if (one->has_ended()) over.push_back(std::move(one));
    }
    std::erase(hosts_, nullptr);
    try {
      if (!hook_) hook_.emplace("LeaseHost", [this] { end(); });
    } catch (const Error&) {
      has_ended_ = true;
    }
    if (has_ended_) {
      over.push_back(std::move(host));
    } else {
      hosts_.push_back(std::move(host));
    }
  }

 private:
  void end() {
    std::vector<std::unique_ptr<LeaseHost>> over;
    const std::lock_guard<std::mutex> lock(mutex_);
    over.swap(hosts_);
    has_ended_ = true;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<LeaseHost>> hosts_;
  bool has_ended_ = false;  // with shutdown()
  std::optional<ShutdownHook> hook_;
};

}  // namespace

void LetLinger::operator()(LeaseHost* host) const {
  static auto* all = new LingeringHosts;  // threads may outlive static destructors
  all->add(std::unique_ptr<LeaseHost>(host));
}

}  // namespace tandem::elastic
