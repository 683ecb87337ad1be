#include "tandem/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <cerrno>
#include <cstring>

#include "comm/deadline_store.h"
#include "comm/interruptible_store.h"
#include "tandem/error.h"

namespace tandem {
namespace {

// A file store is a row of texts, each after its length as a u32. Of a file of another kind LibTorch would wait for ever
// for the end of what looks like one.
bool is_file_store(int fd) {
  if (::flock(fd, LOCK_SH) != 0) return false;  // let go of when the descriptor is closed
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  off_t at = 0;
  while (at < status.st_size) {
    std::uint32_t length = 0;
    if (::pread(fd, &length, sizeof length, at) != static_cast<ssize_t>(sizeof length)) return false;
    at += static_cast<off_t>(sizeof length) + length;
  }
  return at == status.st_size;
}

}  // namespace

Store tcp_store(const std::string& host, std::uint16_t port, const TCPStoreOptions& options) {
  return open_tcp_store(host, port, options, /*served_by=*/"");
}

Store file_store(const std::string& path, int world_size) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) {
    throw Error(ErrorCode::kIo, "cannot open '" + path + "' for a file store: " + std::strerror(errno) +
                                    "; name a file in a folder that every rank can write to");
  }
  const bool usable = is_file_store(fd);
  ::close(fd);
  if (!usable) {
    throw Error(ErrorCode::kDataLoss,
                "'" + path + "' holds something other than a file store; name a file that is not there yet");
  }
  return c10::make_intrusive<c10d::FileStore>(path, world_size);
}

Store hash_store() {
  return c10::make_intrusive<c10d::HashStore>();
}

Store prefix_store(const std::string& prefix, const Store& store) {
  if (!store) throw Error(ErrorCode::kInvalidArgument, "the store under prefix '" + prefix + "' is empty");
  return c10::make_intrusive<c10d::PrefixStore>(prefix, store);
}

std::uint16_t store_port(const Store& store) {
  Store base = store;
  for (;;) {
    if (auto* prefix = dynamic_cast<c10d::PrefixStore*>(base.get())) {
      base = prefix->getUnderlyingStore();
    } else if (auto* interruptible = dynamic_cast<InterruptibleStore*>(base.get())) {
      base = interruptible->underlying();
    } else {
      break;
    }
  }
  if (const auto* tcp = dynamic_cast<const DeadlineStore*>(base.get())) return tcp->port();
  const auto* of_libtorch = dynamic_cast<const c10d::TCPStore*>(base.get());
  return of_libtorch ? of_libtorch->getPort() : 0;
}

bool is_store_timeout(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  const auto mentions = [&](const char* part) { return text.find(part) != std::string::npos; };
  return mentions("timeout") || mentions("Timeout") || mentions("timed out");
}

void rethrow_store_error(const std::string& what) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    if (is_store_timeout(error)) {
      throw Error(ErrorCode::kTimeout, what + " timed out: " + text);
    }
    if (dynamic_cast<const c10::DistNetworkError*>(&error)) {
      throw Error(ErrorCode::kPeerLost,
                  what + " failed, for the process that serves the store is gone or unreachable: " + text);
    }
    if (dynamic_cast<const c10::NotImplementedError*>(&error)) {
      throw Error(ErrorCode::kUnsupported, what + ": this kind of store cannot do it");
    }
    throw Error(ErrorCode::kIo, what + " failed: " + text);
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kIo, what + " failed: " + error.what());
  }
}

}  // namespace tandem
