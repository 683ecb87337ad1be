// What a worker keeps for others' distributed optimizers: an optimizer of its own parameters.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tandem/optim.h"
#include "tandem/rpc.h"

namespace tandem::rpc {

// One a process; its functions are called by other workers. Thread-safe.
class LocalOptimizers {
 public:
  static LocalOptimizers& instance();

  static constexpr const char* kMake = "tandem.optim.make";
  static constexpr const char* kStep = "tandem.optim.step";
  static constexpr const char* kSetOption = "tandem.optim.set_option";
  static constexpr const char* kDrop = "tandem.optim.drop";
  // Under these names.
  void register_functions();

  std::size_t count() const;

 private:
  struct Local;

  at::IValue make(const Values& given);
  // Whether this worker had part in the context.
  bool step(const Values& given);
  void set_option(const Values& given);
  std::shared_ptr<Local> find(std::int64_t number) const;

  mutable std::mutex mutex_;
  std::map<std::int64_t, std::shared_ptr<Local>> locals_;
  std::int64_t next_ = 1;
  std::mutex step_mutex_;  // of locked ones
};

}  // namespace tandem::rpc
