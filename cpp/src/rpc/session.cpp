#include "rpc/session.h"

#include <torch/csrc/distributed/rpc/rref_context.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/own_thread.h"
#include "rpc/failure_value.h"
#include "rpc/functions.h"
#include "rpc/listen_address.h"
#include "tandem/dist_autograd.h"

namespace tandem::rpc {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenLooks{2};
constexpr milliseconds kBetweenPings{500};
constexpr milliseconds kUntilSaid{1000};  // by workers that have not come: why
constexpr milliseconds kEnd{5000};  // of the program, for functions that still run

milliseconds left_until(Session::Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - Session::Clock::now());
  return std::max(left, milliseconds(1));
}

}  // namespace

Session::Session(const std::string& name, const Options& options, const Rendezvous& rendezvous)
    : options_(options),
      meeting_(name, listen_address(options.address), options, rendezvous),
      counters_(static_cast<std::size_t>(rendezvous.world_size)) {
  Functions::instance().add_own(kPing, [](const Values&) { return at::IValue(); });
  AgentOptions of_agent;
  of_agent.name = name;
  of_agent.rank = meeting_.rank();
  of_agent.world_size = meeting_.size();
  of_agent.address = listen_address(options.address);
  of_agent.threads = options.num_worker_threads;
  of_agent.most_threads = options.most_worker_threads;
  of_agent.devices = meeting_.devices();
  of_agent.rpc_timeout = options.rpc_timeout;
  try {
    agent_ = std::make_unique<Agent>(of_agent, [this](const std::string& bytes) { return meeting_.all_gather(bytes); });
    meeting_.all_gather("");  // nobody calls a worker that does not listen yet
  } catch (const Error& error) {
    meeting_.refuse(error);
    if (agent_) agent_->end();  // LibTorch keeps it, and others may call it by now
    throw;
  } catch (const std::exception& other) {
    const Error error(ErrorCode::kInternal, "LibTorch's RPC agent does not start: " +
                                                std::string(transport_failure(other, false).what()));
    meeting_.refuse(error);
    if (agent_) agent_->end();
    throw error;
  }
  hook_ = std::make_unique<ShutdownHook>("rpc", [this] { end(Clock::now() + kEnd); });
}

// LibTorch's listener takes nobody else once a peer has died, or whoever else came, before it was connected. So all are
// connected from the start.
void Session::connect() {
  CallOptions options;
  options.timeout = options_.timeout;
  try {
    std::vector<Future> calls;
    for (const Worker& worker : workers()) {
      calls.push_back(rpc_async(worker.name, kPing, {at::IValue(c10::List<std::int64_t>())}, options));
    }
    for (const Future& call : calls) call.wait();
    meeting_.all_gather("");
  } catch (const Error& error) {
    meeting_.refuse(error);
    throw;
  }
  meeting_.finish();
}

Session::~Session() {
  hook_.reset();
  if (ending_.joinable()) ending_.join();
}

const Worker& Session::find(const std::string& name) const {
  for (const Worker& worker : workers()) {
    if (worker.name == name) return worker;
  }
  constexpr std::size_t kMost = 20;
  std::string known;
  for (std::size_t i = 0; i < workers().size() && i < kMost; ++i) known += (i == 0 ? "'" : ", '") + workers()[i].name + "'";
  throw Error(ErrorCode::kNotFound, "no worker is named '" + name + "'; there are " + known +
                                        (workers().size() > kMost ? ", ..." : ""));
}

bool Session::has_room() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return outstanding_ < options_.most_outstanding;
}

void Session::take_room(Clock::time_point deadline) {
  const FunctionPool::Wait wait;
  std::unique_lock<std::mutex> lock(mutex_);
  const auto has_room = [this] { return has_left_ || outstanding_ < options_.most_outstanding; };
  if (!changed_.wait_until(lock, deadline, has_room)) {
    throw Error(ErrorCode::kTimeout, std::to_string(outstanding_) +
                                         " calls of this worker are under way, as many as Options::most_outstanding "
                                         "allows, and none has ended in time");
  }
  if (has_left_) throw Error(ErrorCode::kAborted, "this worker has left (rpc::shutdown)");
  ++outstanding_;
}

void Session::give_room() {
  const std::lock_guard<std::mutex> lock(mutex_);
  --outstanding_;
  changed_.notify_all();
}

bool Session::post(const std::function<void()>& task) {
  try {
    return current()->agent().pool().post(task);
  } catch (const Error&) {
    return false;
  }
}

