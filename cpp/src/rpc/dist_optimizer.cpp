#include "tandem/dist_optimizer.h"

#include <torch/csrc/distributed/autograd/context/container.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>

#include "base/invalid.h"
#include "rpc/functions.h"
#include "rpc/local_optimizers.h"
#include "rpc/session.h"
#include "tandem/dist_autograd.h"

namespace tandem::rpc {
namespace {

// All of them; the first failure is thrown once none is under way.
std::vector<at::IValue> wait_for_all(const std::vector<Future>& calls) {
  std::optional<Error> failure;
  std::vector<at::IValue> results;
  for (const Future& call : calls) {
    try {
      results.push_back(call.wait());
    } catch (const Error& error) {
      if (!failure) failure = error;
    }
  }
  if (failure) throw *failure;
  return results;
}

at::IValue options_value(const std::vector<Option>& options) {
  c10::impl::GenericList list(c10::AnyType::get());
  for (const Option& option : options) list.push_back(c10::ivalue::Tuple::create({at::IValue(option.name), option.value}));
  return list;
}

}  // namespace

struct DistributedOptimizer::Parts {
  std::vector<RRef> parameters;
  std::map<std::string, std::int64_t> locals;  // by owner, the number of its optimizer there

  // What each owner gets: the number of its optimizer, and `arguments`.
  std::vector<Future> call(const char* function, const Values& arguments) const {
    const WithContext none(-1);
    std::vector<Future> calls;
    for (const auto& [owner, local] : locals) {
      Values given{at::IValue(local)};
      given.insert(given.end(), arguments.begin(), arguments.end());
      calls.push_back(rpc_async(owner, function, std::move(given)));
    }
    return calls;
  }
};

DistributedOptimizer::DistributedOptimizer(const std::string& type, std::vector<RRef> parameters,
                                           const std::vector<Option>& options,
                                           const DistributedOptimizerOptions& distributed)
    : parts_(std::make_unique<Parts>()) {
  if (parameters.empty()) invalid("a distributed optimizer needs parameters");
  parts_->parameters = std::move(parameters);
  const WithContext none(-1);
  std::map<std::string, c10::impl::GenericList> of_owner;
  for (const RRef& parameter : parts_->parameters) {
    of_owner.try_emplace(parameter.owner().name, c10::AnyType::get()).first->second.push_back(parameter.value());
  }
  std::vector<std::string> owners;
  std::vector<Future> made;
  std::optional<Error> failure;
  const auto attempt = [&](const std::function<void()>& body) {
    try {
      body();
    } catch (const Error& error) {
      if (!failure) failure = error;
    }
  };
  for (const auto& [owner, list] : of_owner) {
    attempt([&, &owner = owner, &list = list] {
      made.push_back(rpc_async(owner, LocalOptimizers::kMake,
                               {type, list, options_value(options), distributed.locked, distributed.before_step,
                                distributed.after_step}));
      owners.push_back(owner);
    });
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    attempt([&] { parts_->locals[owners[i]] = made[i].wait().toInt(); });
  }
  if (!failure) return;
  attempt([&] { parts_->call(LocalOptimizers::kDrop, {}); });
  throw *failure;
}

DistributedOptimizer::~DistributedOptimizer() {
  try {
    parts_->call(LocalOptimizers::kDrop, {});
  } catch (const Error&) {
    // The session is over, and with it all that owners keep.
  }
}

void DistributedOptimizer::step(std::int64_t context) {
  const auto had_part = wait_for_all(parts_->call(LocalOptimizers::kStep, {context}));
  if (std::ranges::any_of(had_part, [](const at::IValue& had) { return had.toBool(); })) return;
  throw Error(ErrorCode::kNotFound, "no worker that has parameters of this optimizer had part in context " +
                                        std::to_string(context) +
                                        ": it is over, or its loss does not depend on them; nothing has been stepped");
}

void DistributedOptimizer::set_option(const Option& option) {
  wait_for_all(parts_->call(LocalOptimizers::kSetOption, {option.name, option.value}));
}

}  // namespace tandem::rpc
