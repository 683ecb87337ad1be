// The beginning of a part of a record in RecordIO of dmlc and MXNet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tandem::formats {

inline constexpr std::uint32_t kDmlcMagic = 0xced7230a;

// FILE.idx of FILE.rec, which says what records readers find; nothing for other names.
std::optional<std::string> dmlc_index_path(const std::string& path);

}  // namespace tandem::formats
