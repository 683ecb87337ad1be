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

#include "comm/sockets.h"
#include "tandem/error.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;

// LibTorch rounds a connection's timeout down to whole seconds, of which there must be one.
milliseconds at_least_a_second(milliseconds timeout) {
  return std::max<milliseconds>(timeout, std::chrono::seconds(1));
}

Store open_server(const std::string& host, std::uint16_t port, const TCPStoreOptions& options,
                  c10d::TCPStoreOptions native) {
  net::Listener listener;
  if (options.listen_fd >= 0) {
    listener = {options.listen_fd, net::endpoint_of_listener(options.listen_fd)};
  } else {
    listener = net::listen_on(host, port);
  }
  // From here on the descriptor is the server's.
  native.isServer = true;
  native.port = listener.endpoint.port;
  native.masterListenFd = listener.fd;
  std::string address = listener.endpoint.address;
  net::SigpipeBlocked blocked;
  if (address == "0.0.0.0") address = "127.0.0.1";
  if (address == "::") address = "::1";
  return c10::make_intrusive<c10d::TCPStore>(address, native);
}

Store open_client(const std::string& host, std::uint16_t port, const TCPStoreOptions& options,
                  c10d::TCPStoreOptions native) {
  // LibTorch's client backs off for up to a second when it comes too early; ranks of one job start together.
  const auto deadline = std::chrono::steady_clock::now() + options.timeout;
  const auto connection = net::await_listener(host, port, deadline, [] {});
  native.port = port;
  return c10::make_intrusive<c10d::TCPStore>(connection.remote.address, native);
}

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
  if (options.wait_workers && options.world_size < 1) {
    throw Error(ErrorCode::kInvalidArgument, "a TCP store that waits for its workers needs their number (world_size)");
  }
  if (!options.is_server && port == 0) {
    throw Error(ErrorCode::kInvalidArgument, "a client of a TCP store needs the server's port, not 0");
  }
  c10d::TCPStoreOptions native;
  native.timeout = at_least_a_second(options.timeout);
  native.waitWorkers = options.wait_workers;
  if (options.wait_workers) native.numWorkers = static_cast<std::size_t>(options.world_size);
  try {
    Store store =
        options.is_server ? open_server(host, port, options, native) : open_client(host, port, options, native);
    store->setTimeout(options.timeout);
    return store;
  } catch (const Error&) {
    throw;
  } catch (...) {
    rethrow_store_error("opening the TCP store at " + host + ":" + std::to_string(port));
  }
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
  while (auto* prefix = dynamic_cast<c10d::PrefixStore*>(base.get())) base = prefix->getUnderlyingStore();
  const auto* tcp = dynamic_cast<const c10d::TCPStore*>(base.get());
  return tcp ? tcp->getPort() : 0;
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
