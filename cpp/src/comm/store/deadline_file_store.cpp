#include "comm/store/deadline_file_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "base/descriptor.h"
#include "base/packed.h"
#include "comm/store/store_limit.h"
#include "tandem/error.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;

// LibTorch's names.
const std::string kRegular = "/";
const std::string kDeleted = "-";
const std::string kUsers = "refcount/";
const std::string kLeft = "cleanup/";

// A timeout beyond it is none; time points do not overflow.
constexpr milliseconds kLongest = std::chrono::hours(24 * 365);
// Of looks for the lock and for keys, which get longer up to that.
constexpr milliseconds kLongestPause{10};
// Since the last look: for others that wrote at the end of a wait, and were slow.
constexpr milliseconds kSlowWrite{1000};
// For one that goes, which nobody waits for.
constexpr milliseconds kToLeave{1000};

std::string in_quotes(const std::vector<std::string>& keys) {
  constexpr std::size_t kMost = 3;
  std::string list;
  for (std::size_t i = 0; i < std::min(keys.size(), kMost); ++i) list += (i ? ", '" : "'") + keys[i] + "'";
  return keys.size() > kMost ? list + " and " + std::to_string(keys.size() - kMost) + " more" : list;
}

}  // namespace

// What is asked, and until when.
struct DeadlineFileStore::Call {
  Call(std::string what, Milliseconds timeout)
      : what(std::move(what)),
        deadline(std::min(begun + std::clamp(timeout, Milliseconds(0), kLongest), StoreLimit::earliest_deadline())) {}

  bool is_over() const { return Clock::now() >= deadline; }
  std::string after() const {
    return " after " + std::to_string(std::chrono::duration_cast<Milliseconds>(Clock::now() - begun).count()) + " ms";
  }
  void pause() const {
    if (StoreLimit::is_interrupted()) throw Error(ErrorCode::kAborted, what + " was aborted" + after());
    const auto now = Clock::now();
    std::this_thread::sleep_for(
        std::min<Clock::duration>(std::chrono::microseconds(200) + (now - begun) / 20, kLongestPause));
  }

  const std::string what;  // "get of 'key' on the file store '/path'"
  const Clock::time_point begun = Clock::now();
  const Clock::time_point deadline;
};

// The file, and its lock.
class DeadlineFileStore::Locked {
 public:
  Locked(const std::string& path, int lock, const Call& call) : call_(call) {
    do {
      open(path, lock);
      take(lock);
    } while (is_removed());
  }

  std::int64_t size() const {
    struct stat status {};
    if (::fstat(fd_.get(), &status) != 0) fail("cannot be read");
    if (!S_ISREG(status.st_mode)) fail_of_contents();
    return status.st_size;
  }

  // The text that begins at `*at`, which goes on to its end. Nothing: there is no whole one.
  std::optional<std::string> text_at(std::int64_t* at, std::int64_t end) const {
    std::uint32_t length = 0;
    if (*at + static_cast<std::int64_t>(sizeof length) > end) return std::nullopt;
    read_at(*at, &length, sizeof length);
    const std::int64_t begin = *at + static_cast<std::int64_t>(sizeof length);
    if (begin + length > end) return std::nullopt;
    std::string text(length, '\0');
    read_at(begin, text.data(), length);
    *at = begin + length;
    return text;
  }

  // Both or none, also where there is no space left.
  void append(const std::string& key, const std::uint8_t* value, std::size_t bytes) {
    Packer packed;
    packed << std::string_view(key) << std::string_view(reinterpret_cast<const char*>(value), bytes);
    const std::string& row = packed.bytes();
    const std::int64_t before = size();
    if (write_all_at(fd_.get(), row.data(), row.size(), static_cast<off_t>(before)) < row.size()) {
      const int failure = errno;
      [[maybe_unused]] const int cut = ::ftruncate(fd_.get(), before);
      errno = failure;
      fail("cannot be written");
    }
  }

  [[noreturn]] void fail(const char* how) const {
    throw Error(ErrorCode::kIo, call_.what + " failed, for the file " + how + ": " + std::strerror(errno) +
                                    "; name a file in a folder that every rank can write to");
  }
  [[noreturn]] void fail_of_contents() const {
    throw Error(ErrorCode::kDataLoss, call_.what +
                                          " failed: the file holds something other than a file store; name a file that "
                                          "is not there yet");
  }

