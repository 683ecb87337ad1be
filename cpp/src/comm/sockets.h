// TCP sockets as the stores and groups need them: bound to one address, found by their names, ended from outside.
#pragma once

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "tandem/error.h"

namespace tandem::net {

using tandem::Descriptor;

// A numeric address with a port.
struct Endpoint {
  std::string address;
  std::uint16_t port = 0;
  bool operator==(const Endpoint&) const = default;
};

// Whether a call failed because this process, or the system, has no descriptor or memory left: that says nothing of the
// other side. The error about it (kIo) that begins with `what`.
bool is_shortage(int failure);
Error shortage(int failure, const std::string& what);

std::string to_string(const Endpoint& endpoint);
bool is_loopback(const std::string& address);

// The numeric addresses of `host`, IPv4 first. Throws Error (kNotFound) when the name does not resolve.
std::vector<std::string> resolve(const std::string& host);

struct Listener {
  int fd = -1;
  Endpoint endpoint;
};

// A listening socket bound to `host`'s address and nothing else; port 0: any free one. The caller closes it.
// Throws Error (kIo) that says whether the port is in use, forbidden, or the address not of this machine.
Listener listen_on(const std::string& host, std::uint16_t port);
// The endpoint of a listening socket that another process made. Throws Error (kInvalidArgument) for other descriptors.
Endpoint endpoint_of_listener(int fd);

struct Connection {
  Endpoint local;
  Endpoint remote;
};

// Tries to connect, every few milliseconds, until something listens at host:port, and closes again. Throws Error
// (kTimeout) at the deadline and (kIo) when this process can make no socket; `check` is called between tries, and may
// throw.
Connection await_listener(const std::string& host, std::uint16_t port, std::chrono::steady_clock::time_point deadline,
                          const std::function<void()>& check);

// A socket that does not block and is about to connect to a numeric address: it can be written to once that is over.
// *failure: errno's number where that failed at once, else 0. Throws Error (kIo) when this process can make no socket.
Descriptor begin_to_connect(const Endpoint& remote, int* failure);
// 0, or why the socket could not connect: errno's number.
int outcome_of_connecting(int socket);

// What is written to the connection goes at once, however little it is (TCP_NODELAY).
void send_at_once(int socket);

// This machine's address on the way to `remote`. Sends nothing. "" where there is no way.
std::string local_address_towards(const Endpoint& remote);

// Whether nothing listens there: one try is refused. False where that is not known, for no answer came in a second.
// Throws Error (kIo) when this process can make no socket.
bool is_refused(const Endpoint& endpoint);

// A TCP socket on which this process listens. No other one has its inode for as long as it exists, however descriptors
// and ports are used again.
struct ListeningSocket {
  Endpoint endpoint;
  std::uint64_t inode = 0;
};
std::vector<ListeningSocket> listening_sockets();

// Ends (shutdown(2)) the connections of who listens at `local`: of this process's connected TCP sockets those whose
// local or remote name is one of the given and which are polled together with one of these listeners, as Gloo's are; so
// several ranks can live in one process. Returns how many. Safe against descriptors that other threads close and reuse
// meanwhile.
int end_connections(const std::vector<Endpoint>& local, const std::vector<Endpoint>& remote);
// The same, but only sends nothing more: the other side still gets what was sent before, and then the stream's end.
int close_connections(const std::vector<Endpoint>& local, const std::vector<Endpoint>& remote);

// How many TCP connections this process has whose own port is `port`: those that its listener there has accepted.
std::size_t accepted_at(std::uint16_t port);
// Duplicates of them, but for those whose other ends are these.
std::vector<Descriptor> connections_at(std::uint16_t port, const std::vector<Endpoint>& except);
// For how long none of these connections has carried data, either way. Nothing: the other side has closed them all.
std::optional<std::chrono::milliseconds> quiet_time(const std::vector<Descriptor>& connections);
// This side's end of each connection of this process to a listener at `port`, and of one.
std::vector<Endpoint> own_ends(std::uint16_t port);
std::optional<Endpoint> own_end(int socket);

struct DescriptorUse {
  std::size_t open = 0;
  std::size_t limit = 0;  // RLIMIT_NOFILE
};
// Of this process.
DescriptorUse descriptor_use();

// Duplicates of this process's connected TCP sockets whose remote name is `remote`, but for non-blocking ones, such as
// those with which await_listener() tries.
std::vector<Descriptor> connections_to(const Endpoint& remote);
// The same for all duplicates of a socket, and for no other socket as long as one of them is open.
std::uint64_t identity_of(int socket);
// Ends a connection (shutdown(2)): who waits for input, or for room for output, gets an error at once.
void shut(int socket);

// While it lives this thread gets no SIGPIPE, which would end a program whose peer died; threads that are started
// meanwhile never do. For libraries that write to sockets without MSG_NOSIGNAL (Gloo, libuv); the program's own handling
// of the signal stays as it is.
class SigpipeBlocked {
 public:
  SigpipeBlocked();
  ~SigpipeBlocked();
  // Whether the signal was raised meanwhile: something was written to a peer that is gone.
  bool was_raised() const;
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;

 private:
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace tandem::net
