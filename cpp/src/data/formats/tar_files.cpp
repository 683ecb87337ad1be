#include "data/formats/tar_files.h"

#include <algorithm>

#include "data/formats/formats.h"

namespace tandem::formats {
namespace {

using recordio::Damaged;

// What extension headers before a file set for it.
struct Extended {
  std::optional<std::string> name;
  std::optional<std::uint64_t> size;
};

bool is_about_next(const TarHeader& header) {
  return header.kind == kTarPax || header.kind == kTarPaxGlobal || header.kind == kTarGnuName ||
         header.kind == kTarGnuLink;
}

void check_size(const DataFile& file, std::uint64_t content, std::uint64_t size) {
  if (size > file.size() - content) {
    throw Damaged{"declares " + std::to_string(size) + " bytes, past the file's end"};
  }
}

void read_extension(DataFile& file, const TarMember& member, Extended& extended) {
  if (member.header.size > kTarMostExtra) throw Damaged{"has a name or pax header of more than 1 MiB"};
  const Record content = file.read(member.content, member.header.size);
  if (member.header.kind == kTarGnuName) {
    extended.name.emplace(content.bytes.begin(), std::ranges::find(content.bytes, 0));
  } else if (member.header.kind == kTarPax) {
    apply_pax(content.bytes, extended.name, extended.size);
  }
}

std::uint64_t padded(std::uint64_t size) {
  return (size + kTarBlock - 1) / kTarBlock * kTarBlock;
}

}  // namespace

std::optional<TarMember> read_tar_member(DataFile& file, std::uint64_t at) {
  const std::uint64_t begin = at;
  Extended extended;
  try {
    while (at < file.size()) {  // some writers leave out the zeros at the end
      if (file.size() - at < kTarBlock) throw Damaged{"is cut off"};
      std::optional<TarHeader> header = decode_tar_header(file.read(at, kTarBlock).bytes);
      if (!header) return {};
      TarMember member{*std::move(header), at + kTarBlock, 0};
      if (member.header.kind == 'S') throw Damaged{"is a sparse file, which is not supported: pack it without"};
      const bool about_next = is_about_next(member.header);
      if (!about_next) {
        if (extended.name) member.header.name = *extended.name;
        if (extended.size) member.header.size = *extended.size;
      }
      const std::uint64_t size = about_next || member.header.is_file() ? member.header.size : 0;
      check_size(file, member.content, size);
      member.next = std::min(member.content + padded(size), file.size());  // the last one's padding may be missing
      if (!about_next) return member;
      read_extension(file, member, extended);
      at = member.next;
    }
  } catch (const Damaged& what) {
    throw_damaged(file, "the member at byte " + std::to_string(begin) + " " + what.reason);
  }
  return {};
}

std::vector<TarFile> list_tar(DataFile& file) {
  std::vector<TarFile> files;
  for (auto member = read_tar_member(file, 0); member; member = read_tar_member(file, member->next)) {
    if (member->header.is_file()) files.push_back({member->header.name, member->content, member->header.size});
  }
  return files;
}

}  // namespace tandem::formats
