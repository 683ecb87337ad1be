// Collectives that their caller's thread runs to the end while it calls the backend.
#pragma once

#include <torch/csrc/distributed/c10d/Work.hpp>

namespace tandem {

// While there is one that says so, a backend may run what this thread calls at once, and give no work for it: to make
// one takes longer than a small collective of one host.
class RunsHere {
 public:
  explicit RunsHere(bool runs_here) : before_(current()) { current() = {runs_here, c10d::OpType::UNKNOWN}; }
  ~RunsHere() { current() = before_; }
  RunsHere(const RunsHere&) = delete;
  RunsHere& operator=(const RunsHere&) = delete;

  static bool now() { return current().runs_here; }
  // A backend has run one.
  static void ran(c10d::OpType type) { current().type = type; }
  // Which one ran last.
  c10d::OpType type() const { return current().type; }

 private:
  struct State {
    bool runs_here;
    c10d::OpType type;
  };
  static State& current() {
    static thread_local State state{false, c10d::OpType::UNKNOWN};
    return state;
  }

  const State before_;
};

}  // namespace tandem
