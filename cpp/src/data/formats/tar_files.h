// The files in a tar, one after another.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/data_file.h"
#include "data/formats/tar_header.h"

namespace tandem::formats {

struct TarMember {
  TarHeader header;
  std::uint64_t content;  // where its bytes begin
  std::uint64_t next;     // where the next member does
};

// The member that begins at `at`, or after what stands there about it (long names, pax headers); nothing at the end.
// Throws Error(kDataLoss) naming file and place.
std::optional<TarMember> read_tar_member(DataFile& file, std::uint64_t at);

struct TarFile {
  std::string name;
  std::uint64_t content, size;
};
// Without folders and links. Throws as above.
std::vector<TarFile> list_tar(DataFile& file);

}  // namespace tandem::formats
