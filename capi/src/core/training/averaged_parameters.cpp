// Averages of weights.
#include "tandem/averaged_parameters.h"

#include "core/call/named_tensors.h"
#include "core/call/options.h"
#include "core/handles/handles.h"

struct tdm_averaged_parameters : tandem::capi::Handle<tandem::Kind::kAveragedParameters> {
  tdm_averaged_parameters(std::vector<at::Tensor> parameters, std::vector<at::Tensor> buffers,
                          const tandem::optim::AveragedOptions& options)
      : averages(std::move(parameters), std::move(buffers), options) {}

  tandem::optim::AveragedParameters averages;
};

using namespace tandem::capi;

namespace {

tandem::optim::AveragedOptions options_of(const tdm_averaged_parameters_options& given) {
  if (given.averaging != TDM_AVERAGING_SWA && given.averaging != TDM_AVERAGING_EMA) {
    invalid("options->averaging is " + std::to_string(given.averaging) + ", which is no TDM_AVERAGING");
  }
  tandem::optim::AveragedOptions options;
  options.averaging =
      given.averaging == TDM_AVERAGING_EMA ? tandem::optim::Averaging::kEma : tandem::optim::Averaging::kSwa;
  options.decay = given.decay;
  options.use_buffers = given.use_buffers != 0;
  if (given.device.type != TDM_UNCHANGED) options.device = to_device(given.device, "options->device");
  return options;
}

}  // namespace

tdm_error* tdm_averaged_parameters_create(tdm_tensor* const* parameters, size_t parameter_count,
                                          tdm_tensor* const* buffers, size_t buffer_count,
                                          const tdm_averaged_parameters_options* options,
                                          tdm_averaged_parameters** out) {
  return guard("tdm_averaged_parameters_create", [&] {
    not_null(out, "out");
    const auto given = read_options<tdm_averaged_parameters_options>(options, TDM_AVERAGED_PARAMETERS_OPTIONS_INIT,
                                                                     "tdm_averaged_parameters_options");
    *out = new tdm_averaged_parameters(unwrap_list(parameters, parameter_count, "parameters"),
                                       unwrap_list(buffers, buffer_count, "buffers"), options_of(given));
  });
}

void tdm_averaged_parameters_free(tdm_averaged_parameters* averages) {
  tandem::capi::free_handle("tdm_averaged_parameters_free", averages);
}

tdm_error* tdm_averaged_parameters_update(tdm_averaged_parameters* averages) {
  return guard("tdm_averaged_parameters_update", [&] { not_null(averages, "averages")->averages.update(); });
}

tdm_error* tdm_averaged_parameters_swap(tdm_averaged_parameters* averages) {
  return guard("tdm_averaged_parameters_swap", [&] { not_null(averages, "averages")->averages.swap(); });
}

tdm_error* tdm_averaged_parameters_state(const tdm_averaged_parameters* averages, tdm_named_tensors** out) {
  return guard("tdm_averaged_parameters_state", [&] {
    not_null(averages, "averages");
    not_null(out, "out");
    auto list = std::make_unique<tdm_named_tensors>();
    list->items = averages->averages.state();
    *out = list.release();
  });
}

tdm_error* tdm_averaged_parameters_load_state(tdm_averaged_parameters* averages, const char* const* names,
                                              tdm_tensor* const* tensors, size_t count) {
  return guard("tdm_averaged_parameters_load_state", [&] {
    not_null(averages, "averages");
    averages->averages.load_state(to_named(names, tensors, count));
  });
}
