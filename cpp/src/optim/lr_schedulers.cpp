// Schedulers by name.
#include "tandem/lr_scheduler.h"

#include "optim/schedulers/scheduler.h"

namespace tandem::optim {
namespace {

struct SchedulerEntry {
  const char* type;
  MakeScheduler make;
};

constexpr SchedulerEntry kSchedulers[] = {
    {"ConstantLR", make_constant_lr},
    {"CosineAnnealingLR", make_cosine_annealing_lr},
    {"CosineAnnealingWarmRestarts", make_cosine_annealing_warm_restarts},
    {"CyclicLR", make_cyclic_lr},
    {"ExponentialLR", make_exponential_lr},
    {"LinearLR", make_linear_lr},
    {"MultiStepLR", make_multi_step_lr},
    {"OneCycleLR", make_one_cycle_lr},
    {"PolynomialLR", make_polynomial_lr},
    {"ReduceLROnPlateau", make_reduce_lr_on_plateau},
    {"StepLR", make_step_lr},
    {"SWALR", make_swa_lr},
};

// Python's names of those that are made of more than options.
struct OtherScheduler {
  const char* type;
  const char* function;
};

constexpr OtherScheduler kOthers[] = {
    {"LambdaLR", "make_lambda_lr"},
    {"MultiplicativeLR", "make_multiplicative_lr"},
    {"SequentialLR", "make_sequential_lr"},
    {"ChainedScheduler", "make_chained_scheduler"},
};

}  // namespace

std::shared_ptr<LrScheduler> make_lr_scheduler(const std::string& type, std::shared_ptr<Optimizer> optimizer,
                                               const std::vector<Option>& options) {
  std::string known;
  for (const SchedulerEntry& entry : kSchedulers) {
    if (type == entry.type) {
      Options reader(type, options);
      return entry.make(std::move(optimizer), reader);
    }
    known += (known.empty() ? "" : ", ") + std::string(entry.type);
  }
  for (const OtherScheduler& other : kOthers) {
    if (type != other.type) continue;
    throw Error(ErrorCode::kNotFound, type + " is made of more than options; call " + other.function);
  }
  throw Error(ErrorCode::kNotFound, "there is no scheduler '" + type + "'; there are " + known);
}

}  // namespace tandem::optim
