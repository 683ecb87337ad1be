// LibTorch's TCP store, of which every call ends.
#pragma once

#include <atomic>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "comm/sockets.h"
#include "comm/store/call_watch.h"
#include "comm/store/store_limit.h"
#include "tandem/runtime.h"
#include "tandem/store.h"

namespace tandem {

// Where a TCP store is, and whose process serves it ("rank 0"; "" where that is not known), for errors.
struct StorePlace {
  net::Endpoint endpoint;
  std::string served_by;
};

// LibTorch's client waits without a timeout for the answers of a server that stands still. Here each call ends: by the
// store's timeout, a StoreLimit of its thread, a StoreInterrupt or the program's shutdown. What ends it shuts the
// client's socket, so the next call connects anew; whether the call that was ended took effect is not known. A server
// that is gone stays so, also where another one listens at its place: each has an identity, under a key of its own that no
// count or list shows. Thread-safe; one call at a time, as with LibTorch's.
//
// Errors: Error(kTimeout) and Error(kAborted) name the server, the call and its keys; else LibTorch's.
class DeadlineStore final : public c10d::Store {
 public:
  class Server;

  // Connects; with `options` of a server also serves. `timeout`: of that, and of calls until setTimeout().
  // `opening`, where it is given, keeps others from opening connections to this port, until this one is open.
  DeadlineStore(StorePlace place, const c10d::TCPStoreOptions& options, std::chrono::milliseconds timeout,
                std::shared_ptr<void> opening = nullptr);
  // Connects to the same server as `other`, and no later one of its place.
  DeadlineStore(const DeadlineStore& other, std::chrono::milliseconds timeout);

  const net::Endpoint& endpoint() const { return place_.endpoint; }
  // Of the server: another one at the same place has another.
  const std::vector<std::uint8_t>& identity() const { return identity_; }
  // Whether the connection has ended on the server's side. Asks nobody.
  bool has_lost_server();
  // Where this process serves it: all have met whom it is for, by these connections. When it goes it stays for no others.
  void note_clients();
  // Of a store that was told their number: waits until all workers have connected.
  void wait_for_workers();

  using c10d::Store::compareSet;
  using c10d::Store::set;

  c10::intrusive_ptr<c10d::Store> clone() override;
  // With its last use, also where it is still known by a weak pointer: else the server kept its port.
  void release_resources() override;
  void set(const std::string& key, const std::vector<std::uint8_t>& value) override;
  std::vector<std::uint8_t> compareSet(const std::string& key, const std::vector<std::uint8_t>& expected,
                                       const std::vector<std::uint8_t>& desired) override;
  std::vector<std::uint8_t> get(const std::string& key) override;
  std::int64_t add(const std::string& key, std::int64_t value) override;
  bool deleteKey(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  std::int64_t getNumKeys() override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override;
  void append(const std::string& key, const std::vector<std::uint8_t>& value) override;
  std::vector<std::vector<std::uint8_t>> multiGet(const std::vector<std::string>& keys) override;
  void multiSet(const std::vector<std::string>& keys, const std::vector<std::vector<std::uint8_t>>& values) override;
  bool hasExtendedApi() const override;
  void queuePush(const std::string& key, const std::vector<std::uint8_t>& value) override;
  std::vector<std::uint8_t> queuePop(const std::string& key, bool block) override;
  std::int64_t queueLen(const std::string& key) override;
  std::vector<std::string> listKeys() override;

 private:
  using Clock = CallWatch::Clock;
  using Milliseconds = std::chrono::milliseconds;

  // body(client): of a call that the server answers at once.
  template <typename Body>
  auto ask(const std::string& what, Body&& body);
  // body(client, time that it may wait): of one that may wait for a key.
  template <typename Body>
  auto await(const std::string& what, Milliseconds timeout, Body&& body, Milliseconds least = Milliseconds(1));
  template <typename Body>
  auto run(CallWatch::Turn& turn, const std::string& what, Body&& body);

  c10d::TCPStore& connected(const CallWatch::Turn& turn);
  void open(const CallWatch::Turn& turn, const c10d::TCPStoreOptions& options, std::shared_ptr<void> opening = nullptr);
  void check_server();
  c10::intrusive_ptr<c10d::TCPStore> connect(const CallWatch::Turn& turn, const c10d::TCPStoreOptions& options) const;
  void end_call();

  const StorePlace place_;
  std::vector<std::uint8_t> identity_;  // of the server, known once there was a connection
  const std::string name_;  // "the TCP store at 127.0.0.1:29500 (rank 0 serves it)"
  // These are the current call's.
  std::shared_ptr<Server> server_;  // null where it is in another process
  c10::intrusive_ptr<c10d::TCPStore> client_;
  std::string lost_;  // why the server is gone; "" as long as it is not
  std::atomic<bool> is_lost_ = false;

  std::mutex socket_mutex_;
  Descriptor socket_;  // the client's, a duplicate
  bool shut_ = false;
  bool opening_ = false;             // the client is being made,
  std::set<std::uint64_t> earlier_;  // and these sockets to the same place are not its

  std::unique_ptr<CallWatch, CallWatch::InItsProcess> watch_;
  const std::shared_ptr<StoreInterrupt> at_shutdown_ = std::make_shared<StoreInterrupt>();
  const ShutdownHook hook_;
};

// As tcp_store(); `served_by` as StorePlace has it.
Store open_tcp_store(const std::string& host, std::uint16_t port, const TCPStoreOptions& options,
                     const std::string& served_by);

}  // namespace tandem
