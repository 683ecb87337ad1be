// The options of loaders.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "tandem/loader.h"
#include "tandem/tandem.h"

namespace tandem::capi {

// The defaults for NULL. Throws Error(kInvalidArgument) naming what cannot be.
LoaderOptions read_loader_options(const tdm_loader_options* options);

// `unset` for TDM_TAIL_UNSET. Throws Error(kInvalidArgument) for what is no tdm_tail.
Tail to_tail(tdm_tail tail, Tail unset);

// 0: three minutes; -1: not at all. Throws Error(kInvalidArgument) for less, and for what is no tdm_on_io_error.
OnIoError to_on_io_error(tdm_on_io_error on_io_error);
std::chrono::milliseconds to_io_retry(std::int64_t io_retry_ms);

// Nothing for the CPU. Throws Error(kInvalidArgument) for another than that or a GPU; whether it is there, a loader
// asks.
std::optional<at::Device> to_batch_device(tdm_device device);

}  // namespace tandem::capi
