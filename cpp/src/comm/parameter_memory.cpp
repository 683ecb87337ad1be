#include "comm/parameter_memory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>

#include "base/invalid.h"
#include "base/longest_wait.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPage = 4096;
constexpr std::uint64_t kMagic = 0x3150534d44540a1aull;  // and the release of what follows
constexpr std::size_t kMostText = std::size_t{64} << 20;  // of names and descriptions
constexpr std::uint64_t kMostParts = 4096;
constexpr std::chrono::milliseconds kLookEvery{2};
constexpr int kSeals = F_SEAL_SHRINK;

// At the beginning; `end`, where the next part goes, moves once that is whole.
struct Header {
  std::atomic<std::uint64_t> magic, end;
};
// At a page's beginning, then name and description; what it holds begins at the next page.
struct PartHeader {
  std::uint64_t name, description, bytes;
};

std::size_t pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

[[noreturn]] void system_error(ErrorCode code, const std::string& what) {
  throw Error(code, what + ": " + std::strerror(errno));
}

[[noreturn]] void damaged() {
  throw Error(ErrorCode::kDataLoss,
              "the memory of shared parameters is damaged: something has written over it; start the processes anew");
}

// Between processes: goes with its holder, also when that is killed.
class FileLock {
 public:
  FileLock(int fd, Clock::time_point until, const std::string& name) : fd_(fd) {
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) system_error(ErrorCode::kIo, "shared parameters: flock");
      if (Clock::now() >= until) {
        throw Error(ErrorCode::kTimeout,
                    "parameters '" + name + "' cannot be shared: another process is still about to share some");
      }
      std::this_thread::sleep_for(kLookEvery);
    }
  }
  ~FileLock() { flock(fd_, LOCK_UN); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  const int fd_;
};

}  // namespace

Descriptor make_parameter_memory() {
  Descriptor memory(memfd_create("tandem-parameters", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const std::uint64_t header[] = {kMagic, kPage};
  if (!memory.valid() || ftruncate(memory.get(), kPage) != 0 || fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0 ||
      write_all_at(memory.get(), header, sizeof header, 0) != sizeof header) {
    system_error(ErrorCode::kIo, "cannot make memory for shared parameters (memfd)");
  }
  return memory;
}

ParameterMemory::ParameterMemory(Descriptor memory) : memory_(std::move(memory)) {
  const int seals = fcntl(memory_.get(), F_GET_SEALS);
  if (seals >= 0 && (seals & kSeals) == kSeals && size() >= kPage) header_ = map(0, kPage);
  if (!header_ || reinterpret_cast<const Header*>(header_.get())->magic.load() != kMagic) {
    invalid(std::string("what ") + kSharedParametersVariable +
            " names is no memory for shared parameters; start all with the same version of Tandem");
  }
}

std::size_t ParameterMemory::size() const {
  struct stat info {};
  if (fstat(memory_.get(), &info) != 0) system_error(ErrorCode::kIo, "shared parameters: fstat");
  return static_cast<std::size_t>(info.st_size);
}

std::shared_ptr<std::byte> ParameterMemory::map(std::size_t offset, std::size_t bytes) const {
  const std::size_t length = std::max(bytes, std::size_t{1});
  void* mapped = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) {
    system_error(ErrorCode::kOutOfMemory, "cannot map " + std::to_string(bytes) + " bytes of shared parameters");
  }
  return {static_cast<std::byte*>(mapped), [length](std::byte* data) { munmap(data, length); }};
}

bool ParameterMemory::find(const std::string& name, Part* found) const {
  const std::uint64_t end = reinterpret_cast<const Header*>(header_.get())->end.load(std::memory_order_acquire);
  const std::size_t size = this->size();
  std::uint64_t at = kPage;
  for (std::uint64_t parts = 0; at < end; ++parts) {
    PartHeader part{};
    const auto read = [&](void* to, std::size_t bytes, std::uint64_t from) {
      if (read_all_at(memory_.get(), to, bytes, static_cast<off_t>(from)) != bytes) damaged();
    };
    if (parts == kMostParts || end > size) damaged();
    read(&part, sizeof part, at);
    if (part.name > kMostText || part.description > kMostText || part.bytes > size) damaged();
    const std::uint64_t data = at + pages(sizeof part + part.name + part.description);
    if (data + pages(part.bytes) > end) damaged();
    std::string text(part.name + part.description, '\0');
    read(text.data(), text.size(), at + sizeof part);
    if (text.compare(0, part.name, name) == 0) {
      found->data = map(data, part.bytes);
      found->bytes = part.bytes;
      found->description = text.substr(part.name);
      return true;
    }
    at = data + pages(part.bytes);
  }
  if (at != end) damaged();
  return false;
}

ParameterMemory::Part ParameterMemory::part(const Wanted& wanted) {
  const auto until = Clock::now() + std::min(wanted.timeout, kLongestWait);
  Part part;
  if (find(wanted.name, &part)) return part;
  while (!wanted.makes) {
    if (Clock::now() >= until) {
      throw Error(ErrorCode::kTimeout, "local rank 0, whose parameters '" + wanted.name +
                                           "' all begin with, has not shared them within " +
                                           std::to_string(wanted.timeout.count()) + " ms");
    }
    std::this_thread::sleep_for(kLookEvery);
    if (find(wanted.name, &part)) return part;
  }
  const std::lock_guard<std::mutex> threads(making_);
  const FileLock processes(memory_.get(), until, wanted.name);
  if (find(wanted.name, &part)) return part;

  const PartHeader header{wanted.name.size(), wanted.description.size(), wanted.bytes};
  if (header.name > kMostText || header.description > kMostText) {
    invalid("names and shapes of shared parameters take more than " + std::to_string(kMostText) + " bytes");
  }
  auto& end = reinterpret_cast<Header*>(header_.get())->end;
  const std::uint64_t at = end.load();
  const std::uint64_t data = at + pages(sizeof header + header.name + header.description);
  const std::uint64_t next = data + pages(wanted.bytes);
  // Memory is taken now: a process that touches what the system has not is killed by SIGBUS.
  // In pieces, as a signal undoes all of a call.
  for (std::uint64_t from = at; from < next;) {
    const std::uint64_t bytes = std::min(next - from, std::uint64_t{8} << 20);
    errno = posix_fallocate(memory_.get(), static_cast<off_t>(from), static_cast<off_t>(bytes));
    if (errno == EINTR) continue;
    if (errno != 0) {
      system_error(ErrorCode::kOutOfMemory,
                   "cannot take " + std::to_string(next - at) + " bytes of memory for shared parameters");
    }
    from += bytes;
  }
  const std::string text = wanted.name + wanted.description;
  if (write_all_at(memory_.get(), &header, sizeof header, static_cast<off_t>(at)) != sizeof header ||
      write_all_at(memory_.get(), text.data(), text.size(), static_cast<off_t>(at + sizeof header)) != text.size()) {
    system_error(ErrorCode::kIo, "cannot write to the memory of shared parameters");
  }
  part.data = map(data, wanted.bytes);
  part.bytes = wanted.bytes;
  part.made = true;
  part.description = wanted.description;
  wanted.fill(part.data.get());
  end.store(next, std::memory_order_release);
  return part;
}

}  // namespace tandem
