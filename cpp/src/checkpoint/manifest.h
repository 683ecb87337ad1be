// What a checkpoint's folder holds: checkpoint.json, without which it is none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::checkpoint {

inline constexpr const char* kManifest = "checkpoint.json";
inline constexpr const char* kValues = "values.json";
inline constexpr std::uint64_t kLongestManifest = std::uint64_t{1} << 30;  // bytes

struct TensorRecord {
  std::string name;
  std::uint32_t crc32 = 0;  // of its bytes in the file
  // Of a part: the sizes of the whole tensor, and the box in it that this is. Else empty.
  std::vector<std::int64_t> whole, begin, sizes;
};

// A safetensors file.
struct FileRecord {
  std::string name;
  std::string section;
  int rank = 0;  // that wrote it
  std::uint64_t bytes = 0;
  std::uint32_t header_crc32 = 0;  // of all before the tensors
  std::vector<TensorRecord> tensors;
};

struct Manifest {
  std::int64_t step = 0;
  int world_size = 1;
  std::uint64_t values_bytes = 0;
  std::uint32_t values_crc32 = 0;
  std::vector<FileRecord> files;
};

// Whether files can be called after it: letters, digits, '_' and '-', up to 64 of them.
bool is_section_name(std::string_view name);
// "optimizer.rank-1-of-4.safetensors"; of what is the same on all ranks "optimizer.safetensors".
std::string file_name(const std::string& section);
std::string file_name(const std::string& section, int rank, int world_size);

// Of one rank, for rank 0 to gather.
std::string format_files(const std::vector<FileRecord>& files);
std::vector<FileRecord> parse_files(std::string_view text);

// JSON whose first member is the checksum of all that follows it. parse() throws tandem::Error (kDataLoss) naming
// `path`, and kUnsupported for a later version's.
std::string format(const Manifest& manifest);
Manifest parse(std::string_view text, const std::string& path);

// Throws tandem::Error (kInvalidArgument) for text that is no JSON, or nested too deep.
void check_values(const std::string& json);

}  // namespace tandem::checkpoint
