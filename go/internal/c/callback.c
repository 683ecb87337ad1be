/* The callbacks that the C ABI calls, each of which asks Go. */
#include <stdlib.h>

#include "_cgo_export.h"

static void release(void* user_data) { tgRelease((uintptr_t)user_data); }

static tdm_error* call_go(void* user_data, tdm_tensor* const* inputs, size_t input_count, tdm_tensor** results,
                          size_t result_count) {
  tg_call call = {tdm_scope_current(), inputs, input_count, results, result_count, NULL, 0, NULL, NULL, NULL, 0, NULL, NULL};
  return tgCallback((uintptr_t)user_data, &call);
}

static tdm_error* on_gradient(void* user_data, tdm_tensor* gradient, tdm_tensor** replacement) {
  return call_go(user_data, &gradient, 1, replacement, 1);
}

static tdm_error* on_tensor(void* user_data, tdm_tensor* tensor) { return call_go(user_data, &tensor, 1, NULL, 0); }

tdm_error* tg_register_hook(tdm_tensor* tensor, uintptr_t handle, tdm_hook** out) {
  return tdm_tensor_register_hook(tensor, on_gradient, (void*)handle, release, out);
}

tdm_error* tg_register_post_accumulate_grad_hook(tdm_tensor* tensor, uintptr_t handle, tdm_hook** out) {
  return tdm_tensor_register_post_accumulate_grad_hook(tensor, on_tensor, (void*)handle, release, out);
}

static tdm_error* on_inputs(void* user_data, tdm_tensor* const* inputs, size_t input_count) {
  return call_go(user_data, inputs, input_count, NULL, 0);
}

tdm_error* tg_enter_checkpoint(tdm_tensor* const* inputs, size_t input_count, int32_t preserve_random_state,
                               uintptr_t handle, tdm_mode** out) {
  return tdm_mode_enter_checkpoint(inputs, input_count, preserve_random_state, on_inputs, (void*)handle, release, out);
}

static tdm_error* on_backward(void* user_data, const tdm_function_backward* call) {
  tg_call go = {tdm_scope_current(), call->gradients, call->gradient_count, call->results,
                call->input_count,   call->saved,     call->saved_count,    call->needs_input_grad,
                NULL,                NULL,            0,                    NULL,
                NULL};
  return tgCallback((uintptr_t)user_data, &go);
}

static tdm_error* on_bucket(void* user_data, const tdm_grad_bucket* bucket, tdm_work** work) {
  tg_call call = {tdm_scope_current(), NULL, 0, NULL, 0, NULL, 0, NULL, bucket, work, 0, NULL, NULL};
  return tgCallback((uintptr_t)user_data, &call);
}

static tdm_error* on_exchanged(void* user_data, const tdm_grad_bucket* bucket, tdm_tensor** result) {
  tg_call call = {tdm_scope_current(), NULL, 0, result, 1, NULL, 0, NULL, bucket, NULL, 0, NULL, NULL};
  return tgCallback((uintptr_t)user_data, &call);
}

tdm_error* tg_ddp_register_comm_hook(tdm_ddp* ddp, uintptr_t handle) {
  return tdm_ddp_register_comm_hook(ddp, on_bucket, on_exchanged, (void*)handle, release);
}

tdm_error* tg_function_record(const char* name, tdm_tensor* const* inputs, size_t input_count,
                              tdm_tensor* const* outputs, size_t output_count, tdm_tensor* const* saved,
                              size_t saved_count, tdm_tensor* const* dirty, size_t dirty_count,
                              tdm_tensor* const* non_differentiable, size_t non_differentiable_count,
                              int32_t materialize_grads, uintptr_t handle, tdm_tensor** results) {
  tdm_function function = {sizeof function,          name,
                           inputs,                   input_count,
                           outputs,                  output_count,
                           saved,                    saved_count,
                           dirty,                    dirty_count,
                           non_differentiable,       non_differentiable_count,
                           on_backward,              (void*)handle,
                           release,                  materialize_grads};
  return tdm_function_record(&function, results);
}

