#include "data/remote/remote_file.h"

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>

#include "base/sha256.h"
#include "base/shown_path.h"
#include "data/interruption.h"
#include "data/remote/range_client.h"
#include "data/remote/shared_block_folder.h"
#include "tandem/error.h"

namespace tandem::remote {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint64_t kBlock = 4u << 20;
// Neighbouring blocks are asked for at once, so many.
constexpr std::uint64_t kMostBlocksAtOnce = 16;
// So many that were fetched last stay in memory, for headers that are walked over.
constexpr std::size_t kRecent = 4;
constexpr const char* kReadBefore = "; the file could be read when it was opened, so this may pass";

class RemoteFile : public DataFile {
 public:
  RemoteFile(const std::string& path, const RemoteOptions& options, std::shared_ptr<LruCache> cache)
      : DataFile(path, shown_path(path)),
        client_(resolve(path, options), options),
        options_(options),
        memory_(cache ? std::move(cache) : std::make_shared<LruCache>(kRecent * kBlock)),
        folder_(shared_block_folder(options.cache_folder.empty() ? default_cache_folder() : options.cache_folder,
                                    options.cache_bytes ? *options.cache_bytes : default_cache_bytes())) {
    RangeReply first = client_.get(0, kBlock);
    size_ = first.file_size;
    version_ = first.version;
    // What a server gives no version of may be another file tomorrow. No other path and version have these blocks: a
    // server could choose versions so that a weaker hash of them is that of another's file.
    if (!version_.empty()) {
      const std::string end(1, '\0');  // which neither path nor version has
      block_prefix_ = sha256(path + end + version_ + end + std::to_string(size_)) + "-";
    }
    auto bytes = std::make_shared<std::vector<std::uint8_t>>(std::move(first.bytes));
    remember(0, {*bytes, bytes});
  }
  ~RemoteFile() override { memory_->drop_all_of(this); }

  std::uint64_t size() const override { return size_; }
  std::optional<std::int64_t> modified() const override { return {}; }
  std::shared_ptr<DataFile> open_other(const std::string& path) const override {
    return open_remote_file(path, options_, memory_);
  }

  Record read(std::uint64_t offset, std::uint64_t length) override {
    if (length == 0) return {};
    const std::uint64_t first = offset / kBlock, last = (offset + length - 1) / kBlock;
    if (first == last) {
      Record block = fetch(first, first);
      return {block.bytes.subspan(offset % kBlock, length), std::move(block.owner)};
    }
    const auto memory = std::make_shared_for_overwrite<std::uint8_t[]>(length);
    std::uint8_t* to = memory.get();
    for (std::uint64_t at = offset; at < offset + length;) {
      const Record block = fetch(at / kBlock, last);
      const std::uint64_t from = at % kBlock, count = std::min(block.bytes.size() - from, offset + length - at);
      to = std::copy_n(block.bytes.data() + from, count, to);
      at += count;
    }
    return {{memory.get(), length}, memory};
  }

 private:
  // Block `first`, and those up to `last` that follow without a gap, as far as that takes one request.
  Record fetch(std::uint64_t first, std::uint64_t last);
  std::optional<Record> find(std::uint64_t block);
  Record request(std::uint64_t first, std::uint64_t last);
  RangeReply get_again(std::uint64_t begin, std::uint64_t length);
  void remember(std::uint64_t block, Record content);
  std::uint64_t bytes_of(std::uint64_t block) const { return std::min(kBlock, size_ - block * kBlock); }

  RangeClient client_;
  const RemoteOptions options_;
  const std::shared_ptr<LruCache> memory_;  // for blocks as Records, by number
  const std::shared_ptr<BlockFolder> folder_;
  std::uint64_t size_ = 0;
  std::string version_, block_prefix_;
  std::array<InterruptibleMutex, 16> fetching_;  // a block's is that of its number
  std::mutex mutex_;
  std::deque<std::uint64_t> recent_;  // blocks that are in memory, unless others took their place there
};

std::optional<Record> RemoteFile::find(std::uint64_t block) {
  if (const auto known = memory_->find(this, block)) return *static_cast<const Record*>(known.get());
  if (block_prefix_.empty()) return {};
  auto found = folder_->find(block_prefix_ + std::to_string(block));
  if (!found || found->bytes.size() != bytes_of(block)) return {};
  remember(block, *found);
  return found;
}

void RemoteFile::remember(std::uint64_t block, Record content) {
  const std::uint64_t bytes = content.bytes.size();
  memory_->put(this, block, std::make_shared<const Record>(std::move(content)), bytes);
  const std::lock_guard lock(mutex_);
  std::erase(recent_, block);
  recent_.push_back(block);
  if (recent_.size() <= kRecent) return;
  memory_->drop(this, recent_.front());
  recent_.pop_front();
}

Record RemoteFile::fetch(std::uint64_t first, std::uint64_t last) {
  if (auto found = find(first)) return *std::move(found);
  const std::lock_guard lock(fetching_[first % fetching_.size()]);
  if (auto found = find(first)) return *std::move(found);
  std::uint64_t end = first;
  while (end < last && end - first + 1 < kMostBlocksAtOnce && !find(end + 1)) ++end;
  return request(first, end);
}

// Whoever asks has read the file before: what servers and proxies answer while it is away, whichever it is, says
// nothing of its content.
RangeReply RemoteFile::get_again(std::uint64_t begin, std::uint64_t length) {
  try {
    return client_.get(begin, length);
  } catch (const Error& error) {
    const ErrorCode code = error.code();
    if (code != ErrorCode::kNotFound && code != ErrorCode::kUnsupported && code != ErrorCode::kInvalidArgument) throw;
    throw Error(ErrorCode::kIo, error.what() + std::string(kReadBefore));
  }
}

Record RemoteFile::request(std::uint64_t first, std::uint64_t last) {
  const std::uint64_t begin = first * kBlock, length = std::min((last + 1) * kBlock, size_) - begin;
  RangeReply reply = get_again(begin, length);
  const bool other = reply.file_size != size_ || reply.version != version_ || reply.bytes.size() != length;
  if (other && reply.whole) {  // a page that says that the service is away, most likely
    throw Error(ErrorCode::kIo, "cannot read " + name() + ": the server sends " + std::to_string(reply.bytes.size()) +
                                    " bytes of something else" + kReadBefore);
  }
  if (other) {
    throw Error(ErrorCode::kDataLoss, name() + " has become another file while it was read; open it again");
  }
  const auto bytes = std::make_shared<std::vector<std::uint8_t>>(std::move(reply.bytes));
  for (std::uint64_t block = first; block <= last; ++block) {
    const Bytes content = Bytes(*bytes).subspan((block - first) * kBlock, bytes_of(block));
    if (!block_prefix_.empty()) folder_->put(block_prefix_ + std::to_string(block), content);
    // A block of many would keep all of them.
    if (first == last) remember(block, {content, bytes});
  }
  return {*bytes, bytes};
}

}  // namespace

std::shared_ptr<DataFile> open_remote_file(const std::string& path, const RemoteOptions& options,
                                           std::shared_ptr<LruCache> cache) {
  return std::make_shared<RemoteFile>(path, options, std::move(cache));
}

}  // namespace tandem::remote
