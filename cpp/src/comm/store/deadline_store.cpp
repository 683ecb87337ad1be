#include "comm/store/deadline_store.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <functional>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "tandem/error.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;
using Clock = CallWatch::Clock;

constexpr const char* kIdentity = "tandem/server";
// A server that lives answers within this, on a busy machine as well.
constexpr milliseconds kAnswer{3000};
// To connect, too. LibTorch asks for the name of the server's address then, and name servers may be slow to say that
// they do not know it.
constexpr milliseconds kConnected{12000};
// What is there is given, also when a StoreLimit is over: its answer takes longer than no time.
constexpr milliseconds kPresent{1000};
// What is left to calls that were interrupted, for an answer that is on its way.
constexpr milliseconds kLastWords{500};
constexpr milliseconds kTryAgain{50};
// For a server of this process to give its port back, once it has begun to, and to begin.
constexpr milliseconds kClosed{30000};
constexpr milliseconds kAboutToClose{500};
// A server that goes stays until nobody has asked it anything for so long, which those do who read the answers of an
// exchange that has ended here; but no longer than kLongestStay, for others may go on asking.
constexpr milliseconds kQuiet{300};
constexpr milliseconds kLongestStay{1000};
constexpr milliseconds kBetweenLooks{10};
// A timeout beyond it is none; time points do not overflow.
constexpr milliseconds kForever = std::chrono::hours(24 * 365);

std::string in_words(const StorePlace& place) {
  return "the TCP store at " + net::to_string(place.endpoint) +
         (place.served_by.empty() ? "" : " (" + place.served_by + " serves it)");
}

std::string quoted(const std::string& key) {
  return "'" + key + "'";
}

std::string quoted(const std::vector<std::string>& keys) {
  constexpr std::size_t kMost = 3;
  std::string list;
  for (std::size_t i = 0; i < std::min(keys.size(), kMost); ++i) list += (i ? ", " : "") + quoted(keys[i]);
  return keys.size() > kMost ? list + " and " + std::to_string(keys.size() - kMost) + " more" : list;
}

Clock::time_point end_of(milliseconds timeout) {
  const auto end = Clock::now() + std::clamp(timeout, milliseconds(0), kForever);
  return std::min(end, StoreLimit::earliest_deadline());
}

c10d::TCPStoreOptions client_options(const net::Endpoint& endpoint) {
  c10d::TCPStoreOptions options;
  options.port = endpoint.port;
  options.waitWorkers = false;
  // LibTorch tries again, after pauses that nothing ends, until then: DeadlineStore does so itself.
  options.timeout = std::chrono::seconds(1);
  return options;
}

// LibTorch's connections to one port are made one after the other, so that each can be told from those before. A server
// has its turn before it listens: a client that came first would wait for its answer, and the server for the client.
class OpeningTurn {
 public:
  // Calls `check`, which may throw, while it waits.
  OpeningTurn(std::uint16_t port, const std::function<void()>& check) : port_(port) {
    std::unique_lock<std::mutex> lock(all().mutex);
    while (!all().ports.insert(port_).second) {
      all().changed.wait_for(lock, milliseconds(20));
      check();
    }
  }
  ~OpeningTurn() {
    {
      const std::lock_guard<std::mutex> lock(all().mutex);
      all().ports.erase(port_);
    }
    all().changed.notify_all();
  }
  OpeningTurn(const OpeningTurn&) = delete;
  OpeningTurn& operator=(const OpeningTurn&) = delete;

 private:
  struct All {
    std::mutex mutex;
    std::condition_variable changed;
    std::set<std::uint16_t> ports;
  };
  static All& all() {
    static auto* instance = new All;
    return *instance;
  }

  const std::uint16_t port_;
};