static tdm_error* on_replica(void* user_data, const tdm_replica_call* call) {
  tg_call go = {tdm_scope_current(), call->inputs, call->input_count, call->outputs, call->output_room, NULL, 0, NULL,
                NULL,                NULL,         (int32_t)call->replica, call->output_count, NULL};
  return tgCallback((uintptr_t)user_data, &go);
}

tdm_error* tg_data_parallel_forward(tdm_data_parallel* data_parallel, tdm_tensor* const* parameters,
                                    size_t parameter_count, tdm_tensor* const* replica_parameters,
                                    tdm_tensor* const* buffers, size_t buffer_count, tdm_tensor* const* replica_buffers,
                                    uintptr_t handle, tdm_tensor* const* inputs, size_t input_count,
                                    tdm_tensor** results, size_t* result_count) {
  tdm_replicas replicas = {sizeof replicas, parameters, parameter_count, replica_parameters, buffers,
                           buffer_count,    replica_buffers, on_replica, (void*)handle,      release};
  return tdm_data_parallel_forward(data_parallel, &replicas, inputs, input_count, results, result_count);
}

static tdm_error* compute_micro_batch(void* user_data, const tdm_pipeline_call* call, int32_t stage) {
  tg_call go = {.scope = tdm_scope_current(),
                .inputs = call->inputs,
                .input_count = call->input_count,
                .results = call->outputs,
                .result_count = call->output_room,
                .saved = call->targets,
                .saved_count = call->target_count,
                .replica = stage,
                .output_count = call->output_count};
  return tgCallback((uintptr_t)user_data, &go);
}

static tdm_error* on_stage(void* user_data, const tdm_pipeline_call* call) {
  return compute_micro_batch(user_data, call, (int32_t)call->stage);
}

static tdm_error* on_loss(void* user_data, const tdm_pipeline_call* call) {
  return compute_micro_batch(user_data, call, -1);
}

tdm_error* tg_pipeline_create(tdm_process_group* group, tdm_tensor* const* parameters, const char* const* names,
                              const int32_t* stages, const uint8_t* tied, const uint8_t* sparse,
                              size_t parameter_count, tdm_tensor* const* buffers, const char* const* buffer_names,
                              const int32_t* buffer_stages, const uint8_t* tied_buffers, size_t buffer_count,
                              const tdm_pipeline_options* options, int32_t has_loss, uintptr_t handle, tdm_pipeline** out) {
  return tdm_pipeline_create(group, parameters, names, stages, tied, sparse, parameter_count, buffers, buffer_names,
                             buffer_stages, tied_buffers, buffer_count, options, on_stage, has_loss ? on_loss : NULL, (void*)handle,
                             release, out);
}

tdm_error* tg_pipeline_split_by_time(tdm_process_group* group, int64_t layer_count, tdm_tensor* const* tensors,
                                     size_t tensor_count, tdm_tensor* const* inputs, size_t input_count,
                                     tdm_tensor* const* targets, size_t target_count,
                                     const tdm_pipeline_split_options* options, int32_t has_loss, uintptr_t handle,
                                     int64_t* first_layers, size_t* stage_count) {
  return tdm_pipeline_split_by_time(group, layer_count, tensors, tensor_count, inputs, input_count, targets, target_count,
                                    options, on_stage, has_loss ? on_loss : NULL, (void*)handle, release, first_layers,
                                    stage_count);
}

static tdm_error* on_step(void* user_data, const tdm_step_batch* batch) {
  tg_call go = {.scope = tdm_scope_current(),
                .inputs = batch->tensors,
                .input_count = batch->tensor_count,
                .results = batch->outputs,
                .result_count = batch->output_count,
                .step = batch};
  return tgCallback((uintptr_t)user_data, &go);
}

