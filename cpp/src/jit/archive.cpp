#include "jit/archive.h"

#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "jit/source_depth.h"
#include "jit/source_literals.h"
#include "tandem/error.h"
#include "weights/pickle/unpickler.h"
#include "weights/zip_directory.h"

namespace tandem::jit {
namespace {

using weights::ZipMember;

// Code's syntax trees take a hundred times as much memory. Models of thousands of layers have less, and code deflates
// to a tenth or so.
constexpr std::uint64_t kMostCode = std::uint64_t{32} << 20, kMostPerDeflatedByte = 100, kAlwaysAllowed = 65536;
constexpr std::uint32_t kIn64Bits = 0xffffffff;

std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// Numbers of a zip archive: offsets below are those of APPNOTE.TXT, version 6.3.
class Record {
 public:
  Record& u16(std::uint16_t value) { return put(&value, sizeof value); }
  Record& u32(std::uint32_t value) { return put(&value, sizeof value); }
  Record& u64(std::uint64_t value) { return put(&value, sizeof value); }
  Record& text(std::string_view text) { return put(text.data(), text.size()); }
  std::string take() { return std::move(bytes_); }

 private:
  Record& put(const void* bytes, std::size_t size) {
    bytes_.append(static_cast<const char*>(bytes), size);
    return *this;
  }

  std::string bytes_;
};

std::uint32_t in_32_bits(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, kIn64Bits));
}

// 4.3.7
std::string local_header(const ZipMember& member) {
  Record record;
  record.u32(0x04034b50).u16(45).u16(0).u16(member.deflated ? 8 : 0).u32(0).u32(member.crc);
  record.u32(in_32_bits(member.stored)).u32(in_32_bits(member.size));
  record.u16(static_cast<std::uint16_t>(member.name.size())).u16(0).text(member.name);
  return record.take();
}

// 4.3.12, with the numbers of 64 bits always in their extra field.
std::string directory_entry(const ZipMember& member, std::uint64_t header) {
  Record record;
  record.u32(0x02014b50).u16(45).u16(45).u16(0).u16(member.deflated ? 8 : 0).u32(0).u32(member.crc);
  record.u32(kIn64Bits).u32(kIn64Bits).u16(static_cast<std::uint16_t>(member.name.size())).u16(28).u16(0);
  record.u16(0).u16(0).u32(0).u32(kIn64Bits).text(member.name);
  record.u16(1).u16(24).u64(member.size).u64(member.stored).u64(header);
  return record.take();
}

// 4.3.14 to 4.3.16
std::string directory_end(std::uint64_t members, std::uint64_t begin, std::uint64_t end) {
  Record record;
  record.u32(0x06064b50).u64(44).u16(45).u16(45).u32(0).u32(0).u64(members).u64(members).u64(end - begin).u64(begin);
  record.u32(0x07064b50).u32(0).u64(end).u32(1);
  record.u32(0x06054b50).u16(0).u16(0).u16(0xffff).u16(0xffff).u32(kIn64Bits).u32(kIn64Bits).u16(0);
  return record.take();
}

// The members that LibTorch reads, by their names without the archive's folder.
class Members {
 public:
  Members(std::span<const std::uint8_t> file, const std::string& name) : file_(file), name_(name) {
    for (ZipMember& member : weights::read_zip_directory(file, name, weights::ZipMethods::kStoredOrDeflated)) {
      const auto slash = member.name.find('/');
      if (slash == std::string::npos) continue;
      if (folder_.empty()) folder_ = member.name.substr(0, slash + 1);
      if (!member.name.starts_with(folder_) || !is_wanted(std::string_view(member.name).substr(folder_.size())))
        continue;
      all_.push_back(std::move(member));
    }
    for (const ZipMember& member : all_)
      by_name_.emplace(std::string_view(member.name).substr(folder_.size()), &member);
  }

  const std::vector<ZipMember>& all() const { return all_; }
  const std::string& folder() const { return folder_; }
  std::span<const std::uint8_t> stored(const ZipMember& member) const {
    return file_.subspan(member.offset, member.stored);
  }
  const ZipMember* find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

  [[noreturn]] void fail(const std::string& what, ErrorCode code = ErrorCode::kDataLoss) const {
    throw Error(code, name_ + " " + what);
  }
  void require_crc(const ZipMember& member, std::span<const std::uint8_t> bytes) const {
    if (member.crc != 0 && crc32(bytes) != member.crc) {
      fail("is damaged: '" + member.name + "' does not have the checksum that it was written with");
    }
  }

 private:
  // Not what older versions wrote instead, what mobile runtimes read, nor where code was in Python, which is a pickle.
  static bool is_wanted(std::string_view name) {
    if (name == "version" || name == "byteorder" || name == "data.pkl" || name == "constants.pkl") return true;
    return name.starts_with("data/") || name.starts_with("constants/") ||
           (name.starts_with("code/") && name.ends_with(".py"));
  }

  const std::span<const std::uint8_t> file_;
  const std::string& name_;
  std::vector<ZipMember> all_;
  std::string folder_;
  std::unordered_map<std::string_view, const ZipMember*> by_name_;
};

