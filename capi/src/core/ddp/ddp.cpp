// DistributedDataParallel.
#include <algorithm>
#include <string>
#include <vector>

#include "core/call/options.h"
#include "core/call/strings.h"
#include "core/comm/groups.h"
#include "core/operators/nested_values.h"
#include "core/operators/values.h"
#include "core/training/optimizer_handle.h"

using namespace tandem::capi;

namespace {

tandem::DataParallelReducer& reducer_of(const tdm_ddp* ddp) {
  return *not_null(ddp, "ddp")->reducer;
}

// Of those that are kept.
tandem::DataParallelIteration iteration_of(const tdm_ddp* ddp, std::int64_t index) {
  std::vector<tandem::DataParallelIteration> kept = reducer_of(ddp).iterations();
  const auto count = static_cast<std::int64_t>(kept.size());
  if (index < 0 || index >= count) {
    throw tandem::Error(tandem::ErrorCode::kOutOfRange,
                        "there is no iteration " + std::to_string(index) + "; " + std::to_string(count) + " are kept");
  }
  return std::move(kept[index]);
}

std::optional<at::ScalarType> optional_dtype(tdm_dtype dtype, const char* field) {
  if (dtype == TDM_UNCHANGED) return std::nullopt;
  return to_scalar_type(dtype, field);
}

void check_values(const tdm_value* values, size_t count, const char* argument) {
  check_count(count, argument);
  if (count != 0) not_null(values, argument);
}

std::string name_of(const char* argument, size_t index) {
  return std::string(argument) + "[" + std::to_string(index) + "]";
}

}  // namespace

tdm_error* tdm_ddp_create(tdm_process_group* group, tdm_tensor* const* parameters, const char* const* names,
                          size_t parameter_count, tdm_tensor* const* buffers, size_t buffer_count,
                          const tdm_ddp_options* options, tdm_ddp** out) {
  return guard("tdm_ddp_create", [&] {
    not_null(group, "group");
    not_null(out, "out");
    const auto given = read_options<tdm_ddp_options>(options, TDM_DDP_OPTIONS_INIT, "tdm_ddp_options");
    tandem::DataParallelOptions native;
    native.bucket_cap_mb = given.bucket_cap_mb;
    native.broadcast_buffers = given.broadcast_buffers != 0;
    native.find_unused_parameters = given.find_unused_parameters != 0;
    native.gradient_as_bucket_view = given.gradient_as_bucket_view != 0;
    native.static_graph = given.static_graph != 0;
    native.init_sync = given.init_sync != 0;
    if (given.first_bucket_mb != 0) native.first_bucket_mb = given.first_bucket_mb;
    native.skip_all_reduce_unused_params = given.skip_all_reduce_unused_params != 0;
    native.average_by_samples = given.average_by_samples != 0;
    native.mixed_precision.param_dtype = optional_dtype(given.param_dtype, "param_dtype");
    native.mixed_precision.reduce_dtype = optional_dtype(given.reduce_dtype, "reduce_dtype");
    native.mixed_precision.buffer_dtype = optional_dtype(given.buffer_dtype, "buffer_dtype");
    check_count(parameter_count, "parameters");
    std::vector<bool> sparse;
    for (std::size_t i = 0; given.sparse_gradients && i < parameter_count; ++i) {
      sparse.push_back(given.sparse_gradients[i] != 0);
    }
    auto reducer = std::make_unique<tandem::DataParallelReducer>(
        group->group, unwrap_list(parameters, parameter_count, "parameters"),
        to_strings(names, names ? parameter_count : 0, "names"), unwrap_list(buffers, buffer_count, "buffers"), native,
        std::move(sparse));
    auto* handle = new tdm_ddp;
    handle->group = group->group;
    handle->reducer = std::move(reducer);
    *out = handle;
  });
}

void tdm_ddp_free(tdm_ddp* ddp) {
  tandem::capi::free_handle(ddp);
}

