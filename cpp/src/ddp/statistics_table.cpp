#include <algorithm>
#include <cstdio>
#include <string>

#include "ddp/parts.h"

namespace tandem {
namespace {

constexpr std::size_t kNamesShown = 3;

std::string milliseconds(std::int64_t nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(nanoseconds) / 1e6);
  return text;
}

std::string bytes_text(std::int64_t bytes) {
  char text[32];
  if (bytes < 10240) {
    std::snprintf(text, sizeof text, "%lld B", static_cast<long long>(bytes));
  } else if (bytes < (10 << 20)) {
    std::snprintf(text, sizeof text, "%.1f KiB", static_cast<double>(bytes) / 1024);
  } else {
    std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  }
  return text;
}

std::string left(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}
std::string right(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesShown); ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > kNamesShown) text += " and " + std::to_string(names.size() - kNamesShown) + " more";
  return text;
}

}  // namespace

std::string DataParallelReducer::statistics_table() const {
  const DataParallelStatistics known = statistics();
  const std::vector<DataParallelIteration> all = iterations();
  const ProcessGroup& group = *parts_->group;
  const auto separate = std::count_if(all.begin(), all.end(), [](const auto& one) { return one.separate; });
  std::string text = "DistributedDataParallel on group '" + group.name() + "' (" + group.backend() + ", rank " +
                     std::to_string(group.rank()) + " of " + std::to_string(group.size()) + "), " +
                     std::to_string(known.iterations) + " iterations, of which the last " + std::to_string(all.size()) +
                     " are kept, " + std::to_string(separate) + " of them separate\n\n";
  const auto line = [&](const char* name, std::int64_t time, const char* note = "") {
    text += left(name, 26) + right(milliseconds(time), 11) + (*note ? std::string("  ") + note : "") + "\n";
  };
  text += left("usual step", 26) + right("ms", 11) + "\n";
  line("forward", known.forward_compute);
  line("backward, computing", known.backward_compute);
  line("communication", known.communication, "while at least one bucket is under way");
  line("  under backward", known.overlap);
  line("  exposed", known.exposed_communication,
       separate ? "step less the step without an exchange" : "waited for, before forward and after backward");
  line("step", known.step);
  if (separate) {
    line("step without an exchange", known.step_without_exchange);
    line("communication alone", known.communication_alone);
  }
  const std::size_t buckets = known.bucket_bytes.size();
  text += "\n" + left("bucket", 8) + right("size", 11) + right("begins ms", 11) + right("takes ms", 11) +
          right("alone ms", 11) + "  parameters\n";
  for (std::size_t i = 0; i < buckets; ++i) {
    const auto* times = i < known.bucket_times.size() ? &known.bucket_times[i] : nullptr;
    const bool alone = i < known.buckets_alone.size();
    text += left(std::to_string(i), 8) + right(bytes_text(known.bucket_bytes[i]), 11) +
            right(times ? milliseconds(times->begun) : "-", 11) +
            right(times ? milliseconds(times->done - times->begun) : "-", 11) +
            right(alone ? milliseconds(known.buckets_alone[i]) : "-", 11) + "  " +
            names_text(known.bucket_parameters[i]) + "\n";
  }
  return text;
}

}  // namespace tandem
