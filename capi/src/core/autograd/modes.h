// The modes that are open on a thread.
#pragma once

#include <cstdint>
#include <memory>

#include "core/handles/live_count.h"
#include "tandem/tandem.h"

// Its end restores what was before.
struct tdm_mode : tandem::capi::LiveCount<tandem::Kind::kMode> {
  virtual ~tdm_mode() = default;

  tdm_mode* outer = nullptr;     // opened before it on the same thread
  std::uint16_t generation = 0;  // of its handle, which tells it from a mode that had its memory before
};

namespace tandem::capi {

// Makes a mode the innermost one. Gives its handle, with which the caller ends it: tdm_mode_exit(). Inside the core a
// tdm_mode* is the plain address.
tdm_mode* open_mode(std::unique_ptr<tdm_mode> mode);

// Ends the modes that were opened on this thread after `outer`, which is NULL or open on it.
void exit_modes_inside(tdm_mode* outer);

// For what may not end the modes that are open around it: while they are aside, they stay in force and cannot be left.
tdm_mode* set_modes_aside();
void bring_modes_back(tdm_mode* modes);

}  // namespace tandem::capi
