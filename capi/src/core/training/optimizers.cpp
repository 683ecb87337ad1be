// Optimizers by name.
#include "core/call/callback.h"
#include "core/call/named_options.h"
#include "core/call/named_tensors.h"
#include "core/operators/intra_op.h"
#include "core/operators/on_cpu.h"
#include "core/training/optimizer_handle.h"
#include "core/training/pt_values.h"
#include "tandem/optimizer_state_dict.h"
#include "tandem/runtime.h"

using namespace tandem::capi;

namespace {

// What TDM_ALL_GROUPS is not.
std::size_t number_of(std::int64_t group) {
  if (group < 0) {
    throw tandem::Error(tandem::ErrorCode::kOutOfRange, "argument 'group' is " + std::to_string(group) +
                                                            "; groups are counted from 0, TDM_ALL_GROUPS is all");
  }
  return static_cast<std::size_t>(group);
}

std::vector<at::Tensor> parameters_of(tdm_tensor* const* parameters, std::size_t count) {
  auto tensors = unwrap_list(parameters, count, "parameters");
  if (tensors.empty()) invalid("argument 'parameters' is empty: nothing would be trained");
  return tensors;
}

}  // namespace

tdm_error* tdm_optimizer_create(const char* type, tdm_tensor* const* parameters, std::size_t parameter_count,
                                const tdm_option* options, std::size_t option_count, tdm_optimizer** out) {
  return guard("tdm_optimizer_create", [&] {
    not_null(type, "type");
    not_null(out, "out");
    *out = new tdm_optimizer(tandem::optim::make_optimizer(type, parameters_of(parameters, parameter_count),
                                                           to_options(options, option_count)));
  });
}

void tdm_optimizer_free(tdm_optimizer* optimizer) {
  tandem::capi::free_handle("tdm_optimizer_free", optimizer);
}

tdm_error* tdm_optimizer_add_group(tdm_optimizer* optimizer, tdm_tensor* const* parameters, std::size_t parameter_count,
                                   const tdm_option* options, std::size_t option_count) {
  return guard("tdm_optimizer_add_group", [&] {
    not_null(optimizer, "optimizer");
    optimizer->optimizer->add_group({parameters_of(parameters, parameter_count), to_options(options, option_count)});
  });
}

tdm_error* tdm_optimizer_group_count(const tdm_optimizer* optimizer, std::int64_t* out) {
  return guard("tdm_optimizer_group_count", [&] {
    not_null(optimizer, "optimizer");
    not_null(out, "out");
    *out = static_cast<std::int64_t>(optimizer->optimizer->group_count());
  });
}

tdm_error* tdm_optimizer_step(tdm_optimizer* optimizer) {
  return guard("tdm_optimizer_step", [&] {
    not_null(optimizer, "optimizer");
    run_large([&] { return is_on_cpu(optimizer->optimizer->parameters()); }, [&] { optimizer->optimizer->step(); });
    if (!std::exchange(optimizer->stepped, true)) tandem::rearm_exit();
  });
}

tdm_error* tdm_optimizer_step_closure(tdm_optimizer* optimizer,
                                      tdm_error* (*closure)(void* user_data, tdm_tensor** loss), void* user_data,
                                      void (*destroy)(void* user_data), tdm_tensor** loss) {
  return guard("tdm_optimizer_step_closure", [&] {
    // The closure may free the handle.
    const auto stepping = not_null(optimizer, "optimizer")->optimizer;
    not_null(closure, "closure");
    Callback callback(user_data);
    if (!std::exchange(optimizer->stepped, true)) tandem::rearm_exit();
    const at::Tensor first = stepping->step([&] {
      at::Tensor computed;
      tdm_tensor* handle = nullptr;
      run_callback(
          "a closure", [&] { return closure(callback.user_data(), &handle); },
          [&] {
            if (handle) computed = unwrap(handle, "loss").detach();
          });
      return computed;
    });
    if (loss) *loss = make_tensor_handle(first);
    callback.adopt(destroy);
  });
}

tdm_error* tdm_optimizer_zero_grad(tdm_optimizer* optimizer, std::int32_t set_to_none) {
  return guard("tdm_optimizer_zero_grad",
               [&] { not_null(optimizer, "optimizer")->optimizer->zero_grad(set_to_none != 0); });
}

tdm_error* tdm_optimizer_set_option(tdm_optimizer* optimizer, std::int64_t group, const tdm_option* option) {
  return guard("tdm_optimizer_set_option", [&] {
    not_null(optimizer, "optimizer");
    const auto set = to_option(*not_null(option, "option"), "option->name");
    if (group == TDM_ALL_GROUPS) {
      optimizer->optimizer->set_option(set);
    } else {
      optimizer->optimizer->set_option(number_of(group), set);
    }
  });
}

tdm_error* tdm_optimizer_get_option(const tdm_optimizer* optimizer, std::int64_t group, const char* name,
                                    tdm_value* out) {
  return guard("tdm_optimizer_get_option", [&] {
    not_null(optimizer, "optimizer");
    not_null(name, "name");
    not_null(out, "out");
    const tandem::optim::Optimizer& of = *optimizer->optimizer;
    *out = from_ivalue(group == TDM_ALL_GROUPS ? of.get_option(name) : of.get_option(number_of(group), name));
  });
}

tdm_error* tdm_optimizer_state(const tdm_optimizer* optimizer, tdm_named_tensors** out) {
  return guard("tdm_optimizer_state", [&] {
    not_null(optimizer, "optimizer");
    not_null(out, "out");
    auto list = std::make_unique<tdm_named_tensors>();
    list->items = optimizer->optimizer->state();
    *out = list.release();
  });
}

tdm_error* tdm_optimizer_load_state(tdm_optimizer* optimizer, const char* const* names, tdm_tensor* const* tensors,
                                    std::size_t count) {
  return guard("tdm_optimizer_load_state", [&] {
    not_null(optimizer, "optimizer");
    optimizer->optimizer->load_state(to_named(names, tensors, count));
  });
}

tdm_error* tdm_optimizer_state_dict(const tdm_optimizer* optimizer, tdm_value* out) {
  return guard("tdm_optimizer_state_dict", [&] {
    not_null(optimizer, "optimizer");
    not_null(out, "out");
    *out = from_pt(tandem::optimizer_state_dict(*optimizer->optimizer));
  });
}

tdm_error* tdm_optimizer_load_state_dict(tdm_optimizer* optimizer, const tdm_value* state_dict) {
  return guard("tdm_optimizer_load_state_dict", [&] {
    not_null(optimizer, "optimizer");
    tandem::load_optimizer_state_dict(*optimizer->optimizer, to_pt(*not_null(state_dict, "state_dict"), "state_dict"));
  });
}
