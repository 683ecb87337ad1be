#include "weights/zip_layout.h"

#include <string_view>
#include <unordered_map>

#include "base/crc32c.h"
#include "tandem/error.h"
#include "weights/zip_directory.h"

namespace tandem::weights {
namespace {

// As LibTorch 2.11 reads them: kMinSupportedFileFormatVersion, kMaxSupportedFileFormatVersion.
constexpr int kOldestVersion = 1, kNewestVersion = 10;

class ZipFile {
 public:
  ZipFile(std::span<const std::uint8_t> file, const std::string& name)
      : file_(file), name_(name), members_(read_zip_directory(file, name)) {
    // All lie in one folder, whose name is the archive's.
    for (const ZipMember& member : members_) {
      const auto slash = member.name.find('/');
      if (slash == std::string::npos) continue;
      if (folder_.empty()) folder_ = member.name.substr(0, slash + 1);
      by_name_.emplace(member.name, &member);
    }
  }

  const ZipMember* find(const std::string& record) const {
    const auto found = by_name_.find(folder_ + record);
    return found == by_name_.end() ? nullptr : found->second;
  }
  std::string_view text(const ZipMember& member) const {
    return {reinterpret_cast<const char*>(file_.data()) + member.offset, member.size};
  }

  // Their place in the file of what is no weights says what it is.
  const ZipMember& pickle() const {
    const ZipMember* const found = find("data.pkl");
    if (find("constants.pkl") || find("code/__torch__.py")) {
      fail(
          "is an archive of TorchScript; load it as a module of TorchScript, or save the module's state_dict with "
          "torch.save",
          ErrorCode::kUnsupported);
    }
    if (!found) fail("has no data.pkl: torch.save has not written it", ErrorCode::kDataLoss);
    return *found;
  }

  void check_records() const {
    if (const ZipMember* const order = find("byteorder"); order && text(*order) != "little") {
      fail("has the byte order '" + std::string(text(*order).substr(0, 20)) +
               "', and 'little' is read alone; save it "
               "again on such a machine",
           ErrorCode::kUnsupported);
    }
    const ZipMember* const version = find("version");
    if (!version) fail("has no version: torch.save has not written it to its end", ErrorCode::kDataLoss);
    int number = 0;
    for (const char digit : text(*version).substr(0, 4)) {
      if (digit >= '0' && digit <= '9') number = 10 * number + digit - '0';
    }
    if (number < kOldestVersion || number > kNewestVersion) {
      fail("is of version " + std::to_string(number) + " of the format, and 1 to 10 are read", ErrorCode::kUnsupported);
    }
  }

  [[noreturn]] void fail(const std::string& what, ErrorCode code) const { throw Error(code, name_ + " " + what); }

 private:
  const std::span<const std::uint8_t> file_;
  const std::string& name_;
  const std::vector<ZipMember> members_;
  std::string folder_;
  std::unordered_map<std::string_view, const ZipMember*> by_name_;
};

}  // namespace

PtLayout read_zip_layout(std::span<const std::uint8_t> file, const std::string& name, const pickle::Limits& limits) {
  const ZipFile zip(file, name);
  const ZipMember& member = zip.pickle();
  zip.check_records();
  PtLayout layout;
  // Of its own, so that what was checked stays as it was when the file is written meanwhile.
  layout.pickle_bytes = std::make_unique<const std::string>(zip.text(member));
  const std::string& bytes = *layout.pickle_bytes;
  if (member.crc != 0 && crc32({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}) != member.crc) {
    zip.fail("is damaged: data.pkl does not have the checksum that it was written with", ErrorCode::kDataLoss);
  }
  layout.pickle = pickle::unpickle(bytes, name + ": data.pkl", 0, limits);
  std::unordered_map<std::string_view, std::uint32_t> known;
  for (const pickle::StorageRef& storage : layout.pickle.storages) {
    const auto [place, is_new] = known.emplace(storage.key, static_cast<std::uint32_t>(layout.storages.size()));
    if (is_new) {
      const std::string key(storage.key);
      const ZipMember* const found = zip.find("data/" + key);
      if (!found)
        zip.fail("lacks the storage 'data/" + key.substr(0, 100) + "', which its data.pkl names", ErrorCode::kDataLoss);
      layout.storages.push_back({key, found->offset, found->size, found->crc});
    }
    const PtStorage& stored = layout.storages[place->second];
    if (stored.size < storage.bytes()) {
      zip.fail("has " + std::to_string(stored.size) + " bytes of the storage 'data/" + stored.key + "', and data.pkl " +
                   "wants " + std::to_string(storage.bytes()),
               ErrorCode::kDataLoss);
    }
    layout.storage_of.push_back(place->second);
  }
  return layout;
}

}  // namespace tandem::weights
