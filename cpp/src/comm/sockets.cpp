#include "comm/sockets.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "tandem/error.h"

namespace tandem::net {
namespace {

using Clock = std::chrono::steady_clock;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

std::optional<Endpoint> to_endpoint(const SocketAddress& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.storage.ss_family == AF_INET) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(&address.storage);
    inet_ntop(AF_INET, &in->sin_addr, text, sizeof text);
    return Endpoint{text, ntohs(in->sin_port)};
  }
  if (address.storage.ss_family == AF_INET6) {
    const auto* in = reinterpret_cast<const sockaddr_in6*>(&address.storage);
    if (IN6_IS_ADDR_V4MAPPED(&in->sin6_addr)) {
      inet_ntop(AF_INET, &in->sin6_addr.s6_addr[12], text, sizeof text);
    } else {
      inet_ntop(AF_INET6, &in->sin6_addr, text, sizeof text);
    }
    return Endpoint{text, ntohs(in->sin6_port)};
  }
  return std::nullopt;
}

std::optional<Endpoint> local_name(int fd) {
  SocketAddress address;
  if (getsockname(fd, address.get(), &address.size) != 0) return std::nullopt;
  return to_endpoint(address);
}

std::optional<Endpoint> remote_name(int fd) {
  SocketAddress address;
  if (getpeername(fd, address.get(), &address.size) != 0) return std::nullopt;
  return to_endpoint(address);
}

bool is_listening(int fd) {
  int listening = 0;
  socklen_t size = sizeof listening;
  return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 && listening;
}

std::vector<SocketAddress> addresses_of(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int failure = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (failure != 0) {
    throw Error(ErrorCode::kNotFound, "the host name '" + host + "' does not resolve: " + gai_strerror(failure) +
                                          "; give a name or address of the machine of rank 0");
  }
  std::vector<SocketAddress> found;
  for (const addrinfo* entry = list; entry; entry = entry->ai_next) {
    SocketAddress address;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.size = entry->ai_addrlen;
    found.push_back(address);
  }
  freeaddrinfo(list);
  std::stable_partition(found.begin(), found.end(), [](const auto& a) { return a.storage.ss_family == AF_INET; });
  return found;
}

// Calls visit(fd) for every open descriptor.
template <typename Visit>
void for_each_descriptor(Visit&& visit) {
  std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (!folder) return;
  const int own = dirfd(folder.get());
  std::vector<int> open;  // before any visit, which may open more
  while (const dirent* entry = readdir(folder.get())) {
    char* end = nullptr;
    const long fd = std::strtol(entry->d_name, &end, 10);
    if (*end == '\0' && end != entry->d_name && fd != own) open.push_back(static_cast<int>(fd));
  }
  folder.reset();
  for (const int fd : open) visit(fd);
}

std::string bind_failure(const std::string& host, std::uint16_t port, int failure) {
  const std::string place = host + ":" + std::to_string(port);
  switch (failure) {
    case EADDRINUSE:
      return "port in use: another program listens on " + place + "; choose another port (MASTER_PORT; `tandem run` " +
             "takes a free one), or end that program";
    case EACCES:
      return "may not listen on " + place + ": ports under 1024 need privileges; choose a higher one (MASTER_PORT)";
    case EADDRNOTAVAIL:
      return "cannot listen on " + place +
             ": that is no address of this machine; rank 0 must run on the machine that " + "MASTER_ADDR names";
    default:
      return "cannot listen on " + place + ": " + std::strerror(failure);
  }
}

}  // namespace

std::string to_string(const Endpoint& endpoint) {
  const bool v6 = endpoint.address.find(':') != std::string::npos;
  return (v6 ? "[" + endpoint.address + "]" : endpoint.address) + ":" + std::to_string(endpoint.port);
}

bool is_shortage(int failure) {
  return failure == EMFILE || failure == ENFILE || failure == ENOBUFS || failure == ENOMEM;
}

