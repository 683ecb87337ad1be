// What optimizers have in common: groups of parameters with settings by name, a state of a few tensors per parameter,
// and one step that gives a group's parameters to LibTorch's fused kernels in batches where these are right, and to
// plain operators elsewhere.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "optim/parameters.h"
#include "optim/setting.h"
#include "tandem/error.h"
#include "tandem/optim.h"

namespace tandem::optim {

// What a rule is called and has.
struct RuleTraits {
  const char* type;
  std::vector<Setting> settings;
  std::vector<const char*> slots;         // tensors of a parameter's state, at most kSlots
  std::vector<const char*> scalars = {};  // numbers of a parameter's state besides "step", at most kScalars
  bool counts_steps = true;               // the state has a "step"
  std::vector<ListOption> lists = {};
  at::ScalarType step_dtype = at::kFloat;  // as torch.optim keeps it; kLong: a plain number there
};

inline constexpr std::size_t kSlots = 3;
inline constexpr std::size_t kScalars = 2;

// float32, as torch.optim keeps them: what they are rounded to shows in a trajectory.
using Scalars = std::array<std::optional<float>, kScalars>;

// Of one parameter.
struct State {
  std::array<at::Tensor, kSlots> slots;
  Scalars scalars;
  std::int64_t steps = 0;
};

// Parameters that one call of kernels takes: same group, device, dtype, key and scalars.
struct Batch {
  at::Device device;
  at::ScalarType dtype;
  std::int64_t key;
  std::int64_t steps;  // the number of this step, where that is the key
  Scalars scalars;
  std::vector<at::Tensor> parameters, gradients;
  std::array<std::vector<at::Tensor>, kSlots> slots;
  std::vector<std::size_t> indices;
};

class RuleOptimizer : public Optimizer {
 public:
  using Optimizer::step;
  void step() final;
  std::size_t group_count() const final { return groups_.size(); }
  std::vector<std::size_t> group_sizes() const final;
  std::vector<std::string> option_names() const final { return defaults_.names(); }
  void add_group(ParameterGroup group) final;
  using Optimizer::get_option;
  using Optimizer::set_option;
  void set_option(const Option& option) final;
  void set_options(std::size_t group, const std::vector<Option>& options) final;
  at::IValue get_option(std::size_t group, const std::string& name) const final;
  std::vector<std::pair<std::string, at::Tensor>> state() const final;
  void load_state(const std::vector<std::pair<std::string, at::Tensor>>& state) final;
  const char* type() const final { return traits_.type; }

  // What groups that are added from now on have where they do not say otherwise.
  void set_defaults(const std::vector<Option>& options);

 protected:
  explicit RuleOptimizer(RuleTraits traits);

  // Of the group that is stepped, prepared or checked.
  double get(const char* name) const { return current_->get(name); }
  bool on(const char* name) const { return get(name) != 0; }

  // Throws Error (kInvalidArgument) for settings that contradict each other.
  virtual void check() const {}
  // Why the rule cannot step a parameter, or "".
  virtual std::string refusal(const at::Tensor&) const { return ""; }
  virtual std::vector<std::int64_t> slot_sizes(std::size_t /*slot*/, const at::Tensor& parameter) const {
    return parameter.sizes().vec();
  }
  // Makes the slots and scalars that this step needs; `state.steps` counts this step already. Here and below all is
  // real: of a complex parameter, each number is a pair.
  virtual void prepare(const at::Tensor& parameter, State& state) = 0;
  // What must be equal within a batch, besides device and dtype.
  virtual std::int64_t batch_key(const State& state) const { return state.steps; }
  // False: there is no fused kernel for this rule.
  virtual bool has_fused() const { return true; }
  virtual void fused_step(Batch&) {}
  // Any device, real dtype and strides. `gradient` may be sparse.
  virtual void plain_step(const at::Tensor& parameter, at::Tensor gradient, State& state) = 0;

  // For each parameter of the batch the number of this step, as a float32 scalar on its device.
  static std::vector<at::Tensor> step_tensors(const Batch& batch);
  // Takes over a slot that fused_step() made for all parameters of the batch.
  void keep_slots(const Batch& batch, std::size_t slot);

  [[noreturn]] void refuse_sparse(const char* why) const;
  // parameter += factor * change, which may be sparse.
  static void add_to(const at::Tensor& parameter, const at::Tensor& change, double factor);

 private:
  struct Group {
    std::size_t begin, end;  // places of its parameters
    Settings settings;
  };

  // `settings` with `options`, which errors say are `owner`'s.
  Settings changed(Settings settings, const std::string& owner, const std::vector<Option>& options, bool later = false);
  void check_group(std::size_t group) const;
  std::string name_of(std::size_t group) const;
  void step(const Group& group);
  bool fuses(const at::Tensor& parameter, const at::Tensor& gradient, const State& state) const;
  // The real and the imaginary parts step as parameters of their own, which is what torch.optim does; the state is
  // complex, as the parameter is.
  void complex_step(const at::Tensor& parameter, const at::Tensor& gradient, State& state);
  void add_to_batch(std::vector<Batch>& batches, std::size_t index, const at::Tensor& gradient);

  RuleTraits traits_;
  Settings defaults_;
  std::vector<Group> groups_;
  const Settings* current_ = nullptr;
  std::vector<State> states_;
};

// A rule that is written once, in foreach kernels: they take any layout, and are one launch a list where it is dense.
class ForeachRule : public RuleOptimizer {
 protected:
  using RuleOptimizer::RuleOptimizer;

  // The gradients may be changed only where the rule replaced them.
  virtual void foreach_step(Batch& batch) = 0;

  // As gradients(batch) of torch.optim's: negated for "maximize", with weight decay where it is not decoupled.
  void maximize(Batch& batch) const;
  void add_decay(Batch& batch, double decay) const;

 private:
  void fused_step(Batch& batch) final { foreach_step(batch); }
  void plain_step(const at::Tensor& parameter, at::Tensor gradient, State& state) final;
};

at::Tensor zeros_for(const at::Tensor& parameter);

}  // namespace tandem::optim
