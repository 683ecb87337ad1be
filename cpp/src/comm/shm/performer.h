// Who carries a group's collectives out, whatever the way between its ranks.
#pragma once

#include <vector>

#include "comm/shm/exchange.h"
#include "comm/shm/kernels.h"
#include "comm/shm/pieces.h"

namespace tandem::shm {

// collectives.h documents what each collective takes; ranks are the group's own. One collective at a time, on
// whichever thread; the last three from any thread, meanwhile too. Errors are those of Exchange.
class Performer {
 public:
  using Deadline = Exchange::Clock::time_point;

  virtual ~Performer() = default;

  virtual void all_reduce(const Label& label, Deadline deadline, Kernel kernel, const Pieces& data) = 0;
  virtual void reduce(const Label& label, Deadline deadline, Kernel kernel, const Pieces& data) = 0;
  virtual void reduce_scatter(const Label& label, Deadline deadline, Kernel kernel, const std::vector<Pieces>& inputs,
                              std::byte* output) = 0;
  virtual void broadcast(const Label& label, Deadline deadline, const Pieces& data) = 0;
  virtual void all_gather(const Label& label, Deadline deadline, const std::vector<Pieces>& outputs,
                          const Pieces& input) = 0;
  virtual void gather(const Label& label, Deadline deadline, const std::vector<Pieces>& outputs,
                      const Pieces& input) = 0;
  virtual void scatter(const Label& label, Deadline deadline, const std::vector<Pieces>& inputs,
                       const Pieces& output) = 0;
  virtual void all_to_all(const Label& label, Deadline deadline, const std::vector<Pieces>& outputs,
                          const std::vector<Pieces>& inputs) = 0;
  virtual void barrier(const Label& label, Deadline deadline) = 0;

  // Whether the program's own thread runs the next collectives, and so waits for nothing else.
  virtual void set_program_waits(bool program_waits) = 0;

  // Tells the other ranks that this one takes part in nothing more.
  virtual void fail(const Error& reason) = 0;
  // Tells them that it does not because the program closed the group, with nothing pending.
  virtual void close() = 0;
  // Has a wait look at the group's latch.
  virtual void wake() = 0;
};

}  // namespace tandem::shm
