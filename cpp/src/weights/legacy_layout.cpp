#include "weights/legacy_layout.h"

#include <string_view>
#include <unordered_map>

#include "base/bytes.h"
#include "tandem/error.h"

namespace tandem::weights {
namespace {

using pickle::Kind;
using pickle::Object;
using pickle::Pickle;

// 0x1950a86a20f9469cfc6c
constexpr std::string_view kMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
constexpr std::int64_t kVersion = 1001;

std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class LegacyFile {
 public:
  LegacyFile(std::span<const std::uint8_t> file, const std::string& name, const pickle::Limits& limits)
      : file_(file), name_(name), limits_(limits) {}

  PtLayout read() {
    const Pickle magic = next("the magic number");
    if (root(magic).kind != Kind::kLongInteger || root(magic).text != kMagic) fail("has another magic number");
    const Pickle version = next("the version");
    if (root(version).kind != Kind::kInteger || root(version).integer != kVersion) {
      fail("is of another version than 1001", ErrorCode::kUnsupported);
    }
    check_byte_order(next("facts of the system"));
    PtLayout layout;
    layout.pickle = next("the object");
    const Pickle keys = next("the keys of storages");
    place_storages(layout, keys);
    return layout;
  }

 private:
  [[noreturn]] void fail(const std::string& what, ErrorCode code = ErrorCode::kDataLoss) const {
    throw Error(code, name_ + " " + what);
  }

  static const Object& root(const Pickle& pickle) { return pickle.object(pickle.root); }

  Pickle next(const char* what) {
    Pickle pickle = pickle::unpickle(text_of(file_).substr(place_), name_ + ": " + what, place_, limits_);
    place_ += pickle.bytes;
    return pickle;
  }

  void check_byte_order(const Pickle& facts) const {
    const Object& dict = root(facts);
    for (std::size_t i = 0; dict.kind == Kind::kDict && i + 1 < dict.items.size(); i += 2) {
      if (facts.object(dict.items[i]).text != "little_endian") continue;
      if (facts.object(dict.items[i + 1]).kind == Kind::kBool && facts.object(dict.items[i + 1]).integer) return;
      fail("is big-endian; save it again on a little-endian machine", ErrorCode::kUnsupported);
    }
    fail("does not say its byte order");
  }

  void place_storages(PtLayout& layout, const Pickle& keys) {
    // Elements are counted in the dtype by which a storage is named first.
    std::unordered_map<std::string_view, std::uint32_t> first;
    for (std::uint32_t i = 0; i < layout.pickle.storages.size(); ++i) first.emplace(layout.pickle.storages[i].key, i);
    if (root(keys).kind != Kind::kList) fail("has no list of storages");
    std::unordered_map<std::string_view, std::uint32_t> known;
    for (const pickle::Ref ref : root(keys).items) {
      const std::string_view key = keys.object(ref).text;
      const auto named = first.find(key);
      const std::string shown = "storage '" + std::string(key.substr(0, 100)) + "'";
      if (named == first.end()) fail("has a " + shown + " that nothing refers to");
      if (!known.emplace(key, static_cast<std::uint32_t>(layout.storages.size())).second) fail("has two of " + shown);
      layout.storages.push_back(storage(key, layout.pickle.storages[named->second], shown));
    }
    for (const pickle::StorageRef& one : layout.pickle.storages) {
      const auto found = known.find(one.key);
      const std::string shown = "storage '" + std::string(one.key.substr(0, 100)) + "'";
      if (found == known.end()) fail("lacks the " + shown);
      if (layout.storages[found->second].size < one.bytes()) fail("has fewer elements in " + shown + " than it says");
      layout.storage_of.push_back(found->second);
    }
  }

  PtStorage storage(std::string_view key, const pickle::StorageRef& named, const std::string& shown) {
    const std::uint64_t left = file_.size() - place_;
    const std::uint64_t elements = left < 8 ? 0 : load_u64(&file_[place_]);
    const std::uint64_t element = pickle::facts_of(named.dtype).bytes;
    if (left < 8 || elements > (left - 8) / element) {
      fail("is cut off in its " + shown + ": " + std::to_string(left) + " bytes are left from byte " +
           std::to_string(place_));
    }
    PtStorage result{std::string(key), place_ + 8, elements * element, 0};
    place_ = result.offset + result.size;
    return result;
  }

  const std::span<const std::uint8_t> file_;
  const std::string& name_;
  const pickle::Limits limits_;
  std::uint64_t place_ = 0;
};

}  // namespace

bool begins_as_legacy(std::span<const std::uint8_t> file) {
  constexpr std::size_t kMostBefore = 16;  // PROTO, perhaps FRAME, LONG1, their numbers
  return !file.empty() && file[0] == 0x80 &&
         text_of(file).substr(0, kMostBefore + kMagic.size()).find(kMagic) != std::string_view::npos;
}

PtLayout read_legacy_layout(std::span<const std::uint8_t> file, const std::string& name, const pickle::Limits& limits) {
  return LegacyFile(file, name, limits).read();
}

}  // namespace tandem::weights
