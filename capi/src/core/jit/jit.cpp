// Modules of TorchScript.
#include "tandem/jit.h"

#include <algorithm>

#include "core/call/callback.h"
#include "core/call/options.h"
#include "core/call/strings.h"
#include "core/jit/script_values.h"
#include "core/operators/intra_op.h"
#include "core/operators/on_cpu.h"
#include "core/operators/values.h"
#include "core/training/module_handle.h"
#include "tandem/runtime.h"

namespace tandem::capi {
namespace {

// As the registry's modules are.
class Scripted : public nn::Module {
 public:
  explicit Scripted(std::shared_ptr<jit::ScriptModule> script)
      : nn::Module("ScriptModule"), script_(std::move(script)) {}

  torch::nn::Module& get() const override { return *script_; }
  jit::ScriptModule& script() const { return *script_; }

  std::vector<at::IValue> forward(at::ArrayRef<at::IValue> arguments) override {
    const at::IValue result = script_->call("forward", arguments.vec());
    if (!result.isTuple()) return {result};
    const auto& elements = result.toTupleRef().elements();
    return std::vector<at::IValue>(elements.begin(), elements.end());
  }

 protected:
  std::unique_ptr<nn::Module> copy() const override {
    return std::make_unique<Scripted>(std::dynamic_pointer_cast<jit::ScriptModule>(script_->clone()));
  }

 private:
  const std::shared_ptr<jit::ScriptModule> script_;
};

// Of one that is not NULL, which is asked before other arguments, as this is after them.
jit::ScriptModule& script_of(const tdm_module* module) {
  const nn::Module& held = *module->module;
  if (const auto* const scripted = dynamic_cast<const Scripted*>(&held)) return scripted->script();
  invalid("argument 'module' is of type " + held.type() + ", and none of TorchScript");
}

tdm_module* make_scripted(std::shared_ptr<jit::ScriptModule> script) {
  return new tdm_module(std::make_unique<Scripted>(std::move(script)));
}

bool call_is_on_cpu(const torch::nn::Module& module, const std::vector<at::IValue>& arguments) {
  bool on_cpu = is_on_cpu(module.parameters()) && is_on_cpu(module.buffers());
  for (at::IValue argument : arguments) {
    jit::visit_tensors(argument, [&](at::Tensor& tensor) { on_cpu = on_cpu && is_on_cpu(tensor); });
  }
  return on_cpu;
}

std::vector<at::IValue> values_of(const tdm_value* values, std::size_t count, const std::string& name) {
  check_count(count, name.c_str());
  if (count != 0) not_null(values, name.c_str());
  std::vector<at::IValue> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(to_script(values[i], element_name(name, i)));
  return made;
}

NamedTensors named_tensors_of(const char* const* names, tdm_tensor* const* tensors, std::size_t count,
                              const std::string& field) {
  check_count(count, field.c_str());
  if (count != 0) {
    not_null(names, (field + "_names").c_str());
    not_null(tensors, field.c_str());
  }
  NamedTensors named;
  for (std::size_t i = 0; i < count; ++i) {
    named.emplace_back(not_null(names[i], element_name(field + "_names", i).c_str()),
                       unwrap(tensors[i], element_name(field, i).c_str()));
  }
  return named;
}

// Lists and dicts of tensors, as LibTorch's tracer wants them.
at::IValue traceable(const at::IValue& value, const std::string& name) {
  if (value.isTensor()) return value;
  if (value.isTensorList()) return value;
  if (value.isTuple()) {
    std::vector<at::IValue> elements;
    for (const at::IValue& one : value.toTupleRef().elements()) elements.push_back(traceable(one, name));
    return c10::ivalue::Tuple::create(std::move(elements));
  }
  if (value.isList()) {
    c10::List<at::Tensor> tensors;
    for (const at::IValue& one : value.toListRef()) {
      if (!one.isTensor())
        invalid("argument '" + name + "' has a list with other elements than tensors, which cannot be traced");
      tensors.push_back(one.toTensor());
    }
    return tensors;
  }
  if (value.isGenericDict()) {
    c10::Dict<std::string, at::Tensor> tensors;
    for (const auto& item : value.toGenericDict()) {
      if (!item.key().isString() || !item.value().isTensor()) {
        invalid("argument '" + name +
                "' has a dict with other values than tensors, or other keys than strings, which "
                "cannot be traced");
      }
      tensors.insert(item.key().toStringRef(), item.value().toTensor());
    }
    return tensors;
  }
  invalid("argument '" + name + "' is, or has, what is no tensor and cannot be traced");
}

std::vector<at::Tensor> call_traced(const tdm_jit_trace& trace, const std::vector<at::IValue>& inputs) {
  constexpr std::size_t kRoom = 256;
  std::vector<at::Tensor> tensors, outputs;
  for (at::IValue input : inputs) jit::visit_tensors(input, [&](at::Tensor& tensor) { tensors.push_back(tensor); });
  std::vector<tdm_tensor*> handles(kRoom);
  std::size_t given = 0;
  run_callback(
      "a traced function",
      [&] {
        std::vector<tdm_tensor*> own;
        for (const at::Tensor& tensor : tensors) own.push_back(make_tensor_handle(tensor));
        const tdm_jit_trace_call call{
            sizeof(tdm_jit_trace_call), own.data(), own.size(), handles.data(), handles.size(), &given};
        return trace.function(trace.user_data, &call);
      },
      [&] {
        if (given > kRoom) {
          invalid("the traced function gave " + std::to_string(given) + " outputs, but there is room for " +
                  std::to_string(kRoom));
        }
        outputs = unwrap_list(handles.data(), given, "call->outputs");
      });
  return outputs;
}

}  // namespace
}  // namespace tandem::capi

