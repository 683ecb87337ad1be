// Pipelines whose stages are callbacks.
#include "tandem/pipeline.h"
#include "tandem/pipeline_split.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/call/callback.h"
#include "core/call/options.h"
#include "core/call/strings.h"
#include "core/comm/groups.h"

struct tdm_pipeline : tandem::capi::Handle<tandem::Kind::kPipeline> {
  std::shared_ptr<tandem::capi::Callback> callback;
  std::unique_ptr<tandem::Pipeline> pipeline;
};

namespace tandem::capi {
namespace {

using Tensors = std::vector<at::Tensor>;
using Compute = tdm_error* (*)(void* user_data, const tdm_pipeline_call* call);

constexpr std::size_t kOutputRoom = 64;  // more tensors do not go into a message between stages

Tensors compute_micro_batch(const char* what, Compute compute, const Callback& callback, int stage, const Tensors& inputs,
                            const Tensors& targets) {
  std::vector<tdm_tensor*> handles(kOutputRoom);
  std::size_t given = 0;
  Tensors outputs;
  run_callback(
      what,
      [&] {
        const auto own_inputs = make_optional_handles(inputs), own_targets = make_optional_handles(targets);
        const tdm_pipeline_call call{sizeof(tdm_pipeline_call), stage,          own_inputs.data(), own_inputs.size(),
                                     own_targets.data(),        own_targets.size(), handles.data(),
                                     handles.size(),            &given};
        return compute(callback.user_data(), &call);
      },
      [&] {
        if (given > kOutputRoom) {
          invalid("stage " + std::to_string(stage) + " gave " + std::to_string(given) +
                  " outputs, but there is room for " + std::to_string(kOutputRoom));
        }
        outputs = unwrap_optional_list(handles.data(), given, "call->outputs");
      });
  return outputs;
}

Tensors tensors_given(tdm_tensor* const* handles, std::size_t count, const char* argument) {
  check_count(count, argument);
  if (count != 0) not_null(handles, argument);
  return unwrap_list(handles, count, argument);
}

// This rank's stages, with what belongs to each.
std::vector<PipelineStage> stages_of(int rank, const PipelineSchedule& schedule) {
  std::vector<PipelineStage> stages;
  for (int stage = 0; stage < schedule.stages(); ++stage) {
    if (schedule.rank_of_stage[stage] != rank) continue;
    stages.emplace_back();
    stages.back().index = stage;
  }
  return stages;
}

PipelineStage& stage_with(std::vector<PipelineStage>& stages, std::int32_t index, const std::string& what) {
  for (PipelineStage& stage : stages) {
    if (stage.index == index) return stage;
  }
  invalid(what + " is said to be of stage " + std::to_string(index) + ", which this rank does not have");
}

// What the program found wrong on this rank; null: nothing.
std::shared_ptr<const Error> fault_of(const char* text, std::int32_t code) {
  if (!text) return nullptr;
  const bool is_known = code >= TDM_ERROR_INTERNAL && code <= TDM_ERROR_CALLBACK;
  return std::make_shared<const Error>(is_known ? static_cast<ErrorCode>(code) : ErrorCode::kInvalidArgument, text);
}

// What one rank alone refuses is told to the others, who would wait for it.
template <typename Body>
void or_fault(tandem::PipelineOptions& options, Body&& body) {
  const auto keep = [&options](ErrorCode code, const std::string& text) {
    options.fault = std::make_shared<const Error>(code, text);
  };
  if (options.fault) return;  // the program knows of one
  try {
    body();
  } catch (const Error& error) {
    keep(error.code(), error.what());
  } catch (const c10::Error& error) {
    keep(ErrorCode::kInvalidArgument, error.what_without_backtrace());
  }
}

double with_loss(const tdm_pipeline* pipeline, tdm_tensor* const* inputs, std::size_t input_count,
                 tdm_tensor* const* targets, std::size_t target_count,
                 double (Pipeline::*call)(const Tensors&, const Tensors&)) {
  Pipeline& native = *not_null(pipeline, "pipeline")->pipeline;
  return (native.*call)(tensors_given(inputs, input_count, "inputs"), tensors_given(targets, target_count, "targets"));
}

}  // namespace
}  // namespace tandem::capi

using namespace tandem::capi;

