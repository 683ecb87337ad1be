#include "tandem/rpc.h"

#include <algorithm>
#include <cctype>
#include <mutex>

#include "base/invalid.h"
#include "base/longest_wait.h"
#include "comm/bootstrap/meet.h"
#include "comm/environment.h"
#include "rpc/functions.h"
#include "rpc/local_optimizers.h"
#include "rpc/session.h"
#include "rpc/used_graph.h"

namespace tandem::rpc {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kGiveUp{2000};

struct Process {
  std::mutex joining;  // one thread joins or leaves at a time
  std::mutex mutex;
  std::shared_ptr<Session> session;
  std::shared_ptr<Session> still_ending;  // of functions that others called: none of them may be its last holder
  bool has_joined = false;
};

Process& process() {
  static auto* instance = new Process;
  return *instance;
}

void check_name(const std::string& name) {
  const auto is_good = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == ':';
  };
  if (name.empty() || name.size() > torch::distributed::rpc::WorkerInfo::MAX_NAME_LEN ||
      !std::ranges::all_of(name, is_good)) {
    invalid("'" + name + "' is no name of a worker: those have 1 to 128 letters, digits, '-', '_' and ':'");
  }
}

void check(const Options& options) {
  const auto check_time = [&](const char* what, milliseconds time) {
    if (time.count() > 0 && time <= kLongestWait) return;
    invalid(std::string(what) + " is " + std::to_string(time.count()) + " ms; it must be more than 0 and at most 24 days");
  };
  check_time("Options::timeout", options.timeout);
  check_time("Options::rpc_timeout", options.rpc_timeout);
  if (options.num_worker_threads < 1 || options.num_worker_threads > 1024) {
    invalid("Options::num_worker_threads is " + std::to_string(options.num_worker_threads) + "; it must be 1 to 1024");
  }
  if (options.most_worker_threads < options.num_worker_threads || options.most_worker_threads > 32768) {
    invalid("Options::most_worker_threads is " + std::to_string(options.most_worker_threads) +
            "; it must be num_worker_threads (" + std::to_string(options.num_worker_threads) + ") or more, and at most 32768");
  }
  if (options.most_outstanding < 1) {
    invalid("Options::most_outstanding is " + std::to_string(options.most_outstanding) + "; it must be 1 or more");
  }
}

}  // namespace

std::shared_ptr<Session> Session::current() {
  const std::lock_guard<std::mutex> lock(process().mutex);
  if (!process().session) {
    throw Error(ErrorCode::kClosed, process().has_joined ? "RPC was shut down in this process"
                                                         : "this process is no worker yet; call rpc::init first");
  }
  return process().session;
}

void init(const std::string& name, const Options& options, const Store& store) {
  check_name(name);
  check(options);
  const std::lock_guard<std::mutex> joining(process().joining);
  {
    const std::lock_guard<std::mutex> lock(process().mutex);
    if (process().session) invalid("this process is worker '" + process().session->self().name + "' already");
    if (process().has_joined) {
      throw Error(ErrorCode::kUnsupported,
                  "this process was a worker before: what LibTorch keeps of references and distributed autograd is bound "
                  "to that session; start a new process");
    }
  }
  // Before others can call.
  register_used_graph();
  LocalOptimizers::instance().register_functions();
  std::shared_ptr<Session> session;
  const MeetingPlace place{options.init_method, options.rank, options.world_size, options.timeout};
  meet(place, store, [&](const Rendezvous& rendezvous) {
    constexpr int kMostWorkers = 32767;
    if (rendezvous.world_size > kMostWorkers) invalid("RPC takes at most " + std::to_string(kMostWorkers) + " workers");
    session = std::make_shared<Session>(name, options, rendezvous);
  });
  {
    const std::lock_guard<std::mutex> lock(process().mutex);
    process().session = session;
    process().has_joined = true;
  }
  try {
    session->connect();
  } catch (const Error&) {
    const bool has_ended = session->end(Session::Clock::now() + kGiveUp);
    const std::lock_guard<std::mutex> lock(process().mutex);
    if (!has_ended) process().still_ending = session;
    process().session.reset();
    throw;
  }
  // After what reading a first message makes for the process's life, so that exit ends calls before that goes.
  rearm_exit();
}

void shutdown(bool graceful, milliseconds timeout) {
  const std::lock_guard<std::mutex> joining(process().joining);
  std::shared_ptr<Session> session;
  {
    const std::lock_guard<std::mutex> lock(process().mutex);
    session = process().session;
  }
  if (!session) return;
  if (timeout.count() <= 0) timeout = session->options().timeout;
  const auto deadline = Session::Clock::now() + timeout;
  std::optional<Error> failure;
  if (graceful && !session->has_left()) {
    try {
      session->part(deadline);
    } catch (const Error& error) {
      failure = error;
    }
  }
  constexpr milliseconds kAfterFailure{1000};
  if (!session->end(std::max(deadline, Session::Clock::now() + kAfterFailure))) {
    if (failure) throw *failure;
    throw Error(ErrorCode::kTimeout, "shutting RPC down: functions that others called still run after " +
                                         std::to_string(timeout.count()) + " ms; shutdown() may be called again");
  }
  {
    const std::lock_guard<std::mutex> lock(process().mutex);
    process().session.reset();
  }
  if (failure) throw *failure;
}

bool is_initialized() {
  const std::lock_guard<std::mutex> lock(process().mutex);
  return process().session != nullptr;
}

Worker self() {
  return Session::current()->self();
}

Worker worker(const std::string& name) {
  return Session::current()->find(name);
}

Worker worker(int id) {
  const auto session = Session::current();
  const auto& all = session->workers();
  if (id < 0 || static_cast<std::size_t>(id) >= all.size()) {
    throw Error(ErrorCode::kNotFound, "no worker has the id " + std::to_string(id) + "; there are " +
                                          std::to_string(all.size()));
  }
  return all[static_cast<std::size_t>(id)];
}

std::vector<Worker> workers() {
  return Session::current()->workers();
}

}  // namespace tandem::rpc
