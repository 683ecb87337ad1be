// What a thread that makes a batch spends its time with. Whoever does a part of it says so where it is done, whatever
// lies between it and the loader.
#pragma once

#include <array>
#include <chrono>

namespace tandem::loader {

enum class Stage { kReading, kDecoding, kTransforming, kPinning, kCopying };
constexpr std::size_t kStages = 5;

using StageTimes = std::array<std::chrono::nanoseconds, kStages>;

// Until it goes, this thread's time is added to `times`: to kDecoding unless another stage is set.
class StageClock {
 public:
  explicit StageClock(StageTimes& times);
  ~StageClock();
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;
};

// Until it goes, this thread is in `stage`, if a clock runs. Costs two looks at the clock.
class InStage {
 public:
  explicit InStage(Stage stage);
  ~InStage();
  InStage(const InStage&) = delete;
  InStage& operator=(const InStage&) = delete;

 private:
  Stage before_;
};

}  // namespace tandem::loader
