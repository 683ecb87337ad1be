#include "comm/shm/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "comm/shm/layout.h"
#include "tandem/error.h"

namespace tandem::shm {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// What this process has mapped. A thread sanitizer can then see ranks that are threads, for it goes by addresses.
class Mapped {
 public:
  using Key = std::pair<dev_t, ino_t>;

  static Key key_of(int fd) {
    struct stat info {};
    if (fstat(fd, &info) != 0)
      throw Error(ErrorCode::kIo, std::string("shared memory: fstat: ") + std::strerror(errno));
    return {info.st_dev, info.st_ino};
  }

  std::shared_ptr<Segment> find(const Key& key) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = segments_.find(key);
    return found == segments_.end() ? nullptr : found->second.lock();
  }

  void remember(const Key& key, const std::shared_ptr<Segment>& segment) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::erase_if(segments_, [](const auto& entry) { return entry.second.expired(); });
    segments_.insert_or_assign(key, segment);
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<Segment>> segments_;
};

Mapped& mapped() {
  static auto* instance = new Mapped;
  return *instance;
}

// At an address that huge pages may begin at.
std::byte* map(int fd, std::size_t bytes) {
  void* reserved = mmap(nullptr, bytes + kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  void* data = MAP_FAILED;
  if (reserved != MAP_FAILED) {
    auto* const begin = static_cast<std::byte*>(reserved);
    const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(begin) % kHugePage) % kHugePage;
    data = mmap(begin + before, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    const int error = errno;
    const std::size_t end = (before + bytes + kPage - 1) / kPage * kPage;
    if (data == MAP_FAILED) {
      munmap(begin, bytes + kHugePage);
    } else {
      if (before > 0) munmap(begin, before);
      if (end < bytes + kHugePage) munmap(begin + end, bytes + kHugePage - end);
    }
    errno = error;
  }
  if (data == MAP_FAILED) {
    throw Error(ErrorCode::kOutOfMemory,
                "cannot map " + std::to_string(bytes) + " bytes of shared memory: " + std::strerror(errno) +
                    "; allow more addresses (ulimit -v), or use backend gloo");
  }
  // A core dump would have all its addresses, of which few are used.
  madvise(data, bytes, MADV_DONTDUMP);
  return static_cast<std::byte*>(data);
}

}  // namespace

Segment::Segment(Descriptor file, std::byte* data, std::size_t bytes)
    : file_(std::move(file)), data_(data), bytes_(bytes) {}

Segment::~Segment() {
  munmap(data_, bytes_);
}

std::shared_ptr<Segment> Segment::create(std::size_t bytes) {
  Descriptor file(memfd_create("tandem-shm", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.get() < 0 || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 ||
      fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) {
    throw Error(ErrorCode::kIo, "cannot make " + std::to_string(bytes) + " bytes of shared memory (memfd): " +
                                    std::strerror(errno) + "; use backend gloo where the system forbids it");
  }
  const auto key = Mapped::key_of(file.get());
  std::byte* data = map(file.get(), bytes);
  std::shared_ptr<Segment> segment(new Segment(std::move(file), data, bytes));
  mapped().remember(key, segment);
  return segment;
}

std::shared_ptr<Segment> Segment::open(Descriptor file, std::size_t bytes) {
  struct stat info {};
  const int seals = fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals || fstat(file.get(), &info) != 0 ||
      info.st_size != static_cast<off_t>(bytes)) {
    throw Error(ErrorCode::kInvalidArgument, "what a peer passed is no shared memory of " + std::to_string(bytes) +
                                                 " bytes; start the same version of Tandem on every rank");
  }
  if (auto own = mapped().find(Mapped::key_of(file.get()))) return own;
  std::byte* data = map(file.get(), bytes);
  return std::shared_ptr<Segment>(new Segment(Descriptor(), data, bytes));
}

}  // namespace tandem::shm
