// A record of MessagePack: its top-level values, one after another.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "data/decode/field_value.h"

namespace tandem::decode {

inline constexpr std::size_t kNoField = static_cast<std::size_t>(-1);

// A value of a field: a string of bytes in the record, or numbers, which are fractions as soon as one of them is.
struct MsgpackValue {
  std::optional<std::span<const std::uint8_t>> bytes;
  std::vector<std::int64_t> integers;
  std::vector<double> fractions;
};

// Calls `put` for each value of the record whose name `find` gives the number of a field for, or whose place in an
// array is that number. Throws Error(kDataLoss).
void read_msgpack(std::span<const std::uint8_t> record, const std::vector<FieldPlan>& plans,
                  const std::function<std::size_t(std::string_view)>& find,
                  const std::function<void(std::size_t, const MsgpackValue&)>& put);

}  // namespace tandem::decode
