#include "optim/rule.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "options.h"
#include "optim/step_watch.h"

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

}  // namespace

at::Tensor zeros_for(const at::Tensor& parameter) {
  return at::zeros_like(parameter, at::MemoryFormat::Preserve);
}

RuleOptimizer::RuleOptimizer(RuleTraits traits)
    : Optimizer({}), traits_(std::move(traits)), defaults_(traits_.settings, traits_.lists) {}

Settings RuleOptimizer::changed(Settings settings, const std::string& owner, const std::vector<Option>& options,
                                bool later) {
  settings.change(owner, options, later);
  current_ = &settings;
  check();
  return settings;
}

void RuleOptimizer::set_defaults(const std::vector<Option>& options) {
  defaults_ = changed(defaults_, type(), options);
}

std::string RuleOptimizer::name_of(std::size_t group) const {
  return std::string(type()) + ", group " + std::to_string(group);
}

void RuleOptimizer::check_group(std::size_t group) const {
  if (group < groups_.size()) return;
  throw Error(ErrorCode::kOutOfRange, std::string(type()) + " has no group " + std::to_string(group) + "; it has " +
                                          std::to_string(groups_.size()));
}

void RuleOptimizer::add_group(ParameterGroup group) {
  Group added{parameters_.size(), parameters_.size() + group.parameters.size(),
              changed(defaults_, name_of(groups_.size()), group.options)};
  std::vector<at::Tensor> all = parameters_;
  all.insert(all.end(), std::make_move_iterator(group.parameters.begin()),
             std::make_move_iterator(group.parameters.end()));
  check_parameters(type(), all, parameters_.size(), [&](const at::Tensor& one) { return refusal(one); });
  groups_.reserve(groups_.size() + 1);
  states_.resize(all.size());
  groups_.push_back(std::move(added));  // cannot fail any more
  parameters_.swap(all);
}

std::vector<std::size_t> RuleOptimizer::group_sizes() const {
  std::vector<std::size_t> sizes;
  for (const Group& group : groups_) sizes.push_back(group.end - group.begin);
  return sizes;
}

void RuleOptimizer::set_options(std::size_t group, const std::vector<Option>& options) {
  check_group(group);
  groups_[group].settings = changed(groups_[group].settings, name_of(group), options, true);
}

void RuleOptimizer::set_option(const Option& option) {
  std::vector<Settings> all;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    all.push_back(changed(groups_[i].settings, groups_.size() == 1 ? type() : name_of(i), {option}, true));
  }
  for (std::size_t i = 0; i < groups_.size(); ++i) groups_[i].settings = std::move(all[i]);
}

at::IValue RuleOptimizer::get_option(std::size_t group, const std::string& name) const {
  check_group(group);
  return groups_[group].settings.get(type(), name);
}

// On a GPU LibTorch adds a coalesced sparse tensor as if the other had no strides: to other elements.
void RuleOptimizer::add_to(const at::Tensor& parameter, const at::Tensor& change, double factor) {
  const bool spread = change.is_sparse() && !parameter.is_cpu() && !parameter.is_contiguous();
  parameter.add_(spread ? change.to_dense() : change, factor);
}

void RuleOptimizer::refuse_sparse(const char* why) const {
  throw Error(ErrorCode::kUnsupported, std::string(type()) + " cannot apply a sparse gradient" + why);
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
    return batch.key == key && batch.scalars == state.scalars && batch.device == parameter.device() &&
           batch.dtype == parameter.scalar_type();
  });
  if (found == batches.end()) {
    found = batches.insert(
        found, {parameter.device(), parameter.scalar_type(), key, state.steps, state.scalars, {}, {}, {}, {}});
  }
  found->parameters.push_back(parameter);
  found->gradients.push_back(gradient);
  found->indices.push_back(index);
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    if (state.slots[slot].defined()) found->slots[slot].push_back(state.slots[slot]);
  }
}

std::vector<at::Tensor> RuleOptimizer::step_tensors(const Batch& batch) {
  const auto number = static_cast<double>(batch.steps);
  return {batch.parameters.size(), at::full({}, number, at::TensorOptions(at::kFloat).device(batch.device))};
}

void RuleOptimizer::keep_slots(const Batch& batch, std::size_t slot) {
  for (std::size_t i = 0; i < batch.indices.size(); ++i) states_[batch.indices[i]].slots[slot] = batch.slots[slot][i];
}

void RuleOptimizer::complex_step(const at::Tensor& parameter, const at::Tensor& gradient, State& state) {
  if (gradient.is_sparse()) refuse_sparse(" of a complex parameter");
  const at::Tensor numbers = at::view_as_real(parameter);
  State real;
  real.scalars = state.scalars;
  real.steps = state.steps;
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    if (state.slots[slot].defined()) real.slots[slot] = at::view_as_real(state.slots[slot]);
  }
  prepare(numbers, real);
  plain_step(numbers, at::view_as_real(gradient.resolve_conj()), real);
  state.scalars = real.scalars;
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    if (state.slots[slot].defined() || !real.slots[slot].defined()) continue;
    state.slots[slot] = at::empty_like(parameter);
    at::view_as_real(state.slots[slot]).copy_(real.slots[slot]);
  }
}

