// Taking over a state dict that was read.
#include <algorithm>
#include <initializer_list>
#include <map>
#include <string_view>

#include "base/invalid.h"
#include "tandem/optimizer_state_dict.h"

namespace tandem {
namespace {

using optim::Optimizer;
using NamedState = std::vector<std::pair<std::string, at::Tensor>>;

bool is_among(const std::string& name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* one) { return name == one; });
}

// What schedulers keep in groups.
bool is_of_schedule(const std::string& name) {
  return is_among(name, {"initial_lr", "max_lr", "min_lr", "base_momentum", "max_momentum", "swa_lr"});
}

// A state dict that was read, held against an optimizer.
class Loading {
 public:
  Loading(Optimizer& optimizer, const PtValue& dict) : optimizer_(optimizer), names_(optimizer.option_names()) {
    const auto* const states = find(dict, "state").get_if<PtDict>();
    if (!states) fail("its 'state' is no dict");
    read_groups(items_of(find(dict, "param_groups"), "param_groups"));
    for (const PtItem& item : states->items) read_state(item);
    for (const PtItem& item : dict.get_if<PtDict>()->items) {
      const auto* const name = item.key.get_if<std::string>();
      if (name && is_among(*name, {"state", "param_groups"})) continue;
      if (!name) fail("it has " + shown(item.key));
      state_.emplace_back(*name, tensor_of(item.value, "it has " + shown(item.key)));
    }
  }

