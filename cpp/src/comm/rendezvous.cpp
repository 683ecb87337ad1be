#include "comm/rendezvous.h"

#include <unistd.h>

#include <charconv>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "comm/deadline_store.h"
#include "comm/environment.h"
#include "comm/store_limit.h"
#include "tandem/error.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

void throw_if(const std::atomic<bool>& cancelled) {
  if (cancelled) throw Error(ErrorCode::kAborted, "meeting the other ranks was aborted");
}

// One store for each host:port and rank of this process, for as long as anyone uses it: a second group under env://
// meets through the first one's server.
class OpenStores {
 public:
  // The store that is open, or what `open` gives. One thread opens at a time, and others wait for it, calling `check`,
  // which may throw.
  Store find_or_open(const std::string& key, const std::function<void()>& check, const std::function<Store()>& open) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!opening_.insert(key).second) {
      changed_.wait_for(lock, milliseconds(20));
      check();
    }
    const auto found = stores_.find(key);
    Store store = found == stores_.end() ? Store() : found->second.lock();
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
    }
    done(key);
    return store;
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

void open_tcp(Meeting& meeting, const Place& place, milliseconds timeout, const std::atomic<bool>& cancelled) {
  const std::string key = place.host + ":" + std::to_string(place.port) + "/" + std::to_string(meeting.rank);
  const auto deadline = Clock::now() + timeout;
  const auto find_server = [&] {
    const auto found = net::await_listener(place.host, place.port, deadline, [&] { throw_if(cancelled); });
    meeting.local_address = found.local.address;
  };
  TCPStoreOptions options;
  options.is_server = meeting.hosts_store = place.serve;
  options.timeout = timeout;
  const auto check = [&] {
    throw_if(cancelled);
    if (Clock::now() < deadline) return;
    throw Error(ErrorCode::kTimeout, "after " + std::to_string(timeout.count()) + " ms another thread still opens " +
                                         "the store at " + meeting.place + "; see why that takes so long");
  };
  meeting.store = open_stores().find_or_open(key, check, [&] {
    if (!place.serve) find_server();
    return open_tcp_store(place.host, place.port, options, place.served_by);
  });
  if (meeting.local_address.empty()) find_server();
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

std::string encode(const Member& member) {
  std::ostringstream text;
  text << member.world_size << '\n' << member.process << '\n' << member.host_name << '\n' << member.host_identity
       << '\n' << member.backend << '\n' << member.door;
  for (const auto& listener : member.listeners) text << '\n' << listener.address << ' ' << listener.port;
  return text.str();
}

Member decode(const std::string& encoded) {
  std::istringstream text(encoded);
  Member member;
  std::string line;
  std::getline(text, line);
  member.world_size = std::atoi(line.c_str());
  std::getline(text, line);
  member.process = std::atol(line.c_str());
  std::getline(text, member.host_name);
  std::getline(text, member.host_identity);
  std::getline(text, member.backend);
  std::getline(text, member.door);
  net::Endpoint listener;
  while (text >> listener.address >> listener.port) member.listeners.push_back(listener);
  return member;
}

std::string member_key(int rank) {
  return "member/" + std::to_string(rank);
}

// Waits for `key`. False at the deadline. By looking again and again: a wait that ends early, to look at `cancelled`,
// makes a TCP store's client print warnings.
bool wait_for(const Store& store, const std::string& key, Clock::time_point deadline,
              const std::atomic<bool>& cancelled) {
  const auto start = Clock::now();
  while (!store->check({key})) {
    throw_if(cancelled);
    const auto now = Clock::now();
    if (now >= deadline) return false;
    const auto pause = std::min<Clock::duration>(milliseconds(1) + (now - start) / 50, milliseconds(20));
    std::this_thread::sleep_for(std::min(pause, deadline - now));
  }
  return true;
}

std::string missing_ranks(const Store& store, int world_size) {
  std::string list;
  int count = 0;
  for (int rank = 0; rank < world_size; ++rank) {
    if (store->check({member_key(rank)})) continue;
    if (++count <= 16) list += (count > 1 ? ", " : "") + std::to_string(rank);
  }
  if (count > 16) list += " and " + std::to_string(count - 16) + " more";
  if (count == 0) return "";
  return (count == 1 ? "rank " : "ranks ") + list + (count == 1 ? " is missing" : " are missing");
}

// One assembly: a rank's announcement, rank 0's answer.
class Assembly {
 public:
  Assembly(const Meeting& meeting, const std::string& name, const Member& self, milliseconds timeout,
           const std::atomic<bool>& cancelled)
      : meeting_(meeting), name_(name), self_(self), timeout_(timeout), cancelled_(cancelled) {}

  Roster run() {
    join();
    store_->set(member_key(meeting_.rank), encode(self_));
    return meeting_.rank == 0 ? lead() : follow();
  }

 private:
  Store generation(std::int64_t number) const {
    return prefix_store("group/" + name_ + "/" + std::to_string(number), meeting_.store);
  }

  // Which assembly under this name it is, by how often this rank joined one.
  void join() {
    const std::string key = "group/" + name_ + "/joins/" + std::to_string(meeting_.rank);
    const std::int64_t number = meeting_.store->add(key, 1) - 1;
    store_ = generation(number);
    if (number == 0) return;
    const Store previous = generation(number - 1);
    const std::string mine = member_key(meeting_.rank);
    const bool ended = previous->check({"roster"});
    const Member before = previous->check({mine}) ? decode(previous->get_to_str(mine)) : Member();
    const bool same_process = before.process == self_.process && before.host_identity == self_.host_identity;
    if (ended && same_process) return;
    throw Error(ErrorCode::kInvalidArgument,
                "rank " + std::to_string(meeting_.rank) + " has already joined group '" + name_ + "' at " +
                    meeting_.place + " (process " + std::to_string(before.process) + " on " + before.host_name +
                    "): either two processes were started with the same RANK, or the store is left over from an " +
                    "earlier run; give each process a rank of its own, or use a new store");
  }

  Roster lead() {
    const auto deadline = Clock::now() + timeout_;
    std::vector<Member> members;
    for (int rank = 0; rank < meeting_.world_size; ++rank) {
      if (!wait_for(store_, member_key(rank), deadline, cancelled_)) refuse(ErrorCode::kTimeout, timeout_message());
      members.push_back(decode(store_->get_to_str(member_key(rank))));
      if (members.back().world_size != meeting_.world_size) {
        refuse(ErrorCode::kInvalidArgument, size_message(rank, members.back().world_size, meeting_.world_size));
      }
      if (members.back().backend != self_.backend) {
        refuse(ErrorCode::kInvalidArgument,
               "backends differ in group '" + name_ + "': rank " + std::to_string(rank) + " was given '" +
                   members.back().backend + "', rank 0 '" + self_.backend + "'; give all ranks the same one");
      }
    }
    std::string roster = "ok";
    for (const auto& member : members) {
      const std::string encoded = encode(member);
      roster += "\n" + std::to_string(encoded.size()) + "\n" + encoded;
    }
    store_->set("roster", roster);
    return finish(std::move(members));
  }

  Roster follow() {
    // A little longer than rank 0, whose account of who is missing then reaches everyone.
    const auto deadline = Clock::now() + timeout_ + milliseconds(300);
    if (!wait_for(store_, "roster", deadline, cancelled_)) throw Error(ErrorCode::kTimeout, timeout_message());
    std::istringstream text(store_->get_to_str("roster"));
    std::string line;
    std::getline(text, line);
    if (line == "refused") {
      int code = 0;
      text >> code;
      text.ignore(1);
      std::getline(text, line, '\0');
      store_->add("read", 1);
      throw Error(static_cast<ErrorCode>(code), line);
    }
    std::vector<Member> members;
    std::size_t size = 0;
    while (text >> size) {
      text.ignore(1);
      std::string encoded(size, '\0');
      text.read(encoded.data(), static_cast<std::streamsize>(size));
      members.push_back(decode(encoded));
    }
    const int leaders = static_cast<int>(members.size());
    if (leaders != meeting_.world_size) {
      throw Error(ErrorCode::kInvalidArgument, size_message(meeting_.rank, meeting_.world_size, leaders));
    }
    return finish(std::move(members));
  }

  Roster finish(std::vector<Member> members) {
    Roster roster;
    for (const auto& member : members) roster.one_host &= member.host_identity == members.front().host_identity;
    roster.members = std::move(members);
    roster.store = store_;
    return roster;
  }

  // Rank 0 tells all that it gives up. Where it hosts the store it stays until the others know.
  [[noreturn]] void refuse(ErrorCode code, const std::string& message) {
    store_->set("roster", "refused\n" + std::to_string(static_cast<int>(code)) + "\n" + message);
    if (meeting_.hosts_store) {
      std::int64_t others = 0;
      for (int rank = 1; rank < meeting_.world_size; ++rank) others += store_->check({member_key(rank)});
      const auto deadline = Clock::now() + std::chrono::seconds(2);
      while (Clock::now() < deadline && !cancelled_ && store_->add("read", 0) < others) {
        std::this_thread::sleep_for(milliseconds(5));
      }
    }
    throw Error(code, message);
  }

  std::string timeout_message() const {
    const std::string missing = missing_ranks(store_, meeting_.world_size);
    return "after " + std::to_string(timeout_.count()) + " ms " +
           (missing.empty() ? "rank 0 gave no answer" : missing) + " from group '" + name_ + "' of " +
           std::to_string(meeting_.world_size) + " ranks at " + meeting_.place + "; see whether " +
           (missing.empty() ? "it" : "all") + " were started, with the same MASTER_ADDR and MASTER_PORT";
  }

  std::string size_message(int rank, int theirs, int leaders) const {
    return "world sizes differ in group '" + name_ + "': rank " + std::to_string(rank) +
           " was started with WORLD_SIZE=" + std::to_string(theirs) +
           ", rank 0 with WORLD_SIZE=" + std::to_string(leaders) + "; start all ranks with the same one";
  }

  const Meeting& meeting_;
  const std::string name_;
  const Member& self_;
  const milliseconds timeout_;
  const std::atomic<bool>& cancelled_;
  Store store_;
};

}  // namespace