tdm_error* tdm_ddp_prepare_forward(tdm_ddp* ddp, int32_t training, const tdm_value* arguments, size_t argument_count,
                                   tdm_value* prepared) {
  return guard("tdm_ddp_prepare_forward", [&] {
    auto& reducer = reducer_of(ddp);
    check_values(arguments, argument_count, "arguments");
    // All of them, before anything is exchanged.
    std::int64_t samples = -1;
    for (size_t i = 0; i < argument_count; ++i) {
      for_each_tensor(arguments[i], name_of("arguments", i), [&](const at::Tensor& tensor) {
        if (samples < 0 && tensor.defined() && tensor.dim() > 0) samples = tensor.size(0);
      });
    }
    reducer.prepare_forward(training != 0, samples < 0 ? 1 : samples);
    if (!prepared) return;
    const auto dtype = reducer.options().mixed_precision.param_dtype;
    Results owned(argument_count);
    for (size_t i = 0; i < argument_count; ++i) {
      owned.add_owned(copy_value(arguments[i], name_of("arguments", i), [&](const at::Tensor& tensor) {
        return dtype && tensor.is_floating_point() ? tensor.to(*dtype) : tensor;
      }));
    }
    owned.hand_over(prepared);
  });
}

tdm_error* tdm_ddp_prepare_backward(tdm_ddp* ddp, const tdm_value* outputs, size_t output_count, tdm_value* prepared) {
  return guard("tdm_ddp_prepare_backward", [&] {
    auto& reducer = reducer_of(ddp);
    check_values(outputs, output_count, "outputs");
    if (output_count != 0) not_null(prepared, "prepared");
    std::vector<at::Tensor> tensors;
    for (size_t i = 0; i < output_count; ++i) {
      for_each_tensor(outputs[i], name_of("outputs", i), [&](const at::Tensor& tensor) { tensors.push_back(tensor); });
    }
    reducer.prepare_backward(tensors);
    auto next = tensors.begin();
    Results owned(output_count);
    for (size_t i = 0; i < output_count; ++i) {
      owned.add_owned(copy_value(outputs[i], name_of("outputs", i), [&](const at::Tensor&) { return *next++; }));
    }
    owned.hand_over(prepared);
  });
}

tdm_error* tdm_ddp_cancel_forward(tdm_ddp* ddp) {
  return guard("tdm_ddp_cancel_forward", [&] { reducer_of(ddp).cancel_forward(); });
}

tdm_error* tdm_ddp_set_require_backward_grad_sync(tdm_ddp* ddp, int32_t on) {
  return guard("tdm_ddp_set_require_backward_grad_sync",
               [&] { reducer_of(ddp).set_require_backward_grad_sync(on != 0); });
}

tdm_error* tdm_ddp_set_batch_samples(tdm_ddp* ddp, int64_t samples) {
  return guard("tdm_ddp_set_batch_samples", [&] {
    auto& reducer = reducer_of(ddp);
    if (samples < -1) invalid("argument 'samples' is " + std::to_string(samples) + "; give 0 or more, or -1");
    reducer.set_batch_samples(samples == -1 ? std::nullopt : std::optional(samples));
  });
}

tdm_error* tdm_ddp_set_buffers(tdm_ddp* ddp, tdm_tensor* const* buffers, size_t buffer_count) {
  return guard("tdm_ddp_set_buffers",
               [&] { reducer_of(ddp).set_buffers(unwrap_list(buffers, buffer_count, "buffers")); });
}

tdm_error* tdm_ddp_set_optimizer_in_backward(tdm_ddp* ddp, tdm_optimizer* optimizer) {
  return guard("tdm_ddp_set_optimizer_in_backward", [&] {
    auto& reducer = reducer_of(ddp);
    reducer.set_optimizer_in_backward(not_null(optimizer, "optimizer")->optimizer);
  });
}