using namespace tandem::capi;
namespace tj = tandem::jit;

tdm_error* tdm_jit_load(const char* path, tdm_module** out) {
  return guard("tdm_jit_load", [&] {
    not_null(path, "path");
    not_null(out, "out");
    *out = make_scripted(tj::load(path));
  });
}

tdm_error* tdm_jit_load_bytes(const void* data, std::size_t data_bytes, tdm_module** out) {
  return guard("tdm_jit_load_bytes", [&] {
    not_null(data, "data");
    not_null(out, "out");
    constexpr std::size_t kMost = std::size_t{1} << 36;
    if (data_bytes > kMost)
      invalid("argument 'data_bytes' is " + std::to_string(data_bytes) + ", more than an archive has");
    *out = make_scripted(tj::load_bytes({static_cast<const std::uint8_t*>(data), data_bytes}));
  });
}

tdm_error* tdm_jit_compile(const char* source, tdm_module** out) {
  return guard("tdm_jit_compile", [&] {
    not_null(source, "source");
    not_null(out, "out");
    *out = make_scripted(tj::compile(source));
  });
}

tdm_error* tdm_jit_save(const tdm_module* module, const char* path) {
  return guard("tdm_jit_save", [&] {
    not_null(module, "module");
    not_null(path, "path");
    script_of(module).save(path);
  });
}

tdm_error* tdm_jit_save_bytes(const tdm_module* module, tdm_string** out) {
  return guard("tdm_jit_save_bytes", [&] {
    not_null(module, "module");
    not_null(out, "out");
    *out = make_string(script_of(module).save_bytes());
  });
}

tdm_error* tdm_jit_methods(const tdm_module* module, tdm_strings** out) {
  return guard("tdm_jit_methods", [&] {
    not_null(module, "module");
    not_null(out, "out");
    *out = new tdm_strings(script_of(module).methods());
  });
}

tdm_error* tdm_jit_schema(const tdm_module* module, const char* method, tdm_string** out) {
  return guard("tdm_jit_schema", [&] {
    not_null(module, "module");
    not_null(method, "method");
    not_null(out, "out");
    *out = make_string(script_of(module).schema(method));
  });
}

tdm_error* tdm_jit_call(tdm_module* module, const char* method, const tdm_value* arguments, std::size_t argument_count,
                        tdm_value* out) {
  return guard("tdm_jit_call", [&] {
    not_null(module, "module");
    not_null(method, "method");
    not_null(out, "out");
    std::vector<at::IValue> values = values_of(arguments, argument_count, "arguments");
    auto& script = script_of(module);
    at::IValue result;
    run_large([&] { return call_is_on_cpu(script, values); }, [&] { result = script.call(method, std::move(values)); });
    *out = from_script(result);
    if (!module->called.load(std::memory_order_relaxed)) {
      module->called.store(true, std::memory_order_relaxed);
      tandem::rearm_exit();
    }
  });
}

tdm_error* tdm_jit_trace_function(const tdm_jit_trace* trace, tdm_module** out) {
  return guard("tdm_jit_trace_function", [&] {
    not_null(trace, "trace");
    const auto given = read_options<tdm_jit_trace>(trace, TDM_JIT_TRACE_INIT, "tdm_jit_trace");
    not_null(given.function, "trace->function");
    not_null(out, "out");
    std::vector<at::IValue> inputs = values_of(given.inputs, given.input_count, "trace->inputs");
    if (inputs.empty()) invalid("trace->input_count is 0; a traced function takes a tensor at least");
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = traceable(inputs[i], element_name("trace->inputs", i));
    tj::TracedState state;
    state.parameters =
        named_tensors_of(given.parameter_names, given.parameters, given.parameter_count, "trace->parameter");
    state.buffers = named_tensors_of(given.buffer_names, given.buffers, given.buffer_count, "trace->buffer");
    Callback callback(given.user_data);
    *out = make_scripted(tj::trace([&](const std::vector<at::IValue>& own) { return call_traced(given, own); },
                                   std::move(inputs), state));
    callback.adopt(given.destroy);
  });
}
