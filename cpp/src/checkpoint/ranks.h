// The ranks that save and load together.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tandem/error.h"

namespace tandem {

class ProcessGroup;

namespace checkpoint {

// How a rank's part of something went.
struct Outcome {
  std::string result;
  std::optional<ErrorCode> failed = {};  // then `result` says why
};

// Runs it; whatever it throws is its outcome.
Outcome outcome_of(const std::function<std::string()>& part);

class Ranks {
 public:
  // Null: one process by itself. `named`: where waiting for the others is ended, the error says who was missing, which
  // takes some calls of the store for each exchange.
  explicit Ranks(ProcessGroup* group, bool named = false) : group_(group), named_(named) {}

  int rank() const;
  int size() const;

  // Of all ranks, told to all. Throws what the group's collectives throw.
  std::vector<Outcome> tell(const Outcome& mine) const;
  // Runs a part on each rank and gives all ranks' results. Throws on every rank where it failed on any: the lowest such
  // rank's error, with its number in front on the others.
  std::vector<std::string> together(const std::function<std::string()>& part) const;

 private:
  ProcessGroup* group_;
  bool named_;
};

// The first failure among them as the error of rank `rank`; nothing where there is none.
std::optional<Error> failure_of(const std::vector<Outcome>& outcomes, int rank);

}  // namespace checkpoint
}  // namespace tandem
