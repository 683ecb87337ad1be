// The 512 bytes before each member of a tar file. Source: POSIX.1-2001, pax; GNU tar's manual.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "data/recordio/bytes.h"

namespace tandem::formats {

inline constexpr std::uint64_t kTarBlock = 512;

// In `kind`: what members there are, apart from files.
inline constexpr char kTarPax = 'x', kTarPaxGlobal = 'g', kTarGnuName = 'L', kTarGnuLink = 'K';
// A longer name, or pax header, is none.
inline constexpr std::uint64_t kTarMostExtra = 1u << 20;

struct TarHeader {
  std::string name;
  std::uint64_t size = 0;
  char kind = '0';
  std::uint32_t checksum = 0;

  bool is_file() const { return kind == '0' || kind == '\0' || kind == '7'; }
};

// Whether a file that begins so is a tar: its first block's checksum is right.
bool is_tar(recordio::Bytes begin);

// Nothing for a block of zeros, which ends a tar. `block` has 512 bytes. Throws recordio::Damaged.
std::optional<TarHeader> decode_tar_header(recordio::Bytes block);

// What a pax member says of the member after it, as far as it says it. Throws recordio::Damaged.
void apply_pax(recordio::Bytes content, std::optional<std::string>& name, std::optional<std::uint64_t>& size);

}  // namespace tandem::formats