tdm_error* tdm_ddp_begin_join(tdm_ddp* ddp, const tdm_ddp_join_options* options) {
  return guard("tdm_ddp_begin_join", [&] {
    auto& reducer = reducer_of(ddp);
    const auto given = read_options<tdm_ddp_join_options>(options, TDM_DDP_JOIN_OPTIONS_INIT, "tdm_ddp_join_options");
    tandem::JoinOptions native;
    native.divide_by_initial_world_size = given.divide_by_initial_world_size != 0;
    native.throw_on_early_termination = given.throw_on_early_termination != 0;
    if (given.optimizer) {
      native.shadow_step = [optimizer = not_null(given.optimizer, "options->optimizer")->optimizer] {
        optimizer->step();
        optimizer->zero_grad();
      };
    }
    reducer.begin_join(native);
  });
}

tdm_error* tdm_ddp_end_join(tdm_ddp* ddp) {
  return guard("tdm_ddp_end_join", [&] { reducer_of(ddp).end_join(); });
}

tdm_error* tdm_ddp_cancel_join(tdm_ddp* ddp) {
  return guard("tdm_ddp_cancel_join", [&] { reducer_of(ddp).cancel_join(); });
}

tdm_error* tdm_ddp_get_statistics(const tdm_ddp* ddp, tdm_ddp_statistics* out) {
  return guard("tdm_ddp_get_statistics", [&] {
    not_null(out, "out");
    const auto known = reducer_of(ddp).statistics();
    write_struct<tdm_ddp_statistics>(
        out,
        {sizeof(tdm_ddp_statistics), known.iterations, static_cast<std::int64_t>(known.bucket_bytes.size()),
         known.buckets_rebuilt, known.forward_compute, known.backward_compute, known.backward_communication,
         known.overlap, known.step, known.communication, known.exposed_communication, known.step_without_exchange,
         known.communication_alone},
        "tdm_ddp_statistics");
  });
}

tdm_error* tdm_ddp_get_bucket(const tdm_ddp* ddp, int64_t index, int64_t* bytes, tdm_strings** names) {
  return guard("tdm_ddp_get_bucket", [&] {
    const auto known = reducer_of(ddp).statistics();
    const auto count = static_cast<std::int64_t>(known.bucket_bytes.size());
    if (index < 0 || index >= count) {
      throw tandem::Error(tandem::ErrorCode::kOutOfRange,
                          "there is no bucket " + std::to_string(index) + "; there are " + std::to_string(count));
    }
    if (names) *names = new tdm_strings(known.bucket_parameters[index]);
    if (bytes) *bytes = known.bucket_bytes[index];
  });
}

tdm_error* tdm_ddp_set_statistics_sample_rate(tdm_ddp* ddp, int64_t iterations) {
  return guard("tdm_ddp_set_statistics_sample_rate", [&] {
    if (iterations > INT32_MAX)
      invalid("argument 'iterations' is " + std::to_string(iterations) + ", which is too many");
    reducer_of(ddp).set_statistics_sample_rate(static_cast<int>(iterations));
  });
}

tdm_error* tdm_ddp_statistics_table(const tdm_ddp* ddp, tdm_string** out) {
  return guard("tdm_ddp_statistics_table", [&] {
    not_null(out, "out");
    *out = make_string(reducer_of(ddp).statistics_table());
  });
}

tdm_error* tdm_ddp_set_separate_exchanges(tdm_ddp* ddp, int64_t every) {
  return guard("tdm_ddp_set_separate_exchanges", [&] { reducer_of(ddp).set_separate_exchanges(every); });
}

tdm_error* tdm_ddp_get_iteration_count(const tdm_ddp* ddp, int64_t* out) {
  return guard("tdm_ddp_get_iteration_count", [&] {
    not_null(out, "out");
    *out = static_cast<std::int64_t>(reducer_of(ddp).iterations().size());
  });
}

