#include "comm/deadline_store.h"

#include <algorithm>
#include <condition_variable>
#include <thread>
#include <utility>

#include "tandem/error.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;
using Clock = CallWatch::Clock;

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

// LibTorch's connections to one endpoint are made one after the other, so that each can be told from those before.
class OpeningTurn {
 public:
  OpeningTurn(const net::Endpoint& endpoint, const CallWatch::Turn& turn) : endpoint_(net::to_string(endpoint)) {
    std::unique_lock<std::mutex> lock(all().mutex);
    while (!all().endpoints.insert(endpoint_).second) {
      all().changed.wait_for(lock, milliseconds(20));
      if (turn.was_ended()) throw Error(ErrorCode::kTimeout, "another thread connects to the same server");
    }
  }
  ~OpeningTurn() {
    {
      const std::lock_guard<std::mutex> lock(all().mutex);
      all().endpoints.erase(endpoint_);
    }
    all().changed.notify_all();
  }
  OpeningTurn(const OpeningTurn&) = delete;
  OpeningTurn& operator=(const OpeningTurn&) = delete;

 private:
  struct All {
    std::mutex mutex;
    std::condition_variable changed;
    std::set<std::string> endpoints;
  };
  static All& all() {
    static auto* instance = new All;
    return *instance;
  }

  const std::string endpoint_;
};

// Listens where the server is to be reached, and says where a client of this process finds it.
net::Endpoint serve(const std::string& host, std::uint16_t port, const TCPStoreOptions& options,
                    c10d::TCPStoreOptions* native) {
  net::Listener listener;
  if (options.listen_fd >= 0) {
    listener = {options.listen_fd, net::endpoint_of_listener(options.listen_fd)};
  } else {
    listener = net::listen_on(host, port);
  }
  // From here on the descriptor is the server's.
  native->isServer = true;
  native->port = listener.endpoint.port;
  native->masterListenFd = listener.fd;
  if (listener.endpoint.address == "0.0.0.0") listener.endpoint.address = "127.0.0.1";
  if (listener.endpoint.address == "::") listener.endpoint.address = "::1";
  return listener.endpoint;
}

void throw_if_interrupted() {
  if (StoreLimit::is_interrupted()) throw Error(ErrorCode::kAborted, "connecting to the store was aborted");
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
      if (client_) lost_ = error.what_without_backtrace();
      client_.reset();
      throw;
    }
  }
}

DeadlineStore::DeadlineStore(StorePlace place, const c10d::TCPStoreOptions& options, milliseconds timeout)
    : c10d::Store(timeout),
      place_(std::move(place)),
      name_(in_words(place_)),
      watch_(new CallWatch([this] { end_call(); })),
      hook_(name_, [interrupt = at_shutdown_] { interrupt->interrupt(); }) {
  const std::string what = "connecting to " + name_;
  const StoreLimit limit(at_shutdown_);
  CallWatch::Turn turn(*watch_, what, std::max(end_of(timeout), Clock::now() + kConnected), kLastWords);
  run(turn, what, [&] { open(turn, options); });
  if (options.isServer) server_ = client_;
}

DeadlineStore::DeadlineStore(StorePlace place, milliseconds timeout, c10::intrusive_ptr<c10d::TCPStore> server)
    : DeadlineStore(place, client_options(place.endpoint), timeout) {
  server_ = std::move(server);
}

void DeadlineStore::open(const CallWatch::Turn& turn, const c10d::TCPStoreOptions& options) {
  const OpeningTurn alone(place_.endpoint, turn);
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
  const std::lock_guard<std::mutex> lock(socket_mutex_);
  opening_ = false;
  for (auto& socket : net::connections_to(place_.endpoint)) {
    if (!earlier_.contains(net::identity_of(socket.get()))) socket_ = std::move(socket);
  }
  if (socket_.get() < 0) {
    client_.reset();
    throw Error(ErrorCode::kIo, "cannot find the connection to " + name_ + " among this process's descriptors " +
                                    "(/proc/self/fd), so that no call could be ended; is /proc there, and a " +
                                    "descriptor left?");
  }
}

c10::intrusive_ptr<c10d::TCPStore> DeadlineStore::connect(const CallWatch::Turn& turn,
                                                          const c10d::TCPStoreOptions& options) const {
  for (;;) {
    try {
      return c10::make_intrusive<c10d::TCPStore>(place_.endpoint.address, options);
    } catch (const c10::DistNetworkError&) {
      // Its queue may have been full. A server cannot be made again, for its listener is gone.
      if (options.isServer || turn.was_ended() || !is_served()) throw;
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
    socket_ = net::Descriptor();
  }
  client_.reset();
  if (!lost_.empty()) C10_THROW_ERROR(DistNetworkError, lost_);
  // LibTorch's client would go on trying where nobody listens.
  if (!is_served()) {
    C10_THROW_ERROR(DistNetworkError, "nothing listens at " + net::to_string(place_.endpoint) + " any more");
  }
  open(turn, client_options(place_.endpoint));
  return *client_;
}

bool DeadlineStore::is_served() const {
  try {
    net::await_listener(place_.endpoint.address, place_.endpoint.port, Clock::now(), [] {});
    return true;
  } catch (const Error&) {
    return false;
  }
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
  return c10::make_intrusive<DeadlineStore>(place_, timeout_, server_);
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
  return ask("count of keys", [](c10d::TCPStore& client) { return client.getNumKeys(); });
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

std::vector<std::string> DeadlineStore::listKeys() {
  return ask("list of keys", [](c10d::TCPStore& client) { return client.listKeys(); });
}

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
    if (options.is_server) {
      place.endpoint = serve(host, port, options, &native);
    } else {
      // LibTorch's client backs off for up to a second when it comes too early; ranks of one job start together.
      place.endpoint = net::await_listener(host, port, Clock::now() + options.timeout, throw_if_interrupted).remote;
      native.port = port;
      native.timeout = client_options(place.endpoint).timeout;
    }
    auto store = c10::make_intrusive<DeadlineStore>(std::move(place), native, options.timeout);
    if (options.wait_workers) store->wait_for_workers();
    return store;
  } catch (const Error&) {
    throw;
  } catch (...) {
    rethrow_store_error("opening the TCP store at " + host + ":" + std::to_string(port));
  }
}

}  // namespace tandem
