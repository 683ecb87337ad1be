// Writes pickles of protocol 2, with the opcodes that Python's weights_only unpickler knows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "weights/pickle/opcodes.h"

namespace tandem::pickle {

class Pickler {
 public:
  Pickler();

  void none() { opcode(Opcode::kNone); }
  void boolean(bool value) { opcode(value ? Opcode::kNewTrue : Opcode::kNewFalse); }
  void integer(std::int64_t value);
  void real(double value);
  // UTF-8 of less than 4 GiB, which the caller checks.
  void text(std::string_view text);
  void bytes(std::string_view bytes);
  // Anew the first time, from the memo later.
  void global(std::string_view module, std::string_view name);
  void opcode(Opcode opcode) { bytes_.push_back(static_cast<char>(opcode)); }
  // collections.OrderedDict()
  void ordered_dict();
  // Of integers.
  template <typename Numbers>
  void tuple(const Numbers& numbers) {
    opcode(Opcode::kMark);
    for (const auto number : numbers) integer(number);
    opcode(Opcode::kTuple);
  }
  // The pickle.
  std::string finish() &&;

 private:
  void raw(const void* data, std::size_t size) { bytes_.append(static_cast<const char*>(data), size); }

  std::string bytes_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> globals_;
};

}  // namespace tandem::pickle
