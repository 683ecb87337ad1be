#include "data/data_file.h"

#include "base/shown_path.h"
#include "data/remote/remote_file.h"

namespace tandem {
namespace {

class LocalFile : public DataFile {
 public:
  explicit LocalFile(const std::string& path) : DataFile(path, shown_path(path)), file_(path) { mapped_ = &file_; }

  std::uint64_t size() const override { return file_.bytes().size(); }
  std::optional<std::int64_t> modified() const override { return file_.modified(); }
  Record read(std::uint64_t offset, std::uint64_t length) override {
    file_.require(offset, length);
    return {file_.bytes().subspan(offset, length), nullptr};
  }
  std::shared_ptr<DataFile> open_other(const std::string& path) const override {
    return std::make_shared<LocalFile>(path);
  }

 private:
  const MappedFile file_;
};

}  // namespace

std::shared_ptr<DataFile> open_data_file(const std::string& path, const RemoteOptions& options,
                                         std::shared_ptr<LruCache> cache) {
  if (is_remote(path)) return remote::open_remote_file(path, options, std::move(cache));
  return std::make_shared<LocalFile>(path);
}

}  // namespace tandem
