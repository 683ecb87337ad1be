#include "tandem/metrics.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "base/invalid.h"
#include "base/passed_descriptor.h"
#include "metrics/reporter.h"

namespace tandem {
namespace metrics {
namespace {

constexpr std::int64_t kTryAgain = 1000000000;  // ns

// The agent's number for this process.
constexpr const char* kNumberVariable = "TANDEM_MEMBER";

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

// At a path that may be longer than a socket's address. Never waits.
Descriptor connect_at(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return Descriptor();
  const Descriptor folder = open_file(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY);
  const std::string name = "/proc/self/fd/" + std::to_string(folder.get()) + path.substr(slash);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!folder.valid() || name.size() >= sizeof address.sun_path) return Descriptor();
  std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  Descriptor made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.valid() || ::connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return Descriptor();
  return made;
}

// Both are 0 or more.
std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  return a + std::min(b, std::numeric_limits<std::int64_t>::max() - a);
}

}  // namespace

Reporter& Reporter::of_process() {
  static Reporter* reporter = new Reporter;  // threads may report while the process ends
  return *reporter;
}

Reporter::Reporter() : on_(variable(kMetricsVariable) && variable(kNumberVariable)) {
  if (!on_) return;
  // A child that goes on without exec is no rank, and the page is its parent's.
  pthread_atfork([] { of_process().mutex_.lock(); }, [] { of_process().mutex_.unlock(); },
                 [] {
                   of_process().page_.reset();
                   of_process().is_lost_ = true;
                   of_process().mutex_.unlock();
                 });
}

bool Reporter::connect() {
  if (page_) return true;
  const std::int64_t now = monotonic_now();
  if (is_lost_ || now < try_at_) return false;
  try_at_ = now + kTryAgain;  // its agent has no room for a connection, most likely
  const char* path = variable(kMetricsVariable);
  const char* number = variable(kNumberVariable);
  if (!path || !number) return false;
  std::optional<Page> made = Page::make();
  if (!made) {
    is_lost_ = true;
    return false;
  }
  const Descriptor connection = connect_at(path);
  const std::string whose = "page " + std::string(number);
  if (!connection.valid() || !send_descriptor(connection.get(), whose.data(), whose.size(), made->fd(), MSG_DONTWAIT)) {
    return false;
  }
  page_ = std::move(made);
  return true;
}

void Reporter::write() {
  measured_.reported_at = monotonic_now();
  if (connect()) page_->write(measured_);
}

void Reporter::report(const StepMetrics& metrics) {
  if (!on_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (metrics.step > 0) {
    measured_.step = metrics.step;
  } else if (!is_counted_) {
    measured_.step = sum_of(std::max<std::int64_t>(measured_.step, 0), 1);
  }
  if (metrics.epoch > 0) measured_.epoch = metrics.epoch;
  if (metrics.samples > 0) measured_.samples = sum_of(std::max<std::int64_t>(measured_.samples, 0), metrics.samples);
  if (metrics.loss) measured_.loss = metrics.loss;
  if (metrics.wait_seconds > 0) measured_.wait_seconds = measured_.wait_seconds.value_or(0) + metrics.wait_seconds;
  write();
}

void Reporter::step(std::int64_t completed) {
  if (!on_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  is_counted_ = true;
  measured_.step = completed;
  write();
}

// Without a new time of the report: a rank that others wait for has done nothing.
void Reporter::add_wait(std::int64_t nanoseconds) {
  if (!on_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  measured_.wait_seconds = measured_.wait_seconds.value_or(0) + static_cast<double>(nanoseconds) * 1e-9;
  if (connect()) page_->write(measured_);
}

// Likewise: who serves others has no steps.
void Reporter::add_calls(const CallTotals& ended) {
  if (!on_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!measured_.calls) measured_.calls.emplace();
  CallTotals& calls = *measured_.calls;
  calls.calls = sum_of(calls.calls, ended.calls);
  calls.failed = sum_of(calls.failed, ended.failed);
  calls.bytes_sent = sum_of(calls.bytes_sent, ended.bytes_sent);
  calls.bytes_received = sum_of(calls.bytes_received, ended.bytes_received);
  calls.seconds += ended.seconds;
  if (connect()) page_->write(measured_);
}

}  // namespace metrics

void report_metrics(const StepMetrics& metrics) {
  if (metrics.step < 0)
    invalid("step is " + std::to_string(metrics.step) +
            "; it is a number of completed steps, or 0 to have them counted");
  if (metrics.epoch < 0)
    invalid("epoch is " + std::to_string(metrics.epoch) +
            "; epochs over the data are numbered from 1, and 0 says none");
  if (metrics.samples < 0)
    invalid("samples is " + std::to_string(metrics.samples) + "; it is how many were trained since the report before");
  if (!(metrics.wait_seconds >= 0) || std::isinf(metrics.wait_seconds)) {
    invalid("wait_seconds is " + std::to_string(metrics.wait_seconds) +
            "; it is a time since the report before, 0 or more");
  }
  metrics::Reporter::of_process().report(metrics);
}

}  // namespace tandem
