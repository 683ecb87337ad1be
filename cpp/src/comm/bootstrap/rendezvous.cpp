#include "comm/bootstrap/rendezvous.h"

#include <charconv>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "comm/environment.h"
#include "comm/session_port.h"
#include "comm/sockets.h"
#include "comm/store/deadline_store.h"
#include "tandem/error.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kAllConnections{500};  // of a server that goes, to end

void throw_if(const std::atomic<bool>& cancelled) {
  if (cancelled) throw Error(ErrorCode::kAborted, "meeting the other ranks was aborted");
}

// One store for each host:port and rank of this process, for as long as anyone uses it: a second group under env://
// meets through the first one's server.
class OpenStores {
 public:
  // The store that is open, or what `open` gives. One thread opens at a time, and others wait for it, calling `check`,
  // which may throw. *met_before: it was opened now, and its server is that of the one before; *is_shared: it was open.
  Store find_or_open(const std::string& key, const std::function<void()>& check, const std::function<Store()>& open,
                     bool* met_before, bool* is_shared) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!opening_.insert(key).second) {
      changed_.wait_for(lock, milliseconds(20));
      check();
    }
    const auto found = stores_.find(key);
    Store store = found == stores_.end() ? Store() : found->second.lock();
    // Who still holds it may do so for long after its server's end, where another one serves by now.
    auto* of_tcp = dynamic_cast<DeadlineStore*>(store.get());
    if (of_tcp && of_tcp->has_lost_server()) store.reset();
    *is_shared = store.defined();
    if (!store) {
      lock.unlock();
      try {
        store = open();
      } catch (...) {
        lock.lock();
        done(key);
        throw;
      }
      lock.lock();
      stores_.insert_or_assign(key, c10::weak_intrusive_ptr<c10d::Store>(store));
      if (auto* opened = dynamic_cast<DeadlineStore*>(store.get())) {
        std::vector<std::uint8_t>& last = servers_[key];
        *met_before = last == opened->identity();
        last = opened->identity();
      }
    }
    done(key);
    return store;
  }

  // Whether the one that is open has lost its server.
  bool has_lost_server(const std::string& key) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto found = stores_.find(key);
    const Store store = found == stores_.end() ? Store() : found->second.lock();
    lock.unlock();
    auto* of_tcp = dynamic_cast<DeadlineStore*>(store.get());
    return of_tcp && of_tcp->has_lost_server();
  }

 private:
  void done(const std::string& key) {
    opening_.erase(key);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> opening_;
  std::map<std::string, c10::weak_intrusive_ptr<c10d::Store>> stores_;
  std::map<std::string, std::vector<std::uint8_t>> servers_;  // identities of those that were opened last
};

OpenStores& open_stores() {
  static auto* instance = new OpenStores;
  return *instance;
}

struct Place {
  std::string host;
  std::uint16_t port = 0;
  bool serve = false;
  std::string served_by = "rank 0";
};

void open_tcp(Rendezvous& rendezvous, const Place& place, milliseconds timeout, const std::atomic<bool>& cancelled) {
  const std::string key = place.host + ":" + std::to_string(place.port) + "/" + std::to_string(rendezvous.rank);
  const auto deadline = Clock::now() + timeout;
  const auto find_server = [&] {
    const auto found = net::await_listener(place.host, place.port, deadline, [&] { throw_if(cancelled); });
    rendezvous.local_address = found.local.address;
  };
  TCPStoreOptions options;
  options.is_server = rendezvous.serves_store = place.serve;
  options.timeout = timeout;
  const auto check = [&] {
    throw_if(cancelled);
    if (Clock::now() < deadline) return;
    throw Error(ErrorCode::kTimeout, "after " + std::to_string(timeout.count()) + " ms another thread still opens " +
                                         "the store at " + rendezvous.place + "; see why that takes so long");
  };
  rendezvous.open_store = key;
  rendezvous.store = WaitableStore(open_stores().find_or_open(key, check, [&] {
    if (!place.serve) find_server();
    return open_tcp_store(place.host, place.port, options, place.served_by);
  }, &rendezvous.met_before, &rendezvous.is_shared));
  if (rendezvous.local_address.empty()) find_server();
}

std::uint16_t session_port_of(const LaunchEnvironment& environment, milliseconds timeout,
                              const std::atomic<bool>& cancelled) {
  if (environment.rank == 0) return take_session_port(environment.session_folder, environment.job);
  return await_session_port(environment.session_folder, environment.job, Clock::now() + timeout,
                            [&] { throw_if(cancelled); });
}

void parse_tcp(const std::string& init_method, Place* place) {
  const std::string rest = init_method.substr(6);
  const auto colon = rest.rfind(':');
  int port = 0;
  const char* end = rest.data() + rest.size();
  const bool good = colon != std::string::npos && colon > 0 &&
                    std::from_chars(rest.data() + colon + 1, end, port).ptr == end && port > 0 && port < 65536;
  if (!good) {
    throw Error(ErrorCode::kInvalidArgument,
                "'" + init_method + "' is no init method: tcp:// takes a host and a port, as in tcp://10.0.0.1:29500");
  }
  place->host = rest.substr(0, colon);
  if (place->host.front() == '[' && place->host.back() == ']') place->host = place->host.substr(1, colon - 2);
  place->port = static_cast<std::uint16_t>(port);
}

}  // namespace

bool met_an_ending_store(const Rendezvous& rendezvous) {
  if (rendezvous.serves_store || (!rendezvous.met_before && !rendezvous.is_shared)) return false;
  // What failed may have waited on a connection of its own: the others end a moment later.
  const auto until = Clock::now() + kAllConnections;
  while (!open_stores().has_lost_server(rendezvous.open_store)) {
    if (Clock::now() >= until) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

Rendezvous open_rendezvous(const std::string& init_method, int rank, int world_size, milliseconds timeout,
                           const std::atomic<bool>& cancelled) {
  Rendezvous rendezvous;
  Place place;
  if (init_method == "env://") {
    const LaunchEnvironment environment = read_launch_environment(rank, world_size);
    rendezvous.rank = environment.rank;
    rendezvous.world_size = environment.world_size;
    place.host = environment.master_address;
    place.port = environment.master_port;
    place.serve = environment.rank == 0 && !environment.agent_hosts_store;
    if (environment.agent_hosts_store) place.served_by = "the launcher";
    if (place.port == 0) place.port = session_port_of(environment, timeout, cancelled);
    rendezvous.place = "env:// " + place.host + ":" + std::to_string(place.port);
    try {
      open_tcp(rendezvous, place, timeout, cancelled);
    } catch (const Error& error) {
      throw Error(error.code(), error.what() + environment.note);
    }
    rendezvous.store = rendezvous.store.under(environment.job_prefix);
    return rendezvous;
  }
  rendezvous.rank = rank;
  rendezvous.world_size = world_size;
  rendezvous.place = init_method;
  if (init_method.rfind("tcp://", 0) == 0) {
    parse_tcp(init_method, &place);
    read_rank_and_size(&rendezvous.rank, &rendezvous.world_size);
    place.serve = rendezvous.rank == 0;
    open_tcp(rendezvous, place, timeout, cancelled);
    return rendezvous;
  }
  if (init_method.rfind("file://", 0) == 0) {
    read_rank_and_size(&rendezvous.rank, &rendezvous.world_size);
    const Store store = file_store(init_method.substr(7), rendezvous.world_size);
    store->setTimeout(timeout);
    rendezvous.store = WaitableStore(store);
    return rendezvous;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "'" + init_method + "' is no init method: use env://, tcp://host:port or " + "file:///path");
}

}  // namespace tandem
