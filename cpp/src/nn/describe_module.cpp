#include <algorithm>

#include "nn/forward_state.h"
#include "nn/registry.h"

namespace tandem::nn {
namespace {

// A value of an option that is needed, such that modules which get these for all of them can be made.
at::IValue some_value(const OptionDescription& option) {
  if (option.type == "float") return 1.0;
  if (option.type == "string") return option.choices.empty() ? option.initial : at::IValue(option.choices[0]);
  if (option.type == "int" || option.type == "int?") return 4;
  return std::vector<std::int64_t>{2};  // a list, or one for all dimensions
}

void add_names(std::vector<std::string>& names, const torch::OrderedDict<std::string, at::Tensor>& tensors) {
  for (const auto& item : tensors) {
    if (item.value().defined() && std::find(names.begin(), names.end(), item.key()) == names.end()) {
      names.push_back(item.key());
    }
  }
}

bool can_be_made(const std::string& type, const std::vector<Option>& options) {
  try {
    make_meta_module(type, options);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// Those that are required, and where one of several others is: the first that will do.
std::vector<Option> options_to_make(const ModuleDescription& description) {
  std::vector<Option> needed;
  for (const OptionDescription& option : description.options) {
    if (option.required) needed.push_back({option.name, some_value(option)});
  }
  if (can_be_made(description.type, needed)) return needed;
  for (const OptionDescription& option : description.options) {
    if (option.required || option.type == "bool") continue;
    std::vector<Option> more = needed;
    more.push_back({option.name, some_value(option)});
    if (can_be_made(description.type, more)) return more;
  }
  return needed;
}

}  // namespace

ModuleDescription describe_module(const std::string& type) {
  ModuleDescription description;
  description.type = type;
  ModuleOptions reader(type, description);
  find_factory(type)(reader);
  const auto look = [&](const std::vector<Option>& options) {
    const auto module = make_meta_module(type, options);
    add_names(description.parameters, module->get().named_parameters());
    add_names(description.buffers, module->get().named_buffers());
  };
  without_random_numbers({at::kCPU}, [&] {
    const std::vector<Option> needed = options_to_make(description);
    look(needed);
    for (const OptionDescription& option : description.options) {
      if (option.type != "bool" || option.required) continue;
      std::vector<Option> flipped = needed;
      flipped.push_back({option.name, !option.initial.toBool()});
      look(flipped);
    }
  });
  return description;
}

}  // namespace tandem::nn
