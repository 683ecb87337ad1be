// Optimizers by name.
#include "optim/lbfgs.h"
#include "optim/rules/rules.h"

namespace tandem::optim {
namespace {

struct Entry {
  const char* type;
  std::unique_ptr<RuleOptimizer> (*make)();
};

constexpr Entry kRules[] = {
    {"Adadelta", make_adadelta}, {"Adafactor", make_adafactor},
    {"Adagrad", make_adagrad},   {"Adam", make_adam},
    {"AdamW", make_adamw},       {"Adamax", make_adamax},
    {"ASGD", make_asgd},         {"Muon", make_muon},
    {"NAdam", make_nadam},       {"RAdam", make_radam},
    {"RMSprop", make_rmsprop},   {"Rprop", make_rprop},
    {"SGD", make_sgd},           {"SparseAdam", make_sparse_adam},
};

std::unique_ptr<RuleOptimizer> make_rule(const std::string& type) {
  std::string known;
  for (const Entry& entry : kRules) {
    if (type == entry.type) return entry.make();
    known += (known.empty() ? "" : ", ") + std::string(entry.type);
  }
  throw Error(ErrorCode::kNotFound, "there is no optimizer '" + type + "'; there are " + known + ", LBFGS");
}

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const std::string& type, std::vector<ParameterGroup> groups,
                                          const std::vector<Option>& options) {
  if (type == "LBFGS") return make_lbfgs(std::move(groups), options);
  std::unique_ptr<RuleOptimizer> made = make_rule(type);
  if (groups.empty()) throw Error(ErrorCode::kInvalidArgument, type + ": there is no group of parameters");
  made->set_defaults(options);
  for (ParameterGroup& group : groups) made->add_group(std::move(group));
  return made;
}

std::unique_ptr<Optimizer> make_optimizer(const std::string& type, std::vector<at::Tensor> parameters,
                                          const std::vector<Option>& options) {
  return make_optimizer(type, std::vector<ParameterGroup>{{std::move(parameters), {}}}, options);
}

}  // namespace tandem::optim
