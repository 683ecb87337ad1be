// A file that appears whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tandem {

// Writes to a temporary name beside `path`. commit() syncs the bytes, renames and syncs the folder; destroyed without
// it, the temporary file is removed. Throws Error(kIo) naming `path`, also where a pipe, a device or a folder has it.
class AtomicFile {
 public:
  // `mode`: of the file, less what umask() takes from it.
  explicit AtomicFile(std::string path, unsigned mode = 0666);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(const void* data, std::size_t size);
  void commit();
  // Without waiting for the disk: what can be made again.
  void commit_unsynced();
  const std::string& path() const { return path_; }

 private:
  void fail(const std::string& what);

  std::string path_;
  std::string temporary_;
  int fd_ = -1;
};

}  // namespace tandem
