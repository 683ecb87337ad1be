// A file that appears whole or not at all.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace tandem {

// Writes to a temporary name beside `path`. commit() syncs the bytes, renames and syncs the folder; destroyed without
// it, the temporary file is removed. Throws Error(kIo) naming `path`, also where a pipe, a device or a folder has it,
// and Error(kNotFound) where its folder is missing.
class AtomicFile {
 public:
  // `mode`: of a new file, less what umask() takes from it. One that is replaced stays as closed as it was.
  explicit AtomicFile(std::string path, unsigned mode = 0666);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(const void* data, std::size_t size);
  void commit();
  // Without waiting for the disk: what can be made again.
  void commit_unsynced();
  const std::string& path() const { return path_; }

  // The name it is written under, for whoever writes files by their names. Then, before commit(), reopen(): what has
  // that name now may be another file. Throws Error(kIo) where nothing was written to it.
  const std::string& temporary() const { return temporary_; }
  void reopen();

 private:
  void fail(const std::string& what);

  std::string path_;
  std::string temporary_;
  Descriptor file_;
  std::size_t appended_ = 0, started_ = 0;  // bytes; of which the disk was told to begin
};

// The file that `name` was to become, "FILE" of "FILE.tmpPID-N", as a process that was killed leaves it; nothing where
// it is no such name.
std::optional<std::string_view> target_of_temporary(std::string_view name);

}  // namespace tandem
