// Where all ranks leave a note each and read those of the others, through the store: with any backend, naming exactly
// who is missing, and to be aborted. For what may take a millisecond.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tandem/store.h"

namespace tandem {

// One thread at a time; all ranks call exchange() equally often.
class Notes {
 public:
  Notes(Store store, int rank, int size) : store_(std::move(store)), rank_(rank), size_(size) {}

  // The notes of all ranks. `check` is called while it waits, and may throw. Errors: kTimeout, with a message that says
  // which ranks are missing, on every rank that came, and on those that come later, or, a few
  // seconds later, that the store does not answer; kPeerLost when it is gone.
  std::vector<std::string> exchange(const std::string& note, std::chrono::milliseconds timeout,
                                    const std::function<void()>& check);

 private:
  std::vector<std::string> read_all(std::chrono::milliseconds timeout, const std::function<void()>& check);
  std::string key(std::uint64_t round, const std::string& of) const;

  const Store store_;
  const int rank_;
  const int size_;
  std::uint64_t round_ = 0;
};

}  // namespace tandem
