// An HTTP server of a test's own for one file, which can be away, refuse, or be slow.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tandem::test {

// Serves `content`, whatever path is asked for, by ranges, one request a connection.
class FileServer {
 public:
  explicit FileServer(std::vector<std::uint8_t> content) : content_(std::move(content)) {
    for (const char* proxy : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}) ::unsetenv(proxy);
    come_back();
  }
  ~FileServer() { go_down(); }
  FileServer(const FileServer&) = delete;
  FileServer& operator=(const FileServer&) = delete;

  std::string url(const std::string& path = "/file") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }

  // Connections are refused until it comes back, on the same port.
  void go_down() {
    if (listener_ < 0) return;
    down_ = true;
    accepting_.join();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    ::close(std::exchange(listener_, -1));
  }
  void come_back() {
    const int one = 1;
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    address.sin_port = ::htons(port_);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("the test's server cannot listen");
    }
    port_ = ::ntohs(address.sin_port);
    down_ = false;
    accepting_ = std::thread([this] { accept_all(); });
  }

  std::atomic<int> status = 0;      // that all requests are answered with; 0: what they ask for
  std::atomic<int> key = 0;         // others than those signed with KEY1, say, have expired; 0: all are answered
  std::atomic<bool> elsewhere = false;  // each is answered after 1.5 s, with a redirect to this server again
  std::atomic<bool> moved = false;      // each is answered with a redirect to another server
  std::atomic<bool> page = false;       // each is answered with a whole page of something else
  std::atomic<int> version = 1;         // of the file
  std::atomic<bool> slow = false;   // two bytes a second
  std::atomic<int> requests = 0;

 private:
  bool wait_for(int fd, short event) const {
    while (!down_) {
      pollfd one{fd, event, 0};
      if (::poll(&one, 1, 20) > 0) return true;
    }
    return false;
  }
  void accept_all() {
    while (wait_for(listener_, POLLIN)) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd >= 0) threads_.emplace_back([this, fd] { answer(fd); });
    }
  }
  void answer(int fd) {
    std::string request;
    char buffer[4096];
    while (request.find("\r\n\r\n") == std::string::npos && wait_for(fd, POLLIN)) {
      const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
      if (n <= 0) break;
      request.append(buffer, static_cast<std::size_t>(n));
    }
    ++requests;
    const auto at = request.find("bytes=");
    if (at != std::string::npos && !down_ && !is_refused(fd, request)) reply(fd, request.substr(at + 6));
    ::close(fd);
  }
  bool is_refused(int fd, const std::string& request) {
    if (page) {
      const std::string body = "<html>We are back soon.</html>";
      send(fd, "HTTP/1.1 200 OK\r\nETag: \"page\"\r\nConnection: close\r\nContent-Length: " +
                   std::to_string(body.size()) + "\r\n\r\n" + body);
      return true;
    }
    if (moved) {
      send(fd, "HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      return true;
    }
    if (elsewhere) {
      for (int i = 0; i < 75 && !down_; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      send(fd,
           "HTTP/1.1 302 Found\r\nLocation: " + url("/again") + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      return true;
    }
    if (const int current = key;
        current == 0 || request.find("Credential=KEY" + std::to_string(current) + "/") != std::string::npos) {
      return false;
    }
    const std::string body = "<Error><Code>ExpiredToken</Code></Error>";
    send(fd, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
                 "\r\n\r\n" + body);
    return true;
  }
  void reply(int fd, const std::string& range) {
    if (const int code = status) {
      send(fd, "HTTP/1.1 " + std::to_string(code) + " No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      return;
    }
    const std::uint64_t begin = std::stoull(range), last = std::stoull(range.substr(range.find('-') + 1));
    const std::uint64_t end = std::min<std::uint64_t>(last + 1, content_.size());
    send(fd, "HTTP/1.1 206 Part\r\nETag: \"" + std::to_string(version) + "\"\r\nConnection: close\r\nContent-Length: " +
                 std::to_string(end - begin) + "\r\nContent-Range: bytes " + std::to_string(begin) + "-" +
                 std::to_string(end - 1) + "/" + std::to_string(content_.size()) + "\r\n\r\n");
    const char* const bytes = reinterpret_cast<const char*>(content_.data());
    for (std::uint64_t i = begin; slow && i < end && !down_; ++i) {
      if (!send(fd, std::string(bytes + i, 1))) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
    if (!slow) send(fd, {bytes + begin, bytes + end});
  }
  bool send(int fd, std::string_view bytes) {
    while (!bytes.empty() && wait_for(fd, POLLOUT)) {
      const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && errno != EAGAIN) return false;
      if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return bytes.empty();
  }

  const std::vector<std::uint8_t> content_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  std::atomic<bool> down_ = true;
  std::thread accepting_;
  std::vector<std::thread> threads_;
};

}  // namespace tandem::test