// The ports of this process's servers. Whoever drops the last use of one may do so while another thread makes the next
// one, and closing it takes a moment.
class ServedPorts {
 public:
  void add(std::uint16_t port) {
    const std::lock_guard<std::mutex> lock(mutex_);
    served_.insert(port);
  }
  void begin_to_close(std::uint16_t port) {
    const std::lock_guard<std::mutex> lock(mutex_);
    closing_.insert(port);
  }
  void remove(std::uint16_t port) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      closing_.erase(closing_.find(port));
      served_.erase(served_.find(port));
    }
    changed_.notify_all();
  }
  bool contains(std::uint16_t port) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return served_.contains(port);
  }
  // Waits for the end of a server that closes, or is about to. False: it goes on. Calls `check` meanwhile, which may
  // throw.
  bool await_end(std::uint16_t port, const std::function<void()>& check) {
    const auto begun = Clock::now();
    std::unique_lock<std::mutex> lock(mutex_);
    while (served_.contains(port)) {
      if (Clock::now() - begun >= (closing_.contains(port) ? kClosed : kAboutToClose)) return false;
      changed_.wait_for(lock, milliseconds(20));
      check();
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::multiset<std::uint16_t> served_;
  std::multiset<std::uint16_t> closing_;  // of those
};

ServedPorts& served_ports() {
  static auto* instance = new ServedPorts;
  return *instance;
}

void throw_if_interrupted() {
  if (StoreLimit::is_interrupted()) throw Error(ErrorCode::kAborted, "connecting to the store was aborted");
}

// When a server of this process is about to give the port back: once it has. `*turn` is its turn to open.
net::Listener listen_on(const std::string& host, std::uint16_t port, std::shared_ptr<OpeningTurn>* turn) {
  for (;;) {
    const bool is_ours = served_ports().contains(port);
    // Nobody knows a port yet that the system is to choose.
    if (port != 0) *turn = std::make_shared<OpeningTurn>(port, throw_if_interrupted);
    try {
      return net::listen_on(host, port);
    } catch (const Error&) {
      turn->reset();
      if (!is_ours || !served_ports().await_end(port, throw_if_interrupted)) throw;
    }
  }
}

// A listening socket until a server has it.
class ListenerHold {
 public:
  explicit ListenerHold(int fd) : fd_(fd), identity_(net::identity_of(fd)) {}
  ~ListenerHold() {
    // Nobody has closed it, nor is the number another socket's.
    if (fd_ >= 0 && net::identity_of(fd_) == identity_) ::close(fd_);
  }
  void release() { fd_ = -1; }
  ListenerHold(const ListenerHold&) = delete;
  ListenerHold& operator=(const ListenerHold&) = delete;

 private:
  int fd_;
  const std::uint64_t identity_;
};

// Listens where the server is to be reached, and says where a client of this process finds it.
net::Endpoint serve(const std::string& host, std::uint16_t port, const TCPStoreOptions& options,
                    c10d::TCPStoreOptions* native, std::shared_ptr<OpeningTurn>* turn) {
  net::Listener listener;
  if (options.listen_fd >= 0) {
    listener = {options.listen_fd, net::endpoint_of_listener(options.listen_fd)};
  } else {
    listener = listen_on(host, port, turn);
  }
  native->isServer = true;
  native->port = listener.endpoint.port;
  native->masterListenFd = listener.fd;
  if (listener.endpoint.address == "0.0.0.0") listener.endpoint.address = "127.0.0.1";
  if (listener.endpoint.address == "::") listener.endpoint.address = "::1";
  return listener.endpoint;
}

}  // namespace

template <typename Body>
auto DeadlineStore::run(CallWatch::Turn& turn, const std::string& what, Body&& body) {
  try {
    return body();
  } catch (...) {
    if (turn.was_ended()) {
      const std::string age = " after " + std::to_string(turn.age().count()) + " ms";
      if (turn.was_interrupted()) {
        throw Error(ErrorCode::kAborted, what + " was aborted" + age + " without an answer");
      }
      throw Error(ErrorCode::kTimeout, what + " timed out" + age +
                                           ": the process that serves the store does not answer; it is stopped, or " +
                                           "its host is lost or cannot be reached. Whether the call took effect is " +
                                           "not known; let that process go on, or end the job");
    }
    try {
      throw;
    } catch (const c10::DistNetworkError& error) {
      if (client_) {
        lost_ = error.what_without_backtrace();
        is_lost_ = true;
      }
      client_.reset();
      throw;
    }
  }
}

