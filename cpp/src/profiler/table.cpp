#include "profiler/table.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace tandem {
namespace {

constexpr std::size_t kLines = 100;
constexpr std::size_t kNameWidth = 48;

struct Sum {
  std::int64_t calls = 0, total = 0, own = 0;
};

std::map<std::string, Sum> summed(std::vector<ProfiledSpan>& spans) {
  // Whatever encloses another one comes before it.
  std::sort(spans.begin(), spans.end(), [](const ProfiledSpan& a, const ProfiledSpan& b) {
    if (a.thread != b.thread) return a.thread < b.thread;
    return a.begun != b.begun ? a.begun < b.begun : a.ended > b.ended;
  });
  std::map<std::string, Sum> sums;
  std::vector<const ProfiledSpan*> open;
  for (const ProfiledSpan& span : spans) {
    Sum& sum = sums[span.name];
    const std::int64_t time = span.ended - span.begun;
    ++sum.calls;
    sum.own += time;
    if (!span.nests) {
      sum.total += time;
      continue;
    }
    while (!open.empty() && (open.back()->thread != span.thread || open.back()->ended < span.ended)) open.pop_back();
    if (!open.empty()) sums[open.back()->name].own -= time;
    // Inside of itself, it counts once.
    const bool is_inside = std::any_of(open.begin(), open.end(), [&](auto* one) { return one->name == span.name; });
    if (!is_inside) sum.total += time;
    open.push_back(&span);
  }
  return sums;
}

std::string cut(const std::string& name) {
  return name.size() <= kNameWidth ? name : name.substr(0, kNameWidth - 3) + "...";
}

}  // namespace

std::string profile_table(std::vector<ProfiledSpan> spans) {
  const auto sums = summed(spans);
  std::vector<std::pair<std::string, Sum>> lines(sums.begin(), sums.end());
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.second.own > b.second.own; });
  char line[256];
  std::snprintf(line, sizeof line, "%-48s %9s %12s %12s %12s\n", "name", "calls", "own ms", "total ms", "mean us");
  std::string text = line;
  for (std::size_t i = 0; i < std::min(lines.size(), kLines); ++i) {
    const auto& [name, sum] = lines[i];
    std::snprintf(line, sizeof line, "%-48s %9lld %12.3f %12.3f %12.1f\n", cut(name).c_str(),
                  static_cast<long long>(sum.calls), static_cast<double>(sum.own) / 1e6,
                  static_cast<double>(sum.total) / 1e6,
                  static_cast<double>(sum.total) / 1e3 / static_cast<double>(sum.calls));
    text += line;
  }
  if (lines.size() > kLines) text += "and " + std::to_string(lines.size() - kLines) + " more names\n";
  return text;
}

}  // namespace tandem
