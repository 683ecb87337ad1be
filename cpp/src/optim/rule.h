// What optimizers have in common: groups of parameters with settings by name, a state of a few tensors per parameter,
// and one step that gives a group's parameters to LibTorch's fused kernels in batches where these are right, and to
// plain operators elsewhere.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tandem/error.h"
#include "tandem/optim.h"

namespace tandem::optim {

struct Setting {
  const char* name;
  double value;  // the default, then what was set; 0 and 1 for a flag
  bool flag = false;
  double below = 0;  // where not 0: it must be less than this
};

inline constexpr std::size_t kSlots = 3;

// Of one parameter.
struct State {
  std::array<at::Tensor, kSlots> slots;
  std::int64_t steps = 0;
};

// Parameters that one fused kernel takes: same group, device, dtype and number of steps. `steps` is a float32 scalar on
// their device for each, the number of this step.
struct Batch {
  at::Device device;
  at::ScalarType dtype;
  std::int64_t key;
  std::vector<at::Tensor> parameters, gradients, steps;
  std::array<std::vector<at::Tensor>, kSlots> slots;
  std::vector<std::size_t> indices;
};

class RuleOptimizer : public Optimizer {
 public:
  void step() final;
  std::size_t group_count() const final { return groups_.size(); }
  void add_group(ParameterGroup group) final;
  using Optimizer::get_option;
  void set_option(std::size_t group, const Option& option) final;
  void set_option(const Option& option) final;
  at::IValue get_option(std::size_t group, const std::string& name) const final;
  std::vector<std::pair<std::string, at::Tensor>> state() const final;
  void load_state(const std::vector<std::pair<std::string, at::Tensor>>& state) final;
  const char* type() const final { return type_; }

  // What groups that are added from now on have where they do not say otherwise.
  void set_defaults(const std::vector<Option>& options);

 protected:
  // `slot_names`: at most kSlots, "" for one that is not used. `counts_steps`: the state has a "step".
  RuleOptimizer(const char* type, std::vector<Setting> defaults, std::vector<const char*> slot_names,
                bool counts_steps);

  // Of the group that is stepped, prepared or checked.
  double get(const char* name) const { return find(*current_, name)->value; }
  bool on(const char* name) const { return get(name) != 0; }

  // Throws Error (kInvalidArgument) for settings that contradict each other.
  virtual void check() const {}
  // Makes the slots that this step needs; `state.steps` counts this step already. Here and below all is real: of a
  // complex parameter, each number is a pair.
  virtual void prepare(const at::Tensor& parameter, State& state) = 0;
  // What must be equal within a batch, besides device and dtype.
  virtual std::int64_t batch_key(const State& state) const { return state.steps; }
  // False: there is no fused kernel for this rule.
  virtual bool has_fused() const { return true; }
  virtual void fused_step(Batch& batch) = 0;
  // Any device, real dtype and strides. `gradient` may be sparse.
  virtual void plain_step(const at::Tensor& parameter, at::Tensor gradient, State& state) = 0;

  // Takes over a slot that fused_step() made for all parameters of the batch.
  void keep_slots(const Batch& batch, std::size_t slot);

  [[noreturn]] void refuse_sparse(const char* why) const;

 private:
  struct Group {
    std::size_t begin, end;  // places of its parameters
    std::vector<Setting> settings;
  };

  static const Setting* find(const std::vector<Setting>& settings, const std::string& name);
  // `settings` with `options`, which errors say are `owner`'s.
  std::vector<Setting> changed(std::vector<Setting> settings, const std::string& owner,
                               const std::vector<Option>& options);
  void check_group(std::size_t group) const;
  std::string name_of(std::size_t group) const;
  void step(const Group& group);
  bool fuses(const at::Tensor& parameter, const at::Tensor& gradient, const State& state) const;
  // The real and the imaginary parts step as parameters of their own, which is what torch.optim does; the state is
  // complex, as the parameter is.
  void complex_step(const at::Tensor& parameter, const at::Tensor& gradient, State& state);
  void add_to_batch(std::vector<Batch>& batches, std::size_t index, const at::Tensor& gradient);

  const char* type_;
  std::vector<Setting> defaults_;
  std::vector<Group> groups_;
  const std::vector<Setting>* current_ = nullptr;
  std::vector<const char*> slot_names_;
  bool counts_steps_;
  std::vector<State> states_;
};

}  // namespace tandem::optim
