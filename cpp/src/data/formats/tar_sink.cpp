// WebDataset, written: a record is a MessagePack map of "__key__" and, for each file, its ending and its bytes, as
// tar.cpp reads it.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <optional>
#include <set>

#include "data/formats/buffered.h"
#include "data/formats/sinks.h"
#include "data/formats/tar_header.h"

namespace tandem::formats {
namespace {

using recordio::Bytes;

// Maps of texts to texts or bytes, as MsgpackWriter writes them; nothing where the bytes are none.
class Reader {
 public:
  explicit Reader(Bytes bytes) : left_(bytes) {}

  std::optional<std::uint64_t> map_head() {
    const auto type = next();
    if (!type) return {};
    if ((*type & 0xf0) == 0x80) return *type & 0x0f;
    return *type == 0xde ? number(2) : *type == 0xdf ? number(4) : std::nullopt;
  }
  // A text, or bytes.
  std::optional<Bytes> content() {
    const auto type = next();
    if (!type) return {};
    std::optional<std::uint64_t> size;
    if ((*type & 0xe0) == 0xa0) size = *type & 0x1f;
    if (*type == 0xd9 || *type == 0xc4) size = number(1);
    if (*type == 0xda || *type == 0xc5) size = number(2);
    if (*type == 0xdb || *type == 0xc6) size = number(4);
    if (!size || *size > left_.size()) return {};
    const Bytes found = left_.first(*size);
    left_ = left_.subspan(*size);
    return found;
  }
  bool at_end() const { return left_.empty(); }

 private:
  std::optional<std::uint8_t> next() {
    if (left_.empty()) return {};
    const std::uint8_t byte = left_[0];
    left_ = left_.subspan(1);
    return byte;
  }
  std::optional<std::uint64_t> number(int bytes) {
    std::uint64_t value = 0;
    for (; bytes > 0; --bytes) {
      const auto byte = next();
      if (!byte) return {};
      value = value << 8 | *byte;
    }
    return value;
  }

  Bytes left_;
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
    Reader reader(record);
    const auto count = reader.map_head();
    const auto mark = reader.content();
    const auto key = reader.content();
    if (!count || *count < 2 || !mark || text_of(*mark) != "__key__" || !key) refuse(wanted);
    check_key(text_of(*key));
    if (text_of(*key) == last_key_) refuse("its key '" + last_key_ + "' is that of the record before");
    std::set<std::string> endings;
    for (std::uint64_t i = 1; i < *count; ++i) {
      const auto ending = reader.content();
      const auto content = ending ? reader.content() : std::nullopt;
      if (!content) refuse(wanted);
      check_ending(text_of(*ending));
      if (!endings.insert(text_of(*ending)).second) refuse("it has two files '" + text_of(*ending) + "'");
      const std::string name = text_of(*key) + (ending->empty() ? "" : "." + text_of(*ending));
      check_name(name);
      member(name, *content);
    }
    if (!reader.at_end()) refuse(wanted);
    last_key_ = text_of(*key);
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
