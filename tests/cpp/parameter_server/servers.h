// Workers that are parameter servers, the first ones of a job, and trainers, the others.
#pragma once

#include <string>
#include <vector>

#include "cpp/rpc/workers.h"
#include "tandem/parameter_server.h"

namespace tandem::testing::parameter_servers {

using namespace workers;

// --- in a worker

inline int servers() {
  return static_cast<int>(number("TEST_SERVERS", 1));
}

inline ParameterClientOptions client_options(int trainers) {
  ParameterClientOptions options;
  for (int server = 0; server < servers(); ++server) options.servers.push_back("worker" + std::to_string(server));
  options.trainers = trainers;
  options.timeout = milliseconds(number("TEST_STEP_TIMEOUT_MS", 60000));
  return options;
}

// Until a function that a worker registered gives at least that; fails after a minute.
inline void wait_for(const std::string& worker, const std::string& function, std::int64_t value) {
  for (int i = 0; i < 6000; ++i) {
    if (rpc::rpc_sync(worker, function).toInt() >= value) return;
    std::this_thread::sleep_for(milliseconds(10));
  }
  throw Error(ErrorCode::kTimeout, function + " of " + worker + " has not come to " + std::to_string(value));
}

inline void serve_parameters() {
  ParameterServer server({.most_bytes = 1 << 20});
  rpc::register_function("joined", [&](const rpc::Values&) { return at::IValue(static_cast<std::int64_t>(server.statistics().trainers.size())); });
  rpc::register_function("waits", [&](const rpc::Values&) { return at::IValue(server.statistics().waits); });
  rpc::register_function("most ahead", [&](const rpc::Values&) { return at::IValue(server.statistics().most_ahead); });
  rpc::register_function("updates", [&](const rpc::Values&) { return at::IValue(server.statistics().updates); });
  rpc::register_function("rows read", [&](const rpc::Values&) { return at::IValue(server.statistics().rows_read); });
  rpc::init(own_name(), options());
  say_error([&] {
    if (!server.wait(std::chrono::minutes(2))) throw Error(ErrorCode::kTimeout, "trainers are left");
  });
  rpc::shutdown(/*graceful=*/number("TEST_GRACEFUL", 1) == 1);
}

// --- in the test

// `servers` servers, then the other roles.
inline Children start_trainers(const Job& job, int servers, const std::vector<std::string>& trainers) {
  std::vector<std::string> all(static_cast<std::size_t>(servers), "parameter server");
  all.insert(all.end(), trainers.begin(), trainers.end());
  return start(job, all);
}

inline Job job_of(int servers, Environment more = {}) {
  more.emplace("TEST_SERVERS", std::to_string(servers));
  return Job(more);
}

}  // namespace tandem::testing::parameter_servers
