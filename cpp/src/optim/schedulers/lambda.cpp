// Schedulers by the program's own functions.
#include "optim/schedulers/scheduler.h"

namespace tandem::optim {
namespace {

class FunctionLr : public EpochScheduler {
 public:
  FunctionLr(const char* type, std::shared_ptr<Optimizer> optimizer, std::vector<RateFunction> functions,
             std::int64_t last_epoch)
      : EpochScheduler(type, std::move(optimizer), last_epoch), functions_(std::move(functions)) {
    if (functions_.size() == 1) functions_.resize(groups(), functions_[0]);
    if (functions_.size() != groups()) {
      refuse(" has " + std::to_string(functions_.size()) + " functions; it needs one, or " + std::to_string(groups()) +
             ", one for each group");
    }
    for (const RateFunction& function : functions_) {
      if (!function) refuse(" was given a function that is empty");
    }
  }

  void fields(Fields& fields) override {
    c10::impl::GenericList none(c10::AnyType::get());
    for (std::size_t i = 0; i < functions_.size(); ++i) none.push_back(at::IValue());
    fields.constant("lr_lambdas", none);
    EpochScheduler::fields(fields);
  }

 protected:
  // `rates`, each times what its group's function says.
  std::vector<double> by_function(std::vector<double> rates) const {
    if (rates.size() != functions_.size()) return rates;  // groups that came later: set_lrs() refuses them
    for (std::size_t i = 0; i < rates.size(); ++i) rates[i] *= functions_[i](last_epoch_);
    return rates;
  }

 private:
  std::vector<RateFunction> functions_;
};

class LambdaLr : public FunctionLr {
 public:
  LambdaLr(std::shared_ptr<Optimizer> optimizer, std::vector<RateFunction> functions, std::int64_t last_epoch)
      : FunctionLr("LambdaLR", std::move(optimizer), std::move(functions), last_epoch) {}

 protected:
  std::vector<double> rates() override { return by_function(base_lrs_); }
};

class MultiplicativeLr : public FunctionLr {
 public:
  MultiplicativeLr(std::shared_ptr<Optimizer> optimizer, std::vector<RateFunction> functions, std::int64_t last_epoch)
      : FunctionLr("MultiplicativeLR", std::move(optimizer), std::move(functions), last_epoch) {}

 protected:
  std::vector<double> rates() override { return is_initial_ ? lrs() : by_function(lrs()); }
};

}  // namespace

std::shared_ptr<LrScheduler> make_lambda_lr(std::shared_ptr<Optimizer> optimizer, std::vector<RateFunction> functions,
                                            std::int64_t last_epoch) {
  return begun<LambdaLr>(std::move(optimizer), std::move(functions), last_epoch);
}
std::shared_ptr<LrScheduler> make_multiplicative_lr(std::shared_ptr<Optimizer> optimizer,
                                                    std::vector<RateFunction> functions, std::int64_t last_epoch) {
  return begun<MultiplicativeLr>(std::move(optimizer), std::move(functions), last_epoch);
}

}  // namespace tandem::optim
