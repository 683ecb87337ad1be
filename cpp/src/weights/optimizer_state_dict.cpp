#include "tandem/optimizer_state_dict.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

namespace tandem {
namespace {

using optim::Optimizer;

// Nothing for what belongs to no parameter.
std::optional<std::pair<std::int64_t, std::string>> split(const std::string& name) {
  std::int64_t index = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data(), end, index);
  if (parsed.ec != std::errc() || parsed.ptr == end || *parsed.ptr != '.') return {};
  return {{index, std::string(parsed.ptr + 1, end)}};
}

PtValue value_of(const at::IValue& option) {
  if (option.isNone()) return {};
  if (option.isBool()) return option.toBool();
  if (option.isInt()) return option.toInt();
  if (option.isDouble()) return option.toDouble();
  if (option.isString()) return option.toStringRef();
  PtTuple tuple;
  if (option.isTuple()) {
    for (const at::IValue& element : option.toTupleRef().elements()) tuple.items.push_back(value_of(element));
  } else {
    for (const double element : option.toDoubleVector()) tuple.items.emplace_back(element);
  }
  return tuple;
}

// Python's Adagrad has a state of each parameter from the beginning, and wants one.
void begin_adagrad(const Optimizer& optimizer, const std::vector<std::size_t>& sizes,
                   std::map<std::int64_t, PtDict>& states) {
  std::size_t index = 0;
  for (std::size_t group = 0; group < sizes.size(); ++group) {
    const double value = optimizer.get_option(group, "initial_accumulator_value").toDouble();
    for (const std::size_t end = index + sizes[group]; index < end; ++index) {
      const auto [state, is_new] = states.try_emplace(static_cast<std::int64_t>(index));
      if (!is_new) continue;
      state->second.items = {{"step", at::zeros({}, at::kFloat)},
                             {"sum", at::full_like(optimizer.parameters()[index], value)}};
    }
  }
}

// "old_dirs.3" is the fourth of the list "old_dirs".
std::optional<std::pair<std::string, std::size_t>> split_element(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  std::size_t place = 0;
  const char* const end = name.data() + name.size();
  if (dot == std::string::npos) return {};
  const auto parsed = std::from_chars(name.data() + dot + 1, end, place);
  if (parsed.ec != std::errc() || parsed.ptr != end) return {};
  return {{name.substr(0, dot), place}};
}

// Null where there is none.
PtValue* member(PtDict& dict, const std::string& name) {
  for (PtItem& item : dict.items) {
    if (const auto* const key = item.key.get_if<std::string>(); key && *key == name) return &item.value;
  }
  return nullptr;
}

PtList& list_of(PtDict& dict, const std::string& name) {
  PtValue* found = member(dict, name);
  if (!found) found = &dict.items.emplace_back(PtItem{name, PtList{}}).value;
  return std::get<PtList>(found->value);
}

// An optimizer gives the elements of a list in their order.
void add_state(PtDict& dict, const std::string& name, PtValue value) {
  const auto element = split_element(name);
  if (!element) {
    dict.items.push_back({name, std::move(value)});
    return;
  }
  list_of(dict, element->first).items.push_back(std::move(value));
}

// Python's LBFGS goes on from lists that are there, also empty ones, and from plain numbers.
void fit_lbfgs(PtDict& state) {
  if (!member(state, "prev_loss")) return;  // before its first step
  for (const char* name : {"old_dirs", "old_stps", "ro"}) list_of(state, name);
  for (const char* name : {"t", "prev_loss"}) {
    PtValue& number = *member(state, name);
    number = std::get<PtTensor>(number.value).tensor.item<double>();
  }
}

bool is_lbfgs(const Optimizer& optimizer) {
  return std::string_view(optimizer.type()) == "LBFGS";
}

PtDict group_of(const Optimizer& optimizer, std::size_t group, std::size_t first, std::size_t count) {
  PtDict made;
  for (const std::string& name : optimizer.option_names()) {
    made.items.push_back({name, value_of(optimizer.get_option(group, name))});
  }
  for (const auto& [name, number] : optimizer.schedule(group)) made.items.push_back({name, number});
  PtList numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.items.emplace_back(first + i);
  made.items.push_back({"params", std::move(numbers)});
  return made;
}

}  // namespace

PtValue optimizer_state_dict(const Optimizer& optimizer) {
  std::map<std::int64_t, PtDict> states;
  PtDict others;
  for (const auto& [name, tensor] : optimizer.state()) {
    const auto parts = split(name);
    const bool is_number = tensor.dim() == 0 && tensor.scalar_type() == at::kLong;
    PtValue value = is_number ? PtValue(tensor.item<std::int64_t>()) : PtValue(tensor);
    if (parts) {
      add_state(states[parts->first], parts->second, std::move(value));
    } else {
      others.items.push_back({name, std::move(value)});
    }
  }
  if (is_lbfgs(optimizer)) {
    for (auto& [index, state] : states) fit_lbfgs(state);
  }
  const std::vector<std::size_t> sizes = optimizer.group_sizes();
  const std::vector<std::string> options = optimizer.option_names();
  if (std::find(options.begin(), options.end(), "initial_accumulator_value") != options.end()) {
    begin_adagrad(optimizer, sizes, states);
  }
  PtDict state;
  for (auto& [index, items] : states) state.items.push_back({index, std::move(items)});
  PtList groups;
  std::size_t first = 0;
  for (std::size_t group = 0; group < sizes.size(); first += sizes[group++]) {
    groups.items.push_back(group_of(optimizer, group, first, sizes[group]));
  }
  PtDict whole;
  whole.items.push_back({"state", std::move(state)});
  whole.items.push_back({"param_groups", std::move(groups)});
  for (PtItem& item : others.items) whole.items.push_back(std::move(item));
  return whole;
}

}  // namespace tandem
