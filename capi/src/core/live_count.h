// Base of every handle struct: counts it for tdm_live_count(). struct tdm_store : LiveCount<Kind::kStore> { … };
#pragma once

#include "thread_state.h"

namespace tandem::capi {

template <Kind kKind>
class LiveCount {
 public:
  LiveCount() { thread_state().count(kKind, 1); }
  ~LiveCount() { thread_state().count(kKind, -1); }
  LiveCount(const LiveCount&) = delete;
  LiveCount& operator=(const LiveCount&) = delete;
};

}  // namespace tandem::capi