  // Options are put back where anything is refused.
  void commit() {
    std::vector<std::vector<Option>> before;
    try {
      for (std::size_t group = 0; group < groups_.size(); ++group) {
        std::vector<Option> had;
        for (const Option& option : groups_[group].options) {
          had.push_back({option.name, optimizer_.get_option(group, option.name)});
        }
        optimizer_.set_options(group, groups_[group].options);
        before.push_back(std::move(had));
      }
      optimizer_.load_state(state_);
    } catch (...) {
      for (std::size_t group = 0; group < before.size(); ++group) optimizer_.set_options(group, before[group]);
      throw;
    }
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      for (const auto& [name, number] : groups_[group].schedule) optimizer_.schedule(group)[name] = number;
    }
  }

 private:
  struct Group {
    std::vector<Option> options;
    std::map<std::string, double> schedule;
  };

  [[noreturn]] void fail(const std::string& why) const {
    invalid(std::string("this is no state_dict of ") + optimizer_.type() + " with these parameters: " + why);
  }

  static std::string shown(const PtValue& key) {
    if (const auto* const name = key.get_if<std::string>()) return "'" + *name + "'";
    if (const auto* const number = key.get_if<std::int64_t>()) return std::to_string(*number);
    return "a key that is neither a name nor a number";
  }

  const PtValue& find(const PtValue& dict, const char* name) const {
    const PtValue* const found = dict.find(name);
    if (!found) fail(std::string("it has no '") + name + "'");
    return *found;
  }

  const std::vector<PtValue>& items_of(const PtValue& value, const std::string& name) const {
    if (const auto* const list = value.get_if<PtList>()) return list->items;
    if (const auto* const tuple = value.get_if<PtTuple>()) return tuple->items;
    fail("its '" + name + "' is no list");
  }

  void read_groups(const std::vector<PtValue>& groups) {
    const std::vector<std::size_t> sizes = optimizer_.group_sizes();
    if (groups.size() != sizes.size()) {
      fail("it has " + std::to_string(groups.size()) + " groups of parameters, and the optimizer " +
           std::to_string(sizes.size()));
    }
    std::int64_t next = 0;
    for (std::size_t group = 0; group < groups.size(); ++group) {
      const auto* const dict = groups[group].get_if<PtDict>();
      if (!dict) fail("a group is no dict");
      const std::vector<PtValue>& numbers = items_of(find(groups[group], "params"), "params");
      if (numbers.size() != sizes[group]) {
        fail("its group " + std::to_string(group) + " has " + std::to_string(numbers.size()) +
             " parameters, and the optimizer's has " + std::to_string(sizes[group]));
      }
      for (const PtValue& number : numbers) {
        const auto* const id = number.get_if<std::int64_t>();
        if (!id || !places_.emplace(*id, next++).second) fail("its 'params' are not numbers, each there once");
      }
      groups_.emplace_back();
      for (const PtItem& item : dict->items) read_option("param_groups[" + std::to_string(group) + "]", item);
    }
  }

  void read_option(const std::string& group, const PtItem& item) {
    const std::string place = group + " has " + shown(item.key);
    const auto* const name = item.key.get_if<std::string>();
    if (!name) fail(place);
    if (std::find(names_.begin(), names_.end(), *name) != names_.end()) {
      groups_.back().options.push_back({*name, option_of(item.value, place)});
      return;
    }
    if (is_of_schedule(*name)) {
      const at::IValue value = option_of(item.value, place);
      if (!value.isDouble() && !value.isInt()) fail(place + ", which is no number");
      groups_.back().schedule[*name] = value.toScalar().toDouble();
      return;
    }
    // AdamW has the last as Adam does, and is always decoupled.
    if (is_among(*name, {"params", "param_names", "foreach", "fused", "capturable", "differentiable",
                         "decoupled_weight_decay"})) {
      return;
    }
    std::string all;
    for (const std::string& one : names_) all += (all.empty() ? "" : ", ") + one;
    fail(place + ", which it does not know; it has " + all);
  }

  at::IValue option_of(const PtValue& value, const std::string& place) const {
    if (value.get_if<std::monostate>()) return {};
    if (const auto* const flag = value.get_if<bool>()) return *flag;
    if (const auto* const number = value.get_if<std::int64_t>()) return *number;
    if (const auto* const number = value.get_if<double>()) return *number;
    if (const auto* const text = value.get_if<std::string>()) return *text;
    if (const auto* const tensor = value.get_if<PtTensor>(); tensor && tensor->tensor.numel() == 1) {
      return tensor->tensor.item().toDouble();  // a learning rate may be one
    }
    if (!value.get_if<PtTuple>() && !value.get_if<PtList>()) fail(place + ", which is no value of an option");
    std::vector<at::IValue> elements;
    std::vector<double> numbers;
    for (const PtValue& element : items_of(value, place)) {
      elements.push_back(option_of(element, place));
      if (elements.back().isDouble() || elements.back().isInt()) {
        numbers.push_back(elements.back().toScalar().toDouble());
      }
    }
    if (numbers.size() == elements.size()) return numbers;
    return c10::ivalue::Tuple::create(std::move(elements));
  }

  void read_state(const PtItem& item) {
    const auto* const id = item.key.get_if<std::int64_t>();
    const auto place = id ? places_.find(*id) : places_.end();
    const std::string shown_place = "its 'state' has " + shown(item.key);
    if (place == places_.end()) fail(shown_place + ", which is of no parameter");
    const auto* const dict = item.value.get_if<PtDict>();
    if (!dict) fail(shown_place + ", which is no dict");
    for (const PtItem& one : dict->items) {
      const auto* const name = one.key.get_if<std::string>();
      if (!name) fail(shown_place + " with " + shown(one.key));
      if (one.value.get_if<std::monostate>()) continue;  // as a momentum_buffer that is not there yet
      if (std::string_view(optimizer_.type()) == "LBFGS" && *name == "al") continue;  // scratch of a step
      const std::string own = std::to_string(place->second) + "." + *name,
                        where = shown_place + " with " + shown(one.key);
      const auto* const list = one.value.get_if<PtList>();
      if (!list) {
        state_.emplace_back(own, tensor_of(one.value, where));
        continue;
      }
      for (std::size_t i = 0; i < list->items.size(); ++i) {
        state_.emplace_back(own + "." + std::to_string(i), tensor_of(list->items[i], where + " in a list"));
      }
    }
  }

  at::Tensor tensor_of(const PtValue& value, const std::string& place) const {
    if (const auto* const tensor = value.get_if<PtTensor>()) return tensor->tensor;
    if (const auto* const number = value.get_if<std::int64_t>()) return at::full({}, *number, at::kLong);
    if (const auto* const number = value.get_if<double>()) return at::full({}, *number, at::kDouble);
    fail(place + ", which is neither a tensor nor a number");
  }

  Optimizer& optimizer_;
  const std::vector<std::string> names_;
  std::map<std::int64_t, std::int64_t> places_;  // of parameters, by their numbers in 'params'
  std::vector<Group> groups_;
  NamedState state_;
};

}  // namespace

void load_optimizer_state_dict(Optimizer& optimizer, const PtValue& state_dict) {
  at::NoGradGuard no_grad;
  Loading(optimizer, state_dict).commit();
}

}  // namespace tandem
