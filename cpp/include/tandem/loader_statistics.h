// What a loader's threads and its program spent their time with.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "tandem/export.h"

namespace tandem {

// What more speed would have to come from.
enum class LoaderBottleneck : std::int32_t {
  kUnknown = 0,       // nothing was loaded yet
  kProgram = 1,       // it hardly waits: batches are there when it asks
  kReading = 2,       // records of files, with their checksums and decompression
  kDecoding = 3,      // records, or whatever a data set holds, to tensors of batches
  kTransforming = 4,  // LoaderOptions::transforms
  kPinning = 5,       // copying to pinned memory
  kCopying = 6,       // having copies to LoaderOptions::device begin
};

// Since the loader was made. Times of threads are sums over all of them; what a thread waits for the processor, or for
// a disk, counts for what it was doing.
struct TANDEM_API LoaderStatistics {
  std::int64_t batches = 0;           // made
  std::int64_t samples = 0;           // in them
  std::int64_t bytes = 0;             // of their tensors
  std::int64_t most_bytes_ready = 0;  // at once, of batches that were made and not asked for
  std::int64_t threads = 0;           // LoaderOptions::threads
  std::int64_t skipped = 0;           // samples that could not be read (OnIoError::kSkip)
  std::chrono::nanoseconds reading{0};
  std::chrono::nanoseconds decoding{0};
  std::chrono::nanoseconds transforming{0};
  std::chrono::nanoseconds pinning{0};
  // Until copies to LoaderOptions::device are queued, with memory for them. The copies run by themselves: a profile of
  // the device has what they take.
  std::chrono::nanoseconds copying{0};
  std::chrono::nanoseconds waiting_for_room{0};  // of threads, while as much was ahead as is allowed

  std::int64_t delivered = 0;             // batches that next() gave
  std::chrono::nanoseconds waiting{0};    // of the program in next(); without threads it makes batches there
  std::chrono::nanoseconds computing{0};  // of the program between a batch and asking for the next

  // kProgram where it waits less than a tenth of its time, else the stage that takes most.
  LoaderBottleneck bottleneck() const;
  // One line, such as "120 batches: reading 4%, decoding 81%, transforming 15% of 3.1 s of 2 threads, which waited 0.2
  // s for room; the program waited 1.2 s of 2.9 s (41%): decoding is the bottleneck".
  std::string text() const;
};

// "decoding" and so on.
TANDEM_API const char* loader_bottleneck_name(LoaderBottleneck bottleneck);

}  // namespace tandem
