#include "progress.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

using namespace std::chrono_literals;

Progress::Progress(std::string title, std::int64_t steps, bool shown)
    : title_(std::move(title)), steps_(steps), shown_(shown) {}

Progress::~Progress() {
  if (shown_ && last_ != begun_) std::fputs(isatty(STDERR_FILENO) ? "\r\x1b[K" : "\n", stderr);
}

void Progress::step(std::int64_t samples) {
  ++done_;
  samples_ += samples;
}

bool Progress::due() const {
  // A log that is no terminal gets a line every few seconds only.
  return shown_ && Clock::now() - last_ > (isatty(STDERR_FILENO) ? 100ms : 5000ms);
}

void Progress::show(const std::string& text) {
  constexpr std::int64_t kWidth = 24;
  last_ = Clock::now();
  const double seconds = std::chrono::duration<double>(last_ - begun_).count();
  const auto filled = static_cast<std::size_t>(kWidth * done_ / steps_);
  const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
  const long left = static_cast<long>(seconds / static_cast<double>(done_) * static_cast<double>(steps_ - done_) + 0.5);
  std::fprintf(stderr, "\r%s %3ld%%|%s| %s, %.0f samples/s, %ld:%02ld left ", title_.c_str(),
               static_cast<long>(100 * done_ / steps_), bar.c_str(), text.c_str(),
               static_cast<double>(samples_) / seconds, left / 60, left % 60);
  std::fflush(stderr);
}
