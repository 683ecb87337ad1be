// How far training has come through its data: what a checkpoint keeps of a loader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tandem/export.h"

namespace tandem {

// The same on every rank, whatever their number. As bytes it is less than 256 of them, versioned and checksummed; any
// later version of Tandem reads them.
struct TANDEM_API LoaderState {
  static constexpr std::size_t kLongestOrder = 80;  // bytes of its name
  std::uint64_t fingerprint = 0;                    // of the data set
  std::int64_t samples = 0;                         // in it
  std::int64_t positions = 0;                       // of an epoch
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  std::int64_t position = 0;    // of the epoch, that training goes on with
  std::int64_t batch_size = 0;  // of all ranks together
  std::string order;            // SampleOrder::name()

  std::string bytes() const;
  // Throws Error(kDataLoss) for what is no state, or damaged, and kUnsupported for that of a later version.
  static LoaderState parse(std::string_view bytes);
};

}  // namespace tandem
