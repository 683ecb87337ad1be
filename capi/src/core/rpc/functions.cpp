// Functions of the program's and modules that other workers call.
#include <memory>
#include <string>
#include <vector>

#include "core/call/callback.h"
#include "core/rpc/call_values.h"
#include "core/training/module_handle.h"
#include "tandem/jit.h"
#include "tandem/rpc.h"

struct tdm_rpc_result : tandem::capi::Handle<tandem::Kind::kRpcResult> {
  at::IValue value;
};

namespace tandem::capi {
namespace {

using Function = tdm_error* (*)(void* user_data, tdm_value* arguments, std::size_t argument_count,
                                tdm_rpc_result* result);

constexpr const char* kFunction = "a function that workers call";

// Arguments, of which the callback may have taken some.
class GivenValues {
 public:
  explicit GivenValues(const rpc::Values& values) {
    values_.reserve(values.size());
    try {
      for (const at::IValue& value : values) values_.push_back(from_script(value));
    } catch (...) {
      clear();
      throw;
    }
  }
  ~GivenValues() { clear(); }
  GivenValues(const GivenValues&) = delete;
  GivenValues& operator=(const GivenValues&) = delete;

  tdm_value* data() { return values_.data(); }
  std::size_t size() const { return values_.size(); }

 private:
  void clear() {
    for (tdm_value& value : values_) tdm_value_clear(&value);
  }

  std::vector<tdm_value> values_;
};

// What the callback says failed, without what it says of itself: the caller learns which function it was.
[[noreturn]] void throw_given(tdm_error* error) {
  const std::shared_ptr<tdm_error> owned(error, tandem_error_release);
  const bool is_known = owned->code >= TDM_ERROR_INTERNAL && owned->code <= TDM_ERROR_CALLBACK;
  const std::string operation = owned->operation;
  const bool says_where = !operation.empty() && operation != "callback";
  throw Error(is_known ? static_cast<ErrorCode>(owned->code) : ErrorCode::kCallback,
              (says_where ? operation + ": " : "") + std::string(owned->message));
}

at::IValue call_function(Function function, const Callback& callback, const rpc::Values& arguments) {
  const CallbackState state(kFunction);
  GivenValues given(arguments);
  const auto result = std::make_unique<tdm_rpc_result>();
  tdm_error* error = nullptr;
  try {
    error = function(callback.user_data(), given.data(), given.size(), result.get());
  } catch (...) {
    error = thrown_by_callback();
  }
  if (error) throw_given(error);
  return std::move(result->value);
}

}  // namespace
}  // namespace tandem::capi

using namespace tandem::capi;
namespace tr = tandem::rpc;

tdm_error* tdm_rpc_result_set(tdm_rpc_result* result, const tdm_value* value) {
  return guard("tdm_rpc_result_set", [&] {
    not_null(result, "result");
    not_null(value, "value");
    result->value = to_script(*value, "value");
  });
}

tdm_error* tdm_rpc_register_function(const char* name, Function function, void* user_data,
                                     void (*destroy)(void* user_data)) {
  return guard("tdm_rpc_register_function", [&] {
    not_null(name, "name");
    not_null(function, "function");
    const auto callback = std::make_shared<Callback>(user_data);
    tr::register_function(name, [function, callback](const tr::Values& arguments) {
      return call_function(function, *callback, arguments);
    });
    callback->adopt(destroy);
  });
}

tdm_error* tdm_rpc_register_module(const char* name, tdm_module* module) {
  return guard("tdm_rpc_register_module", [&] {
    not_null(name, "name");
    not_null(module, "module");
    torch::nn::Module& held = module->module->get();
    if (!dynamic_cast<tandem::jit::ScriptModule*>(&held)) {
      invalid("argument 'module' is of type " + module->module->type() + ", and none of TorchScript");
    }
    tr::register_module(name, std::dynamic_pointer_cast<tandem::jit::ScriptModule>(held.shared_from_this()));
  });
}

tdm_error* tdm_rpc_unregister(const char* name, int32_t* existed) {
  return guard("tdm_rpc_unregister", [&] {
    not_null(name, "name");
    const bool was_there = tr::unregister(name);
    if (existed) *existed = was_there;
  });
}
