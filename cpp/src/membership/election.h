// Who keeps the membership of a job on several machines, where that may change.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tandem::membership {

// Held where all agents can reach it and none of them decides alone. For a loop around poll(2); not thread-safe.
class Election {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Keeper {
    std::string address;
    int port = 0;
    std::int64_t term = 0;  // only grows; it is another one where somebody else may have kept the membership meanwhile
    bool is_self = false;
  };

  virtual ~Election() = default;

  // Whether this agent needs to know who is elected, and stands if nobody is. `serves`: its workers are part of the job
  // already, so that it is to be elected before those whose are not. `is_new`: it knows of no job so far.
  virtual void look(bool looks, bool serves, bool is_new) = 0;
  // As far as is known.
  virtual const std::optional<Keeper>& keeper() const = 0;
  // The process that was elected in `term` has ended, for certain.
  virtual void has_ended(std::int64_t term) = 0;
  // This agent keeps the membership no longer, and does not stand again for a while. `is_over`: the job is, and nobody is to keep it.
  virtual void resign(bool is_over) = 0;
  // Whether what resign() has to say was said.
  virtual bool has_resigned() const = 0;

  // The newest epoch that any keeper has confirmed, known once this agent is elected.
  virtual std::int64_t confirmed() const = 0;
  // Of which job; "" where there is none.
  virtual const std::string& job() const = 0;
  // Whether the job has come to its end: who was part of it has nothing more to do. Known as confirmed() is.
  virtual bool is_over() const = 0;
  // Whether `epoch` is confirmed. Asks for it where it is not: only who is still elected gets that, and then no other
  // one can form this epoch, or an earlier one.
  // `job`: which, of all that have this name.
  virtual bool confirm(std::int64_t epoch, const std::string& job) = 0;

  // Whether this agent is elected, and nobody else can be for a while from now on, whatever becomes of its connections.
  virtual bool is_certain() const = 0;
  // Whether it is only a matter of time: this agent is elected, and hears so.
  virtual bool may_be_certain() const = 0;

  // Why nothing is known, or confirmed; "" where all is well.
  virtual const std::string& trouble() const = 0;

  virtual void add_polled(std::vector<pollfd>* polled) const = 0;
  virtual std::optional<Time> deadline() const = 0;
  virtual void serve(Time now) = 0;
};

}  // namespace tandem::membership