tdm_error* tdm_ddp_get_iteration(const tdm_ddp* ddp, int64_t index, tdm_ddp_iteration* out) {
  return guard("tdm_ddp_get_iteration", [&] {
    check_struct_size(not_null(out, "out")->struct_size, "tdm_ddp_iteration");
    const auto one = iteration_of(ddp, index);
    write_struct<tdm_ddp_iteration>(out,
                                    {sizeof(tdm_ddp_iteration), one.number, one.separate, one.begun,
                                     one.forward_exchange, one.forward, one.backward_begun, one.backward, one.wait,
                                     one.total, one.communication, static_cast<std::int64_t>(one.buckets.size())},
                                    "tdm_ddp_iteration");
  });
}

tdm_error* tdm_ddp_get_iteration_bucket(const tdm_ddp* ddp, int64_t index, int64_t bucket, int64_t* bytes,
                                        int64_t* begun, int64_t* done) {
  return guard("tdm_ddp_get_iteration_bucket", [&] {
    not_null(bytes, "bytes");
    not_null(begun, "begun");
    not_null(done, "done");
    const auto one = iteration_of(ddp, index);
    const auto count = static_cast<std::int64_t>(one.buckets.size());
    if (bucket < 0 || bucket >= count) {
      throw tandem::Error(tandem::ErrorCode::kOutOfRange, "iteration " + std::to_string(index) + " has no bucket " +
                                                              std::to_string(bucket) + "; it has " +
                                                              std::to_string(count));
    }
    *bytes = one.buckets[bucket].bytes;
    *begun = one.buckets[bucket].begun;
    *done = one.buckets[bucket].done;
  });
}

tdm_error* tdm_ddp_try_bucket_sizes(tdm_ddp* ddp, const tdm_bucket_trial_options* options) {
  return guard("tdm_ddp_try_bucket_sizes", [&] {
    auto& reducer = reducer_of(ddp);
    const auto given =
        read_options<tdm_bucket_trial_options>(options, TDM_BUCKET_TRIAL_OPTIONS_INIT, "tdm_bucket_trial_options");
    tandem::BucketTrialOptions native;
    check_count(given.size_count, "options->sizes_mb");
    if (given.sizes_mb) native.sizes_mb.assign(given.sizes_mb, given.sizes_mb + given.size_count);
    const auto count = [](std::int64_t value, const char* field) {
      if (value > 1000000) invalid(std::string(field) + " is " + std::to_string(value) + ", which is too many");
      return static_cast<int>(std::max<std::int64_t>(value, 0));
    };
    native.iterations = count(given.iterations, "iterations");
    native.rounds = count(given.rounds, "rounds");
    reducer.try_bucket_sizes(native);
  });
}

tdm_error* tdm_ddp_get_bucket_advice(const tdm_ddp* ddp, tdm_bucket_advice* out) {
  return guard("tdm_ddp_get_bucket_advice", [&] {
    not_null(out, "out");
    const auto advice = reducer_of(ddp).bucket_advice();
    write_struct<tdm_bucket_advice>(
        out,
        {sizeof(tdm_bucket_advice), advice.done, advice.bucket_cap_mb, static_cast<std::int64_t>(advice.trials.size())},
        "tdm_bucket_advice");
  });
}

tdm_error* tdm_ddp_get_bucket_trial(const tdm_ddp* ddp, int64_t index, double* bucket_cap_mb, int64_t* buckets,
                                    int64_t* step) {
  return guard("tdm_ddp_get_bucket_trial", [&] {
    not_null(bucket_cap_mb, "bucket_cap_mb");
    not_null(buckets, "buckets");
    not_null(step, "step");
    const auto trials = reducer_of(ddp).bucket_advice().trials;
    const auto count = static_cast<std::int64_t>(trials.size());
    if (index < 0 || index >= count) {
      throw tandem::Error(tandem::ErrorCode::kOutOfRange,
                          "there is no trial " + std::to_string(index) + "; there are " + std::to_string(count));
    }
    *bucket_cap_mb = trials[index].bucket_cap_mb;
    *buckets = trials[index].buckets;
    *step = trials[index].step;
  });
}