// Of this process, for as long as one of its clients here uses it.
class DeadlineStore::Server {
 public:
  // `client`: the store's own connection.
  Server(std::uint16_t port, const std::optional<net::Endpoint>& client, c10::intrusive_ptr<c10d::TCPStore> store)
      : port_(port), store_(std::move(store)) {
    if (client) own_.push_back(*client);
    served_ports().add(port_);
  }
  ~Server() {
    served_ports().begin_to_close(port_);
    stay_for_others(/*at_shutdown=*/false);
    store_.reset();
    served_ports().remove(port_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void note_clients() {
    std::set<std::uint64_t> now;
    for (const Descriptor& one : net::connections_at(port_, own_)) now.insert(net::identity_of(one.get()));
    const std::lock_guard<std::mutex> lock(mutex_);
    noted_ = std::move(now);
  }

 private:
  // LibTorch's clients warn, with a backtrace, of a server that goes while they ask. Who has connected later than note_clients()
  // comes to meet the next server. Once: at the program's shutdown, when this process's own clients are still there, or here.
  void stay_for_others(bool at_shutdown) noexcept {
    if (getpid() != process_ || stayed_.exchange(true)) return;
    try {
      const auto until = Clock::now() + kLongestStay;
      auto others = net::connections_at(port_, at_shutdown ? net::own_ends(port_) : own_);
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        std::erase_if(others, [&](const Descriptor& one) {
          return !noted_.empty() && !noted_.contains(net::identity_of(one.get()));
        });
      }
      while (Clock::now() < until) {
        const auto quiet = net::quiet_time(others);
        if (!quiet || *quiet >= kQuiet) return;
        std::this_thread::sleep_for(kBetweenLooks);
      }
    } catch (const std::exception&) {
      // Nothing is known of the others, so there is nothing to wait for.
    }
  }

  const std::uint16_t port_;
  std::vector<net::Endpoint> own_;
  const pid_t process_ = getpid();
  std::atomic<bool> stayed_ = false;
  std::mutex mutex_;
  std::set<std::uint64_t> noted_;  // none: all
  c10::intrusive_ptr<c10d::TCPStore> store_;
  const ShutdownHook hook_{"the TCP store at port " + std::to_string(port_), [this] { stay_for_others(/*at_shutdown=*/true); }};
};

DeadlineStore::DeadlineStore(StorePlace place, const c10d::TCPStoreOptions& options, milliseconds timeout,
                             std::shared_ptr<void> opening)
    : c10d::Store(timeout),
      place_(std::move(place)),
      name_(in_words(place_)),
      watch_(new CallWatch([this] { end_call(); })),
      hook_(name_, [interrupt = at_shutdown_] { interrupt->interrupt(); }) {
  const std::string what = "connecting to " + name_;
  const StoreLimit limit(at_shutdown_);
  CallWatch::Turn turn(*watch_, what, std::max(end_of(timeout), Clock::now() + kConnected), kLastWords);
  run(turn, what, [&] { open(turn, options, std::move(opening)); });
  if (options.isServer) {
    server_ = std::make_shared<Server>(place_.endpoint.port, net::own_end(socket_.get()), client_);
  }
}

DeadlineStore::DeadlineStore(const DeadlineStore& other, milliseconds timeout)
    : DeadlineStore(other.place_, client_options(other.place_.endpoint), timeout) {
  if (identity_ != other.identity_) C10_THROW_ERROR(DistNetworkError, "another server listens at " + net::to_string(place_.endpoint) + " by now");
  server_ = other.server_;
}

void DeadlineStore::release_resources() {
  watch_.reset();
  socket_ = Descriptor();
  client_.reset();
  server_.reset();
}

void DeadlineStore::open(const CallWatch::Turn& turn, const c10d::TCPStoreOptions& options,
                         std::shared_ptr<void> opening) {
  if (!opening) {
    opening = std::make_shared<OpeningTurn>(place_.endpoint.port, [&] {
      if (turn.was_ended()) throw Error(ErrorCode::kTimeout, "another thread connects to the same server");
    });
  }
  {
    const std::lock_guard<std::mutex> lock(socket_mutex_);
    earlier_.clear();
    for (const auto& socket : net::connections_to(place_.endpoint)) earlier_.insert(net::identity_of(socket.get()));
    opening_ = true;
    shut_ = false;
  }
  try {
    const net::SigpipeBlocked blocked;
    client_ = connect(turn, options);
  } catch (...) {
    const std::lock_guard<std::mutex> lock(socket_mutex_);
    opening_ = false;
    throw;
  }
  {
    const std::lock_guard<std::mutex> lock(socket_mutex_);
    opening_ = false;
    for (auto& socket : net::connections_to(place_.endpoint)) {
      if (!earlier_.contains(net::identity_of(socket.get()))) socket_ = std::move(socket);
    }
  }
  if (socket_.get() < 0) {
    client_.reset();
    throw Error(ErrorCode::kIo, "cannot find the connection to " + name_ + " among this process's descriptors " +
                                    "(/proc/self/fd), so that no call could be ended; is /proc there, and a " +
                                    "descriptor left?");
  }
  check_server();
}

// Whose keys are this object's: a later one at the same place has others.
void DeadlineStore::check_server() {
  std::random_device random;
  std::vector<std::uint8_t> mine(16);
  for (std::uint8_t& byte : mine) byte = static_cast<std::uint8_t>(random());
  const auto identity = client_->compareSet(kIdentity, {}, mine);
  if (identity_.empty()) identity_ = identity;
  if (identity == identity_) return;
  C10_THROW_ERROR(DistNetworkError, "another server listens at " + net::to_string(place_.endpoint) + " by now");
}

c10::intrusive_ptr<c10d::TCPStore> DeadlineStore::connect(const CallWatch::Turn& turn,
                                                          const c10d::TCPStoreOptions& options) const {
  for (;;) {
    try {
      return c10::make_intrusive<c10d::TCPStore>(place_.endpoint.address, options);
    } catch (const c10::DistNetworkError&) {
      // Its queue may have been full. A server cannot be made again, for its listener is gone.
      if (options.isServer || turn.was_ended() || net::is_refused(place_.endpoint)) throw;
    }
    std::this_thread::sleep_for(kTryAgain);
  }
}

// By the watch's thread, while a call is under way.
void DeadlineStore::end_call() {
  const std::lock_guard<std::mutex> lock(socket_mutex_);
  shut_ = true;
  if (!opening_) return net::shut(socket_.get());
  for (const auto& socket : net::connections_to(place_.endpoint)) {
    if (!earlier_.contains(net::identity_of(socket.get()))) net::shut(socket.get());
  }
}

c10d::TCPStore& DeadlineStore::connected(const CallWatch::Turn& turn) {
  {
    const std::lock_guard<std::mutex> lock(socket_mutex_);
    if (client_ && !shut_) return *client_;
    socket_ = Descriptor();
  }
  client_.reset();
  if (!lost_.empty()) C10_THROW_ERROR(DistNetworkError, lost_);
  // LibTorch's client would go on trying where nobody listens.
  if (net::is_refused(place_.endpoint)) {
    C10_THROW_ERROR(DistNetworkError, "nothing listens at " + net::to_string(place_.endpoint) + " any more");
  }
  open(turn, client_options(place_.endpoint));
  return *client_;
}

template <typename Body>
auto DeadlineStore::ask(const std::string& what, Body&& body) {
  const StoreLimit limit(at_shutdown_);
  const std::string text = what + " on " + name_;
  CallWatch::Turn turn(*watch_, text, std::max(end_of(timeout_), Clock::now() + kAnswer), kLastWords);
  return run(turn, text, [&] { return body(connected(turn)); });
}

template <typename Body>
auto DeadlineStore::await(const std::string& what, milliseconds timeout, Body&& body, milliseconds least) {
  const StoreLimit limit(at_shutdown_);
  const std::string text = what + " on " + name_;
  if (StoreLimit::is_interrupted()) throw Error(ErrorCode::kAborted, text + " was not begun, for it was aborted");
  const auto end = end_of(timeout);
  CallWatch::Turn turn(*watch_, text, end + kAnswer, milliseconds(0));
  return run(turn, text, [&] {
    c10d::TCPStore& client = connected(turn);
    const auto left = std::chrono::ceil<milliseconds>(end - Clock::now());
    return body(client, std::max(left, std::min(timeout, least)));
  });
}

void DeadlineStore::wait_for_workers() {
  await("the wait for all workers", timeout_, [](c10d::TCPStore& client, milliseconds left) {
    client.setTimeout(left);
    client.waitForWorkers();
  });
}

c10::intrusive_ptr<c10d::Store> DeadlineStore::clone() {
  return c10::make_intrusive<DeadlineStore>(*this, timeout_);
}

void DeadlineStore::set(const std::string& key, const std::vector<std::uint8_t>& value) {
  ask("set of " + quoted(key), [&](c10d::TCPStore& client) { client.set(key, value); });
}

std::vector<std::uint8_t> DeadlineStore::compareSet(const std::string& key, const std::vector<std::uint8_t>& expected,
                                                    const std::vector<std::uint8_t>& desired) {
  return ask("compare-and-set of " + quoted(key),
             [&](c10d::TCPStore& client) { return client.compareSet(key, expected, desired); });
}

std::vector<std::uint8_t> DeadlineStore::get(const std::string& key) {
  return await(
      "get of " + quoted(key), timeout_,
      [&](c10d::TCPStore& client, milliseconds left) {
        client.setTimeout(left);
        return client.get(key);
      },
      kPresent);
}

std::int64_t DeadlineStore::add(const std::string& key, std::int64_t value) {
  return ask("add to " + quoted(key), [&](c10d::TCPStore& client) { return client.add(key, value); });
}

bool DeadlineStore::deleteKey(const std::string& key) {
  return ask("delete of " + quoted(key), [&](c10d::TCPStore& client) { return client.deleteKey(key); });
}

bool DeadlineStore::check(const std::vector<std::string>& keys) {
  return ask("check of " + quoted(keys), [&](c10d::TCPStore& client) { return client.check(keys); });
}

std::int64_t DeadlineStore::getNumKeys() {
  return ask("count of keys", [](c10d::TCPStore& client) { return client.getNumKeys() - 1; });
}

void DeadlineStore::wait(const std::vector<std::string>& keys) {
  wait(keys, timeout_);
}

void DeadlineStore::wait(const std::vector<std::string>& keys, const milliseconds& timeout) {
  await("wait for " + quoted(keys), timeout,
        [&](c10d::TCPStore& client, milliseconds left) { client.wait(keys, left); });
}

void DeadlineStore::append(const std::string& key, const std::vector<std::uint8_t>& value) {
  ask("append to " + quoted(key), [&](c10d::TCPStore& client) { client.append(key, value); });
}

std::vector<std::vector<std::uint8_t>> DeadlineStore::multiGet(const std::vector<std::string>& keys) {
  return await(
      "get of " + quoted(keys), timeout_,
      [&](c10d::TCPStore& client, milliseconds left) {
        client.setTimeout(left);
        return client.multiGet(keys);
      },
      kPresent);
}

void DeadlineStore::multiSet(const std::vector<std::string>& keys,
                             const std::vector<std::vector<std::uint8_t>>& values) {
  ask("set of " + quoted(keys), [&](c10d::TCPStore& client) { client.multiSet(keys, values); });
}

bool DeadlineStore::hasExtendedApi() const {
  return true;
}

void DeadlineStore::queuePush(const std::string& key, const std::vector<std::uint8_t>& value) {
  ask("push to queue " + quoted(key), [&](c10d::TCPStore& client) { client.queuePush(key, value); });
}

std::vector<std::uint8_t> DeadlineStore::queuePop(const std::string& key, bool block) {
  return await("pop of queue " + quoted(key), timeout_, [&](c10d::TCPStore& client, milliseconds left) {
    client.setTimeout(left);
    return client.queuePop(key, block);
  });
}

std::int64_t DeadlineStore::queueLen(const std::string& key) {
  return ask("length of queue " + quoted(key), [&](c10d::TCPStore& client) { return client.queueLen(key); });
}

void DeadlineStore::note_clients() {
  if (server_) server_->note_clients();
}

bool DeadlineStore::has_lost_server() {
  if (is_lost_) return true;
  const std::lock_guard<std::mutex> lock(socket_mutex_);
  char byte = 0;
  const ssize_t read = socket_.valid() && !shut_ ? ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) : 1;
  return read == 0 || (read < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

std::vector<std::string> DeadlineStore::listKeys() {
  auto keys = ask("list of keys", [](c10d::TCPStore& client) { return client.listKeys(); });
  std::erase_if(keys, [](const std::string& key) { return key.ends_with(kIdentity); });
  return keys;
}

namespace {

// Waits for a server; also for the next one, where that which was there gives its port back.
Store open_client(const std::string& host, std::uint16_t port, const TCPStoreOptions& options, StorePlace place) {
  const auto end = Clock::now() + options.timeout;
  for (;;) {
    // LibTorch's client backs off for up to a second when it comes too early; ranks of one job start together.
    place.endpoint = net::await_listener(host, port, end, throw_if_interrupted).remote;
    c10d::TCPStoreOptions native = client_options(place.endpoint);
    if (options.wait_workers) native.numWorkers = static_cast<std::size_t>(options.world_size);
    c10::intrusive_ptr<DeadlineStore> store;
    try {
      store = c10::make_intrusive<DeadlineStore>(place, native, options.timeout);
    } catch (const c10::DistNetworkError&) {
      // connect() gives up early where nobody listened any more; by now the next one may.
      if (Clock::now() >= end) throw;
      continue;
    }
    if (options.wait_workers) store->wait_for_workers();
    return store;
  }
}

}  // namespace

Store open_tcp_store(const std::string& host, std::uint16_t port, const TCPStoreOptions& options,
                     const std::string& served_by) {
  if (options.wait_workers && options.world_size < 1) {
    throw Error(ErrorCode::kInvalidArgument, "a TCP store that waits for its workers needs their number (world_size)");
  }
  if (!options.is_server && port == 0) {
    throw Error(ErrorCode::kInvalidArgument, "a client of a TCP store needs the server's port, not 0");
  }
  try {
    StorePlace place;
    place.served_by = served_by;
    c10d::TCPStoreOptions native;
    // LibTorch rounds a connection's timeout down to whole seconds, of which there must be one.
    native.timeout = std::max<milliseconds>(options.timeout, std::chrono::seconds(1));
    native.waitWorkers = false;  // that is a call of its own, below
    if (options.wait_workers) native.numWorkers = static_cast<std::size_t>(options.world_size);
    if (!options.is_server) return open_client(host, port, options, std::move(place));
    std::shared_ptr<OpeningTurn> turn;
    place.endpoint = serve(host, port, options, &native, &turn);
    ListenerHold hold(options.listen_fd >= 0 ? -1 : native.masterListenFd.value_or(-1));
    auto store = c10::make_intrusive<DeadlineStore>(std::move(place), native, options.timeout, std::move(turn));
    hold.release();
    if (options.wait_workers) store->wait_for_workers();
    return store;
  } catch (const Error&) {
    throw;
  } catch (...) {
    rethrow_store_error("opening the TCP store at " + host + ":" + std::to_string(port));
  }
}

}  // namespace tandem
