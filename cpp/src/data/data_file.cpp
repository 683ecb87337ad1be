#include "data/data_file.h"

#include "data/mapped_file.h"

namespace tandem {
namespace {

class LocalFile : public DataFile {
 public:
  explicit LocalFile(const std::string& path) : DataFile(path), file_(path) {}

  std::uint64_t size() const override { return file_.bytes().size(); }
  std::optional<std::int64_t> modified() const override { return file_.modified(); }
  Record read(std::uint64_t offset, std::uint64_t length) override {
    return {file_.bytes().subspan(offset, length), nullptr};
  }

 private:
  const MappedFile file_;
};

}  // namespace

std::shared_ptr<DataFile> open_data_file(const std::string& path) {
  return std::make_shared<LocalFile>(path);
}

}  // namespace tandem
