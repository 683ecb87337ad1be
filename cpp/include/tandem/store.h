// Key-value stores through which ranks meet: LibTorch's, made with errors that say what to do.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "tandem/export.h"

namespace tandem {

// LibTorch's c10d::Store, usable wherever LibTorch takes one. Thread-safe; a TCP store's client serialises its callers,
// so a long wait delays the calls of other threads through the same object.
using Store = c10::intrusive_ptr<c10d::Store>;

struct TCPStoreOptions {
  bool is_server = false;
  int world_size = 0;                         // with wait_workers: how many connect; 0: any number
  bool wait_workers = false;                  // wait until all have connected
  std::chrono::milliseconds timeout{300000};  // of connecting and of each get and wait
  int listen_fd = -1;                         // server: a listening socket to take over; -1: make one
};

// Serves, or connects to, a store at host:port. The server binds to `host`'s address only; port 0: any free one, see
// store_port(). A client waits until the server listens.
// Errors: kIo (port in use, no address of this machine), kTimeout (no server), kNotFound (unknown host).
TANDEM_API Store tcp_store(const std::string& host, std::uint16_t port, const TCPStoreOptions& options = {});

// A store in a file that all ranks see. With world_size > 0 the file goes with its last user. Errors: kIo.
TANDEM_API Store file_store(const std::string& path, int world_size = 0);

// A store for threads of this process.
TANDEM_API Store hash_store();

// Keys of `store` under "prefix/".
TANDEM_API Store prefix_store(const std::string& prefix, const Store& store);

// Port of a TCP store, also under prefixes; 0 of another.
TANDEM_API std::uint16_t store_port(const Store& store);

// Inside a catch block: throws the exception in flight of a call on a store as an Error: kTimeout, kPeerLost when the
// server is gone, else kIo. `what` says what was done ("get of key 'x'").
[[noreturn]] TANDEM_API void rethrow_store_error(const std::string& what);

// Whether a store's exception says that a wait ended: each kind of store has its own.
TANDEM_API bool is_store_timeout(const c10::Error& error);

}  // namespace tandem
