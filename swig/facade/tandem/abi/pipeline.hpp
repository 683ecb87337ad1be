// Device meshes and pipelines.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/abi/callback.hpp"
#include "tandem/abi/dist.hpp"

namespace tandem::abi {

// A grid of the ranks of a group, with a name for each dimension and a group of the ranks along each.
// Source: torch.distributed.device_mesh.DeviceMesh.
class DeviceMesh {
 public:
  // Of all ranks of `world`, which call it with the same arguments. Blocks.
  DeviceMesh(ProcessGroup& world, const std::vector<int64_t>& shape, const std::vector<std::string>& names) {
    if (shape.size() != names.size()) {
      throw Error(TDM_ERROR_INVALID_ARGUMENT, "DeviceMesh", "sizes and names differ in number");
    }
    const auto pointers = c_strings(names);
    check(tdm_device_mesh_create(world.raw(), shape.data(), pointers.data(), pointers.size(), handle_.out()));
  }
  explicit DeviceMesh(tdm_device_mesh* owned) : handle_(owned) {}

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (int64_t i = 0; i < tdm_device_mesh_dimensions(raw()); ++i) names.emplace_back(tdm_device_mesh_name(raw(), i));
    return names;
  }
  std::vector<int64_t> shape() const {
    std::vector<int64_t> shape;
    for (int64_t i = 0; i < tdm_device_mesh_dimensions(raw()); ++i) shape.push_back(tdm_device_mesh_size(raw(), i));
    return shape;
  }
  // This rank's place along each dimension.
  std::vector<int64_t> coordinate() const {
    std::vector<int64_t> places;
    for (int64_t i = 0; i < tdm_device_mesh_dimensions(raw()); ++i) {
      places.push_back(tdm_device_mesh_coordinate(raw(), i));
    }
    return places;
  }
  // Of the ranks that differ from this one in that coordinate alone.
  ProcessGroup group(const std::string& name) const {
    tdm_process_group* made = nullptr;
    check(tdm_device_mesh_group(raw(), name.c_str(), &made));
    return ProcessGroup(made);
  }
  // The mesh of some dimensions, in this one's order.
  DeviceMesh submesh(const std::vector<std::string>& names) const {
    const auto pointers = c_strings(names);
    tdm_device_mesh* made = nullptr;
    check(tdm_device_mesh_submesh(raw(), pointers.data(), pointers.size(), &made));
    return DeviceMesh(made);
  }
  // All dimensions as one. All ranks of the world call it. Blocks.
  DeviceMesh flatten(const std::string& name) const {
    tdm_device_mesh* made = nullptr;
    check(tdm_device_mesh_flatten(raw(), name.c_str(), &made));
    return DeviceMesh(made);
  }

  tdm_device_mesh* raw() const noexcept { return handle_.get(); }

 private:
  Handle<tdm_device_mesh, tdm_device_mesh_free> handle_;
};

struct PipelineOptions {
  std::string schedule = "1f1b";  // "gpipe", "1f1b" or "interleaved1f1b"
  int32_t micro_batches = 1;      // that a batch is cut into
  int32_t stages_per_rank = 1;    // rank r has the stages r, r + the group's size, and so on
  bool average_losses = true;     // losses are means over rows, and so is that of the batch; false: they are added
  bool broadcast_buffers = true;  // this and the next three: of replicas
  double bucket_cap_mb = 25;
  bool find_unused_parameters = false;
  bool gradient_as_bucket_view = false;
  std::string fault;              // what this rank found wrong before it could give its stages; "": nothing
};

// What the stages of a rank have: of each tensor its name in the whole model, its stage, and whether other stages have it
// too.
struct PipelineTensors {
  TensorList parameters, buffers;
  std::vector<std::string> parameter_names, buffer_names;
  std::vector<int64_t> parameter_stages, buffer_stages;
  std::vector<int64_t> tied, tied_buffers, sparse;  // 1 or 0 for each
};

// What a pipeline's stages, or a model's layers, compute of a micro-batch, and its loss, which may be empty.
class MicroBatchFunctions {
 public:
  using Tensors = std::vector<Tensor>;
  using Compute = std::function<Tensors(int64_t stage, Tensors inputs)>;
  using Loss = std::function<Tensor(Tensors outputs, Tensors targets)>;