tdm_error* tdm_pipeline_create(tdm_process_group* group, tdm_tensor* const* parameters, const char* const* names,
                               const int32_t* stages, const uint8_t* tied, const uint8_t* sparse, size_t parameter_count,
                               tdm_tensor* const* buffers, const char* const* buffer_names,
                               const int32_t* buffer_stages, const uint8_t* tied_buffers, size_t buffer_count,
                               const tdm_pipeline_options* options,
                               tdm_error* (*forward)(void* user_data, const tdm_pipeline_call* call),
                               tdm_error* (*loss)(void* user_data, const tdm_pipeline_call* call), void* user_data,
                               void (*destroy)(void* user_data), tdm_pipeline** out) {
  return guard("tdm_pipeline_create", [&] {
    const auto& shared = share_group(group);
    not_null(forward, "forward");
    not_null(out, "out");
    const auto given = read_options<tdm_pipeline_options>(options, TDM_PIPELINE_OPTIONS_INIT, "tdm_pipeline_options");
    tandem::PipelineOptions native;
    if (given.replicas) native.replicas = share_group(given.replicas);
    if (given.everyone) native.everyone = share_group(given.everyone);
    native.average_losses = given.average_losses != 0;
    native.data_parallel.bucket_cap_mb = given.bucket_cap_mb;
    native.data_parallel.broadcast_buffers = given.broadcast_buffers != 0;
    native.data_parallel.find_unused_parameters = given.find_unused_parameters != 0;
    native.data_parallel.gradient_as_bucket_view = given.gradient_as_bucket_view != 0;
    const auto callback = std::make_shared<Callback>(user_data);
    std::vector<tandem::PipelineStage> own;
    native.fault = fault_of(given.fault, given.fault_code);
    or_fault(native, [&] {
      const auto tensors = tensors_given(parameters, parameter_count, "parameters");
      const auto called = to_strings(names, parameter_count, "names");
      const auto fixed = tensors_given(buffers, buffer_count, "buffers");
      const auto fixed_names = to_strings(buffer_names, buffer_count, "buffer_names");
      if (parameter_count != 0) not_null(stages, "stages");
      if (buffer_count != 0) not_null(buffer_stages, "buffer_stages");
      native.device = to_device(given.device, "options->device");
      native.schedule = tandem::make_pipeline_schedule(text_or(given.schedule, "1f1b"), shared->size(),
                                                       given.micro_batches, given.stages_per_rank);
      own = stages_of(shared->rank(), native.schedule);
      for (auto& stage : own) {
        stage.forward = [forward, callback, index = stage.index](const Tensors& inputs) {
          return compute_micro_batch("a pipeline stage", forward, *callback, index, inputs, {});
        };
      }
      for (std::size_t i = 0; i < parameter_count; ++i) {
        auto& stage = stage_with(own, stages[i], "parameter '" + called[i] + "'");
        stage.parameters.emplace_back(called[i], tensors[i]);
        stage.sparse_gradients.push_back(sparse && sparse[i] != 0);
        if (tied && tied[i] != 0) stage.tied.push_back(called[i]);
      }
      for (std::size_t i = 0; i < buffer_count; ++i) {
        auto& stage = stage_with(own, buffer_stages[i], "buffer '" + fixed_names[i] + "'");
        stage.buffers.emplace_back(fixed_names[i], fixed[i]);
        if (tied_buffers && tied_buffers[i] != 0) stage.tied.push_back(fixed_names[i]);
      }
    });
    if (loss) {
      const int last = native.schedule.stages() - 1;
      native.loss = [loss, callback, last](const Tensors& outputs, const Tensors& targets) {
        const Tensors made = compute_micro_batch("a pipeline's loss", loss, *callback, last, outputs, targets);
        if (made.size() != 1) tandem::capi::invalid("the loss is one tensor, not " + std::to_string(made.size()));
        return made.front();
      };
    }
    auto handle = std::make_unique<tdm_pipeline>();
    handle->pipeline = std::make_unique<tandem::Pipeline>(shared, std::move(own), native);
    handle->callback = callback;
    callback->adopt(destroy);
    *out = handle.release();
  });
}

void tdm_pipeline_free(tdm_pipeline* pipeline) {
  tandem::capi::free_handle(pipeline);
}

tdm_error* tdm_pipeline_step(tdm_pipeline* pipeline, tdm_tensor* const* inputs, size_t input_count,
                             tdm_tensor* const* targets, size_t target_count, double* loss) {
  return guard("tdm_pipeline_step", [&] {
    not_null(loss, "loss");
    *loss = with_loss(pipeline, inputs, input_count, targets, target_count, &tandem::Pipeline::step);
  });
}

tdm_error* tdm_pipeline_evaluate(tdm_pipeline* pipeline, tdm_tensor* const* inputs, size_t input_count,
                                 tdm_tensor* const* targets, size_t target_count, double* loss) {
  return guard("tdm_pipeline_evaluate", [&] {
    not_null(loss, "loss");
    *loss = with_loss(pipeline, inputs, input_count, targets, target_count, &tandem::Pipeline::evaluate);
  });
}

