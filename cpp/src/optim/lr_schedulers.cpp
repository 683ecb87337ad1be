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

bool takes_function(const std::string& type) {
  return type == "LambdaLR" || type == "MultiplicativeLR" || type == "CyclicLR";
}

std::vector<RateFunction> for_each_group(const Optimizer& optimizer, const GroupFunction& function) {
  std::vector<RateFunction> functions;
  for (std::size_t group = 0; group < optimizer.group_count(); ++group) {
    functions.push_back([function, group](std::int64_t epoch) { return function(group, static_cast<double>(epoch)); });
  }
  return functions;
}

}  // namespace

std::shared_ptr<LrScheduler> make_lr_scheduler(const std::string& type, std::shared_ptr<Optimizer> optimizer,
                                               const std::vector<Option>& options, GroupFunction function) {
  if (!takes_function(type)) {
    throw Error(ErrorCode::kNotFound,
                "there is no scheduler '" + type + "' of a function; there are LambdaLR, MultiplicativeLR, CyclicLR");
  }
  if (!optimizer || !function) throw Error(ErrorCode::kInvalidArgument, type + " needs an optimizer and a function");
  if (type == "CyclicLR") {
    return make_cyclic_lr(std::move(optimizer), options, [function](double at) { return function(0, at); });
  }
  Options reader(type, options);
  const std::int64_t last_epoch = last_epoch_of(reader);
  reader.finish();
  auto functions = for_each_group(*optimizer, function);
  return type == "LambdaLR" ? make_lambda_lr(std::move(optimizer), std::move(functions), last_epoch)
                            : make_multiplicative_lr(std::move(optimizer), std::move(functions), last_epoch);
}

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
