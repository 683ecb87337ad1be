// Optimizers by name, with LibTorch's fused kernels where parameters allow them and state that can be saved.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/export.h"
#include "tandem/option.h"

namespace tandem::optim {

// Parameters with settings of their own: what `options` leaves out is as for the whole optimizer.
// Source: param_groups of torch.optim.
struct ParameterGroup {
  std::vector<at::Tensor> parameters;
  std::vector<Option> options;
};

// Updates parameters from their gradients as the torch.optim class of the same name does. Holds the parameters; a
// parameter without a gradient is skipped. Not thread-safe.
class TANDEM_API Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual const char* type() const = 0;

  // Applies the gradients. Throws tandem::Error (kUnsupported) for a sparse gradient where the rule has no sparse
  // form, and from LBFGS, which needs a closure.
  virtual void step() = 0;

  // Clears the gradients, computes the loss, a tensor of one number, and calls backward.
  using Closure = std::function<at::Tensor()>;
  // Calls `closure` with grad mode on, then steps; LBFGS calls it several times. Gives what it gave first. Where
  // `closure` throws, parameters are where they were then.
  virtual at::Tensor step(const Closure& closure);

  // Drops the gradients when set_to_none, else zeroes them in place. A reducer puts those that are views of its buckets
  // there again with the next backward.
  void zero_grad(bool set_to_none = true);

  // Groups are counted from 0, in the order in which they were given.
  virtual std::size_t group_count() const = 0;
  // How many parameters each has.
  virtual std::vector<std::size_t> group_sizes() const = 0;
  // Those of a group that torch.optim has in param_groups: "lr", "betas" and so on.
  virtual std::vector<std::string> option_names() const = 0;
  // One more group, whose parameters come after all others. What its options leave out is as the optimizer was made,
  // not as set_option() changed it since. Throws tandem::Error as make_optimizer() does, and kUnsupported from
  // optimizers that are built on others. Source: torch.optim.Optimizer.add_param_group.
  virtual void add_group(ParameterGroup group) = 0;

  // Sets an option of one group, or of all: of all of them or, where one refuses it, of none. Names are those of
  // Python's options; "betas" is a list of two, "beta1" and "beta2" are its elements. Throws tandem::Error:
  // kNotFound (the known names are listed), kInvalidArgument (a value that makes no sense), kOutOfRange (no such
  // group).
  void set_option(std::size_t group, const Option& option) { set_options(group, {option}); }
  virtual void set_option(const Option& option) = 0;
  // Several of a group at once, all or none: where one by one would not do, as "nesterov" with the "momentum" it needs.
  virtual void set_options(std::size_t group, const std::vector<Option>& options) = 0;
  // A double, a bool, an int, a string, none or, for "betas" and the like, a list of doubles (a tuple where one of them
  // is none). Without a group: what all have; kInvalidArgument, with each group's value, when they differ.
  virtual at::IValue get_option(std::size_t group, const std::string& name) const = 0;
  at::IValue get_option(const std::string& name) const;

  // "INDEX.NAME", as in "0.momentum_buffer" or "3.step": what a parameter (by its place) has so far, sharing storage.
  virtual std::vector<std::pair<std::string, at::Tensor>> state() const = 0;
  // Replaces the state by copies. All or nothing. Throws tandem::Error for an unknown name or a wrong shape.
  virtual void load_state(const std::vector<std::pair<std::string, at::Tensor>>& state) = 0;

  // What schedulers keep with a group, as Python does in param_groups: "initial_lr", "max_lr" and so on.
  std::map<std::string, double>& schedule(std::size_t group);
  const std::map<std::string, double>& schedule(std::size_t group) const;

  // Of all groups, one after the other.
  virtual const std::vector<at::Tensor>& parameters() const { return parameters_; }

 protected:
  explicit Optimizer(std::vector<at::Tensor> parameters) : parameters_(std::move(parameters)) {}

  std::vector<at::Tensor> parameters_;

 private:
  std::vector<std::map<std::string, double>> schedules_;
};

// The optimizer that torch.optim has by this name, as "SGD" or "AdamW"; docs/modules-and-optimizers.md lists them. A
// group may be empty, but for LBFGS, which has one group. Throws tandem::Error: kNotFound for an unknown type or
// option, kInvalidArgument for a bad value, or for parameters that are no leaves, are given twice, are of no
// floating-point or complex dtype or not such as the rule takes.
TANDEM_API std::unique_ptr<Optimizer> make_optimizer(const std::string& type, std::vector<ParameterGroup> groups,
                                                     const std::vector<Option>& options);
// All in one group.
TANDEM_API std::unique_ptr<Optimizer> make_optimizer(const std::string& type, std::vector<at::Tensor> parameters,
                                                     const std::vector<Option>& options);

}  // namespace tandem::optim