 private:
  void open(const std::string& path, int lock) {
    const int flags = lock == LOCK_SH ? O_RDONLY : O_RDWR | O_CREAT;
    for (;;) {
      fd_ = open_file(path.c_str(), flags, 0644);
      if (fd_.valid()) return;
      // Its last user may have removed it, and another make it again.
      if (errno != ENOENT || lock != LOCK_SH || call_.is_over()) fail("cannot be opened");
      call_.pause();
    }
  }

  void take(int lock) {
    while (::flock(fd_.get(), lock | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) fail("cannot be locked");
      if (call_.is_over()) {
        throw Error(ErrorCode::kTimeout, call_.what + " timed out" + call_.after() +
                                             ": another process holds the file's lock; it is stopped, or slow (lslocks "
                                             "names it): let it go on, or end it");
      }
      call_.pause();
    }
  }

  // By its last user, between open() and take(): what is written to it would be nobody's.
  bool is_removed() const {
    struct stat status {};
    return ::fstat(fd_.get(), &status) == 0 && status.st_nlink == 0;
  }

  void read_at(std::int64_t at, void* data, std::size_t bytes) const {
    if (read_all_at(fd_.get(), data, bytes, static_cast<off_t>(at)) < bytes) fail("cannot be read");
  }

  const Call& call_;
  Descriptor fd_;  // whose lock goes with it
};

std::unique_lock<std::timed_mutex> DeadlineFileStore::take_turn(const Call& call) {
  std::unique_lock<std::timed_mutex> lock(mutex_, std::defer_lock);
  while (!lock.try_lock_for(kLongestPause)) {
    if (call.is_over()) {
      throw Error(ErrorCode::kTimeout, call.what + " timed out" + call.after() + " behind another thread's call");
    }
    call.pause();
  }
  return lock;
}

template <typename Body>
auto DeadlineFileStore::write(const Call& call, Body&& body) {
  const auto lock = take_turn(call);
  Locked file(path_, LOCK_EX, call);
  refresh(file);
  return body(file);
}

template <typename Body>
auto DeadlineFileStore::read(const Call& call, Body&& body) {
  const auto lock = take_turn(call);
  Locked file(path_, LOCK_SH, call);
  refresh(file);
  return body();
}

void DeadlineFileStore::refresh(Locked& file) {
  const std::int64_t end = file.size();
  if (end < read_) {  // another file
    read_ = 0;
    values_.clear();
  }
  while (read_ < end) {
    std::int64_t at = read_;
    const auto key = file.text_at(&at, end);
    const auto value = key ? file.text_at(&at, end) : std::nullopt;
    if (!value) file.fail_of_contents();
    if (key->starts_with(kDeleted)) {
      values_.erase(key->substr(kDeleted.size()));
    } else {
      values_[*key].assign(value->begin(), value->end());
    }
    read_ = at;
  }
}

DeadlineFileStore::DeadlineFileStore(std::string path, int world_size, Milliseconds timeout)
    : c10d::Store(timeout), path_(std::move(path)), world_size_(world_size) {
  write(Call("opening the file store '" + path_ + "'", timeout), [&](Locked& file) { return add_to(file, kUsers, 1); });
}

DeadlineFileStore::~DeadlineFileStore() {
  if (::access(path_.c_str(), F_OK) != 0) return;
  try {
    write(Call("leaving the file store '" + path_ + "'", kToLeave), [&](Locked& file) {
      const std::int64_t left = add_to(file, kLeft, 1);
      const std::int64_t users = add_to(file, kUsers, -1);
      if (users == 0 && world_size_ >= 0 && left >= world_size_) ::unlink(path_.c_str());
      return 0;
    });
  } catch (const std::exception&) {
    // Whoever holds the lock keeps the file.
  }
}

c10::intrusive_ptr<c10d::Store> DeadlineFileStore::clone() {
  return c10::make_intrusive<DeadlineFileStore>(path_, world_size_, timeout_);
}

