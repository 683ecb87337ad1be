// Numbers and texts one after another, little-endian: states of checkpoints, messages, records.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/bytes.h"

namespace tandem {

class Packer {
 public:
  explicit Packer(std::string begin = {}) : bytes_(std::move(begin)) {}
  template <typename T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  Packer& operator<<(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Packer& operator<<(std::string_view text) {
    *this << static_cast<std::uint32_t>(text.size());
    bytes_ += text;
    return *this;
  }
  // Without its length.
  Packer& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  const std::string& bytes() const& { return bytes_; }
  std::string bytes() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Throws Ended, which whoever knows what is read turns into an error, where there is less than is asked for.
class Unpacker {
 public:
  struct Ended {};

  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}
  template <typename T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  T take() {
    T value;
    std::memcpy(&value, raw(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view text() { return raw(take<std::uint32_t>()); }
  std::string_view raw(std::size_t size) {
    if (size > rest_.size()) throw Ended();
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  // A count of things of at least `bytes` each, which must be there.
  std::size_t count(std::size_t bytes) {
    const auto number = take<std::uint32_t>();
    if (number > rest_.size() / bytes) throw Ended();
    return number;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace tandem
