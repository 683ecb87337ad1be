#include "data/remote/block_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "crc32c.h"
#include "data/atomic_file.h"
#include "data/mapped_file.h"
#include "data/recordio/bytes.h"
#include "tandem/error.h"

namespace tandem::remote {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".block";
constexpr std::size_t kChecksumBytes = 4;  // of what stands before

}  // namespace

std::string default_cache_folder() {
  if (const char* folder = std::getenv("TANDEM_CACHE_DIR"); folder && *folder) return folder;
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && *folder == '/')
    return std::string(folder) + "/tandem";
  if (const char* home = std::getenv("HOME"); home && *home == '/') return std::string(home) + "/.cache/tandem";
  return "";
}

std::uint64_t default_cache_bytes() {
  constexpr std::uint64_t kOtherwise = 10ull << 30;
  const char* text = std::getenv("TANDEM_CACHE_BYTES");
  if (!text || !*text) return kOtherwise;
  std::uint64_t bytes = 0;
  const auto parsed = std::from_chars(text, text + std::strlen(text), bytes);
  if (parsed.ec != std::errc() || *parsed.ptr != '\0') {
    throw Error(ErrorCode::kInvalidArgument,
                std::string("TANDEM_CACHE_BYTES is ") + text + ", which is no number of bytes");
  }
  return bytes;
}

BlockFolder::BlockFolder(std::string folder, std::uint64_t limit_bytes)
    : folder_(std::move(folder)), limit_(folder_.empty() ? 0 : limit_bytes), written_since_look_(limit_) {
  if (limit_ == 0) return;
  std::error_code ignored;  // where it cannot be made, nothing can be put there
  fs::create_directories(folder_, ignored);
}

std::optional<Record> BlockFolder::find(const std::string& name) {
  if (limit_ == 0) return {};
  const std::string path = folder_ + "/" + name + kEnding;
  try {
    const auto file = std::make_shared<MappedFile>(path);
    const auto whole = file->bytes();
    if (whole.size() < kChecksumBytes) return {};
    const auto bytes = whole.first(whole.size() - kChecksumBytes);
    if (recordio::load_u32(bytes.data() + bytes.size()) != crc32c(bytes)) return {};
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // it was used now
    return Record{bytes, file};
  } catch (const Error&) {
    return {};
  }
}

void BlockFolder::put(const std::string& name, std::span<const std::uint8_t> bytes) {
  if (limit_ == 0 || bytes.size() + kChecksumBytes > limit_) return;
  try {
    {
      const std::lock_guard lock(mutex_);
      written_since_look_ += bytes.size() + kChecksumBytes;
      if (written_since_look_ > limit_ / 8) {
        make_room();
        written_since_look_ = bytes.size() + kChecksumBytes;
      }
    }
    std::uint8_t checksum[kChecksumBytes];
    recordio::store_u32(checksum, crc32c(bytes));
    AtomicFile file(folder_ + "/" + name + kEnding);
    file.append(bytes.data(), bytes.size());
    file.append(checksum, sizeof checksum);
    file.commit_unsynced();
  } catch (const std::exception&) {  // a full disk: what was fetched is used all the same
  }
}

// Down to what leaves room for as much as is written until the next look.
void BlockFolder::make_room() {
  struct Block {
    fs::file_time_type used;
    std::uint64_t bytes;
    fs::path path;
  };
  std::vector<Block> blocks;
  std::uint64_t total = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    std::error_code gone;  // others make room as well
    const auto bytes = entry.file_size(gone);
    const auto used = gone ? fs::file_time_type{} : entry.last_write_time(gone);
    if (gone || entry.path().extension() != kEnding) continue;
    blocks.push_back({used, bytes, entry.path()});
    total += bytes;
  }
  const std::uint64_t goal = limit_ - limit_ / 4;
  if (total <= goal) return;
  std::ranges::sort(blocks, {}, &Block::used);
  for (const Block& block : blocks) {
    if (total <= goal) break;
    std::error_code gone;
    fs::remove(block.path, gone);
    total -= block.bytes;
  }
}

}  // namespace tandem::remote
