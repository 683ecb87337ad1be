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
inline std::vector<Option> to_options(const tdm_option* options, std::size_t count) {
  check_count(count, "options");
  if (count != 0) not_null(options, "options");
  std::vector<Option> result;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string argument = "options[" + std::to_string(i) + "].name";
    if (options[i].value.tag != TDM_VALUE_DEFAULT) result.push_back(to_option(options[i], argument.c_str()));
  }
  return result;
}

}  // namespace tandem::capi
