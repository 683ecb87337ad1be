#include "rpc/functions.h"

#include "base/invalid.h"

namespace tandem::rpc {

Functions& Functions::instance() {
  static auto* instance = new Functions;  // threads of LibTorch's may call at the process's end
  return *instance;
}

// With the mutex.
void Functions::check_name(const std::string& name) const {
  if (name.empty()) invalid("a registered function needs a name");
  if (name.find("::") != std::string::npos) {
    invalid("'" + name + "' cannot be registered: names with :: are those of LibTorch's operators");
  }
  if (name.starts_with(kOwnPrefix)) {
    invalid("'" + name + "' cannot be registered: names that begin with '" + kOwnPrefix + "' are Tandem's own");
  }
  if (functions_.contains(name) || modules_.contains(name)) {
    invalid("'" + name + "' is registered already; unregister it first, or give another name");
  }
}

void Functions::add(const std::string& name, Function function) {
  if (!function) invalid("'" + name + "' cannot be registered: the function is empty");
  const std::lock_guard<std::mutex> lock(mutex_);
  check_name(name);
  functions_.emplace(name, std::make_shared<const Function>(std::move(function)));
}

void Functions::add(const std::string& name, std::shared_ptr<jit::ScriptModule> module) {
  if (!module) invalid("'" + name + "' cannot be registered: the module is null");
  const std::lock_guard<std::mutex> lock(mutex_);
  check_name(name);
  modules_.emplace(name, std::move(module));
}

void Functions::add_own(const std::string& name, Function function) {
  const std::lock_guard<std::mutex> lock(mutex_);
  functions_.insert_or_assign(name, std::make_shared<const Function>(std::move(function)));
}

bool Functions::remove(const std::string& name) {
  // What they hold is destroyed without the lock: it may call back.
  std::shared_ptr<const Function> function;
  std::shared_ptr<jit::ScriptModule> module;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = functions_.find(name); found != functions_.end() && !name.starts_with(kOwnPrefix)) {
    function = std::move(found->second);
    functions_.erase(found);
    return true;
  }
  if (const auto found = modules_.find(name); found != modules_.end()) {
    module = std::move(found->second);
    modules_.erase(found);
    return true;
  }
  return false;
}

std::string Functions::known() const {
  constexpr int kMost = 20;
  std::string text;
  int listed = 0;
  const auto list = [&](const std::string& name) {
    if (name.starts_with(kOwnPrefix) || listed > kMost) return;
    text += (listed == 0 ? "" : ", ") + (listed == kMost ? std::string("...") : name);
    ++listed;
  };
  for (const auto& [name, function] : functions_) list(name);
  for (const auto& [name, module] : modules_) list(name + ".*");
  return text.empty() ? "nothing is registered there" : "registered are " + text;
}

at::IValue Functions::call(const std::string& name, Values arguments) const {
  if (name.find("::") != std::string::npos) return call_operator(name, std::move(arguments));
  std::shared_ptr<const Function> function;
  std::shared_ptr<jit::ScriptModule> module;
  std::string method;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto found = functions_.find(name); found != functions_.end()) {
      function = found->second;
    } else if (const auto dot = name.rfind('.'); dot != std::string::npos) {
      const auto of = modules_.find(name.substr(0, dot));
      if (of != modules_.end()) module = of->second;
      method = name.substr(dot + 1);
    }
    if (!function && !module) {
      throw Error(ErrorCode::kNotFound, "no function of that name: " + known() + "; operators have :: in their names");
    }
  }
  return function ? (*function)(arguments) : module->call(method, std::move(arguments));
}

void register_function(const std::string& name, Function function) {
  Functions::instance().add(name, std::move(function));
}

void register_module(const std::string& name, std::shared_ptr<jit::ScriptModule> module) {
  Functions::instance().add(name, std::move(module));
}

bool unregister(const std::string& name) {
  return Functions::instance().remove(name);
}

}  // namespace tandem::rpc