Error shortage(int failure, const std::string& what) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return Error(
      ErrorCode::kIo,
      what + ": " + std::strerror(failure) +
          (failure == EMFILE ? "; this process may have " + std::to_string(limit.rlim_cur) +
                                   " descriptors and has them all: raise the limit (ulimit -n), or close files"
                             : "; the system is short of descriptors or memory: raise fs.file-max, or end programs"));
}

bool is_loopback(const std::string& address) {
  return address.rfind("127.", 0) == 0 || address == "::1";
}

std::vector<std::string> resolve(const std::string& host) {
  std::vector<std::string> found;
  for (const auto& address : addresses_of(host, 0)) {
    if (const auto endpoint = to_endpoint(address)) found.push_back(endpoint->address);
  }
  return found;
}

Listener listen_on(const std::string& host, std::uint16_t port) {
  int failure = 0;
  for (const auto& address : addresses_of(host, port)) {
    Descriptor fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (fd.get() < 0) {
      failure = failure ? failure : errno;
      continue;
    }
    const int on = 1;
    setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd.get(), address.get(), address.size) != 0 || listen(fd.get(), SOMAXCONN) != 0) {
      failure = failure ? failure : errno;
      continue;
    }
    const auto endpoint = local_name(fd.get());
    if (endpoint) return {fd.release(), *endpoint};
  }
  throw Error(ErrorCode::kIo, bind_failure(host, port, failure));
}

Endpoint endpoint_of_listener(int fd) {
  const auto endpoint = is_listening(fd) ? local_name(fd) : std::nullopt;
  if (!endpoint) {
    throw Error(ErrorCode::kInvalidArgument,
                "descriptor " + std::to_string(fd) + " is no listening TCP socket; listen_fd must be one, or -1");
  }
  return *endpoint;
}

namespace {

// Connects, and closes again. 0, or why it could not: errno's number. For ETIMEDOUT it waits a second.
int try_to_connect(const SocketAddress& address, Connection* connection) {
  Descriptor fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return errno;
  int failure = connect(fd.get(), address.get(), address.size) == 0 ? 0 : errno;
  if (failure == EINPROGRESS) {
    pollfd ready{fd.get(), POLLOUT, 0};
    socklen_t size = sizeof failure;
    failure = ETIMEDOUT;
    if (poll(&ready, 1, 1000) == 1) getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failure, &size);
  }
  if (failure != 0) return failure;
  const auto local = local_name(fd.get());
  const auto remote = remote_name(fd.get());
  if (local && remote && *local != *remote) {
    *connection = {*local, *remote};
    return 0;
  }
  // A self-connection: the system gave this try the very port that it connects to. Reset, so that none stays.
  const linger none{1, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &none, sizeof none);
  return ECONNREFUSED;
}

void throw_if_short_of_descriptors(int failure, const std::string& place) {
  if (is_shortage(failure)) throw shortage(failure, "cannot make a socket to connect to " + place);
}

}  // namespace

Connection await_listener(const std::string& host, std::uint16_t port, Clock::time_point deadline,
                          const std::function<void()>& check) {
  const auto addresses = addresses_of(host, port);
  const auto start = Clock::now();
  const std::string place = host + ":" + std::to_string(port);
  for (;;) {
    int failure = 0;
    for (const auto& address : addresses) {
      Connection connection;
      failure = try_to_connect(address, &connection);
      if (failure == 0) return connection;
      throw_if_short_of_descriptors(failure, place);
    }
    check();
    const auto now = Clock::now();
    if (now >= deadline) {
      const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(now - start).count();
      throw Error(ErrorCode::kTimeout, "rank 0 is missing: after " + std::to_string(waited) +
                                           " ms nothing listens at " + place + " (" + std::strerror(failure) +
                                           "); is rank 0 running, and do MASTER_ADDR and MASTER_PORT name its machine "
                                           "and port?");
    }
    // Quick at first, when ranks start together; a program that waits for long should not keep a core busy.
    const auto pause =
        now - start < std::chrono::seconds(5) ? std::chrono::milliseconds(3) : std::chrono::milliseconds(50);
    std::this_thread::sleep_for(std::min<Clock::duration>(pause, deadline - now));
  }
}