Meeting open_meeting(const std::string& init_method, int rank, int world_size, milliseconds timeout,
                     const std::atomic<bool>& cancelled) {
  Meeting meeting;
  Place place;
  if (init_method == "env://") {
    const LaunchEnvironment environment = read_launch_environment(rank, world_size);
    meeting.rank = environment.rank;
    meeting.world_size = environment.world_size;
    place.host = environment.master_address;
    place.port = environment.master_port;
    place.serve = environment.rank == 0 && !environment.agent_hosts_store;
    if (environment.agent_hosts_store) place.served_by = "the launcher";
    meeting.place = "env:// " + place.host + ":" + std::to_string(place.port);
    open_tcp(meeting, place, timeout, cancelled);
    meeting.store = prefix_store(environment.job_prefix, meeting.store);
    return meeting;
  }
  meeting.rank = rank;
  meeting.world_size = world_size;
  meeting.place = init_method;
  if (init_method.rfind("tcp://", 0) == 0) {
    parse_tcp(init_method, &place);
    read_rank_and_size(&meeting.rank, &meeting.world_size);
    place.serve = meeting.rank == 0;
    open_tcp(meeting, place, timeout, cancelled);
    return meeting;
  }
  if (init_method.rfind("file://", 0) == 0) {
    read_rank_and_size(&meeting.rank, &meeting.world_size);
    meeting.store = file_store(init_method.substr(7), meeting.world_size);
    meeting.store->setTimeout(timeout);
    return meeting;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "'" + init_method + "' is no init method: use env://, tcp://host:port or " + "file:///path");
}

Roster assemble(const Meeting& meeting, const std::string& name, const Member& self, milliseconds timeout,
                const std::atomic<bool>& cancelled) {
  const StoreLimit limit(Clock::now() + timeout);
  try {
    return Assembly(meeting, name, self, timeout, cancelled).run();
  } catch (const Error&) {
    throw;
  } catch (...) {
    rethrow_store_error("meeting the other ranks of group '" + name + "' at " + meeting.place);
  }
}

}  // namespace tandem
