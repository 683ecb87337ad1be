#include "optim/rule.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <unordered_set>

#include "options.h"

namespace tandem::optim {
namespace {

std::string text_of(at::IntArrayRef sizes) {
  std::ostringstream text;
  text << sizes;
  return text.str();
}

// Equal where it matters: the stride of a dimension of one element does not.
bool same_strides(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes()) return false;
  for (std::int64_t i = 0; i < a.dim(); ++i) {
    if (a.size(i) > 1 && a.stride(i) != b.stride(i)) return false;
  }
  return true;
}

// `count` are there already, and were checked.
void check_parameters(const char* type, const std::vector<at::Tensor>& parameters, std::size_t count) {
  std::unordered_set<const void*> seen;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& parameter = parameters[i];
    std::string wrong;
    if (!parameter.is_leaf())
      wrong = "is no leaf of the graph: it was computed, and an update would not reach its source";
    if (!parameter.is_floating_point() && !parameter.is_complex())
      wrong = "is " + parameter.toString() + ", which has no gradient";
    if (!seen.insert(parameter.unsafeGetTensorImpl()).second) wrong = "is there a second time";
    if (i >= count && !wrong.empty()) {
      throw Error(ErrorCode::kInvalidArgument, std::string(type) + ": parameter " + std::to_string(i) + " " + wrong);
    }
  }
}

}  // namespace

RuleOptimizer::RuleOptimizer(const char* type, std::vector<Setting> defaults, std::vector<const char*> slot_names,
                             bool counts_steps)
    : Optimizer({}),
      type_(type),
      defaults_(std::move(defaults)),
      slot_names_(std::move(slot_names)),
      counts_steps_(counts_steps) {}

const Setting* RuleOptimizer::find(const std::vector<Setting>& settings, const std::string& name) {
  for (const auto& setting : settings) {
    if (name == setting.name) return &setting;
  }
  return nullptr;
}

std::vector<Setting> RuleOptimizer::changed(std::vector<Setting> settings, const std::string& owner,
                                            const std::vector<Option>& options) {
  Options reader(owner, options);
  for (auto& setting : settings) {
    if (setting.flag) {
      bool value = setting.value != 0;
      reader.read(setting.name, value);
      setting.value = value;
      continue;
    }
    reader.read(setting.name, setting.value);
  }
  if (find(settings, "beta1")) {
    std::vector<double> betas;
    reader.read("betas", betas);
    if (!betas.empty() && betas.size() != 2) reader.refuse("betas", "must be two numbers");
    for (auto& setting : settings) {
      if (betas.empty()) break;
      if (std::string(setting.name) == "beta1") setting.value = betas[0];
      if (std::string(setting.name) == "beta2") setting.value = betas[1];
    }
  }
  reader.finish();
  for (const auto& setting : settings) {
    const bool fits = setting.value >= 0 && std::isfinite(setting.value);
    if (!fits || (setting.below != 0 && setting.value >= setting.below)) {
      reader.refuse(setting.name, "is " + std::to_string(setting.value) + "; it must be at least 0" +
                                      (setting.below != 0 ? " and less than 1" : ""));
    }
  }
  current_ = &settings;
  check();
  return settings;
}

void RuleOptimizer::set_defaults(const std::vector<Option>& options) {
  defaults_ = changed(defaults_, type_, options);
}

std::string RuleOptimizer::name_of(std::size_t group) const {
  return std::string(type_) + ", group " + std::to_string(group);
}

void RuleOptimizer::check_group(std::size_t group) const {
  if (group < groups_.size()) return;
  throw Error(ErrorCode::kOutOfRange, std::string(type_) + " has no group " + std::to_string(group) + "; it has " +
                                          std::to_string(groups_.size()));
}

void RuleOptimizer::add_group(ParameterGroup group) {
  Group added{parameters_.size(), parameters_.size() + group.parameters.size(),
              changed(defaults_, name_of(groups_.size()), group.options)};
  std::vector<at::Tensor> all = parameters_;
  all.insert(all.end(), std::make_move_iterator(group.parameters.begin()),
             std::make_move_iterator(group.parameters.end()));
  check_parameters(type_, all, parameters_.size());
  groups_.reserve(groups_.size() + 1);
  states_.resize(all.size());
  groups_.push_back(std::move(added));  // cannot fail any more
  parameters_.swap(all);
}

void RuleOptimizer::set_option(std::size_t group, const Option& option) {
  check_group(group);
  groups_[group].settings = changed(groups_[group].settings, name_of(group), {option});
}

