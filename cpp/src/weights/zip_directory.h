// The members of a zip archive and where their bytes lie: as PyTorch writes them, zip64 included.
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
  std::uint64_t size = 0;    // once it is inflated
  std::uint64_t stored = 0;  // the same, unless it is deflated
  std::uint32_t crc = 0;     // CRC-32 of `size` bytes; 0 where the writer computed none
  bool deflated = false;
};

// What members may be: torch.save compresses nothing, torch.jit.save the text of its code.
enum class ZipMethods { kStored, kStoredOrDeflated };

// In the order of the archive's directory. That each member's bytes lie in the archive, in no other member's, and are
// of one of the methods, not encrypted, and not said to inflate to more than deflate can is checked, as is that names
// differ; their CRCs are not. `name`: of the file, for messages. Throws tandem::Error: kDataLoss, kUnsupported.
std::vector<ZipMember> read_zip_directory(std::span<const std::uint8_t> archive, const std::string& name,
                                          ZipMethods methods = ZipMethods::kStored);

bool begins_as_zip(std::span<const std::uint8_t> bytes);

}  // namespace tandem::weights
