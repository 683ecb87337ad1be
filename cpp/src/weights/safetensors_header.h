// The header of a safetensors file, without tensors: what stands where.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::safetensors {

struct Entry {
  std::string name;
  std::string dtype;  // "F32"
  std::vector<std::int64_t> sizes;
  std::uint64_t begin = 0, end = 0;  // bytes, from the end of the header
};

struct Header {
  std::vector<Entry> entries;  // by place
  std::map<std::string, std::string> metadata;
  std::uint64_t data = 0;  // where the bytes of tensors begin in the file
};

// Bytes of an element, 0 for an unknown dtype.
std::uint64_t element_bytes(std::string_view dtype);

constexpr std::size_t kLengthBytes = 8;  // with which a file begins
// How many bytes follow these first ones until the header's end, as far as a header may be that long.
std::uint64_t header_bytes(std::string_view start);

// The header of a file of `file_size` bytes that begins with `start`, which holds at least the header's end (any more
// is ignored). Every offset is checked against the dtype, the sizes, the neighbours and the file's size. Throws
// tandem::Error (kDataLoss) naming `path`.
Header parse(const std::string& path, std::string_view start, std::uint64_t file_size);

// The bytes before the tensors'; sets begin and end of each entry. Padded so that tensors are aligned to 64 bytes.
std::string format(Header& header);

}  // namespace tandem::safetensors