void RuleOptimizer::step() {
  tell_before_step();
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
    fused_step(batch);
    for (const std::size_t index : batch.indices) states_[index].scalars = batch.scalars;
  }
}

void ForeachRule::plain_step(const at::Tensor& parameter, at::Tensor gradient, State& state) {
  if (gradient.is_sparse()) refuse_sparse("; use SGD, Adagrad or SparseAdam for sparse embeddings");
  Batch batch{
      parameter.device(), parameter.scalar_type(), 0, state.steps, state.scalars, {parameter}, {gradient}, {}, {}};
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    if (state.slots[slot].defined()) batch.slots[slot].push_back(state.slots[slot]);
  }
  foreach_step(batch);
  state.scalars = batch.scalars;
}

void ForeachRule::maximize(Batch& batch) const {
  if (on("maximize")) batch.gradients = at::_foreach_neg(batch.gradients);
}

void ForeachRule::add_decay(Batch& batch, double decay) const {
  if (decay != 0) batch.gradients = at::_foreach_add(batch.gradients, batch.parameters, decay);
}

std::vector<std::pair<std::string, at::Tensor>> RuleOptimizer::state() const {
  std::vector<std::pair<std::string, at::Tensor>> items;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const std::string prefix = std::to_string(i) + ".";
    for (std::size_t slot = 0; slot < traits_.slots.size(); ++slot) {
      if (states_[i].slots[slot].defined()) items.emplace_back(prefix + traits_.slots[slot], states_[i].slots[slot]);
    }
    for (std::size_t scalar = 0; scalar < traits_.scalars.size(); ++scalar) {
      const auto value = states_[i].scalars[scalar];
      if (value) items.emplace_back(prefix + traits_.scalars[scalar], at::full({}, *value, at::kFloat));
    }
    if (traits_.counts_steps && states_[i].steps > 0) {
      items.emplace_back(prefix + "step", at::full({}, states_[i].steps, traits_.step_dtype));
    }
  }
  return items;
}

void RuleOptimizer::load_state(const std::vector<std::pair<std::string, at::Tensor>>& items) {
  at::NoGradGuard no_grad;
  std::vector<State> loaded(states_.size());
  for (const auto& [name, tensor] : items) {
    const auto refuse = [&, &name = name](const std::string& why) {
      throw Error(ErrorCode::kInvalidArgument, std::string(type()) + ": state '" + name + "' " + why);
    };
    std::size_t index = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), index);
    if (parsed.ec != std::errc() || parsed.ptr == name.data() + name.size() || *parsed.ptr != '.') {
      refuse("is not named INDEX.NAME");
    }
    if (index >= loaded.size())
      refuse("is of a parameter that is not there: there are " + std::to_string(loaded.size()));
    const std::string part = name.substr(static_cast<std::size_t>(parsed.ptr - name.data()) + 1);
    const auto scalar = std::find(traits_.scalars.begin(), traits_.scalars.end(), part);
    const bool is_scalar = scalar != traits_.scalars.end();
    const bool is_step = part == "step" && traits_.counts_steps;
    if ((is_scalar || is_step) && tensor.numel() != 1) refuse("must be a single number");
    if (is_scalar) {
      loaded[index].scalars[static_cast<std::size_t>(scalar - traits_.scalars.begin())] = tensor.item().toFloat();
      continue;
    }
    if (is_step) {
      loaded[index].steps = tensor.item().toLong();
      continue;
    }
    const auto slot = std::find(traits_.slots.begin(), traits_.slots.end(), part);
    if (slot == traits_.slots.end()) {
      std::string known;
      for (const auto* names : {&traits_.slots, &traits_.scalars}) {
        for (const char* one : *names) known += (known.empty() ? "" : ", ") + std::string(one);
      }
      refuse("is unknown; there are " + known + (traits_.counts_steps ? ", step" : ""));
    }
    const at::Tensor& parameter = parameters()[index];
    const auto number = static_cast<std::size_t>(slot - traits_.slots.begin());
    const std::vector<std::int64_t> sizes = slot_sizes(number, parameter);
    if (tensor.sizes() != sizes) {
      refuse("has sizes " + text_of(tensor.sizes()) + ", but of parameter " + std::to_string(index) + " with sizes " +
             text_of(parameter.sizes()) + " it has " + text_of(sizes));
    }
    loaded[index].slots[number] =
        (parameter.sizes() == sizes ? at::empty_like(parameter) : at::empty(sizes, parameter.options())).copy_(tensor);
  }
  states_ = std::move(loaded);
}

at::Tensor Optimizer::step(const Closure& closure) {
  const at::Tensor loss = evaluated(type(), closure);
  step();
  return loss;
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

const std::map<std::string, double>& Optimizer::schedule(std::size_t group) const {
  if (group >= group_count()) {
    throw Error(ErrorCode::kOutOfRange, std::string(type()) + " has no group " + std::to_string(group) + "; it has " +
                                            std::to_string(group_count()));
  }
  static const std::map<std::string, double> kNone;
  return group < schedules_.size() ? schedules_[group] : kNone;
}

std::map<std::string, double>& Optimizer::schedule(std::size_t group) {
  static_cast<void>(std::as_const(*this).schedule(group));
  if (schedules_.size() <= group) schedules_.resize(group_count());
  return schedules_[group];
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
