// Handles of stores, process groups, works and DDP.
#pragma once

#include <memory>

#include "core/handles.h"
#include "tandem/ddp.h"
#include "tandem/process_group.h"
#include "tandem/store.h"

struct tdm_store : tandem::capi::LiveCount<tandem::Kind::kStore> {
  tandem::Store store;
};

struct tdm_process_group : tandem::capi::LiveCount<tandem::Kind::kProcessGroup> {
  std::shared_ptr<tandem::ProcessGroup> group;
};

struct tdm_work : tandem::capi::LiveCount<tandem::Kind::kWork> {
  tandem::Work work;
  std::shared_ptr<tandem::ProcessGroup> group;  // whose threads run it
};

struct tdm_ddp : tandem::capi::LiveCount<tandem::Kind::kDdp> {
  std::unique_ptr<tandem::DataParallelReducer> reducer;
};