tdm_error* tg_loader_add_step(tdm_loader* loader, const char* const* adds, size_t add_count, uintptr_t handle) {
  return tdm_loader_add_step(loader, on_step, adds, add_count, (void*)handle, release);
}

static tdm_error* on_rate(void* user_data, int64_t group, double at, double* factor) {
  tg_rate_call rate = {group, at, 0};
  tg_call go = {.scope = tdm_scope_current(), .rate = &rate};
  tdm_error* error = tgCallback((uintptr_t)user_data, &go);
  if (!error) *factor = rate.factor;
  return error;
}

tdm_error* tg_lr_scheduler_create_with_function(const char* type, tdm_optimizer* optimizer, const tdm_option* options,
                                                size_t count, uintptr_t function, tdm_lr_scheduler** out) {
  return tdm_lr_scheduler_create_with_function(type, optimizer, options, count, on_rate, (void*)function, release, out);
}

static tdm_error* on_closure(void* user_data, tdm_tensor** loss) { return call_go(user_data, NULL, 0, loss, 1); }

tg_tensor tg_optimizer_step_closure(tdm_optimizer* optimizer, uintptr_t handle) {
  tdm_tensor* loss = NULL;
  tdm_error* error = tdm_optimizer_step_closure(optimizer, on_closure, (void*)handle, release, &loss);
  tg_tensor made = tg_describe(loss);
  made.error = error;
  return made;
}

static tdm_error* on_traced(void* user_data, const tdm_jit_trace_call* call) {
  tg_call go = {.scope = tdm_scope_current(),
                .inputs = call->inputs,
                .input_count = call->input_count,
                .results = call->outputs,
                .result_count = call->output_room,
                .output_count = call->output_count};
  return tgCallback((uintptr_t)user_data, &go);
}

tdm_error* tg_jit_trace(tdm_tensor* const* inputs, size_t input_count, const char* const* parameter_names,
                        tdm_tensor* const* parameters, size_t parameter_count, const char* const* buffer_names,
                        tdm_tensor* const* buffers, size_t buffer_count, uintptr_t handle, tdm_module** out) {
  tdm_value* values = calloc(input_count ? input_count : 1, sizeof *values);
  if (!values) return tdm_error_create(TDM_ERROR_OUT_OF_MEMORY, "tdm_jit_trace_function", "out of memory", NULL, NULL);
  for (size_t i = 0; i < input_count; ++i) {
    values[i].tag = TDM_VALUE_TENSOR;
    values[i].as.tensor = inputs[i];
  }
  tdm_jit_trace trace = {sizeof trace,    values,  input_count,  parameter_names, parameters, parameter_count,
                         buffer_names,    buffers, buffer_count, on_traced,       (void*)handle, release};
  tdm_error* error = tdm_jit_trace_function(&trace, out);
  free(values);
  return error;
}

static tdm_error* on_rpc(void* user_data, tdm_value* arguments, size_t argument_count, tdm_rpc_result* result) {
  return tgRPCFunction((uintptr_t)user_data, tdm_scope_current(), arguments, argument_count, result);
}

tdm_error* tg_rpc_register_function(const char* name, uintptr_t handle) {
  return tdm_rpc_register_function(name, on_rpc, (void*)handle, release);
}

static void on_rpc_done(void* user_data, const tdm_error* error) { tgRPCDone((uintptr_t)user_data); }

tdm_error* tg_rpc_on_completion(const tdm_rpc_future* future, uintptr_t handle) {
  return tdm_rpc_future_on_completion(future, on_rpc_done, (void*)handle, release);
}

tdm_error* tg_error(int32_t code, const char* message, uintptr_t handle) {
  return tdm_error_create((tdm_error_code)code, NULL, message, (void*)handle, release);
}

uintptr_t tg_error_cause(const tdm_error* error) { return (uintptr_t)tdm_error_user_data(error, release); }
