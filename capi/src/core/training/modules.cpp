// Modules of torch::nn by name.
#include <algorithm>

#include "core/call/named_options.h"
#include "core/operators/intra_op.h"
#include "core/operators/on_cpu.h"
#include "core/training/device_mismatch.h"
#include "core/training/module_handle.h"
#include "tandem/batch_norm.h"
#include "tandem/generate.h"
#include "tandem/nn_parametrizations.h"
#include "tandem/runtime.h"

using namespace tandem::capi;

namespace {

tdm_named_tensors* named(const torch::OrderedDict<std::string, at::Tensor>& tensors, const tandem::nn::Module& module) {
  auto list = std::make_unique<tdm_named_tensors>();
  for (const auto& item : tensors) {
    if (item.value().defined()) list->items.emplace_back(item.key(), item.value());
  }
  for (const auto& [name, kept] : module.tied()) {
    if (const at::Tensor* tensor = tensors.find(kept)) list->items.emplace_back(name, *tensor);
  }
  return list.release();
}

bool is_module_type(const char* type) {
  const auto types = tandem::nn::module_types();
  return type && std::find(types.begin(), types.end(), type) != types.end();
}

bool forward_is_on_cpu(const torch::nn::Module& module, at::ArrayRef<at::IValue> arguments) {
  return std::all_of(arguments.begin(), arguments.end(), [](const at::IValue& one) { return is_on_cpu(one); }) &&
         is_on_cpu(module.parameters()) && is_on_cpu(module.buffers());
}

// A first call may be the first use of statics of LibTorch (tandem/runtime.h).
void note_call(tdm_module& module) {
  if (module.called.load(std::memory_order_relaxed)) return;
  module.called.store(true, std::memory_order_relaxed);
  tandem::rearm_exit();
}

}  // namespace

tdm_error* tdm_module_create(const char* type, const tdm_option* options, std::size_t option_count, tdm_module** out) {
  return guard(
      "tdm_module_create",
      [&] {
        not_null(type, "type");
        not_null(out, "out");
        *out = new tdm_module(tandem::nn::make_module(type, to_options(options, option_count)));
      },
      [&] { return is_module_type(type) ? type : nullptr; });
}

void tdm_module_free(tdm_module* module) {
  tandem::capi::free_handle("tdm_module_free", module);
}

tdm_error* tdm_module_forward(tdm_module* module, const tdm_value* arguments, std::size_t argument_count,
                              tdm_value* results, std::size_t* result_count) {
  return guard(
      "tdm_module_forward",
      [&] {
        not_null(module, "module");
        not_null(result_count, "result_count");
        check_count(argument_count, "arguments");
        if (argument_count != 0) not_null(arguments, "arguments");
        if (*result_count != 0) not_null(results, "results");
        c10::SmallVector<at::IValue, 4> values;
        for (std::size_t i = 0; i < argument_count; ++i) {
          values.push_back(to_ivalue(arguments[i], "arguments[" + std::to_string(i) + "]"));
        }
        std::vector<at::IValue> given;
        run_large([&] { return forward_is_on_cpu(module->module->get(), values); },
                  [&] {
                    try {
                      given = module->module->forward(values);
                    } catch (const c10::Error& error) {
                      explain_devices(*module->module, values, error);
                      throw;
                    }
                  });
        if (given.size() > *result_count) {
          invalid("gives " + std::to_string(given.size()) + " results, but there is room for " +
                  std::to_string(*result_count));
        }
        Results owned(given.size());
        for (const at::IValue& value : given) owned.add(value);
        owned.hand_over(results);
        *result_count = given.size();
        note_call(*module);
      },
      [&] { return if_live(module) ? module->module->type().c_str() : nullptr; });
}

tdm_error* tdm_module_named_parameters(const tdm_module* module, tdm_named_tensors** out) {
  return guard("tdm_module_named_parameters", [&] {
    not_null(module, "module");
    not_null(out, "out");
    *out = named(module->module->get().named_parameters(), *module->module);
  });
}

