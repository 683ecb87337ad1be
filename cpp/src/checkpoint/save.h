// One save, from the first file to `latest`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "checkpoint/folder.h"
#include "checkpoint/ranks.h"
#include "tandem/checkpoint.h"
#include "tandem/error.h"

namespace tandem::checkpoint {

// The checkpoint is saved, but older ones could not be removed.
class OlderOnesStay : public Error {
 public:
  using Error::Error;
};

// Throws on all ranks where any failed; what `content` throws is a failure of its rank.
void save(const Folder& folder, const Ranks& ranks, const CheckpointOptions& options, std::int64_t step,
          const std::function<const CheckpointContent&()>& content);

}  // namespace tandem::checkpoint
