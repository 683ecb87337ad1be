#include "weights/zip_directory.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "tandem/error.h"

// Offsets below are those of APPNOTE.TXT, version 6.3, sections 4.3.7 (local header), 4.3.12 (directory), 4.3.14 to
// 4.3.16 (its end).
namespace tandem::weights {
namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50, kEntrySignature = 0x02014b50, kEndSignature = 0x06054b50,
                        kEnd64Signature = 0x06064b50, kLocator64Signature = 0x07064b50;
constexpr std::uint64_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr std::uint64_t kLongestComment = 0xffff;
constexpr std::uint64_t kMostMembers = std::uint64_t{1} << 22;
constexpr std::uint16_t kStoredMethod = 0, kDeflateMethod = 8;
constexpr std::uint64_t kMostPerDeflatedByte = 1032;  // https://zlib.net/zlib_tech.html

std::uint16_t load_u16(const std::uint8_t* bytes) {
  return static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8);
}

struct Directory {
  std::uint64_t members, offset, size;
};

class Archive {
 public:
  Archive(std::span<const std::uint8_t> bytes, const std::string& name, ZipMethods methods)
      : bytes_(bytes), name_(name), methods_(methods) {}

  std::vector<ZipMember> read() const {
    const Directory directory = find_directory();
    std::vector<ZipMember> members;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    std::uint64_t at = directory.offset;
    const std::uint64_t end = directory.offset + directory.size;
    for (std::uint64_t i = 0; i < directory.members; ++i) {
      if (end - at < kEntryBytes || load_u32(&bytes_[at]) != kEntrySignature) fail("its directory is damaged");
      const std::uint8_t* const entry = &bytes_[at];
      const std::uint64_t name_bytes = load_u16(entry + 28), extra_bytes = load_u16(entry + 30);
      const std::uint64_t entry_bytes = kEntryBytes + name_bytes + extra_bytes + load_u16(entry + 32);
      if (entry_bytes > end - at) fail("its directory is cut off");
      members.push_back(member(at, name_bytes, extra_bytes, directory.offset, ranges));
      at += entry_bytes;
    }
    check_apart(ranges);
    check_names(members);
    return members;
  }

 private:
  [[noreturn]] void fail(const std::string& why, ErrorCode code = ErrorCode::kDataLoss) const {
    throw Error(code, name_ + " is not a valid zip archive of PyTorch: " + why);
  }
  [[noreturn]] void fail(const ZipMember& member, const std::string& why, ErrorCode code = ErrorCode::kDataLoss) const {
    fail("'" + member.name + "' " + why, code);
  }

  Directory find_directory() const {
    const std::uint64_t size = bytes_.size();
    const std::uint64_t least = size > kEndBytes + kLongestComment ? size - kEndBytes - kLongestComment : 0;
    std::optional<std::uint64_t> end;
    for (std::uint64_t at = size; at >= least + kEndBytes && !end; --at) {
      const std::uint8_t* const one = &bytes_[at - kEndBytes];
      if (load_u32(one) == kEndSignature && load_u16(one + 20) == size - at) end = at - kEndBytes;
    }
    if (!end) fail("it has no directory at its end; it is cut off, or something was added to it");
    const std::uint8_t* const record = &bytes_[*end];
    Directory directory{load_u16(record + 10), load_u32(record + 16), load_u32(record + 12)};
    std::uint64_t directory_end = *end;
    if (directory.members == 0xffff || directory.offset == 0xffffffff || directory.size == 0xffffffff) {
      directory_end = find_directory64(*end, directory);
    } else if (load_u16(record + 4) != 0 || load_u16(record + 6) != 0 || load_u16(record + 8) != directory.members) {
      fail("it is one of several parts", ErrorCode::kUnsupported);
    }
    if (directory.offset > directory_end || directory.size > directory_end - directory.offset) {
      fail("its directory lies outside of it; it is cut off, or something was put before it");
    }
    if (directory.members > directory.size / kEntryBytes || directory.members > kMostMembers) {
      fail("its directory claims " + std::to_string(directory.members) + " members in " +
           std::to_string(directory.size) + " bytes");
    }
    return directory;
  }

  // Where its record begins.
  std::uint64_t find_directory64(std::uint64_t end, Directory& directory) const {
    if (end < kLocator64Bytes || load_u32(&bytes_[end - kLocator64Bytes]) != kLocator64Signature) {
      fail("the 64-bit part of its directory is missing");
    }
    const std::uint64_t limit = end - kLocator64Bytes, at = load_u64(&bytes_[limit + 8]);
    if (limit < kEnd64Bytes || at > limit - kEnd64Bytes || load_u32(&bytes_[at]) != kEnd64Signature) {
      fail("the 64-bit part of its directory is not where it should be");
    }
    directory = {load_u64(&bytes_[at + 32]), load_u64(&bytes_[at + 48]), load_u64(&bytes_[at + 40])};
    return at;
  }