// In this order: a call that gets late meanwhile is over, and one that is answered meanwhile counts.
std::int64_t Session::busy() {
  const std::int64_t active = agent_->active_calls(), late = late_;
  return std::max<std::int64_t>(active - late, 0) + static_cast<std::int64_t>(agent_->pool().active());
}

// Until no call is under way anywhere. A function that was called may call others, also after its caller's patience: so all
// look again until nobody has any.
void Session::drain(Clock::time_point deadline, const std::function<void()>& check) {
  for (;;) {
    while (busy() > 0) {
      if (Clock::now() >= deadline) {
        throw Error(ErrorCode::kTimeout,
                    "shutting RPC down: calls of this worker, or functions that others called here, are still under way");
      }
      std::this_thread::sleep_for(kBetweenLooks);
    }
    bool all_quiet = true;
    for (const std::string& active :
         meeting_.all_gather_leaving(std::to_string(busy()), left_until(deadline), check)) {
      all_quiet = all_quiet && active == "0";
    }
    if (all_quiet) return;
  }
}

// A worker that dies meanwhile is found by the one before it, which tells all others.
std::function<void()> Session::watch_next_worker() {
  const Worker next = workers()[static_cast<std::size_t>((self().id + 1) % static_cast<int>(workers().size()))];
  struct Ping {
    std::optional<Future> call;
    Clock::time_point begun;
  };
  return [session = this, next, ping = std::make_shared<Ping>()] {
    if (ping->call && (!ping->call->done() || Clock::now() < ping->begun + kBetweenPings)) return;
    if (ping->call) {
      const auto error = ping->call->error();
      if (error && error->code() == ErrorCode::kPeerLost) throw *error;
    }
    if (!session->has_room()) return;  // it would wait for some, and the end of the wait be taken for a death
    ping->begun = Clock::now();
    try {
      ping->call = rpc_async(next.name, kPing);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kTimeout) throw;
    }
  };
}

// What those say that have not come, and this worker: each by its name.
std::string Session::why_others_stay() {
  constexpr std::size_t kMost = 16;
  std::vector<Worker> asked = meeting_.not_leaving();
  asked.resize(std::min(asked.size(), kMost));
  if (std::ranges::find(asked, self().id, &Worker::id) == asked.end()) asked.push_back(self());
  const WithContext none(-1);
  CallOptions options;
  options.timeout = kUntilSaid;
  std::vector<std::pair<std::string, Future>> calls;
  std::string text;
  try {
    for (const Worker& worker : asked) {
      if (has_room()) calls.emplace_back(worker.name, rpc_async(worker.name, kStays, {}, options));
    }
  } catch (const Error&) {
    // Those that were asked may know.
  }
  for (const auto& [name, call] : calls) {
    try {
      const std::string said = call.wait().toStringRef();
      if (!said.empty()) text += "; worker '" + name + "' " + said;
    } catch (const std::exception&) {
      // It is stopped, has gone, or has nothing to say.
    }
  }
  return text;
}

void Session::part(Clock::time_point deadline) {
  try {
    const auto check = watch_next_worker();
    meeting_.all_gather_leaving("", left_until(deadline), check);
    drain(deadline, check);
    // Others' deletions come meanwhile, so that values go here too.
    torch::distributed::rpc::RRefContext::getInstance().delAllUsersAndUnforkedOwners(left_until(deadline));
    drain(deadline, check);
    agent_->expect_end();
    try {
      meeting_.all_gather_leaving("", left_until(deadline));
    } catch (const Error& error) {
      // All had come where rank 0 has gone by now, and its store.
      if (meeting_.rank() == 0 || error.code() != ErrorCode::kPeerLost) throw;
    }
  } catch (const Error& error) {
    meeting_.refuse_leaving(error);
    if (error.code() == ErrorCode::kTimeout) throw Error(error.code(), error.what() + why_others_stay());
    throw;
  }
}

bool Session::end(Clock::time_point deadline) {
  std::unique_lock<std::mutex> lock(mutex_);
  has_left_ = true;
  changed_.notify_all();
  if (!is_ending_) {
    is_ending_ = true;
    ending_ = start_own_thread("rpc-end", [this] {
      try {
        agent_->end();
      } catch (const std::exception&) {
        // There is nothing left to end.
      }
      timer_.close();
      const std::lock_guard<std::mutex> ended(mutex_);
      has_ended_ = true;
      changed_.notify_all();
    });
  }
  return changed_.wait_until(lock, deadline, [this] { return has_ended_; });
}

}  // namespace tandem::rpc
