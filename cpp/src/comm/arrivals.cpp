#include "comm/arrivals.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "tandem/error.h"

namespace tandem::net {
namespace {

// A rank sends its hello at once; a machine may be busy.
constexpr std::chrono::seconds kMostSilence{10};
// So many are held. Others wait in the listener's queue meanwhile: a rank that connects together with hundreds may not
// have sent its hello yet, so those held are only closed for others once they had time for it.
constexpr std::size_t kMostSilent = 256;
constexpr std::chrono::milliseconds kMostSilenceBeforeOthers{1000};
constexpr std::chrono::milliseconds kWhenFull{100};

}  // namespace

std::vector<Descriptor> Arrivals::next(std::chrono::milliseconds wait) {
  const bool takes_more = !full_ && silent_.size() < kMostSilent;
  std::vector<pollfd> waits = {{takes_more ? listener_ : -1, POLLIN, 0}};
  for (const Silent& one : silent_) waits.push_back({one.socket.get(), POLLIN, 0});
  if (!takes_more) wait = std::min(wait, kWhenFull);
  if (poll(waits.data(), waits.size(), static_cast<int>(wait.count())) < 0) return {};
  std::vector<Descriptor> found;
  std::deque<Silent> rest;
  const auto now = Clock::now();
  const Clock::duration most = silent_.size() < kMostSilent ? kMostSilence : kMostSilenceBeforeOthers;
  for (std::size_t i = 0; i < silent_.size(); ++i) {
    if (waits[i + 1].revents != 0) {
      found.push_back(std::move(silent_[i].socket));
    } else if (now - silent_[i].since < most) {
      rest.push_back(std::move(silent_[i]));
    }
  }
  silent_ = std::move(rest);
  if (full_ && found.empty() && !silent_.empty()) silent_.pop_front();
  if (!takes_more || waits[0].revents != 0) accept_all();
  return found;
}

void Arrivals::accept_all() {
  full_ = false;
  while (silent_.size() < kMostSilent && !full_) {
    Descriptor socket(accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.get() >= 0) {
      silent_.push_back({std::move(socket), Clock::now()});
      continue;
    }
    const int failure = errno;
    if (!is_shortage(failure)) return;  // nobody is there
    // Strangers may have what is missing: next() closes their connections.
    if (silent_.empty()) throw shortage(failure, "cannot accept a connection of another rank");
    full_ = true;
  }
}

}  // namespace tandem::net
