#include "rpc/local_optimizers.h"

#include <torch/csrc/autograd/variable.h>

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/invalid.h"
#include "rpc/function_pool.h"
#include "rpc/functions.h"
#include "rpc/session.h"
#include "rpc/streams.h"
#include "tandem/dist_autograd.h"

namespace tandem::rpc {

// Steps are made on tensors that share the parameters' memory and have gradients of their own: those of several contexts
// never meet in one tensor's grad, and a backward of another context does not take a step for a change of its inputs.
struct LocalOptimizers::Local {
  std::vector<at::Tensor> parameters, stepped;
  std::unique_ptr<optim::Optimizer> optimizer;
  bool locked = true;
  std::string before_step, after_step;
  std::mutex mutex;  // optimizers are of one thread at a time
};

LocalOptimizers& LocalOptimizers::instance() {
  static auto* instance = new LocalOptimizers;
  return *instance;
}

std::size_t LocalOptimizers::count() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return locals_.size();
}

std::shared_ptr<LocalOptimizers::Local> LocalOptimizers::find(std::int64_t number) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = locals_.find(number);
  if (found != locals_.end()) return found->second;
  throw Error(ErrorCode::kNotFound, "this worker has no optimizer " + std::to_string(number) + " for others");
}

// Type, references, options, locked, before_step, after_step.
at::IValue LocalOptimizers::make(const Values& given) {
  auto local = std::make_shared<Local>();
  std::unordered_set<const c10::TensorImpl*> seen;
  std::size_t i = 0;
  for (const at::IValue& reference : given.at(1).toListRef()) {
    const at::IValue value = RRef::from(reference).local_value();
    if (!value.isTensor() || !value.toTensor().is_leaf() || !value.toTensor().requires_grad()) {
      invalid("parameter " + std::to_string(i) + " of those on this worker is no tensor without history that requires gradients");
    }
    if (!seen.insert(value.toTensor().unsafeGetTensorImpl()).second) {
      invalid("parameter " + std::to_string(i) + " of those on this worker is there a second time; give each tensor once");
    }
    local->parameters.push_back(value.toTensor());
    local->stepped.push_back(value.toTensor().variable_data().requires_grad_(true));
    ++i;
  }
  std::vector<Option> options;
  for (const at::IValue& option : given.at(2).toListRef()) {
    const auto& parts = option.toTupleRef().elements();
    options.push_back({parts.at(0).toStringRef(), parts.at(1)});
  }
  local->optimizer = optim::make_optimizer(given.at(0).toStringRef(), local->stepped, options);
  local->locked = given.at(3).toBool();
  local->before_step = given.at(4).toStringRef();
  local->after_step = given.at(5).toStringRef();
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::int64_t number = next_++;
  locals_.emplace(number, std::move(local));
  return number;
}

// Number, context.
bool LocalOptimizers::step(const Values& given) {
  const auto local = find(given.at(0).toInt());
  const std::int64_t context = given.at(1).toInt();
  std::unordered_map<const c10::TensorImpl*, at::Tensor> gradients;
  bool had_part = true;
  try {
    for (auto& [tensor, gradient] : dist_gradients(context)) gradients.emplace(tensor.unsafeGetTensorImpl(), gradient);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound) throw;
    had_part = false;
  }
  const auto hook = [&](const std::string& name) {
    if (!name.empty()) Functions::instance().call(name, {context});
  };
  std::unique_lock<std::mutex> alone(step_mutex_, std::defer_lock), lock(local->mutex, std::defer_lock);
  {
    const FunctionPool::Wait wait;  // hooks of who has them may call others
    if (local->locked) alone.lock();
    lock.lock();
  }
  const auto session = Session::current();
  const Devices& devices = session->devices().own;
  after_default_streams(current_streams(devices));  // after what the last step of others did on a GPU
  hook(local->before_step);
  for (std::size_t i = 0; i < local->parameters.size(); ++i) {
    const auto found = gradients.find(local->parameters[i].unsafeGetTensorImpl());
    local->stepped[i].mutable_grad() = found == gradients.end() ? at::Tensor() : found->second;
    hold_for_current_stream(local->stepped[i].mutable_grad());  // the context may go before a GPU has read it
  }
  local->optimizer->step();
  for (at::Tensor& one : local->stepped) one.mutable_grad().reset();
  hook(local->after_step);
  before_default_streams(current_streams(devices));
  return had_part;
}

// Number, name, value.
void LocalOptimizers::set_option(const Values& given) {
  const auto local = find(given.at(0).toInt());
  std::unique_lock<std::mutex> lock(local->mutex, std::defer_lock);
  {
    const FunctionPool::Wait wait;  // a step's hooks may call others
    lock.lock();
  }
  local->optimizer->set_option({given.at(1).toStringRef(), given.at(2)});
}

void LocalOptimizers::register_functions() {
  auto& functions = Functions::instance();
  functions.add_own(kMake, [this](const Values& given) { return make(given); });
  functions.add_own(kStep, [this](const Values& given) { return at::IValue(step(given)); });
  functions.add_own(kSetOption, [this](const Values& given) {
    set_option(given);
    return at::IValue();
  });
  functions.add_own(kDrop, [this](const Values& given) {
    std::shared_ptr<Local> dropped;  // without the lock
    const std::lock_guard<std::mutex> lock(mutex_);
    if (auto found = locals_.extract(given.at(0).toInt())) dropped = std::move(found.mapped());
    return at::IValue();
  });
}

}  // namespace tandem::rpc
