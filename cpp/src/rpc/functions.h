// What peers can call in this process.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "tandem/jit.h"
#include "tandem/rpc.h"

namespace tandem::rpc {

// One a process; it outlives sessions, and what is registered before one is there when the first call comes.
// Thread-safe.
class Functions {
 public:
  static Functions& instance();

  // Errors: kInvalidArgument.
  void add(const std::string& name, Function function);
  void add(const std::string& name, std::shared_ptr<jit::ScriptModule> module);
  // Of the core's own, whose names begin with kOwnPrefix; replaces an earlier one.
  void add_own(const std::string& name, Function function);
  bool remove(const std::string& name);

  // Runs what `name` names: an operator, a function, or a module's method. Throws what that throws; kNotFound.
  at::IValue call(const std::string& name, Values arguments) const;

  static constexpr const char* kOwnPrefix = "tandem.";

 private:
  void check_name(const std::string& name) const;
  std::string known() const;

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Function>> functions_;
  std::map<std::string, std::shared_ptr<jit::ScriptModule>> modules_;
};

constexpr const char* kPing = "tandem.ping";  // does nothing
// Why the worker does not come to shutdown(), a text: "" where it knows of nothing. Not all workers have it.
constexpr const char* kStays = "tandem.stays";

// "aten::add" or "aten::add.Tensor". Throws Error: kNotFound; kInvalidArgument for arguments that fit no overload, and for
// what the operator refuses.
at::IValue call_operator(const std::string& name, Values arguments);

}  // namespace tandem::rpc
