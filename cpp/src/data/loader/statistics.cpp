#include <algorithm>
#include <array>
#include <cstdio>

#include "tandem/loader_statistics.h"

namespace tandem {
namespace {

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

struct StageTime {
  LoaderBottleneck stage;
  std::chrono::nanoseconds time;
};

std::array<StageTime, 5> stages_of(const LoaderStatistics& statistics) {
  return {{{LoaderBottleneck::kReading, statistics.reading},
           {LoaderBottleneck::kDecoding, statistics.decoding},
           {LoaderBottleneck::kTransforming, statistics.transforming},
           {LoaderBottleneck::kPinning, statistics.pinning},
           {LoaderBottleneck::kCopying, statistics.copying}}};
}

std::string format(const char* pattern, auto... values) {
  char text[200];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

double percent(std::chrono::nanoseconds part, std::chrono::nanoseconds whole) {
  return whole.count() == 0 ? 0 : 100. * static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

}  // namespace

const char* loader_bottleneck_name(LoaderBottleneck bottleneck) {
  switch (bottleneck) {
    case LoaderBottleneck::kProgram:
      return "the program";
    case LoaderBottleneck::kReading:
      return "reading";
    case LoaderBottleneck::kDecoding:
      return "decoding";
    case LoaderBottleneck::kTransforming:
      return "transforming";
    case LoaderBottleneck::kPinning:
      return "pinning";
    case LoaderBottleneck::kCopying:
      return "copying";
    case LoaderBottleneck::kUnknown:
      break;
  }
  return "unknown";
}

LoaderBottleneck LoaderStatistics::bottleneck() const {
  if (delivered == 0) return LoaderBottleneck::kUnknown;
  if (waiting * 10 < waiting + computing) return LoaderBottleneck::kProgram;
  const auto stages = stages_of(*this);
  return std::max_element(stages.begin(), stages.end(), [](const auto& a, const auto& b) { return a.time < b.time; })
      ->stage;
}

std::string LoaderStatistics::text() const {
  if (delivered == 0)
    return format("%lld batches, none of which the program asked for", static_cast<long long>(batches));
  std::chrono::nanoseconds made{0};
  for (const auto& [stage, time] : stages_of(*this)) made += time;
  std::string text = format("%lld batches:", static_cast<long long>(batches));
  const char* separator = " ";
  for (const auto& [stage, time] : stages_of(*this)) {
    if (time.count() == 0) continue;
    text += separator + format("%s %.0f%%", loader_bottleneck_name(stage), percent(time, made));
    separator = ", ";
  }
  text += format(" of %.3g s", seconds(made));
  if (threads > 0) {
    text += format(" of %lld thread%s, which waited %.3g s for room", static_cast<long long>(threads),
                   threads == 1 ? "" : "s", seconds(waiting_for_room));
  }
  text +=
      format("; the program waited %.3g s of %.3g s (%.0f%%): %s is the bottleneck", seconds(waiting),
             seconds(waiting + computing), percent(waiting, waiting + computing), loader_bottleneck_name(bottleneck()));
  if (skipped > 0) {
    text += format("; %lld sample%s could not be read and were left out", static_cast<long long>(skipped),
                   skipped == 1 ? "" : "s");
  }
  return text;
}

}  // namespace tandem
