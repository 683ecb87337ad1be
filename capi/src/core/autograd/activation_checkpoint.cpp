// Activation checkpoints: a mode whose function is a callback.
#include "tandem/activation_checkpoint.h"

#include "core/call/callback.h"
#include "core/handles/handles.h"

namespace tandem::capi {
namespace {

using Recompute = tdm_error* (*)(void* user_data, tdm_tensor* const* inputs, std::size_t input_count);

struct Checkpoint final : tdm_mode {
  Checkpoint(nn::ActivationCheckpoint::Function function, const std::vector<at::Tensor>& inputs, bool preserve_random)
      : checkpoint(std::move(function), inputs, preserve_random) {}

  nn::ActivationCheckpoint checkpoint;
};

nn::ActivationCheckpoint::Function function_of(Recompute recompute, std::shared_ptr<Callback> callback) {
  return [recompute, callback = std::move(callback)](const std::vector<at::Tensor>& inputs) {
    run_callback(
        "a checkpointed function",
        [&] {
          const auto given = make_optional_handles(inputs);
          return recompute(callback->user_data(), given.data(), given.size());
        },
        [] {});
  };
}

}  // namespace
}  // namespace tandem::capi

using namespace tandem::capi;

tdm_error* tdm_mode_enter_checkpoint(tdm_tensor* const* inputs, std::size_t input_count,
                                     std::int32_t preserve_random_state,
                                     tdm_error* (*recompute)(void* user_data, tdm_tensor* const* inputs,
                                                             std::size_t input_count),
                                     void* user_data, void (*destroy)(void* user_data), tdm_mode** out) {
  return guard("tdm_mode_enter_checkpoint", [&] {
    not_null(recompute, "recompute");
    not_null(out, "out");
    if (input_count != 0) not_null(inputs, "inputs");
    const auto tensors = unwrap_optional_list(inputs, input_count, "inputs");
    const auto callback = std::make_shared<Callback>(user_data);
    auto mode = std::make_unique<Checkpoint>(function_of(recompute, callback), tensors, preserve_random_state != 0);
    callback->adopt(destroy);
    *out = open_mode(std::move(mode));
  });
}
