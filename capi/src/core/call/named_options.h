// tdm_option to the core's options.
#pragma once

#include "core/operators/values.h"
#include "tandem/nn.h"

namespace tandem::capi {

inline Option to_option(const tdm_option& option, const char* argument) {
  const std::string name = not_null(option.name, argument);
  return {name, to_ivalue(option.value, name)};
}

// Options whose value is DEFAULT are left out.
inline std::vector<Option> to_options(const tdm_option* options, std::size_t count, const std::string& name = "options") {
  check_count(count, name.c_str());
  if (count != 0) not_null(options, name.c_str());
  std::vector<Option> result;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string argument = element_name(name, i) + ".name";
    if (options[i].value.tag != TDM_VALUE_DEFAULT) result.push_back(to_option(options[i], argument.c_str()));
  }
  return result;
}

}  // namespace tandem::capi
