// What ranks share beside gradients: statistics of batches, models, the optimizer's work.
#include "core/call/named_options.h"
#include "core/call/named_tensors.h"
#include "core/call/timeout.h"
#include "core/comm/groups.h"
#include "core/training/module_handle.h"
#include "core/training/optimizer_handle.h"
#include "tandem/model_averaging.h"
#include "tandem/shared_parameters.h"
#include "tandem/sync_batch_norm.h"
#include "tandem/zero.h"

struct tdm_model_averager : tandem::capi::Handle<tandem::Kind::kModelAverager> {
  explicit tdm_model_averager(std::shared_ptr<tandem::ModelAverager> made) : averager(std::move(made)) {}
  std::shared_ptr<tandem::ModelAverager> averager;
};

using namespace tandem::capi;

tdm_error* tdm_module_synchronize_batch_norm(tdm_module* module, tdm_process_group* group) {
  return guard("tdm_module_synchronize_batch_norm", [&] {
    auto& native = not_null(module, "module")->module;
    auto converted = tandem::synchronize_batch_norm(native, not_null(group, "group")->group);
    if (!converted) invalid("a " + native->type() + " is no BatchNorm1d, BatchNorm2d or BatchNorm3d, and has none in it");
    native = std::move(converted);
  });
}

tdm_error* tdm_periodic_model_averager_create(tdm_process_group* group, int64_t period, int64_t warmup_steps,
                                              tdm_model_averager** out) {
  return guard("tdm_periodic_model_averager_create", [&] {
    not_null(group, "group");
    not_null(out, "out");
    *out = new tdm_model_averager(tandem::periodic_model_averager(group->group, period, warmup_steps));
  });
}

tdm_error* tdm_hierarchical_model_averager_create(const int64_t* periods, tdm_process_group* const* groups,
                                                  size_t count, int64_t warmup_steps, tdm_model_averager** out) {
  return guard("tdm_hierarchical_model_averager_create", [&] {
    not_null(out, "out");
    check_count(count, "groups");
    if (count != 0) {
      not_null(periods, "periods");
      not_null(groups, "groups");
    }
    std::vector<std::pair<std::int64_t, std::shared_ptr<tandem::ProcessGroup>>> levels;
    for (std::size_t i = 0; i < count; ++i) levels.emplace_back(periods[i], not_null(groups[i], "groups[]")->group);
    *out = new tdm_model_averager(tandem::hierarchical_model_averager(std::move(levels), warmup_steps));
  });
}

void tdm_model_averager_free(tdm_model_averager* averager) {
  tandem::capi::free_handle(averager);
}

tdm_error* tdm_model_averager_average(tdm_model_averager* averager, tdm_tensor* const* parameters,
                                      size_t parameter_count, int32_t* averaged) {
  return guard("tdm_model_averager_average", [&] {
    not_null(averager, "averager");
    const bool did = averager->averager->average_parameters(unwrap_list(parameters, parameter_count, "parameters"));
    if (averaged) *averaged = did;
  });
}

tdm_error* tdm_post_local_sgd_optimizer_create(tdm_optimizer* optimizer, tdm_model_averager* averager,
                                               tdm_optimizer** out) {
  return guard("tdm_post_local_sgd_optimizer_create", [&] {
    not_null(optimizer, "optimizer");
    not_null(averager, "averager");
    not_null(out, "out");
    *out = new tdm_optimizer(tandem::post_local_sgd_optimizer(optimizer->optimizer, averager->averager));
  });
}

tdm_error* tdm_zero_redundancy_optimizer_create(tdm_process_group* group, const char* type,
                                                tdm_tensor* const* parameters, size_t parameter_count,
                                                const tdm_option* options, size_t option_count, tdm_optimizer** out) {
  return guard("tdm_zero_redundancy_optimizer_create", [&] {
    not_null(group, "group");
    not_null(type, "type");
    not_null(out, "out");
    auto tensors = unwrap_list(parameters, parameter_count, "parameters");
    *out = new tdm_optimizer(std::make_shared<tandem::ZeroRedundancyOptimizer>(group->group, type, std::move(tensors),
                                                                               to_options(options, option_count)));
  });
}

tdm_error* tdm_zero_redundancy_optimizer_consolidate(tdm_optimizer* optimizer, int32_t to) {
  return guard("tdm_zero_redundancy_optimizer_consolidate", [&] {
    auto* zero = dynamic_cast<tandem::ZeroRedundancyOptimizer*>(not_null(optimizer, "optimizer")->optimizer.get());
    if (!zero) {
      invalid(std::string("argument 'optimizer' is of type ") + optimizer->optimizer->type() +
              "; tdm_zero_redundancy_optimizer_create() makes one whose state is spread over ranks");
    }
    zero->consolidate_state(to);
  });
}

tdm_error* tdm_share_parameters(const char* const* names, tdm_tensor* const* tensors, size_t count, const char* model,
                                int64_t timeout_ms, int32_t* made) {
  return guard("tdm_share_parameters", [&] {
    const bool is_new = tandem::share_parameters(to_named(names, tensors, count), {model ? model : "", to_wait(timeout_ms)});
    if (made) *made = is_new;
  });
}
