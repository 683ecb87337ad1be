// Workers as real processes: what tests/cpp/comm/job.h starts as ranks join under "worker" and their rank, with functions
// that tests call.
#pragma once

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "cpp/comm/job.h"
#include "tandem/jit.h"
#include "tandem/rpc.h"

namespace tandem::testing::workers {

using std::chrono::milliseconds;

// --- roles: what a process started with "--role NAME" does, in place of tests

inline std::map<std::string, std::function<void()>>& roles() {
  static std::map<std::string, std::function<void()>> all;
  return all;
}

struct Role {
  Role(const std::string& name, std::function<void()> body) {
    if (roles().emplace(name, std::move(body)).second) return;
    std::fprintf(stderr, "two roles of this program are named '%s'\n", name.c_str());
    std::abort();
  }
};

// --- in a worker

inline int rank() {
  return std::atoi(std::getenv("RANK"));
}

inline long number(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atol(text) : otherwise;
}

inline rpc::Options options() {
  rpc::Options options;
  options.timeout = milliseconds(number("TEST_TIMEOUT_MS", 60000));
  options.rpc_timeout = milliseconds(number("TEST_RPC_TIMEOUT_MS", 60000));
  options.most_outstanding = number("TEST_MOST_OUTSTANDING", 16384);
  options.num_worker_threads = 4;
  options.most_worker_threads = static_cast<int>(number("TEST_MOST_THREADS", 1024));
  if (const char* address = std::getenv("TEST_ADDRESS")) options.address = address;
  if (const char* worker = std::getenv("TEST_MAP_TO")) options.device_maps[worker] = {{at::Device(at::kCUDA, 0), at::Device(at::kCUDA, 0)}};
  return options;
}

inline std::string own_name() {
  const char* name = std::getenv("TEST_NAME");
  return name ? name : "worker" + std::to_string(rank());
}

// In double, the same each time; others for another `by`.
inline at::Tensor numbers(at::IntArrayRef sizes, double by) {
  return torch::sin(torch::arange(c10::multiply_integers(sizes), torch::kDouble) * by + 1).view(sizes);
}

inline void register_functions() {
  using rpc::Values;
  rpc::register_function("twice", [](const Values& given) { return at::IValue(given.at(0).toTensor() * 2); });
  rpc::register_function("echo", [](const Values& given) { return given.at(0); });
  rpc::register_function("name", [](const Values&) { return at::IValue(rpc::self().name); });
  rpc::register_function("nothing", [](const Values&) { return at::IValue(); });
  rpc::register_function("fails", [](const Values&) -> at::IValue {
    throw Error(ErrorCode::kDataLoss, "record 7 is torn");
  });
  rpc::register_function("throws", [](const Values&) -> at::IValue { throw std::runtime_error("out of paper"); });
  rpc::register_function("sleep", [](const Values& given) {
    std::this_thread::sleep_for(milliseconds(given.at(0).toInt()));
    return at::IValue("slept");
  });
  rpc::register_function("slow once", [](const Values& given) {
    static std::atomic<std::int64_t> calls{0};
    const std::int64_t call = ++calls;
    if (call == 1) std::this_thread::sleep_for(milliseconds(given.at(0).toInt()));
    return at::IValue(call);
  });
  // Of another worker: name, function, arguments.
  rpc::register_function("pass on", [](const Values& given) {
    return rpc::rpc_sync(given.at(0).toStringRef(), given.at(1).toStringRef(), Values(given.begin() + 2, given.end()));
  });
  // Back and forth between two workers, so often.
  rpc::register_function("in circles", [](const Values& given) {
    const std::int64_t left = given.at(0).toInt();
    if (left == 0) return at::IValue(rpc::self().name);
    return rpc::rpc_sync("worker" + std::to_string(1 - rank()), "in circles", {left - 1});
  });
  rpc::register_module("script", jit::compile("def sum_of(x: List[int], by: float = 0.5) -> float:\n"
                                              "    return sum(x) * by\n"
                                              "def fail(x: Tensor) -> Tensor:\n"
                                              "    assert x.dim() == 7, 'seven'\n"
                                              "    return x\n"));
}

inline void join() {
  register_functions();
  rpc::init(own_name(), options());
}

// What a worker does that only serves.
inline const Role kServe("serve", [] {
  join();
  say("ready");
  rpc::shutdown();
  say("left");
});

// --- in the test

using Children = std::vector<std::unique_ptr<Child>>;

inline Children start(const Job& job, const std::vector<std::string>& roles) {
  Children children;
  const int size = static_cast<int>(roles.size());
  for (int rank = 0; rank < size; ++rank) children.push_back(job.start(roles[static_cast<std::size_t>(rank)], rank, size));
  return children;
}

// All lines up to `last`, without it.
inline std::vector<std::string> lines_until(Child& child, const std::string& last) {
  std::vector<std::string> lines;
  for (;;) {
    lines.push_back(child.line());
    if (lines.back().empty()) return lines;
    if (lines.back() != last) continue;
    lines.pop_back();
    return lines;
  }
}

}  // namespace tandem::testing::workers
