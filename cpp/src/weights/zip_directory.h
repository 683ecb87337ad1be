// The members of a zip archive and where their bytes lie: stored ones, as PyTorch writes them, zip64 included.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::weights {

struct ZipMember {
  std::string name;
  std::uint64_t offset = 0;  // of its bytes in the archive
  std::uint64_t size = 0;
  std::uint32_t crc = 0;  // CRC-32 of them; 0 where the writer computed none
};

// In the order of the archive's directory. That each member's bytes lie in the archive, in no other member's, and are
// neither compressed nor encrypted is checked, as is that names differ; their CRCs are not. `name`: of the file, for
// messages. Throws tandem::Error: kDataLoss, kUnsupported.
std::vector<ZipMember> read_zip_directory(std::span<const std::uint8_t> archive, const std::string& name);

bool begins_as_zip(std::span<const std::uint8_t> bytes);

}  // namespace tandem::weights
