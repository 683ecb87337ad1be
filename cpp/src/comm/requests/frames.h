// How requests and their answers go over a connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tandem::requests {

// What whoever connects sends first, with the listener's password behind it, and what the server answers to that.
constexpr std::string_view kHello = "tdm-rq1?", kWelcome = "tdm-rq1!";

// Longer messages are refused: the connection is closed.
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

// A number of the client's own, and bytes. An answer has its request's number; 0 wakes the client.
struct Frame {
  std::uint64_t number = 0;
  std::string_view bytes;
};

void append_frame(std::string& out, std::uint64_t number, std::string_view bytes);

// Puts frames together from what comes. Takes no more memory than what came.
class FrameReader {
 public:
  void add(std::string_view received);
  // The next whole one, which is there until add(); nothing where more is to come. Throws Error(kDataLoss) for one that
  // is longer than kMostBytes.
  std::optional<Frame> next();

 private:
  std::string buffer_;
  std::size_t begin_ = 0;  // of what was not given yet
};

}  // namespace tandem::requests
