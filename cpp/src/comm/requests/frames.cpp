#include "comm/requests/frames.h"

#include <cstring>

#include "tandem/error.h"

namespace tandem::requests {
namespace {

constexpr std::size_t kHeadBytes = sizeof(std::uint32_t) + sizeof(std::uint64_t);

}  // namespace

void append_frame(std::string& out, std::uint64_t number, std::string_view bytes) {
  const auto length = static_cast<std::uint32_t>(bytes.size());
  out.append(reinterpret_cast<const char*>(&length), sizeof length);
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
  out.append(bytes);
}

void FrameReader::add(std::string_view received) {
  buffer_.erase(0, begin_);
  begin_ = 0;
  buffer_.append(received);
}

std::optional<Frame> FrameReader::next() {
  const std::string_view rest = std::string_view(buffer_).substr(begin_);
  if (rest.size() < kHeadBytes) return std::nullopt;
  std::uint32_t length = 0;
  Frame frame;
  std::memcpy(&length, rest.data(), sizeof length);
  std::memcpy(&frame.number, rest.data() + sizeof length, sizeof frame.number);
  if (length > kMostBytes) {
    throw Error(ErrorCode::kDataLoss, "a message of " + std::to_string(length) + " bytes is too long to be one");
  }
  if (rest.size() - kHeadBytes < length) return std::nullopt;
  frame.bytes = rest.substr(kHeadBytes, length);
  begin_ += kHeadBytes + length;
  return frame;
}

}  // namespace tandem::requests