  ZipMember member(std::uint64_t at, std::uint64_t name_bytes, std::uint64_t extra_bytes, std::uint64_t limit,
                   std::vector<std::pair<std::uint64_t, std::uint64_t>>& ranges) const {
    const std::uint8_t* const entry = &bytes_[at];
    ZipMember result;
    result.name.assign(reinterpret_cast<const char*>(entry) + kEntryBytes, name_bytes);
    if (std::any_of(result.name.begin(), result.name.end(), [](char c) { return c < ' ' || c > '~'; })) {
      fail("a member's name has other letters than PyTorch writes");
    }
    result.crc = load_u32(entry + 16);
    std::uint64_t header = load_u32(entry + 42);
    result.stored = load_u32(entry + 20);
    result.size = load_u32(entry + 24);
    read_zip64(result, entry + kEntryBytes + name_bytes, extra_bytes, header);
    if (load_u16(entry + 8) & 1) fail(result, "is encrypted", ErrorCode::kUnsupported);
    const std::uint16_t method = load_u16(entry + 10);
    result.deflated = method == kDeflateMethod && methods_ == ZipMethods::kStoredOrDeflated;
    if (method != kStoredMethod && !result.deflated) {
      fail(result, "is compressed, which torch.save does not do; load it in Python and save it again",
           ErrorCode::kUnsupported);
    }
    if (!result.deflated && result.stored != result.size) fail(result, "has two sizes");
    if (result.size / kMostPerDeflatedByte > result.stored) {
      fail(result, "cannot inflate from " + std::to_string(result.stored) + " bytes to " + std::to_string(result.size));
    }
    if (header > limit || limit - header < kLocalBytes || load_u32(&bytes_[header]) != kLocalSignature) {
      fail(result, "has no header where the directory says");
    }
    const std::uint8_t* const local = &bytes_[header];
    const std::uint64_t local_name = load_u16(local + 26), before = kLocalBytes + local_name + load_u16(local + 28);
    if (load_u16(local + 8) != method || local_name != name_bytes || limit - header < before ||
        std::memcmp(local + kLocalBytes, result.name.data(), name_bytes) != 0) {
      fail(result, "has a header that does not match the directory");
    }
    if (result.stored > limit - header - before) {
      fail(result, "takes " + std::to_string(result.stored) + " bytes, more than the archive has for it");
    }
    result.offset = header + before;
    ranges.emplace_back(header, result.offset + result.stored);
    return result;
  }

  // Numbers of 64 bits stand in an extra field, for those that are all ones.
  void read_zip64(ZipMember& member, const std::uint8_t* extra, std::uint64_t left, std::uint64_t& header) const {
    if (member.size != 0xffffffff && member.stored != 0xffffffff && header != 0xffffffff) return;
    while (left >= 4) {
      const std::uint64_t size = load_u16(extra + 2);
      if (size > left - 4) break;
      if (load_u16(extra) == 1) {
        std::uint64_t place = 0;
        for (std::uint64_t* const number : {&member.size, &member.stored, &header}) {
          if (*number != 0xffffffff) continue;
          if (place + 8 > size) fail(member, "lacks a 64-bit size");
          *number = load_u64(extra + 4 + place);
          place += 8;
        }
        return;
      }
      extra += 4 + size;
      left -= 4 + size;
    }
    fail(member, "lacks its 64-bit sizes");
  }

  void check_apart(std::vector<std::pair<std::uint64_t, std::uint64_t>>& ranges) const {
    std::sort(ranges.begin(), ranges.end());
    for (std::size_t i = 1; i < ranges.size(); ++i) {
      if (ranges[i].first < ranges[i - 1].second) {
        fail("two members share the bytes at " + std::to_string(ranges[i].first) +
             "; it is damaged, or made to do harm");
      }
    }
  }

  void check_names(const std::vector<ZipMember>& members) const {
    std::vector<std::string_view> names;
    for (const ZipMember& member : members) names.push_back(member.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) fail("'" + std::string(*twice) + "' is there twice");
  }

  const std::span<const std::uint8_t> bytes_;
  const std::string& name_;
  const ZipMethods methods_;
};

}  // namespace

std::vector<ZipMember> read_zip_directory(std::span<const std::uint8_t> archive, const std::string& name,
                                          ZipMethods methods) {
  return Archive(archive, name, methods).read();
}

bool begins_as_zip(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 4 && load_u32(bytes.data()) == kLocalSignature;
}

}  // namespace tandem::weights
