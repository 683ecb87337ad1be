// Base of what tdm_live_count() counts: every handle, and callbacks.
#pragma once

#include "thread_state.h"

namespace tandem::capi {

template <Kind kKind>
class LiveCount {
 public:
  LiveCount() { thread_state().count(kKind, 1); }
  // On a thread that LibTorch made, with no memory for what is kept for it, one too many is better than none to tell.
  ~LiveCount() {
    if (ThreadState* state = thread_state_if_memory()) state->count(kKind, -1);
  }
  LiveCount(const LiveCount&) = delete;
  LiveCount& operator=(const LiveCount&) = delete;
};

}  // namespace tandem::capi
