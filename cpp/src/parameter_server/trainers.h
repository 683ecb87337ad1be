// Who trains, how far each has come, and who waits for whom: a server's account of it, without calls, clocks or locks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tandem/error.h"

namespace tandem::parameter_server {

// What all trainers have the same.
struct Mode {
  bool synchronous = true;
  std::int64_t staleness = 0;
  std::int64_t trainers = 1;    // that have to join before the first step
  bool lost_ones_leave = false;

  bool operator==(const Mode&) const = default;
  std::string text() const;
};

// A trainer's clock is the number of steps that it has pushed, counted on from its first one's.
//
// The first server decides which step a trainer begins with, and completes none until the trainer has told the other
// servers: so they all begin with it at the same step, for nobody pushes the next one before.
class Trainers {
 public:
  explicit Trainers(const Mode& mode) : mode_(mode) {}

  const Mode& mode() const { return mode_; }

  // `first`: the step that another server decided on; nothing: decides, and holds the present step. Gives the step. Errors:
  // kInvalidArgument for one that takes part already.
  std::int64_t join(const std::string& name, std::optional<std::int64_t> first);
  // All servers know of it.
  void admit(const std::string& name);
  // In good order, or lost. Whether it took part.
  bool remove(const std::string& name);

  // Errors: kNotFound for one that takes no part; kInvalidArgument for a step that is not its next.
  void check_push(const std::string& name, std::int64_t step) const;
  void count_push(const std::string& name);
  // Synchronous: all pushed the present step.
  bool is_complete() const;
  void begin_next() { ++step_; }

  // Whether so many steps of it are counted here. Errors: kNotFound.
  bool has_come_to(const std::string& name, std::int64_t clock) const { return clock_of(name) >= clock; }
  bool takes_part(const std::string& name) const { return clocks_.contains(name); }
  // Any at all.
  bool has_pushed(const std::string& name) const { return pushed_.contains(name); }
  // It has joined, other servers may not know of it, and without it they wait for ever.
  bool is_half_joined(const std::string& name) const { return holds_.contains(name) && required_.contains(name); }
  // Whether one may compute its next step. Errors: kNotFound.
  bool may_go_on(const std::string& name) const;
  // For whom it waits.
  std::vector<std::string> missing_for(const std::string& name) const;
  // Steps ahead of the slowest one.
  std::int64_t ahead(const std::string& name) const;

  bool have_all_joined() const { return joined_ >= mode_.trainers; }
  std::int64_t joined() const { return joined_; }
  std::vector<std::string> names() const;

 private:
  std::int64_t clock_of(const std::string& name) const;
  bool is_any_half_joined() const;
  std::int64_t slowest() const;

  const Mode mode_;
  std::map<std::string, std::int64_t> clocks_;
  std::set<std::string> pushed_;
  std::set<std::string> holds_;  // that join
  std::set<std::string> required_;  // the first ones, before whom nobody begins
  std::int64_t joined_ = 0;      // ever
  std::int64_t step_ = 0;        // synchronous: the present one; else that of the slowest when there was one
};

}  // namespace tandem::parameter_server