std::int64_t DeadlineFileStore::add_to(Locked& file, const std::string& key, std::int64_t value) {
  const auto found = values_.find(key);
  const std::int64_t sum =
      value +
      (found == values_.end() ? 0 : std::atoll(std::string(found->second.begin(), found->second.end()).c_str()));
  const std::string text = std::to_string(sum);
  file.append(key, reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  refresh(file);
  return sum;
}

void DeadlineFileStore::set(const std::string& key, const std::vector<std::uint8_t>& value) {
  write(Call("set of '" + key + "' on the file store '" + path_ + "'", timeout_), [&](Locked& file) {
    file.append(kRegular + key, value.data(), value.size());
    return 0;
  });
}

std::vector<std::uint8_t> DeadlineFileStore::compareSet(const std::string& key,
                                                        const std::vector<std::uint8_t>& expected,
                                                        const std::vector<std::uint8_t>& desired) {
  return write(Call("compare-and-set of '" + key + "' on the file store '" + path_ + "'", timeout_), [&](Locked& file) {
    const auto found = values_.find(kRegular + key);
    const bool is_there = found != values_.end();
    // As LibTorch has it: what is not there is as good as nothing.
    if (is_there ? found->second != expected : !expected.empty()) return is_there ? found->second : expected;
    file.append(kRegular + key, desired.data(), desired.size());
    return desired;
  });
}

bool DeadlineFileStore::has(const std::vector<std::string>& keys) const {
  return std::all_of(keys.begin(), keys.end(), [this](const auto& key) { return values_.contains(kRegular + key); });
}

void DeadlineFileStore::await(const Call& call, const std::vector<std::string>& keys,
                              const std::function<bool()>& is_there) {
  std::optional<Clock::time_point> looked;
  for (;;) {
    try {
      if (read(call, is_there)) return;
      looked = Clock::now();
    } catch (const Error& error) {
      // A lock that another process has just now is not why the key is not there.
      if (error.code() != ErrorCode::kTimeout || !looked || Clock::now() > *looked + kSlowWrite) throw;
    }
    // In LibTorch's words, for those who know them.
    if (call.is_over()) {
      C10_THROW_ERROR(DistStoreError, "Timeout waiting for key " + in_quotes(keys) + ": " + call.what + call.after());
    }
    call.pause();
  }
}

std::vector<std::uint8_t> DeadlineFileStore::get(const std::string& key) {
  std::vector<std::uint8_t> value;
  await(Call("get of '" + key + "' on the file store '" + path_ + "'", timeout_), {key}, [&] {
    if (!has({key})) return false;
    value = values_.at(kRegular + key);
    return true;
  });
  return value;
}

void DeadlineFileStore::wait(const std::vector<std::string>& keys) {
  wait(keys, timeout_);
}

void DeadlineFileStore::wait(const std::vector<std::string>& keys, const Milliseconds& timeout) {
  await(Call("wait for " + in_quotes(keys) + " on the file store '" + path_ + "'", timeout), keys,
        [&] { return has(keys); });
}

std::int64_t DeadlineFileStore::add(const std::string& key, std::int64_t value) {
  return write(Call("add to '" + key + "' on the file store '" + path_ + "'", timeout_),
               [&](Locked& file) { return add_to(file, kRegular + key, value); });
}

bool DeadlineFileStore::deleteKey(const std::string& key) {
  return write(Call("delete of '" + key + "' on the file store '" + path_ + "'", timeout_), [&](Locked& file) {
    if (!has({key})) return false;
    file.append(kDeleted + kRegular + key, nullptr, 0);
    return true;
  });
}

bool DeadlineFileStore::check(const std::vector<std::string>& keys) {
  return read(Call("check of " + in_quotes(keys) + " on the file store '" + path_ + "'", timeout_),
              [&] { return has(keys); });
}

std::int64_t DeadlineFileStore::getNumKeys() {
  return read(Call("count of keys on the file store '" + path_ + "'", timeout_),
              [&] { return static_cast<std::int64_t>(values_.size()); });
}

std::vector<std::string> DeadlineFileStore::listKeys() {
  return read(Call("list of keys on the file store '" + path_ + "'", timeout_), [&] {
    std::vector<std::string> keys;
    for (const auto& [key, value] : values_) {
      if (key.starts_with(kRegular)) keys.push_back(key.substr(kRegular.size()));
    }
    return keys;
  });
}

}  // namespace tandem