tdm_error* tdm_module_named_buffers(const tdm_module* module, tdm_named_tensors** out) {
  return guard("tdm_module_named_buffers", [&] {
    not_null(module, "module");
    not_null(out, "out");
    *out = named(module->module->get().named_buffers(), *module->module);
  });
}

tdm_error* tdm_module_train(tdm_module* module, std::int32_t on) {
  return guard("tdm_module_train", [&] { not_null(module, "module")->module->get().train(on != 0); });
}

std::int32_t tdm_module_is_training(const tdm_module* module) {
  const auto* const live = if_live(module);
  return live && live->module->get().is_training() ? 1 : 0;
}

tdm_error* tdm_module_to(tdm_module* module, tdm_device device, tdm_dtype dtype) {
  return guard("tdm_module_to", [&] {
    not_null(module, "module");
    std::optional<at::Device> target;
    if (device.type != TDM_UNCHANGED) target = to_device(device, "device");
    std::optional<at::ScalarType> type;
    if (dtype != TDM_UNCHANGED) type = to_scalar_type(dtype, "dtype");
    module->module->to(target, type);
  });
}

tdm_error* tdm_module_set_batch_norm_momentum(tdm_module* module, const tdm_value* momentum, tdm_value* before) {
  return guard("tdm_module_set_batch_norm_momentum", [&] {
    not_null(module, "module");
    const at::IValue given = to_ivalue(*not_null(momentum, "momentum"), "momentum");
    if (!given.isNone() && !given.isInt() && !given.isDouble()) {
      invalid("argument 'momentum' must be a number or none, not " + describe(*momentum));
    }
    std::optional<double> number;
    if (!given.isNone()) number = given.toScalar().toDouble();
    const auto was = tandem::nn::set_batch_norm_momentum(module->module->get(), number);
    if (before) *before = from_ivalue(was ? at::IValue(*was) : at::IValue());
  });
}

tdm_error* tdm_module_types(tdm_strings** out) {
  return guard("tdm_module_types", [&] {
    not_null(out, "out");
    *out = new tdm_strings(tandem::nn::module_types());
  });
}

tdm_error* tdm_module_clone(const tdm_module* module, tdm_module** out) {
  return guard("tdm_module_clone", [&] {
    not_null(module, "module");
    not_null(out, "out");
    *out = new tdm_module(module->module->clone());
  });
}

tdm_error* tdm_module_parametrize(tdm_module* module, const char* kind, const char* name, const tdm_option* options,
                                  std::size_t option_count) {
  return guard("tdm_module_parametrize", [&] {
    not_null(module, "module");
    not_null(kind, "kind");
    not_null(name, "name");
    tandem::nn::parametrize(*module->module, kind, name, to_options(options, option_count));
  });
}

tdm_error* tdm_module_remove_parametrizations(tdm_module* module, const char* name) {
  return guard("tdm_module_remove_parametrizations", [&] {
    not_null(module, "module");
    tandem::nn::remove_parametrizations(*module->module, not_null(name, "name"));
  });
}

tdm_error* tdm_module_generate(tdm_module* module, const tdm_tensor* input_ids, const tdm_option* options,
                               std::size_t option_count, tdm_tensor** out) {
  return guard(
      "tdm_module_generate",
      [&] {
        not_null(module, "module");
        const at::Tensor& ids = unwrap(input_ids, "input_ids");
        not_null(out, "out");
        const tandem::GenerateOptions how = tandem::generate_options(to_options(options, option_count));
        at::Tensor made;
        run_large([&] { return is_on_cpu(ids) && is_on_cpu(module->module->get().parameters()); },
                  [&] { made = tandem::generate(*module->module, ids, how); });
        *out = make_tensor_handle(std::move(made));
        note_call(*module);
      },
      [&] { return if_live(module) ? module->module->type().c_str() : nullptr; });
}
