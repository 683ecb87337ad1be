#include "comm/schedulers/slurm_lists.h"

#include <charconv>
#include <cstdint>
#include <string_view>

#include "base/invalid.h"

namespace tandem {
namespace {

[[noreturn]] void malformed_list(const std::string& text, const std::string& why) {
  invalid("'" + text.substr(0, 200) + "' is no list of Slurm's: " + why);
}

std::uint64_t list_number(std::string_view digits, const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || failure != std::errc() || end != digits.data() + digits.size()) {
    malformed_list(text, "'" + std::string(digits.substr(0, 40)) + "' is no number");
  }
  return value;
}

// Calls `each` with what is between the separators.
template <typename Each>
void split(std::string_view text, char separator, const Each& each) {
  for (;;) {
    const auto end = text.find(separator);
    each(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

// "1,3-5" → 1, 3, 4, 5, with the zeros before that the first of a range has.
std::vector<std::string> numbers_in_brackets(std::string_view inside, std::size_t most, const std::string& text) {
  std::vector<std::string> numbers;
  split(inside, ',', [&](std::string_view range) {
    const auto dash = range.find('-');
    const std::string_view first = range.substr(0, dash);
    const std::uint64_t low = list_number(first, text);
    const std::uint64_t high = dash == std::string_view::npos ? low : list_number(range.substr(dash + 1), text);
    if (high < low) malformed_list(text, "the range " + std::string(range.substr(0, 60)) + " is empty");
    if (high - low >= most - numbers.size()) malformed_list(text, "it names more than " + std::to_string(most));
    for (std::uint64_t number = low;; ++number) {
      std::string digits = std::to_string(number);
      if (digits.size() < first.size()) digits.insert(0, first.size() - digits.size(), '0');
      numbers.push_back(std::move(digits));
      if (number == high) break;
    }
  });
  return numbers;
}

// One name, with brackets anywhere: "r[1-2]n[1-4]".
void append_names(std::string_view name, std::size_t most, const std::string& text, std::vector<std::string>* names) {
  if (name.empty()) malformed_list(text, "a name is empty");
  std::vector<std::string> made = {""};
  while (!name.empty()) {
    const auto open = name.find('[');
    const std::string_view plain = name.substr(0, open);
    if (plain.find(']') != std::string_view::npos) malformed_list(text, "a bracket is closed that was not opened");
    for (std::string& one : made) one += plain;
    if (open == std::string_view::npos) break;
    const auto close = name.find(']', open);
    if (close == std::string_view::npos) malformed_list(text, "a bracket is not closed");
    const auto numbers = numbers_in_brackets(name.substr(open + 1, close - open - 1), most, text);
    if (made.size() > most / numbers.size()) malformed_list(text, "it names more than " + std::to_string(most));
    std::vector<std::string> longer;
    for (const std::string& one : made) {
      for (const std::string& number : numbers) longer.push_back(one + number);
    }
    made = std::move(longer);
    name.remove_prefix(close + 1);
  }
  if (made.size() > most - names->size()) malformed_list(text, "it names more than " + std::to_string(most));
  names->insert(names->end(), made.begin(), made.end());
}

}  // namespace

std::vector<std::string> expand_node_list(const std::string& text, std::size_t most) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  bool in_brackets = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') in_brackets = true;
    if (i < text.size() && text[i] == ']') in_brackets = false;
    if (i < text.size() && (text[i] != ',' || in_brackets)) continue;
    append_names(std::string_view(text).substr(begin, i - begin), most, text, &names);
    begin = i + 1;
  }
  return names;
}

std::vector<int> expand_counts(const std::string& text, std::size_t most) {
  std::vector<int> counts;
  split(text, ',', [&](std::string_view item) {
    const auto times = item.find("(x");
    const std::uint64_t count = list_number(item.substr(0, times), text);
    std::uint64_t nodes = 1;
    if (times != std::string_view::npos) {
      if (item.back() != ')') malformed_list(text, "a bracket is not closed");
      nodes = list_number(item.substr(times + 2, item.size() - times - 3), text);
    }
    if (count < 1 || count > most || nodes < 1 || nodes > most - counts.size()) {
      malformed_list(text, "it has a number that is 0, or names more than " + std::to_string(most));
    }
    counts.insert(counts.end(), nodes, static_cast<int>(count));
  });
  return counts;
}

}  // namespace tandem
