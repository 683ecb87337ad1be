// The beginning of a part of a record in RecordIO of dmlc and MXNet.
#pragma once

#include <cstdint>

namespace tandem::formats {

inline constexpr std::uint32_t kDmlcMagic = 0xced7230a;

}  // namespace tandem::formats
