// The modes that are open on a thread.
#pragma once

#include "core/live_count.h"
#include "tandem/tandem.h"

// Its end restores what was before.
struct tdm_mode : tandem::capi::LiveCount<tandem::Kind::kMode> {
  virtual ~tdm_mode() = default;

  tdm_mode* outer = nullptr;  // opened before it on the same thread
};

namespace tandem::capi {

tdm_mode* innermost_mode();

// Ends the modes that were opened on this thread after `outer`, which is NULL or open on it.
void exit_modes_inside(tdm_mode* outer);

}  // namespace tandem::capi