void RuleOptimizer::set_option(const Option& option) {
  std::vector<std::vector<Setting>> all;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    all.push_back(changed(groups_[i].settings, groups_.size() == 1 ? type_ : name_of(i), {option}));
  }
  for (std::size_t i = 0; i < groups_.size(); ++i) groups_[i].settings.swap(all[i]);
}

at::IValue RuleOptimizer::get_option(std::size_t group, const std::string& name) const {
  check_group(group);
  const std::vector<Setting>& settings = groups_[group].settings;
  if (const Setting* setting = find(settings, name)) {
    return setting->flag ? at::IValue(setting->value != 0) : at::IValue(setting->value);
  }
  const Setting* beta1 = find(settings, "beta1");
  if (beta1 && name == "betas") return std::vector<double>{beta1->value, find(settings, "beta2")->value};
  std::string known;
  for (const auto& setting : settings) known += (known.empty() ? "" : ", ") + std::string(setting.name);
  throw Error(ErrorCode::kNotFound, std::string(type_) + " has no option '" + name + "'; it has " + known);
}

void RuleOptimizer::refuse_sparse(const char* why) const {
  throw Error(ErrorCode::kUnsupported, std::string(type_) + " cannot apply a sparse gradient" + why);
}

// The fused kernels read plain memory in order and look at no strides.
bool RuleOptimizer::fuses(const at::Tensor& parameter, const at::Tensor& gradient, const State& state) const {
  if (!has_fused() || !(parameter.is_cpu() || parameter.is_cuda())) return false;
  const auto dtype = parameter.scalar_type();
  if (dtype != at::kFloat && dtype != at::kDouble && dtype != at::kHalf && dtype != at::kBFloat16) return false;
  const auto fits = [&](const at::Tensor& other) {
    return other.layout() == at::kStrided && other.scalar_type() == dtype && other.device() == parameter.device() &&
           same_strides(parameter, other);
  };
  if (parameter.layout() != at::kStrided || !parameter.is_non_overlapping_and_dense() || !fits(gradient)) return false;
  return std::all_of(state.slots.begin(), state.slots.end(),
                     [&](const at::Tensor& slot) { return !slot.defined() || fits(slot); });
}

void RuleOptimizer::add_to_batch(std::vector<Batch>& batches, std::size_t index, const at::Tensor& gradient) {
  const at::Tensor& parameter = parameters()[index];
  const State& state = states_[index];
  const std::int64_t key = batch_key(state);
  auto found = std::find_if(batches.begin(), batches.end(), [&](const Batch& batch) {
    return batch.key == key && batch.device == parameter.device() && batch.dtype == parameter.scalar_type();
  });
  if (found == batches.end()) {
    found = batches.insert(found, Batch{parameter.device(), parameter.scalar_type(), key, {}, {}, {}, {}, {}});
  }
  found->parameters.push_back(parameter);
  found->gradients.push_back(gradient);
  found->indices.push_back(index);
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    if (state.slots[slot].defined()) found->slots[slot].push_back(state.slots[slot]);
  }
}

void RuleOptimizer::keep_slots(const Batch& batch, std::size_t slot) {
  for (std::size_t i = 0; i < batch.indices.size(); ++i) states_[batch.indices[i]].slots[slot] = batch.slots[slot][i];
}

void RuleOptimizer::complex_step(const at::Tensor& parameter, const at::Tensor& gradient, State& state) {
  if (gradient.is_sparse()) refuse_sparse(" of a complex parameter");
  const at::Tensor numbers = at::view_as_real(parameter);
  State real;
  real.steps = state.steps;
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    if (state.slots[slot].defined()) real.slots[slot] = at::view_as_real(state.slots[slot]);
  }
  prepare(numbers, real);
  plain_step(numbers, at::view_as_real(gradient.resolve_conj()), real);
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    if (state.slots[slot].defined() || !real.slots[slot].defined()) continue;
    state.slots[slot] = at::empty_like(parameter);
    at::view_as_real(state.slots[slot]).copy_(real.slots[slot]);
  }
}

void RuleOptimizer::step() {
  at::NoGradGuard no_grad;
  for (const Group& group : groups_) step(group);
}

