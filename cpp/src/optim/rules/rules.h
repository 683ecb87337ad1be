// The rules: a file for each, or for a family. Formulas and names as in torch.optim of Python 2.11; each class's
// comment names the paper.
#pragma once

#include <memory>

#include "optim/rule.h"

namespace tandem::optim {

std::unique_ptr<RuleOptimizer> make_adadelta();
std::unique_ptr<RuleOptimizer> make_adafactor();
std::unique_ptr<RuleOptimizer> make_adagrad();
std::unique_ptr<RuleOptimizer> make_adam();
std::unique_ptr<RuleOptimizer> make_adamax();
std::unique_ptr<RuleOptimizer> make_adamw();
std::unique_ptr<RuleOptimizer> make_asgd();
std::unique_ptr<RuleOptimizer> make_muon();
std::unique_ptr<RuleOptimizer> make_nadam();
std::unique_ptr<RuleOptimizer> make_radam();
std::unique_ptr<RuleOptimizer> make_rmsprop();
std::unique_ptr<RuleOptimizer> make_rprop();
std::unique_ptr<RuleOptimizer> make_sgd();
std::unique_ptr<RuleOptimizer> make_sparse_adam();

}  // namespace tandem::optim
