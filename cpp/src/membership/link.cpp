#include "membership/link.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace tandem::membership {
namespace {

constexpr std::size_t kLength = 4;

std::string length_of(std::size_t size) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift & 0xff);
  return bytes;
}

std::size_t length_in(std::string_view bytes) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < kLength; ++i) size = size << 8 | static_cast<unsigned char>(bytes[i]);
  return size;
}

bool is_early(int failure) { return failure == EAGAIN || failure == EWOULDBLOCK || failure == ENOTCONN || failure == EINTR; }

}  // namespace

Link::Link(Descriptor socket) : socket_(std::move(socket)) {
  fcntl(socket_.get(), F_SETFL, fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
  const int on = 1;
  setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void Link::send(std::string_view message) {
  if (broken_) return;
  unsent_.push_back(length_of(message.size()).append(message));
  unsent_bytes_ += unsent_.back().size();
  write();
  if (unsent_bytes_ > kMostUnsent) broken_ = true;
}

void Link::write() {
  while (!unsent_.empty() && !broken_) {
    std::string& next = unsent_.front();
    const ssize_t sent = ::send(socket_.get(), next.data(), next.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && is_early(errno)) return;
    if (sent < 0) {  // what the other side said before is still to be read
      unsent_.clear();
      unsent_bytes_ = 0;
      return;
    }
    unsent_bytes_ -= static_cast<std::size_t>(sent);
    next.erase(0, static_cast<std::size_t>(sent));
    if (next.empty()) unsent_.pop_front();
  }
}

std::vector<std::string> Link::read() {
  char chunk[16 << 10];
  while (!broken_) {
    const ssize_t got = recv(socket_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
    if (got < 0 && is_early(errno)) break;
    if (got <= 0) {
      broken_ = true;
      break;
    }
    received_.append(chunk, static_cast<std::size_t>(got));
    if (received_.size() > 2 * kMostBytes) break;  // the rest later
  }
  std::vector<std::string> messages;
  std::size_t at = 0;
  while (received_.size() - at >= kLength) {
    const std::size_t size = length_in(std::string_view(received_).substr(at));
    if (size > kMostBytes) {
      broken_ = true;
      break;
    }
    if (received_.size() - at < kLength + size) break;
    messages.push_back(received_.substr(at + kLength, size));
    at += kLength + size;
  }
  received_.erase(0, at);
  return messages;
}

}  // namespace tandem::membership
