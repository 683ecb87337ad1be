// Ranks as threads of this process, over a HashStore, and real Gloo connections between them.
#pragma once

#include <gtest/gtest.h>

#include <barrier>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tandem/error.h"
#include "tandem/process_group.h"

namespace tandem::testing {

// Runs body(rank) on a thread a rank and rethrows the first exception of the lowest rank. All threads have begun before
// one goes on: on a busy machine the last one starts late, and tests have short deadlines.
inline void run_ranks(int size, const std::function<void(int)>& body) {
  std::barrier begun(size);
  std::vector<std::exception_ptr> failures(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      begun.arrive_and_wait();
      try {
        body(rank);
      } catch (...) {
        failures[rank] = std::current_exception();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

inline ProcessGroupOptions options_for(int rank, int size, const std::string& backend = "gloo") {
  ProcessGroupOptions options;
  options.backend = backend;
  options.rank = rank;
  options.world_size = size;
  options.timeout = std::chrono::seconds(20);
  return options;
}

// Runs body(group) on a thread a rank.
inline void run_groups(int size, const std::function<void(ProcessGroup&)>& body, const std::string& backend = "gloo") {
  const Store store = hash_store();
  run_ranks(size, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, size, backend), store);
    body(*group);
  });
}

// The Error that `body` throws; fails the test when it throws none.
inline Error error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not a tandem::Error: " << error.what();
    return Error(ErrorCode::kInternal, error.what());
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorCode::kInternal, "no error");
}

}  // namespace tandem::testing
