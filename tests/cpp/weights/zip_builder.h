// Zip archives with whatever a test wants in them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/crc32c.h"

namespace tandem::test {

class ZipBuilder {
 public:
  // Where its bytes begin.
  std::size_t add(const std::string& name, std::string_view content) {
    Member member{name, static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(content.size()),
                  crc32({reinterpret_cast<const std::uint8_t*>(content.data()), content.size()})};
    u32(0x04034b50);
    u16(0), u16(0), u16(0), u16(0), u16(0);
    u32(member.crc), u32(member.size), u32(member.size);
    u16(name.size()), u16(0);
    text(name);
    const std::size_t begin = bytes_.size();
    text(content);
    members_.push_back(std::move(member));
    return begin;
  }

  // With sizes and places of 64 bits where asked for. Where the entry of each member begins is in `entries`.
  std::vector<std::uint8_t> finish(bool zip64 = false) {
    const std::size_t begin = bytes_.size();
    for (const Member& member : members_) {
      entries.push_back(bytes_.size());
      u32(0x02014b50);
      u16(0), u16(0), u16(0), u16(0), u16(0), u16(0);
      u32(member.crc), u32(zip64 ? ~0u : member.size), u32(zip64 ? ~0u : member.size);
      u16(member.name.size()), u16(zip64 ? 28 : 0), u16(0), u16(0), u16(0), u32(0), u32(zip64 ? ~0u : member.place);
      text(member.name);
      if (zip64) u16(1), u16(24), u64(member.size), u64(member.size), u64(member.place);
    }
    const std::size_t size = bytes_.size() - begin, end64 = bytes_.size(), count = members_.size();
    if (zip64) {
      u32(0x06064b50), u64(44), u16(0), u16(0), u32(0), u32(0), u64(count), u64(count), u64(size), u64(begin);
      u32(0x07064b50), u32(0), u64(end64), u32(1);
    }
    end = bytes_.size();
    u32(0x06054b50), u16(0), u16(0), u16(zip64 ? 0xffff : count), u16(zip64 ? 0xffff : count);
    u32(zip64 ? ~0u : static_cast<std::uint32_t>(size)), u32(zip64 ? ~0u : static_cast<std::uint32_t>(begin)), u16(0);
    return bytes_;
  }

  std::vector<std::size_t> entries;
  std::size_t end = 0;  // where the record of the directory's end begins

 private:
  struct Member {
    std::string name;
    std::uint32_t place, size, crc;
  };

  void text(std::string_view text) { bytes_.insert(bytes_.end(), text.begin(), text.end()); }
  void u16(std::size_t value) {
    bytes_.push_back(static_cast<std::uint8_t>(value));
    bytes_.push_back(static_cast<std::uint8_t>(value >> 8));
  }
  void u32(std::uint32_t value) { append_u32(bytes_, value); }
  void u64(std::uint64_t value) {
    u32(static_cast<std::uint32_t>(value));
    u32(static_cast<std::uint32_t>(value >> 32));
  }

  std::vector<Member> members_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace tandem::test
