#include "comm/requests/request_client.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/own_thread.h"
#include "comm/sockets.h"

namespace tandem::requests {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAfterInterrupt{1000};

}  // namespace

RequestClient::RequestClient(Descriptor connection, Options options)
    : options_(std::move(options)), socket_(std::move(connection)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_.valid()) throw net::shortage(errno, "cannot wait for answers of " + options_.server);
  try {
    thread_ = start_own_thread("tandem-answers", [this] { run(); });
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kIo, std::string("cannot start a thread that reads answers: ") + error.what());
  }
}

RequestClient::~RequestClient() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  wake_reader();
  thread_.join();
}

void RequestClient::wake_reader() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t size = write(wake_.get(), &one, sizeof one);
}

std::string RequestClient::call(std::string_view request) {
  Call call;
  std::unique_lock<std::mutex> lock(mutex_);
  if (failure_) throw *failure_;
  const std::uint64_t number = next_number_++;
  calls_[number] = &call;
  append_frame(outgoing_, number, request);
  send();
  std::optional<Clock::time_point> end;
  while (!call.answer && !failure_) {
    if (interrupted_ && !end) end = Clock::now() + kAfterInterrupt;
    if (!end) {
      call.changed.wait(lock);  // run() ends it where the server is silent
    } else if (call.changed.wait_until(lock, *end) == std::cv_status::timeout) {
      break;
    }
  }
  calls_.erase(number);
  if (call.answer) return *std::move(call.answer);
  if (failure_) throw *failure_;
  throw Error(ErrorCode::kAborted, "a request to " + options_.server + ", was aborted, for it does not answer at once");
}

void RequestClient::interrupt() {
  const std::lock_guard<std::mutex> lock(mutex_);
  interrupted_ = true;
  for (const auto& [number, call] : calls_) call->changed.notify_all();
}

void RequestClient::on_wake(std::function<void()> woken) {
  const std::lock_guard<std::mutex> lock(woken_mutex_);
  woken_ = std::move(woken);
}

void RequestClient::tell_woken() {
  const std::lock_guard<std::mutex> lock(woken_mutex_);
  if (woken_) woken_();
}

// What the connection does not take at once is sent by the thread that reads.
void RequestClient::send() {
  std::size_t sent = 0;
  while (sent < outgoing_.size()) {
    const ssize_t size =
        ::send(socket_.get(), outgoing_.data() + sent, outgoing_.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) break;  // the buffer is full, or the server gone, which reading says
    sent += static_cast<std::size_t>(size);
  }
  outgoing_.erase(0, sent);
  if (!outgoing_.empty()) wake_reader();
}

void RequestClient::beat() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (beat_ != 0) return;
  beat_ = next_number_++;
  append_frame(outgoing_, beat_, options_.beat);
  send();
}

void RequestClient::run() {
  Clock::time_point next_beat = Clock::now() + options_.interval, looked = Clock::now();
  Clock::duration silent{};
  for (;;) {
    pollfd waits[] = {{socket_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    bool is_owed = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (ending_ || failure_) break;
      is_owed = beat_ != 0 || !calls_.empty();
      if (!outgoing_.empty()) waits[0].events |= POLLOUT;
    }
    const auto left = std::chrono::ceil<milliseconds>(next_beat - Clock::now()).count();
    poll(waits, 2, static_cast<int>(std::clamp<std::int64_t>(left, 0, 60000)));
    if (waits[1].revents != 0) {
      std::uint64_t number = 0;
      [[maybe_unused]] const ssize_t size = ::read(wake_.get(), &number, sizeof number);
    }
    if (waits[0].revents & POLLOUT) {
      const std::lock_guard<std::mutex> lock(mutex_);
      send();
    }
    has_read_ = false;
    if (waits[0].revents & ~POLLOUT) read();
    if (std::exchange(was_woken_, false)) tell_woken();
    const auto now = Clock::now();
    const Clock::duration passed = std::min<Clock::duration>(now - looked, 2 * options_.interval);
    looked = now;
    silent = has_read_ || !is_owed ? Clock::duration{} : silent + passed;
    if (silent > options_.silence) {
      fail(Error(ErrorCode::kTimeout,
                 options_.server + ", does not answer: it has been silent for " +
                     std::to_string(std::chrono::floor<milliseconds>(silent).count()) + " ms; " + options_.advice));
    }
    if (now >= next_beat) {
      next_beat = now + options_.interval;
      beat();
    }
  }
}

void RequestClient::read() {
  char buffer[65536];
  const ssize_t size = recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) {
    fail(Error(ErrorCode::kPeerLost,
               options_.server + ", closed its connection, because it died or left; " + options_.advice));
    return;
  }
  has_read_ = true;
  try {
    reader_.add({buffer, static_cast<std::size_t>(size)});
    while (const auto frame = reader_.next()) take(*frame);
  } catch (const std::exception& error) {
    fail(Error(ErrorCode::kDataLoss, options_.server + ", sent what is no answer: " + error.what() + "; " +
                                         options_.advice));
  }
}

void RequestClient::take(const Frame& frame) {
  if (frame.number == 0) {
    was_woken_ = true;
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (frame.number == beat_) {
    beat_ = 0;
  } else if (const auto found = calls_.find(frame.number); found != calls_.end()) {
    found->second->answer = std::string(frame.bytes);
    found->second->changed.notify_one();
  }  // else whoever asked gave up
}

void RequestClient::fail(Error error) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failure_) return;
    failure_ = std::move(error);
    net::shut(socket_.get());
    for (const auto& [number, call] : calls_) call->changed.notify_all();
  }
  tell_woken();
}

}  // namespace tandem::requests