Descriptor begin_to_connect(const Endpoint& remote, int* failure) {
  const SocketAddress address = addresses_of(remote.address, remote.port).front();
  Descriptor fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) throw shortage(errno, "cannot make a socket to connect to " + to_string(remote));
  *failure = connect(fd.get(), address.get(), address.size) == 0 || errno == EINPROGRESS ? 0 : errno;
  return fd;
}

int outcome_of_connecting(int socket) {
  int failure = 0;
  socklen_t size = sizeof failure;
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &failure, &size) == 0 ? failure : errno;
}

void send_at_once(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// A datagram socket that is "connected" has looked up its way, and sent nothing.
std::string local_address_towards(const Endpoint& remote) {
  for (const auto& address : addresses_of(remote.address, remote.port)) {
    const Descriptor fd(socket(address.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (fd.get() < 0 || connect(fd.get(), address.get(), address.size) != 0) continue;
    if (const auto local = local_name(fd.get())) return local->address;
  }
  return "";
}

bool is_refused(const Endpoint& endpoint) {
  for (const auto& address : addresses_of(endpoint.address, endpoint.port)) {
    Connection connection;
    const int failure = try_to_connect(address, &connection);
    throw_if_short_of_descriptors(failure, to_string(endpoint));
    if (failure != ECONNREFUSED) return false;
  }
  return true;
}

std::vector<ListeningSocket> listening_sockets() {
  std::vector<ListeningSocket> found;
  for_each_descriptor([&](int fd) {
    if (!is_listening(fd)) return;
    struct stat status{};
    const auto endpoint = local_name(fd);
    if (!endpoint || fstat(fd, &status) != 0) return;
    const bool is_known = std::any_of(found.begin(), found.end(),
                                      [&](const ListeningSocket& one) { return one.inode == status.st_ino; });
    if (!is_known) found.push_back({*endpoint, status.st_ino});
  });
  return found;
}

namespace {

bool is_one_of(const std::vector<Endpoint>& list, const std::optional<Endpoint>& endpoint) {
  return endpoint && std::find(list.begin(), list.end(), *endpoint) != list.end();
}

// What an epoll instance watches.
std::vector<int> watched_by(int epoll) {
  std::vector<int> watched;
  std::ifstream file("/proc/self/fdinfo/" + std::to_string(epoll));
  for (std::string line; std::getline(file, line);) {
    int fd = -1;
    if (std::sscanf(line.c_str(), "tfd: %d", &fd) == 1) watched.push_back(fd);
  }
  return watched;
}

// What is polled together with one of the listeners. Empty where the system does not tell.
std::vector<int> polled_with(const std::vector<Endpoint>& listeners) {
  std::vector<int> found;
  for_each_descriptor([&](int fd) {
    char target[32] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    if (readlink(link.c_str(), target, sizeof target - 1) < 0) return;
    if (std::strcmp(target, "anon_inode:[eventpoll]") != 0) return;
    const std::vector<int> watched = watched_by(fd);
    const bool is_ours = std::any_of(watched.begin(), watched.end(), [&](int one) {
      return is_listening(one) && is_one_of(listeners, local_name(one));
    });
    if (is_ours) found.insert(found.end(), watched.begin(), watched.end());
  });
  return found;
}

int shut_down_connections(const std::vector<Endpoint>& local, const std::vector<Endpoint>& remote, int how) {
  const std::vector<int> polled = polled_with(local);
  int ended = 0;
  for_each_descriptor([&](int fd) {
    if (!polled.empty() && std::find(polled.begin(), polled.end(), fd) == polled.end()) return;
    // A duplicate stays the same socket whatever other threads do with the number.
    const Descriptor copy = duplicate(fd);
    if (copy.get() < 0 || is_listening(copy.get())) return;
    const auto remote_end = remote_name(copy.get());
    if (!remote_end) return;
    if (!is_one_of(remote, remote_end) && !is_one_of(local, local_name(copy.get()))) return;
    if (shutdown(copy.get(), how) == 0) ++ended;
  });
  return ended;
}

}  // namespace

int end_connections(const std::vector<Endpoint>& local, const std::vector<Endpoint>& remote) {
  return shut_down_connections(local, remote, SHUT_RDWR);
}

int close_connections(const std::vector<Endpoint>& local, const std::vector<Endpoint>& remote) {
  return shut_down_connections(local, remote, SHUT_WR);
}

std::size_t accepted_at(std::uint16_t port) {
  std::size_t count = 0;
  for_each_descriptor([&](int fd) {
    const auto local = local_name(fd);
    count += local && local->port == port && !is_listening(fd);
  });
  return count;
}

std::vector<Descriptor> connections_at(std::uint16_t port, const std::vector<Endpoint>& except) {
  std::vector<Descriptor> found;
  for_each_descriptor([&](int fd) {
    const auto local = local_name(fd), remote = remote_name(fd);
    if (!local || !remote || local->port != port) return;
    if (std::find(except.begin(), except.end(), *remote) == except.end()) found.push_back(duplicate(fd));
  });
  return found;
}

std::vector<Endpoint> own_ends(std::uint16_t port) {
  std::vector<Endpoint> ends;
  for_each_descriptor([&](int fd) {
    const auto local = local_name(fd), remote = remote_name(fd);
    if (local && remote && remote->port == port) ends.push_back(*local);
  });
  return ends;
}

std::optional<Endpoint> own_end(int socket) {
  return local_name(socket);
}

std::optional<std::chrono::milliseconds> quiet_time(const std::vector<Descriptor>& connections) {
  std::optional<std::chrono::milliseconds> quiet;
  for (const Descriptor& one : connections) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(one.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) continue;
    if (info.tcpi_state != TCP_ESTABLISHED) continue;
    const std::chrono::milliseconds since(std::min(info.tcpi_last_data_sent, info.tcpi_last_data_recv));
    quiet = std::min(quiet.value_or(since), since);
  }
  return quiet;
}

DescriptorUse descriptor_use() {
  DescriptorUse use;
  for_each_descriptor([&](int) { ++use.open; });
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  use.limit = limit.rlim_cur;
  return use;
}

std::vector<Descriptor> connections_to(const Endpoint& remote) {
  std::vector<Descriptor> found;
  for_each_descriptor([&](int fd) {
    if (remote_name(fd) != remote) return;
    Descriptor copy = duplicate(fd);
    const int flags = fcntl(copy.get(), F_GETFL);
    const bool blocks = flags >= 0 && (flags & O_NONBLOCK) == 0;
    if (blocks && remote_name(copy.get()) == remote) found.push_back(std::move(copy));
  });
  return found;
}

std::uint64_t identity_of(int socket) {
  struct stat status {};
  return fstat(socket, &status) == 0 ? status.st_ino : 0;
}

void shut(int socket) {
  shutdown(socket, SHUT_RDWR);
}

namespace {

sigset_t only_sigpipe() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

bool is_pending() {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

}  // namespace

SigpipeBlocked::SigpipeBlocked() {
  was_pending_ = is_pending();
  const sigset_t pipe = only_sigpipe();
  pthread_sigmask(SIG_BLOCK, &pipe, &before_);
}

SigpipeBlocked::~SigpipeBlocked() {
  if (!was_pending_) {
    const sigset_t pipe = only_sigpipe();
    const timespec at_once{};
    while (sigtimedwait(&pipe, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool SigpipeBlocked::was_raised() const {
  return !was_pending_ && is_pending();
}

}  // namespace tandem::net
