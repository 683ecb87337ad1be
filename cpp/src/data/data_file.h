// A file by ranges of its bytes, wherever it lies.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/mapped_file.h"
#include "data/lru_cache.h"
#include "tandem/record_source.h"
#include "tandem/remote_options.h"

namespace tandem {

// Thread-safe. Throws Error naming the file.
class DataFile {
 public:
  // `name` is what messages say.
  DataFile(std::string path, std::string name) : path_(std::move(path)), name_(std::move(name)) {}
  virtual ~DataFile() = default;

  // For messages: of a URL without what lets others in.
  const std::string& name() const { return name_; }
  // To find others beside it. Never for messages.
  const std::string& path() const { return path_; }
  virtual std::uint64_t size() const = 0;
  // When it was written last, in nanoseconds since 1970, where that is known.
  virtual std::optional<std::int64_t> modified() const = 0;
  // Bytes [offset, offset + length), all of which the file has. Without an owner they live as long as the file.
  virtual Record read(std::uint64_t offset, std::uint64_t length) = 0;
  // Before bytes that read() gave earlier are used: throws where they are known to be those of the file no more, and
  // cannot be had again.
  void require(std::uint64_t offset, std::uint64_t length) const {
    if (mapped_) mapped_->require(offset, length);
  }
  // After it: throws where they are known to be those of the file no more. For LostReads.
  void check(std::uint64_t offset, std::uint64_t length) const {
    if (mapped_) mapped_->check(offset, length);
  }
  // Another file, an index beside this one, on the same terms.
  virtual std::shared_ptr<DataFile> open_other(const std::string& path) const = 0;

 protected:
  const MappedFile* mapped_ = nullptr;  // of one that gives views of it

 private:
  const std::string path_, name_;
};

// A path of this host, or a URL. `cache` holds what of remote files stays in memory; null: each has a few MiB of its
// own. Throws what MappedFile does; of URLs what RangeClient does.
std::shared_ptr<DataFile> open_data_file(const std::string& path, const RemoteOptions& options = {},
                                         std::shared_ptr<LruCache> cache = nullptr);

}  // namespace tandem