  MicroBatchFunctions(Compute compute, Loss loss) : compute_(std::move(compute)), loss_(std::move(loss)) {}

  static tdm_error* on_stage(void* user_data, const tdm_pipeline_call* call) {
    return callback::guarded([&] {
      const auto& self = *static_cast<const MicroBatchFunctions*>(user_data);
      give(self.compute_(call->stage, shared(call->inputs, call->input_count)), call);
    });
  }
  static tdm_error* on_loss(void* user_data, const tdm_pipeline_call* call) {
    return callback::guarded([&] {
      const auto& self = *static_cast<const MicroBatchFunctions*>(user_data);
      Tensors made;
      made.push_back(self.loss_(shared(call->inputs, call->input_count), shared(call->targets, call->target_count)));
      give(made, call);
    });
  }
  bool has_loss() const { return static_cast<bool>(loss_); }

 private:
  static Tensors shared(tdm_tensor* const* handles, size_t count) {
    Tensors given;
    for (size_t i = 0; i < count; ++i) {
      tdm_tensor* own = nullptr;
      if (handles[i]) check(tdm_tensor_share(handles[i], &own));
      given.emplace_back(own);
    }
    return given;
  }
  // Handles of the callback's scope, which outlive what `made` holds.
  static void give(const Tensors& made, const tdm_pipeline_call* call) {
    *call->output_count = made.size();
    for (size_t i = 0; i < made.size() && i < call->output_room; ++i) {
      if (made[i].raw()) check(tdm_tensor_share(made[i].raw(), &call->outputs[i]));
    }
  }

  Compute compute_;
  Loss loss_;
};

// A model cut into stages, each on a rank of its own. Source: torch.distributed.pipelining.
class Pipeline {
 public:
  using Tensors = MicroBatchFunctions::Tensors;

  // All ranks make it together. `replicas` and `everyone` are null where there is one pipeline alone; its loss is empty but
  // on the last stage's rank. Functions are called within the three methods below, on their thread. Blocks.
  Pipeline(ProcessGroup& group, const PipelineTensors& tensors, const PipelineOptions& options,
           const ProcessGroup* replicas, const ProcessGroup* everyone, MicroBatchFunctions functions) {
    tdm_pipeline_options raw = TDM_PIPELINE_OPTIONS_INIT;
    raw.schedule = or_null(options.schedule);
    raw.micro_batches = options.micro_batches;
    raw.stages_per_rank = options.stages_per_rank;
    raw.average_losses = options.average_losses;
    raw.broadcast_buffers = options.broadcast_buffers;
    raw.bucket_cap_mb = options.bucket_cap_mb;
    raw.find_unused_parameters = options.find_unused_parameters;
    raw.gradient_as_bucket_view = options.gradient_as_bucket_view;
    raw.replicas = replicas ? replicas->raw() : nullptr;
    raw.everyone = everyone ? everyone->raw() : nullptr;
    raw.fault = or_null(options.fault);
    auto owned = std::make_unique<MicroBatchFunctions>(std::move(functions));
    const auto names = c_strings(tensors.parameter_names), buffer_names = c_strings(tensors.buffer_names);
    const std::vector<int32_t> stages(tensors.parameter_stages.begin(), tensors.parameter_stages.end());
    const std::vector<int32_t> buffer_stages(tensors.buffer_stages.begin(), tensors.buffer_stages.end());
    const auto flags = [](const std::vector<int64_t>& list) { return std::vector<uint8_t>(list.begin(), list.end()); };
    const auto tied = flags(tensors.tied), tied_buffers = flags(tensors.tied_buffers), sparse = flags(tensors.sparse);
    const size_t count = tensors.parameters.size(), buffers = tensors.buffers.size();
    for (const size_t given : {names.size(), stages.size(), tied.size(), sparse.size()}) check_number(given, count);
    for (const size_t given : {buffer_names.size(), buffer_stages.size(), tied_buffers.size()}) check_number(given, buffers);
    check(tdm_pipeline_create(group.raw(), tensors.parameters.data(), names.data(), stages.data(), tied.data(), sparse.data(),
                              count, tensors.buffers.data(), buffer_names.data(), buffer_stages.data(), tied_buffers.data(),
                              buffers, &raw, MicroBatchFunctions::on_stage,
                              owned->has_loss() ? MicroBatchFunctions::on_loss : nullptr, owned.get(),
                              callback::destroy<MicroBatchFunctions>, handle_.out()));
    owned.release();
  }

