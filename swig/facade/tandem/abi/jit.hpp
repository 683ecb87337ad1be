// Modules of TorchScript, which are modules like others; see docs/jit.md.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/abi/callback.hpp"
#include "tandem/abi/nn.hpp"

namespace tandem::abi {

// A file of torch.jit.save.
inline Module jit_load(const std::string& path) {
  tdm_module* made = nullptr;
  check(tdm_jit_load(path.c_str(), &made));
  return Module::owned(made);
}
inline Module jit_load_bytes(const void* data, size_t size) {
  tdm_module* made = nullptr;
  check(tdm_jit_load_bytes(data, size, &made));
  return Module::owned(made);
}
// Functions of TorchScript as methods of a module.
inline Module jit_compile(const std::string& source) {
  tdm_module* made = nullptr;
  check(tdm_jit_compile(source.c_str(), &made));
  return Module::owned(made);
}
inline void jit_save(const Module& module, const std::string& path) {
  check(tdm_jit_save(module.raw(), path.c_str()));
}
inline std::string jit_save_bytes(const Module& module) {
  tdm_string* bytes = nullptr;
  check(tdm_jit_save_bytes(module.raw(), &bytes));
  return take_string(bytes);
}
inline std::vector<std::string> jit_methods(const Module& module) {
  tdm_strings* names = nullptr;
  check(tdm_jit_methods(module.raw(), &names));
  return take_strings(names);
}
inline std::string jit_schema(const Module& module, const std::string& method) {
  tdm_string* schema = nullptr;
  check(tdm_jit_schema(module.raw(), method.c_str(), &schema));
  return take_string(schema);
}
// One result.
inline Results jit_call(const Module& module, const std::string& method, const Arguments& arguments) {
  Results result(1);
  check(tdm_jit_call(module.raw(), method.c_str(), arguments.data(), arguments.size(), result.data()));
  return result;
}

// What a function of the program computes of its inputs, as a module, whose own the tensors with names are. What the
// function throws ends it; Error::cause() is the exception itself.
inline Module jit_trace(const std::function<std::vector<Tensor>(std::vector<Tensor>)>& function,
                        const TensorList& inputs, const std::vector<std::string>& parameter_names,
                        const TensorList& parameters, const std::vector<std::string>& buffer_names,
                        const TensorList& buffers) {
  if (parameter_names.size() != parameters.size() || buffer_names.size() != buffers.size()) {
    throw Error(TDM_ERROR_INVALID_ARGUMENT, "jit_trace", "names and tensors differ in number");
  }
  Arguments values;
  for (size_t i = 0; i < inputs.size(); ++i) values.add_borrowed(inputs.data()[i]);
  const auto own_names = c_strings(parameter_names), other_names = c_strings(buffer_names);
  tdm_jit_trace trace = TDM_JIT_TRACE_INIT;
  trace.inputs = values.data();
  trace.input_count = values.size();
  trace.parameter_names = own_names.data();
  trace.parameters = parameters.data();
  trace.parameter_count = parameters.size();
  trace.buffer_names = other_names.data();
  trace.buffers = buffers.data();
  trace.buffer_count = buffers.size();
  trace.user_data = const_cast<void*>(static_cast<const void*>(&function));
  trace.function = [](void* user_data, const tdm_jit_trace_call* call) {
    return callback::guarded([&] {
      std::vector<Tensor> given;
      for (size_t i = 0; i < call->input_count; ++i) {
        tdm_tensor* shared = nullptr;
        check(tdm_tensor_share(call->inputs[i], &shared));
        given.emplace_back(shared);
      }
      using Function = std::function<std::vector<Tensor>(std::vector<Tensor>)>;
      const std::vector<Tensor> made = (*static_cast<const Function*>(user_data))(std::move(given));
      *call->output_count = made.size();
      // Handles of the callback's scope, which outlive what `made` holds.
      for (size_t i = 0; i < made.size() && i < call->output_room; ++i) {
        if (made[i].raw()) check(tdm_tensor_share(made[i].raw(), &call->outputs[i]));
      }
    });
  };
  tdm_module* module = nullptr;
  check(tdm_jit_trace_function(&trace, &module));
  return Module::owned(module);
}

}  // namespace tandem::abi
