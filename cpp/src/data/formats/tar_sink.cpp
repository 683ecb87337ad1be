// WebDataset, written: a record is a MessagePack map of "__key__" and, for each file, its ending and its bytes, as
// tar.cpp reads it.
#define MSGPACK_NO_BOOST  // before msgpack's headers, which would include it
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <msgpack/null_visitor.hpp>
#include <msgpack/parse.hpp>
#include <msgpack/unpack.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "data/formats/buffered.h"
#include "data/formats/sinks.h"
#include "data/formats/tar_header.h"

namespace tandem::formats {
namespace {

using recordio::Bytes;

// Takes a map of texts or bytes to texts or bytes, one after the other, and nothing else: whatever it does not take
// stops msgpack's parser.
class TextMap : public msgpack::null_visitor {
 public:
  bool start_map(std::uint32_t) { return !std::exchange(is_open_, true); }
  bool visit_str(const char* data, std::uint32_t size) {
    contents_.push_back({reinterpret_cast<const std::uint8_t*>(data), size});
    return is_open_;
  }
  bool visit_bin(const char* data, std::uint32_t size) { return visit_str(data, size); }
  bool visit_nil() { return false; }
  bool visit_boolean(bool) { return false; }
  bool visit_positive_integer(std::uint64_t) { return false; }
  bool visit_negative_integer(std::int64_t) { return false; }
  bool visit_float32(float) { return false; }
  bool visit_float64(double) { return false; }
  bool visit_ext(const char*, std::uint32_t) { return false; }
  bool start_array(std::uint32_t) { return false; }

  // Keys and values in turn, which lie in the record; nothing where it is no such map.
  static std::optional<std::vector<Bytes>> parse(Bytes record) {
    TextMap map;
    std::size_t end = 0;
    if (record.empty() ||
        !msgpack::parse(reinterpret_cast<const char*>(record.data()), record.size(), end, map) ||
        end != record.size() || !map.is_open_) {
      return {};
    }
    return std::move(map.contents_);
  }

 private:
  bool is_open_ = false;
  std::vector<Bytes> contents_;
};

std::string text_of(Bytes bytes) {
  return {bytes.begin(), bytes.end()};
}

class TarSink final : public BufferedSink {
 public:
  using BufferedSink::BufferedSink;
  void finish() override {
    append(std::array<std::uint8_t, 2 * kTarBlock>{});
    BufferedSink::finish();
  }

 private:
  void put(Bytes record) override {
    const std::string wanted = "a tar takes MessagePack maps of \"__key__\" and files' endings, as tars are read";
    const auto contents = TextMap::parse(record);
    if (!contents || contents->size() < 4 || text_of((*contents)[0]) != "__key__") refuse(wanted);
    const std::string key = text_of((*contents)[1]);
    check_key(key);
    if (key == last_key_) refuse("its key '" + last_key_ + "' is that of the record before");
    std::set<std::string> endings;
    for (std::size_t i = 2; i < contents->size(); i += 2) {
      const std::string ending = text_of((*contents)[i]);
      check_ending(ending);
      if (!endings.insert(ending).second) refuse("it has two files '" + ending + "'");
      const std::string name = key + (ending.empty() ? "" : "." + ending);
      check_name(name);
      member(name, (*contents)[i + 1]);
    }
    last_key_ = key;
  }

  // What tar.cpp would read as another key or ending, or as no part of a record.
  void check_key(const std::string& key) {
    if (has_zero(key)) refuse("its key has a zero byte, which ends a name in a tar");
    const std::string base = key.substr(key.rfind('/') + 1);
    if (base.empty()) refuse("its key '" + key + "' is no file's name");
    if (base.find('.') != std::string::npos) {
      refuse("its key '" + key + "' has a dot in its last part, where a file's ending would begin");
    }
  }

  void check_ending(const std::string& ending) {
    if (has_zero(ending)) refuse("an ending has a zero byte, which ends a name in a tar");
    if (ending.find('/') != std::string::npos) {
      refuse("its file '" + ending + "' has a slash, which ends a folder's name");
    }
    if (std::ranges::any_of(ending, [](unsigned char c) { return std::tolower(c) != c; })) {
      refuse("its file '" + ending + "' is not in lower case, as endings are read");
    }
  }

  void check_name(const std::string& name) {
    const std::string base = name.substr(name.rfind('/') + 1);
    if (base.starts_with("__") && base.ends_with("__")) {
      refuse("'" + name + "' would be one of WebDataset's own notes, which are no part of a record");
    }
    if (name.size() >= kTarMostExtra) refuse("a file's name has 1 MiB or more");
  }

  static bool has_zero(const std::string& text) { return text.find('\0') != std::string::npos; }

  void member(const std::string& name, Bytes content) {
    if (name.size() > kShortName) {
      header("././@LongLink", kTarGnuName, name.size() + 1);
      padded({reinterpret_cast<const std::uint8_t*>(name.c_str()), name.size() + 1});
    }
    header(name.substr(0, kShortName), '0', content.size());
    padded(content);
  }

  void header(const std::string& name, char kind, std::uint64_t size) {
    std::array<std::uint8_t, kTarBlock> block{};
    const auto put_text = [&](std::size_t at, std::string_view text) {
      std::copy(text.begin(), text.end(), block.begin() + static_cast<std::ptrdiff_t>(at));
    };
    const auto put_octal = [&](std::size_t at, int digits, std::uint64_t value) {
      std::array<char, 24> text{};
      std::snprintf(text.data(), text.size(), "%0*llo", digits, static_cast<unsigned long long>(value));
      put_text(at, text.data());
    };
    put_text(0, name);
    put_octal(100, 7, 0644);
    put_octal(108, 7, 0);
    put_octal(116, 7, 0);
    put_octal(124, 11, size);  // MessagePack's bytes are less than 4 GiB
    put_octal(136, 11, 0);     // no time, so that the same records give the same file
    block[156] = static_cast<std::uint8_t>(kind);
    put_text(257, "ustar  ");  // GNU's
    std::fill_n(block.begin() + 148, 8, ' ');
    std::uint32_t sum = 0;
    for (const std::uint8_t byte : block) sum += byte;
    put_octal(148, 6, sum);
    block[154] = 0;
    append(block);
  }

  void padded(Bytes content) {
    append(content);
    const std::array<std::uint8_t, kTarBlock> zeros{};
    append(Bytes(zeros).first((kTarBlock - content.size() % kTarBlock) % kTarBlock));
  }

  static constexpr std::size_t kShortName = 99;
  std::string last_key_;
};

}  // namespace

std::unique_ptr<recordio::RecordSink> tar_sink(AtomicFile& file) {
  return std::make_unique<TarSink>(file);
}

}  // namespace tandem::formats
