#include "data/loader/stage_clock.h"

namespace tandem::loader {
namespace {

using Clock = std::chrono::steady_clock;

struct Running {
  StageTimes* times = nullptr;
  Stage stage = Stage::kDecoding;
  Clock::time_point since;
};
thread_local Running running;

Stage enter(Stage stage) {
  const Stage before = running.stage;
  if (running.times) {
    const auto now = Clock::now();
    (*running.times)[static_cast<std::size_t>(before)] += now - running.since;
    running.since = now;
    running.stage = stage;
  }
  return before;
}

}  // namespace

StageClock::StageClock(StageTimes& times) {
  running = {&times, Stage::kDecoding, Clock::now()};
}

StageClock::~StageClock() {
  enter(Stage::kDecoding);
  running.times = nullptr;
}

InStage::InStage(Stage stage) : before_(enter(stage)) {}

InStage::~InStage() {
  enter(before_);
}

}  // namespace tandem::loader
