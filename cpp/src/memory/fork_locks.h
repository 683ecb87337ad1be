// What a fork does to the locks of this room, and of what keeps count of handles.
#pragma once

#include <mutex>

namespace tandem {

// In the order in which one thread may take them.
enum class ForkLock {
  thread_states,
  handle_memory,
  scope_slots,
  tensor_handles,
  startup_pages,
  routes,
  small_tensors,
  large_tensors,
  count
};

// Has every fork of this process wait for the mutex, so that the child does not find it locked by a thread that it does
// not have, and what it guards half changed. The mutex must live as long as the process; its place is taken once.
void hold_in_fork(ForkLock place, std::mutex& mutex);

}  // namespace tandem
