#include "launch/passed_flags.h"

#include <algorithm>

namespace tandem::launch {

std::vector<std::string> passed_flags(const CLI::App& command, const std::set<std::string>& but) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options([](const CLI::Option* one) { return one->nonpositional(); })) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    std::string name = "--" + option->get_lnames().front();
    std::replace(name.begin(), name.end(), '_', '-');
    if (but.contains(name)) continue;
    for (const std::string& value : option->results()) {
      if (option->get_items_expected_max() == 0) {
        if (value != "false") words.push_back(name);
      } else if (value.empty()) {
        words.insert(words.end(), {name, ""});
      } else {
        words.push_back(name + "=" + value);
      }
    }
  }
  return words;
}

}  // namespace tandem::launch
