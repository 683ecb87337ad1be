// An optimizer whose state is spread over the ranks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tandem/export.h"
#include "tandem/optim.h"
#include "tandem/process_group.h"

namespace tandem {

// Each rank holds the state of its share of the parameters, updates those, and sends them to all others: less memory
// for state, and less time for updates, by the number of ranks. All ranks step together, with equal gradients. Options
// are those of the optimizer underneath; set them alike on all ranks. Source:
// torch.distributed.optim.ZeroRedundancyOptimizer; Rajbhandari et al., "ZeRO", 2020, stage 1.
class TANDEM_API ZeroRedundancyOptimizer final : public optim::Optimizer {
 public:
  // `type`, `groups` and `options` as make_optimizer() takes them. Parameters are dealt out largest first, each to the
  // rank that has least. Holds the parameters and the process group. Errors: those of make_optimizer().
  ZeroRedundancyOptimizer(std::shared_ptr<ProcessGroup> group, const std::string& type,
                          std::vector<optim::ParameterGroup> groups, const std::vector<Option>& options);
  ZeroRedundancyOptimizer(std::shared_ptr<ProcessGroup> group, const std::string& type,
                          std::vector<at::Tensor> parameters, const std::vector<Option>& options);

  const char* type() const override { return "ZeroRedundancyOptimizer"; }
  // Which rank updates each parameter.
  const std::vector<int>& owners() const { return owners_; }

  using Optimizer::step;
  void step() override;  // Blocks.
  std::size_t group_count() const override { return group_sizes_.size(); }
  std::vector<std::size_t> group_sizes() const override { return group_sizes_; }
  std::vector<std::string> option_names() const override { return local_->option_names(); }
  // All ranks add the same.
  void add_group(optim::ParameterGroup group) override;
  using Optimizer::get_option;
  using Optimizer::set_option;
  void set_option(const Option& option) override { local_->set_option(option); }
  void set_options(std::size_t group, const std::vector<Option>& options) override {
    local_->set_options(group, options);
  }
  at::IValue get_option(std::size_t group, const std::string& name) const override {
    return local_->get_option(group, name);
  }

  // Has rank `to` hold a copy of the whole state, for state() to give it there until the next step. All ranks call it.
  // Blocks. Source: consolidate_state_dict.
  void consolidate_state(int to = 0);
  // The whole state where consolidate_state() put it; else that of this rank's share. Numbers are those of all
  // parameters.
  std::vector<std::pair<std::string, at::Tensor>> state() const override;
  // Takes the whole state, on every rank, and keeps this rank's share.
  void load_state(const std::vector<std::pair<std::string, at::Tensor>>& state) override;

 private:
  std::vector<std::pair<std::string, at::Tensor>> local_state() const;

  // What this rank updates of a group whose parameters were dealt out.
  optim::ParameterGroup share_of(optim::ParameterGroup group, const std::vector<int>& owners);

  const std::shared_ptr<ProcessGroup> group_;
  const std::string rule_;
  const std::vector<Option> options_;
  std::vector<std::int64_t> load_;  // elements of each rank
  std::vector<int> owners_;
  std::vector<std::size_t> mine_;  // places of this rank's parameters
  std::vector<std::size_t> group_sizes_;
  std::unique_ptr<optim::Optimizer> local_;
  std::vector<std::pair<std::string, at::Tensor>> consolidated_;
};

}  // namespace tandem
