// The bytes of a pickle, read one after the other. Every length is compared with what is left before it is used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "tandem/error.h"

namespace tandem::pickle {

class Input {
 public:
  // `name`: of file and pickle, for messages. `begin`: where its bytes lie in the file.
  Input(std::string_view bytes, std::string name, std::uint64_t begin = 0)
      : bytes_(bytes), name_(std::move(name)), begin_(begin) {}

  // Where the opcode under way begins, for messages.
  void mark_opcode() { opcode_ = place_; }
  std::size_t place() const { return place_; }
  std::size_t left() const { return bytes_.size() - place_; }

  std::string_view take(std::uint64_t size, const char* what) {
    if (size > left()) {
      fail(std::string(what) + " of " + std::to_string(size) + " bytes, but " + std::to_string(left()) +
           " are left: it is cut off or damaged");
    }
    const std::string_view taken = bytes_.substr(place_, size);
    place_ += size;
    return taken;
  }
  std::uint8_t u8() { return static_cast<std::uint8_t>(take(1, "a number")[0]); }
  std::uint16_t u16() {
    const std::uint8_t low = u8();
    return static_cast<std::uint16_t>(low | u8() << 8);
  }
  std::uint32_t u32() { return load_u32(data(take(4, "a number"))); }
  std::uint64_t u64() { return load_u64(data(take(8, "a number"))); }
  std::string_view line() {
    constexpr std::size_t kLongest = 1000;
    const auto end = bytes_.substr(place_, kLongest).find('\n');
    if (end == std::string_view::npos) fail("a name without an end");
    const std::string_view taken = take(end, "a name");
    take(1, "a name");
    return taken;
  }

  // Its code is kDataLoss unless said otherwise.
  [[noreturn]] void fail(const std::string& what, ErrorCode code = ErrorCode::kDataLoss) const {
    throw Error(code, name_ + ": byte " + std::to_string(begin_ + opcode_) + " has " + what);
  }

 private:
  static const std::uint8_t* data(std::string_view bytes) {
    return reinterpret_cast<const std::uint8_t*>(bytes.data());
  }

  const std::string_view bytes_;
  const std::string name_;
  const std::uint64_t begin_;
  std::size_t place_ = 0, opcode_ = 0;
};

}  // namespace tandem::pickle
