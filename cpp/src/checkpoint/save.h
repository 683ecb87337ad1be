// One save, from the first file to `latest`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

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

// There may be no checkpoint now, as CheckpointOptions::why_not says. Nothing is wrong with the disk, or a rank.
class NotPermitted : public Error {
 public:
  NotPermitted(const std::string& what, std::string why)
      : Error(ErrorCode::kAborted, what + why), why_(std::move(why)) {}
  const std::string& why() const { return why_; }

 private:
  std::string why_;
};

// Throws on all ranks where any failed; what `content` throws is a failure of its rank.
void save(const Folder& folder, const Ranks& ranks, const CheckpointOptions& options, std::int64_t step,
          const std::function<const CheckpointContent&()>& content);

}  // namespace tandem::checkpoint
