#include "data/remote/block_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <vector>

#include "base/atomic_file.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/descriptor.h"
#include "tandem/error.h"

namespace tandem::remote {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".block";
constexpr std::size_t kChecksumBytes = 4;  // of what stands before
// The folder is looked at once so much of its limit was written. Of 10 GiB that is after 40 blocks, and adds about a
// tenth to the time of writing them.
constexpr std::uint64_t kLooks = 64;
// No block takes so long to write: whoever began it is gone.
constexpr std::int64_t kOldestTemporary = 3600;  // seconds

// What is there already stays as it is: that is its owner's business.
void make_private(const std::string& folder) {
  fs::path made;
  for (const fs::path& part : fs::path(folder)) {
    made /= part;
    ::mkdir(made.c_str(), 0700);
  }
}

bool is_trusted(std::uint32_t owner) {
  return owner == ::geteuid() || owner == 0;
}

struct Contents {
  std::shared_ptr<std::uint8_t[]> memory;
  std::size_t size = 0;
};

// All of a block's file, in memory of this process: what is verified stays so, whatever becomes of file and disk.
// Nothing where it cannot be read, or is another user's.
Contents read_trusted(const std::string& path) {
  const Descriptor file = open_file(path.c_str(), O_RDONLY | O_NONBLOCK);
  if (!file.valid()) return {};
  struct stat status;
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || !is_trusted(status.st_uid)) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  const auto memory = std::make_shared_for_overwrite<std::uint8_t[]>(size);
  if (read_all(file.get(), memory.get(), size) < size) return {};
  return {memory, size};
}

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
  make_private(folder_);  // where it cannot be made, nothing can be put there
}

std::optional<Record> BlockFolder::find(const std::string& name) {
  if (limit_ == 0) return {};
  const std::string path = folder_ + "/" + name + kEnding;
  try {
    const auto [memory, size] = read_trusted(path);
    if (size < kChecksumBytes) return {};
    const std::span<const std::uint8_t> bytes(memory.get(), size - kChecksumBytes);
    if (load_u32(bytes.data() + bytes.size()) != crc32c(bytes)) return {};
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // it was used now
    return Record{bytes, memory};
  } catch (const std::bad_alloc&) {
    return {};
  }
}

void BlockFolder::put(const std::string& name, std::span<const std::uint8_t> bytes) {
  const std::uint64_t size = bytes.size() + kChecksumBytes;
  bool reserved = false;
  try {
    reserved = reserve(size);
    if (!reserved) return;
    std::uint8_t checksum[kChecksumBytes];
    store_u32(checksum, crc32c(bytes));
    AtomicFile file(folder_ + "/" + name + kEnding, 0600);
    file.append(bytes.data(), bytes.size());
    file.append(checksum, sizeof checksum);
    file.commit_unsynced();
  } catch (const std::exception&) {  // a full disk: what was fetched is used all the same
  }
  if (!reserved) return;
  const std::lock_guard lock(mutex_);
  being_written_ -= size;
}

// Whether a block of so many bytes may be written.
bool BlockFolder::reserve(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > limit_ || being_written_ > limit_ - bytes) return false;
  if (written_since_look_ + bytes > limit_ / kLooks) {
    if (!make_room(being_written_ + bytes)) return false;
    written_since_look_ = being_written_;
  }
  written_since_look_ += bytes;
  being_written_ += bytes;
  return true;
}

// Down to what leaves room for `needed`, and for as much as is written until the next look. Whether that could be done.
bool BlockFolder::make_room(std::uint64_t needed) {
  struct Block {
    std::int64_t used;
    std::uint64_t bytes;
    fs::path path;
  };
  std::vector<Block> blocks;
  std::uint64_t total = 0;
  const std::int64_t now = ::time(nullptr);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    const auto target = target_of_temporary(name);
    struct stat status;
    if (!(target ? *target : name).ends_with(kEnding) || ::stat(entry.path().c_str(), &status) != 0 ||
        !S_ISREG(status.st_mode)) {  // nothing of this folder's, or gone: others make room as well
      continue;
    }
    if (target && status.st_mtim.tv_sec < now - kOldestTemporary) {
      if (::unlink(entry.path().c_str()) == 0) continue;
    }
    const auto bytes = static_cast<std::uint64_t>(status.st_size);
    total += bytes;
    if (!target)
      blocks.push_back({status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec, bytes, entry.path()});
  }
  const std::uint64_t goal = limit_ - std::max(limit_ / 4, needed);
  if (total <= goal) return true;
  std::ranges::sort(blocks, {}, &Block::used);
  for (const Block& block : blocks) {
    if (total <= goal) break;
    std::error_code error;
    fs::remove(block.path, error);  // that it is gone is none
    if (!error) total -= block.bytes;
  }
  return total <= limit_ - needed;
}

}  // namespace tandem::remote
