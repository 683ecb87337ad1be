#include "launch/output_choice.h"

#include <cstddef>
#include <sstream>

#include "launch/failure.h"
#include "launch/numbers.h"

namespace tandem::launch {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream rest(text);
  for (std::string part; std::getline(rest, part, separator);) parts.push_back(part);
  if (text.empty() || text.back() == separator) parts.emplace_back();
  return parts;
}

// The number of each local rank.
std::vector<int> by_rank(const std::string& flag, const std::string& text, int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  if (text.find(':') == std::string::npos) return std::vector<int>(count, whole_number(text, flag, 0, 3));
  std::vector<int> numbers(count, 0);
  for (const std::string& item : split(text, ',')) {
    const std::vector<std::string> pair = split(item, ':');
    if (pair.size() != 2) {
      throw Failure(flag + " is " + text + ", but has to be a number from 0 to 3, or RANK:NUMBER,RANK:NUMBER…");
    }
    numbers[static_cast<std::size_t>(whole_number(pair[0], "the rank in " + flag, 0, ranks - 1))] =
        whole_number(pair[1], flag, 0, 3);
  }
  return numbers;
}

constexpr int kOut = 1, kErr = 2;

}  // namespace

std::vector<OutputChoice> choose_output(const OutputFlags& flags, int nproc_per_node) {
  const std::vector<int> redirected = by_rank("--redirects (-r)", flags.redirects, nproc_per_node),
                         teed = by_rank("--tee (-t)", flags.tee, nproc_per_node);
  std::vector<bool> shown(redirected.size(), flags.local_ranks_filter.empty());
  if (!flags.local_ranks_filter.empty()) {
    for (const std::string& rank : split(flags.local_ranks_filter, ',')) {
      shown[static_cast<std::size_t>(whole_number(rank, "--local-ranks-filter", 0, nproc_per_node - 1))] = true;
    }
  }
  std::vector<OutputChoice> choices;
  for (std::size_t rank = 0; rank < redirected.size(); ++rank) {
    const int to_file = redirected[rank], to_both = teed[rank];
    const auto keeps = [&](int stream) { return flags.keeps_all || ((to_file | to_both) & stream) != 0; };
    // What is asked for both ways is shown, as by torchrun.
    const auto shows = [&](int stream) { return shown[rank] && ((to_file & ~to_both) & stream) == 0; };
    choices.push_back({.shows_out = shows(kOut),
                       .shows_err = shows(kErr),
                       .keeps_out = keeps(kOut),
                       .keeps_err = keeps(kErr)});
  }
  return choices;
}

}  // namespace tandem::launch
