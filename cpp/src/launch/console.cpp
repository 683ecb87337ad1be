#include "launch/console.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace tandem::launch {
namespace {

constexpr std::string_view kClearLine = "\r\x1b[K";

std::size_t columns_of(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string_view fit_columns(std::string_view text, std::size_t columns) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == 0x1b && i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && (text[i] < '@' || text[i] > '~')) ++i;
      i = std::min(i + 1, text.size());
      continue;
    }
    if (used == columns) return text.substr(0, i);
    ++used;
    ++i;
    while (i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) ++i;
  }
  return text;
}

void Console::clear_bottom() {
  if (!bottom_.empty()) queue_.append(kClearLine);
}

void Console::draw_bottom() {
  // A line that wraps could not be cleared again.
  if (!bottom_.empty()) queue_.append(fit_columns(bottom_, columns_of(fd_) - 1)).append("\x1b[m");
}

void Console::line(int stream, std::string_view prefix, std::string_view text) {
  if (terminal_) {
    clear_bottom();
    if (open_stream_ == stream) {
      bottom_.clear();
      open_stream_ = kNobody;
    }
  } else if (open_stream_ != kNobody) {
    const bool own = open_stream_ == stream;
    open_stream_ = kNobody;
    if (!own || text.empty()) queue_.push_back('\n');
    if (own && text.empty()) return;
  }
  queue_.append(prefix).append(text).push_back('\n');
  if (terminal_) draw_bottom();
}

void Console::overwritten(int stream, std::string_view prefix, std::string_view text) {
  if (terminal_ || text.empty()) return;  // terminals show it through unfinished()
  if (open_stream_ != kNobody && open_stream_ != stream) queue_.push_back('\n');
  queue_.append(prefix).append(text).push_back('\r');
  open_stream_ = stream;
}

void Console::unfinished(int stream, std::string_view prefix, std::string_view text) {
  if (!terminal_) return;
  if (text.empty()) {
    if (open_stream_ != stream) return;
    clear_bottom();
    bottom_.clear();
    open_stream_ = kNobody;
    return;
  }
  std::string content(prefix);
  content.append(text.substr(0, 4096));
  if (open_stream_ == stream && bottom_ == content) return;
  clear_bottom();
  bottom_ = std::move(content);
  open_stream_ = stream;
  draw_bottom();
}

void Console::finish() {
  if (open_stream_ != kNobody) queue_.push_back('\n');
  open_stream_ = kNobody;
  bottom_.clear();
}

void Console::write_some() {
  while (!broken_ && pending() > 0) {
    pollfd ready{fd_, POLLOUT, 0};
    if (poll(&ready, 1, 0) <= 0) break;
    // A pipe that is ready takes PIPE_BUF bytes without blocking.
    const ssize_t count = write(fd_, queue_.data() + written_, std::min<std::size_t>(pending(), PIPE_BUF));
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) break;
    if (count < 0) {
      broken_ = true;
    } else {
      written_ += static_cast<std::size_t>(count);
    }
  }
  if (broken_ || pending() == 0) {
    queue_.clear();
    written_ = 0;
  } else if (written_ > kHighWater) {
    queue_.erase(0, written_);
    written_ = 0;
  }
}

}  // namespace tandem::launch
