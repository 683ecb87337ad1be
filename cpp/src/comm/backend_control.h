// What a group asks of its backend beyond what LibTorch's interface has.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <memory>
#include <string>
#include <utility>

#include "tandem/error.h"

namespace tandem {

// What a backend is like.
struct BackendTraits {
  bool completes = true;            // its works are done when the data is there (not NCCL's: those follow a stream)
  bool averages = true;             // has AVG
  bool reduces_scattered = true;    // has reduce_scatter
  bool waits_for_messages = false;  // sends and receives make progress without a waiter, but tell nobody
  bool in_turns = false;            // collectives are to be issued one at a time in the whole process
  bool takes_lists = false;         // tensors of several sizes at once: uneven all_gather, all_to_all, coalesced
  bool runs_when_waited = false;    // whoever waits for a work without a limit may run it
  bool lacks_cores = false;         // ranks all-reduce by themselves, and one has a single core; the same on all
  bool ends_late = false;           // its destructor may wait for works until their timeout, after an abort too
};

// A backend reports into the group's latch what fails in it, and the latch ends it. From any thread; more than once.
class BackendControl {
 public:
  virtual ~BackendControl() = default;

  virtual BackendTraits traits() const = 0;
  // The group is closed, and nothing is in flight: tells the other ranks.
  virtual void finish(const std::string& reason) = 0;
  // The group has failed, here or elsewhere: ends what waits in the backend with an Error of this code, and tells the
  // other ranks.
  virtual void fail(const Error& failure) = 0;
  // The same with kAborted: the program gave the group up.
  virtual void abort(const Error& reason) = 0;
};

struct ControlledBackend {
  c10::intrusive_ptr<c10d::Backend> backend;
  std::shared_ptr<BackendControl> control;
};

// Of a backend that is its own control.
template <typename Own>
ControlledBackend controlled(const c10::intrusive_ptr<Own>& backend) {
  const auto hold = std::make_shared<c10::intrusive_ptr<Own>>(backend);
  return {backend, std::shared_ptr<BackendControl>(hold, backend.get())};
}

}  // namespace tandem