  // Forward and backward of a batch: adds to the gradients. `inputs` are the first stage's, `targets` the last one's.
  // Gives the batch's loss, on all ranks. Blocks.
  double step(const TensorList& inputs, const TensorList& targets) {
    double loss = 0;
    check(tdm_pipeline_step(raw(), inputs.data(), inputs.size(), targets.data(), targets.size(), &loss));
    return loss;
  }
  // The loss alone.
  double evaluate(const TensorList& inputs, const TensorList& targets) {
    double loss = 0;
    check(tdm_pipeline_evaluate(raw(), inputs.data(), inputs.size(), targets.data(), targets.size(), &loss));
    return loss;
  }
  // Outputs on the rank of the last stage, elsewhere nothing.
  std::vector<Tensor> forward(const TensorList& inputs) {
    std::vector<tdm_tensor*> results(64);  // more do not go into a message between stages
    size_t count = results.size();
    check(tdm_pipeline_forward(raw(), inputs.data(), inputs.size(), results.data(), &count));
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < count; ++i) outputs.emplace_back(results[i]);
    return outputs;
  }
  // Whether this rank saves a tensor of its stages to a checkpoint; is_spread: each replica has a part of its own.
  bool saves(const std::string& name, bool is_spread = false) const {
    int32_t saves = 0;
    check(tdm_pipeline_saves(raw(), name.c_str(), is_spread, &saves));
    return saves != 0;
  }

  tdm_pipeline* raw() const noexcept { return handle_.get(); }

 private:
  static void check_number(size_t given, size_t wanted) {
    if (given == wanted) return;
    throw Error(TDM_ERROR_INVALID_ARGUMENT, "Pipeline", "tensors, names, stages and flags differ in number");
  }

  Handle<tdm_pipeline, tdm_pipeline_free> handle_;
};

struct PipelineSplitOptions {
  int32_t stages_per_rank = 1;  // rank r gets the stages r, r + the group's size, and so on
  int32_t repeats = 5;          // measurements, of which the median counts; one more goes before them
  std::string fault;            // why this rank cannot give its layers; "": it can
};

// The first layer of each stage, so that all take about the same time. All ranks call it with the layers of the whole model;
// `tensors` are their parameters and buffers. Rank 0 of all, which alone needs inputs and targets, measures; functions are
// called within this call. Blocks. Source: torchgpipe's balance_by_time.
inline std::vector<int64_t> split_pipeline_by_time(ProcessGroup& group, int64_t layers, const TensorList& tensors,
                                                   const TensorList& inputs, const TensorList& targets,
                                                   const PipelineSplitOptions& options, const ProcessGroup* everyone,
                                                   MicroBatchFunctions functions) {
  tdm_pipeline_split_options raw = TDM_PIPELINE_SPLIT_OPTIONS_INIT;
  raw.stages_per_rank = options.stages_per_rank;
  raw.repeats = options.repeats;
  raw.everyone = everyone ? everyone->raw() : nullptr;
  raw.fault = or_null(options.fault);
  std::vector<int64_t> first(static_cast<size_t>(layers > 0 ? layers : 1));
  size_t count = first.size();
  auto owned = std::make_unique<MicroBatchFunctions>(std::move(functions));
  check(tdm_pipeline_split_by_time(group.raw(), layers, tensors.data(), tensors.size(), inputs.data(), inputs.size(),
                                   targets.data(), targets.size(), &raw, MicroBatchFunctions::on_stage,
                                   owned->has_loss() ? MicroBatchFunctions::on_loss : nullptr, owned.get(),
                                   callback::destroy<MicroBatchFunctions>, first.data(), &count));
  owned.release();
  first.resize(count);
  return first;
}

}  // namespace tandem::abi