void RuleOptimizer::step(const Group& group) {
  current_ = &group.settings;
  std::vector<Batch> batches;
  for (std::size_t i = group.begin; i < group.end; ++i) {
    const at::Tensor& parameter = parameters()[i];
    const at::Tensor& gradient = parameter.grad();
    if (!gradient.defined()) continue;
    State& state = states_[i];
    ++state.steps;
    if (parameter.is_complex()) {
      complex_step(parameter, gradient, state);
      continue;
    }
    prepare(parameter, state);
    if (fuses(parameter, gradient, state)) {
      add_to_batch(batches, i, gradient);
    } else {
      plain_step(parameter, gradient, state);
    }
  }
  for (Batch& batch : batches) {
    if (counts_steps_) {
      const auto steps = static_cast<double>(states_[batch.indices.front()].steps);
      const at::Tensor number = at::full({}, steps, at::TensorOptions(at::kFloat).device(batch.device));
      batch.steps.assign(batch.parameters.size(), number);
    }
    fused_step(batch);
  }
}

std::vector<std::pair<std::string, at::Tensor>> RuleOptimizer::state() const {
  std::vector<std::pair<std::string, at::Tensor>> items;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const std::string prefix = std::to_string(i) + ".";
    for (std::size_t slot = 0; slot < slot_names_.size(); ++slot) {
      if (states_[i].slots[slot].defined()) items.emplace_back(prefix + slot_names_[slot], states_[i].slots[slot]);
    }
    if (counts_steps_ && states_[i].steps > 0) {
      items.emplace_back(prefix + "step", at::full({}, static_cast<double>(states_[i].steps), at::kFloat));
    }
  }
  return items;
}

void RuleOptimizer::load_state(const std::vector<std::pair<std::string, at::Tensor>>& items) {
  at::NoGradGuard no_grad;
  std::vector<State> loaded(states_.size());
  for (const auto& [name, tensor] : items) {
    const auto refuse = [&, &name = name](const std::string& why) {
      throw Error(ErrorCode::kInvalidArgument, std::string(type_) + ": state '" + name + "' " + why);
    };
    std::size_t index = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), index);
    if (parsed.ec != std::errc() || parsed.ptr == name.data() + name.size() || *parsed.ptr != '.') {
      refuse("is not named INDEX.NAME");
    }
    if (index >= loaded.size())
      refuse("is of a parameter that is not there: there are " + std::to_string(loaded.size()));
    const std::string part = name.substr(static_cast<std::size_t>(parsed.ptr - name.data()) + 1);
    if (part == "step" && counts_steps_) {
      if (tensor.numel() != 1) refuse("must be a single number");
      loaded[index].steps = tensor.item().toLong();
      continue;
    }
    const auto slot = std::find(slot_names_.begin(), slot_names_.end(), part);
    if (slot == slot_names_.end()) {
      std::string known;
      for (const char* one : slot_names_) known += (known.empty() ? "" : ", ") + std::string(one);
      refuse("is unknown; there are " + known + (counts_steps_ ? ", step" : ""));
    }
    const at::Tensor& parameter = parameters()[index];
    if (tensor.sizes() != parameter.sizes()) {
      refuse("has sizes " + text_of(tensor.sizes()) + ", but parameter " + std::to_string(index) + " has " +
             text_of(parameter.sizes()));
    }
    loaded[index].slots[static_cast<std::size_t>(slot - slot_names_.begin())] = at::empty_like(parameter).copy_(tensor);
  }
  states_ = std::move(loaded);
}

at::IValue Optimizer::get_option(const std::string& name) const {
  const at::IValue first = get_option(0, name);
  std::ostringstream values;
  bool differ = false;
  for (std::size_t group = 0; group < group_count(); ++group) {
    const at::IValue value = get_option(group, name);
    values << (group == 0 ? "" : ", ");
    if (value.isDouble()) {
      values << value.toDouble();
    } else {
      values << value;
    }
    differ |= value != first;
  }
  if (differ) {
    throw Error(ErrorCode::kInvalidArgument, std::string(type()) + ": option '" + name + "' differs between groups (" +
                                                 values.str() + "); say which group's is asked for");
  }
  return first;
}

void Optimizer::zero_grad(bool set_to_none) {
  at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : parameters()) {
    at::Tensor& gradient = parameter.mutable_grad();
    if (!gradient.defined()) continue;
    if (set_to_none) {
      // Also a view of a reducer's bucket: backward then makes its gradient without reading the old one, and the
      // reducer copies it into the bucket while it divides, a pass over memory less than zeroing and adding.
      gradient.reset();
    } else {
      if (gradient.grad_fn()) gradient = gradient.detach();  // backward made it with create_graph
      gradient.zero_();
    }
  }
}

}  // namespace tandem::optim