tdm_error* tdm_pipeline_forward(tdm_pipeline* pipeline, tdm_tensor* const* inputs, size_t input_count,
                                tdm_tensor** results, size_t* result_count) {
  return guard("tdm_pipeline_forward", [&] {
    not_null(result_count, "result_count");
    check_count(*result_count, "results");
    if (*result_count != 0) not_null(results, "results");
    tandem::Pipeline& native = *not_null(pipeline, "pipeline")->pipeline;
    const Tensors outputs = native.forward(tensors_given(inputs, input_count, "inputs"));
    if (outputs.size() > *result_count) {
      invalid("the last stage gives " + std::to_string(outputs.size()) + " outputs, but there is room for " +
              std::to_string(*result_count));
    }
    const auto handles = make_optional_handles(outputs);
    std::copy(handles.begin(), handles.end(), results);
    *result_count = handles.size();
  });
}

tdm_error* tdm_pipeline_saves(const tdm_pipeline* pipeline, const char* name, int32_t is_spread, int32_t* saves) {
  return guard("tdm_pipeline_saves", [&] {
    not_null(name, "name");
    not_null(saves, "saves");
    const tandem::Pipeline& native = *not_null(pipeline, "pipeline")->pipeline;
    *saves = is_spread != 0 ? native.is_first_with(name) : native.saves(name);
  });
}

tdm_error* tdm_pipeline_split_by_time(tdm_process_group* group, int64_t layer_count, tdm_tensor* const* tensors,
                                      size_t tensor_count, tdm_tensor* const* inputs, size_t input_count,
                                      tdm_tensor* const* targets, size_t target_count,
                                      const tdm_pipeline_split_options* options,
                                      tdm_error* (*forward)(void* user_data, const tdm_pipeline_call* call),
                                      tdm_error* (*loss)(void* user_data, const tdm_pipeline_call* call), void* user_data,
                                      void (*destroy)(void* user_data), int64_t* first_layers, size_t* stage_count) {
  return guard("tdm_pipeline_split_by_time", [&] {
    tandem::ProcessGroup& native = unwrap_group(group);
    not_null(forward, "forward");
    const auto given = read_options<tdm_pipeline_split_options>(options, TDM_PIPELINE_SPLIT_OPTIONS_INIT,
                                                                "tdm_pipeline_split_options");
    tandem::PipelineSplitOptions how;
    how.fault = fault_of(given.fault, given.fault_code);
    Tensors all, batch;
    std::size_t room = 0;
    try {
      all = tensors_given(tensors, tensor_count, "tensors");
      batch = tensors_given(inputs, input_count, "inputs");
      how.targets = tensors_given(targets, target_count, "targets");
      room = *not_null(stage_count, "stage_count");
      check_count(room, "first_layers");
      if (room != 0) not_null(first_layers, "first_layers");
      constexpr std::int64_t kMostLayers = 1 << 20;
      if (layer_count < 0 || layer_count > kMostLayers) {
        tandem::capi::invalid("argument 'layer_count' is " + std::to_string(layer_count) + "; give 0 to " +
                              std::to_string(kMostLayers));
      }
    } catch (const tandem::Error& error) {  // of one rank alone, which all ranks are to hear of
      if (!how.fault) how.fault = std::make_shared<const tandem::Error>(error);
      layer_count = 0;
    }
    const auto callback = std::make_shared<Callback>(user_data);
    how.stages_per_rank = given.stages_per_rank;
    how.repeats = given.repeats;
    if (given.everyone) how.everyone = share_group(given.everyone);
    if (loss) {
      how.loss = [loss, callback, layer_count](const Tensors& outputs, const Tensors& wanted) {
        const int last = static_cast<int>(layer_count) - 1;
        const Tensors made = compute_micro_batch("a pipeline's loss", loss, *callback, last, outputs, wanted);
        if (made.size() != 1) tandem::capi::invalid("the loss is one tensor, not " + std::to_string(made.size()));
        return made.front();
      };
    }
    std::vector<tandem::PipelineStage> layers(static_cast<std::size_t>(layer_count));
    for (std::size_t i = 0; i < layers.size(); ++i) {
      layers[i].forward = [forward, callback, i](const Tensors& given_inputs) {
        return compute_micro_batch("a layer", forward, *callback, static_cast<int>(i), given_inputs, {});
      };
    }
    for (const at::Tensor& tensor : all) {
      if (layers.empty()) break;
      (tensor.requires_grad() ? layers[0].parameters : layers[0].buffers).emplace_back("", tensor);
    }
    const auto first = tandem::where_to_split(native, layers, batch, how);
    if (first.size() > room) {
      tandem::capi::invalid("there are " + std::to_string(first.size()) + " stages, but first_layers has room for " +
                            std::to_string(room));
    }
    std::copy(first.begin(), first.end(), first_layers);
    *stage_count = first.size();
    callback->adopt(destroy);
  });
}
