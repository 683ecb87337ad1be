#include "tandem/rename_tensors.h"

#include <map>
#include <regex>

#include "base/invalid.h"

namespace tandem {
namespace {

// Of names and of both parts of rules: std::regex calls itself for each letter.
constexpr std::size_t kLongest = 1000;

std::regex regex_of(const RenameRule& rule) {
  if (rule.pattern.size() > kLongest || rule.replacement.size() > kLongest) {
    invalid("the rule '" + rule.pattern.substr(0, 100) + "…' has more than " + std::to_string(kLongest) + " letters");
  }
  try {
    return std::regex(rule.pattern, std::regex::ECMAScript);
  } catch (const std::regex_error& error) {
    invalid("the rule '" + rule.pattern + "' is no regular expression: " + error.what());
  }
}

void apply(const RenameRule& rule, std::vector<std::string>& names) {
  const std::regex regex = regex_of(rule);
  for (std::string& name : names) {
    if (name.size() > kLongest) invalid("the name '" + name.substr(0, 100) + "…' is too long for a rule");
    try {
      name = std::regex_replace(name, regex, rule.replacement);
    } catch (const std::regex_error& error) {
      invalid("the rule '" + rule.pattern + "' takes too long for the name '" + name + "': " + error.what());
    }
  }
}

}  // namespace

std::vector<std::string> renamed(const std::vector<std::string>& names, const std::vector<RenameRule>& rules) {
  std::vector<std::string> after = names;
  for (const RenameRule& rule : rules) apply(rule, after);
  std::map<std::string, std::string> before;
  std::string clashes;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [known, is_new] = before.emplace(after[i], names[i]);
    if (!is_new) clashes += "\n  '" + known->second + "' and '" + names[i] + "' become '" + after[i] + "'";
  }
  if (!clashes.empty()) invalid("the rules give tensors the same name:" + clashes);
  return after;
}

NamedTensors rename_tensors(NamedTensors tensors, const std::vector<RenameRule>& rules) {
  std::vector<std::string> names;
  for (const auto& item : tensors) names.push_back(item.first);
  names = renamed(names, rules);
  for (std::size_t i = 0; i < names.size(); ++i) tensors[i].first = std::move(names[i]);
  return tensors;
}

}  // namespace tandem