void check_kind(const Members& members) {
  if (!members.find("data.pkl"))
    members.fail("has no data.pkl: torch.jit.save of PyTorch 1.4 or later has not written it");
  if (!members.find("constants.pkl")) {
    members.fail(
        "is no module of TorchScript, but a file of torch.save: load it as that, or script the module and use "
        "torch.jit.save",
        ErrorCode::kUnsupported);
  }
  const ZipMember* const version = members.find("version");
  if (!version) members.fail("has no version: torch.jit.save has not written it to its end");
  for (const ZipMember& member : members.all()) {
    const bool is_code = std::string_view(member.name).substr(members.folder().size()).starts_with("code/");
    if (member.deflated && !is_code) members.fail("is damaged: '" + member.name + "' is compressed");
    if (!member.deflated) members.require_crc(member, members.stored(member));
  }
  const ZipMember* const order = members.find("byteorder");
  if (order && text_of(members.stored(*order)) != "little") {
    members.fail("has another byte order than this machine; save it again on one like this", ErrorCode::kUnsupported);
  }
}

// `bytes` of PICKLE.pkl, whose tensors lie in PICKLE/.
void check_pickle(const Members& members, const std::string& pickle, std::string_view bytes, const std::string& name) {
  pickle::Limits limits;
  limits.dialect = pickle::Dialect::kTorchScript;
  const pickle::Pickle read = pickle::unpickle(bytes, name + ": " + pickle + ".pkl", 0, limits);
  for (const pickle::StorageRef& storage : read.storages) {
    const std::string key = pickle + "/" + std::string(storage.key);
    const ZipMember* const stored = members.find(key);
    if (!stored) members.fail("lacks the storage '" + key.substr(0, 100) + "', which its " + pickle + ".pkl names");
    if (stored->size < storage.bytes()) {
      members.fail("has " + std::to_string(stored->size) + " bytes of the storage '" + key + "', and " + pickle +
                   ".pkl wants " + std::to_string(storage.bytes()));
    }
  }
}

}  // namespace

Archive::Archive(std::span<const std::uint8_t> file, const std::string& name) {
  const Members members(file, name);
  check_kind(members);
  std::uint64_t code_bytes = 0;
  std::string directory;
  for (const ZipMember& member : members.all()) {
    directory += directory_entry(member, size_);
    add_own(local_header(member));
    const std::string_view inner = std::string_view(member.name).substr(members.folder().size());
    if (inner == "data.pkl" || inner == "constants.pkl") {
      // Of our own, so that what was checked stays as it was when the file is written meanwhile.
      const std::string copy(text_of(members.stored(member)));
      check_pickle(members, std::string(inner.substr(0, inner.find('.'))), copy, name);
      add_own(copy);
    } else {
      add(members.stored(member));
    }
    if (!inner.starts_with("code/")) continue;
    code_bytes += member.size;
    if (member.size > kAlwaysAllowed && member.size / kMostPerDeflatedByte > member.stored) {
      members.fail("has code in '" + member.name + "' that inflates from " + std::to_string(member.stored) +
                       " bytes to " + std::to_string(member.size) + ", more than code does",
                   ErrorCode::kUnsupported);
    }
  }
  if (code_bytes > kMostCode) {
    members.fail("has " + std::to_string(code_bytes >> 20) + " MiB of code, and at most " +
                     std::to_string(kMostCode >> 20) + " are compiled",
                 ErrorCode::kUnsupported);
  }
  const std::uint64_t begin = size_;
  add_own(std::move(directory));
  add_own(directory_end(members.all().size(), begin, size_));

  caffe2::serialize::PyTorchStreamReader reader(
      std::shared_ptr<caffe2::serialize::ReadAdapterInterface>(this, [](auto*) {}));
  std::size_t definitions = 0;
  for (const ZipMember& member : members.all()) {
    const std::string inner = member.name.substr(members.folder().size());
    if (!inner.starts_with("code/")) continue;
    const auto [data, bytes] = reader.getRecord(inner);
    const std::string_view source(static_cast<const char*>(data.get()), bytes);
    members.require_crc(member, bytes_of(source));
    definitions += require_shallow(source, name + ": " + inner);
    require_literals(source, name + ": " + inner);
    if (source.find("__setstate__") != std::string_view::npos) {
      members.fail("has a class with __setstate__ in '" + inner +
                       "', which loading would have to run; modules of quantized operators have one",
                   ErrorCode::kUnsupported);
    }
  }
  if (definitions > kMostDefinitions) {
    members.fail("has " + std::to_string(definitions) + " classes and functions, and at most " +
                     std::to_string(kMostDefinitions) + " are compiled",
                 ErrorCode::kUnsupported);
  }
}

void Archive::add(std::span<const std::uint8_t> bytes) {
  if (!bytes.empty()) parts_.push_back({size_, bytes});
  size_ += bytes.size();
}

void Archive::add_own(std::string bytes) {
  own_.push_back(std::move(bytes));
  add(bytes_of(own_.back()));
}

std::size_t Archive::read(std::uint64_t position, void* buffer, std::size_t bytes, const char*) const {
  std::size_t done = 0;
  auto part = std::upper_bound(parts_.begin(), parts_.end(), position,
                               [](std::uint64_t place, const Part& one) { return place < one.begin; });
  if (part != parts_.begin()) --part;
  for (; part != parts_.end() && done < bytes; ++part) {
    const std::uint64_t skip = position + done - part->begin;
    if (position + done < part->begin || skip >= part->bytes.size()) break;
    const std::size_t some = std::min<std::uint64_t>(bytes - done, part->bytes.size() - skip);
    std::memcpy(static_cast<char*>(buffer) + done, part->bytes.data() + skip, some);
    done += some;
  }
  return done;
}

}  // namespace tandem::jit
