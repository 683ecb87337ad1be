// Loss scaling.
#include "tandem/grad_scaler.h"

#include "core/call/options.h"
#include "core/handles/handles.h"
#include "core/training/optimizer_handle.h"
#include "tandem/runtime.h"

struct tdm_grad_scaler : tandem::capi::Handle<tandem::Kind::kGradScaler> {
  explicit tdm_grad_scaler(const tandem::optim::GradScaler::Settings& settings) : scaler(settings) {}

  tandem::optim::GradScaler scaler;
};

using namespace tandem::capi;

tdm_error* tdm_grad_scaler_create(const tdm_grad_scaler_options* options, tdm_grad_scaler** out) {
  return guard("tdm_grad_scaler_create", [&] {
    not_null(out, "out");
    const auto given =
        read_options<tdm_grad_scaler_options>(options, TDM_GRAD_SCALER_OPTIONS_INIT, "tdm_grad_scaler_options");
    *out = new tdm_grad_scaler(
        {given.init_scale, given.growth_factor, given.backoff_factor, given.growth_interval, given.enabled != 0});
  });
}

void tdm_grad_scaler_free(tdm_grad_scaler* scaler) {
  tandem::capi::free_handle("tdm_grad_scaler_free", scaler);
}

tdm_error* tdm_grad_scaler_scale(tdm_grad_scaler* scaler, const tdm_tensor* tensor, tdm_tensor** out) {
  return guard("tdm_grad_scaler_scale", [&] {
    not_null(scaler, "scaler");
    not_null(out, "out");
    *out = make_tensor_handle(scaler->scaler.scale(unwrap(tensor, "tensor")));
  });
}

tdm_error* tdm_grad_scaler_unscale(tdm_grad_scaler* scaler, tdm_optimizer* optimizer) {
  return guard("tdm_grad_scaler_unscale",
               [&] { not_null(scaler, "scaler")->scaler.unscale(*not_null(optimizer, "optimizer")->optimizer); });
}

tdm_error* tdm_grad_scaler_step(tdm_grad_scaler* scaler, tdm_optimizer* optimizer, std::int32_t* stepped) {
  return guard("tdm_grad_scaler_step", [&] {
    not_null(scaler, "scaler");
    const bool did = scaler->scaler.step(*not_null(optimizer, "optimizer")->optimizer);
    if (stepped) *stepped = did;
    if (!std::exchange(optimizer->stepped, true)) tandem::rearm_exit();
  });
}

tdm_error* tdm_grad_scaler_update(tdm_grad_scaler* scaler, double new_scale) {
  return guard("tdm_grad_scaler_update", [&] {
    not_null(scaler, "scaler");
    if (new_scale > 0) {
      scaler->scaler.update(new_scale);
    } else {
      scaler->scaler.update();
    }
  });
}

tdm_error* tdm_grad_scaler_get_state(const tdm_grad_scaler* scaler, tdm_grad_scaler_state* out) {
  return guard("tdm_grad_scaler_get_state", [&] {
    const auto state = not_null(scaler, "scaler")->scaler.state();
    write_struct<tdm_grad_scaler_state>(not_null(out, "out"),
                                        {sizeof(tdm_grad_scaler_state), state.scale, state.growth_factor,
                                         state.backoff_factor, state.growth_interval, state.growth_tracker},
                                        "tdm_grad_scaler_state");
  });
}

tdm_error* tdm_grad_scaler_set_state(tdm_grad_scaler* scaler, const tdm_grad_scaler_state* state) {
  return guard("tdm_grad_scaler_set_state", [&] {
    not_null(scaler, "scaler");
    const auto given = read_options<tdm_grad_scaler_state>(not_null(state, "state"), TDM_GRAD_SCALER_STATE_INIT,
                                                           "tdm_grad_scaler_state");
    scaler->scaler.set_state(
        {given.scale, given.growth_factor, given.backoff_factor, given.growth_interval, given.growth_tracker});
  });
}
