// The only worker of its job.
#pragma once

#include <gtest/gtest.h>

#include "capi/calls.h"

namespace calls {

// Joins as worker "self", once a process; it stays one.
inline void join_alone() {
  if (tdm_rpc_is_initialized()) return;
  tdm_rpc_options options = TDM_RPC_OPTIONS_INIT;
  options.rank = 0;
  options.world_size = 1;
  options.num_worker_threads = 2;
  tdm_store* store = nullptr;
  ASSERT_OK(tdm_store_hash(&store));
  EXPECT_OK(tdm_rpc_init("self", &options, store));
  tdm_store_free(store);
}

}  // namespace calls
