/* What Go calls instead of the C ABI where one crossing should do the work of several. Results come back by value, so
 * that a call needs no memory of Go's heap. */
#ifndef TANDEM_GO_SHIM_H
#define TANDEM_GO_SHIM_H

#include "forward.h"

/* Opens a library for good. NULL on failure, with dlerror()'s text in *error (free with free()). */
TDM_API void* tg_open(const char* path, char** error);

/* 1 in a process with rights that the user who started it does not have (setuid, setgid, capabilities). */
TDM_API int32_t tg_has_more_rights(void);

/* Has malloc give free memory back to the system, where it can. */
TDM_API void tg_trim_memory(void);

/* A new tensor with what Go keeps about it. */
typedef struct tg_tensor {
  tdm_error* error;
  tdm_tensor* tensor;
  uint64_t scope;
  int64_t bytes; /* tg_op_call_tensors() leaves it out inside a scope, which needs none */
  int32_t light; /* of tg_op_call_tensors(): no scope, at most TG_LIGHT_BYTES are kept alive, no gradient is required */
} tg_tensor;

enum { TG_LIGHT_BYTES = 256 };

/* Describes a handle that was just made. */
TDM_API tg_tensor tg_describe(tdm_tensor* tensor);

/* Frees each; NULLs are left out. */
TDM_API void tg_tensor_free_all(tdm_tensor* const* tensors, size_t count);

/* Arguments whose data lies in `pool`: strings and lists hold an offset into it instead of an address, because Go
 * memory must not hold Go addresses when it crosses. These calls write the addresses into `arguments`. */
TDM_API tg_tensor tg_op_call_one(const tdm_op* op, tdm_value* arguments, size_t count, char* pool);
/* The first arguments are one to three tensors, those after `count` NULL; all others are as in the schema. */
TDM_API tg_tensor tg_op_call_tensors(const tdm_op* op, size_t count, tdm_tensor* first, tdm_tensor* second,
                                     tdm_tensor* third);
TDM_API tdm_error* tg_op_call(const tdm_op* op, tdm_value* arguments, size_t count, char* pool, tdm_value* results,
                              size_t result_count);
TDM_API tg_tensor tg_module_forward_one(tdm_module* module, tdm_value* arguments, size_t count, char* pool);
/* At most `room` results; *result_count says how many came. */
TDM_API tdm_error* tg_module_forward(tdm_module* module, tdm_value* arguments, size_t count, char* pool,
                                     tdm_value* results, size_t* result_count);
TDM_API tdm_error* tg_exported_call(tdm_module* program, tdm_value* arguments, size_t count, char* pool, tdm_value* out);
/* Calls of other workers. */
TDM_API tdm_error* tg_rpc_async(const char* to, const char* function, tdm_value* arguments, size_t count, char* pool,
                                const tdm_rpc_call_options* options, tdm_rpc_future** out);
TDM_API tdm_error* tg_rpc_remote(const char* to, const char* function, tdm_value* arguments, size_t count, char* pool,
                                 const tdm_rpc_call_options* options, tdm_rref** out);
/* Of one value. */
TDM_API tdm_error* tg_rpc_result_set(tdm_rpc_result* result, tdm_value* value, char* pool);
TDM_API tdm_error* tg_rref_create(tdm_value* value, char* pool, tdm_rref** out);
TDM_API tdm_error* tg_rpc_register_function(const char* name, uintptr_t handle);
TDM_API tdm_error* tg_rpc_on_completion(const tdm_rpc_future* future, uintptr_t handle);
TDM_API tdm_error* tg_distributed_optimizer_create(const char* type, tdm_rref* const* parameters, size_t parameter_count,
                                                   const int64_t* names, tdm_value* values, size_t count, char* pool,
                                                   const tdm_distributed_optimizer_options* distributed,
                                                   tdm_distributed_optimizer** out);
/* Of one option. */
TDM_API tdm_error* tg_distributed_optimizer_set_option(tdm_distributed_optimizer* optimizer, const int64_t* names,
                                                       tdm_value* values, char* pool);
/* `options` and `tables` get their options: counts[0] of all are the dense optimizer's, counts[i + 1] those of table i. */
TDM_API tdm_error* tg_parameter_client_create(tdm_parameter_client_options* options, const char* const* names,
                                              tdm_tensor* const* parameters, size_t parameter_count,
                                              tdm_embedding_table* tables, size_t table_count, const int64_t* option_names,
                                              tdm_value* values, size_t count, const int64_t* counts, char* pool,
                                              tdm_parameter_client** out);
TDM_API tdm_error* tg_parameter_client_set_option(tdm_parameter_client* client, const char* table, const int64_t* names,
                                                  tdm_value* values, char* pool);
TDM_API tg_tensor tg_parameter_client_embedding(tdm_parameter_client* client, const char* table, tdm_tensor* indices);
TDM_API tg_tensor tg_own_tensors_get(const tdm_own_tensors* list, size_t index);
TDM_API tdm_error* tg_jit_call(tdm_module* module, const char* method, tdm_value* arguments, size_t count, char* pool,
                               tdm_value* out);
/* Options: names[i] is the offset of option i's name in the pool. */
TDM_API tdm_error* tg_module_create(const char* type, const int64_t* names, tdm_value* values, size_t count, char* pool,
                                    tdm_module** out);
TDM_API tdm_error* tg_module_parametrize(tdm_module* module, const char* kind, const char* name, const int64_t* names,
                                         tdm_value* values, size_t count, char* pool);
TDM_API tg_tensor tg_module_generate(tdm_module* module, const tdm_tensor* input_ids, const int64_t* names,
                                     tdm_value* values, size_t count, char* pool);
TDM_API tdm_error* tg_optimizer_create(const char* type, tdm_tensor* const* parameters, size_t parameter_count,
                                       const int64_t* names, tdm_value* values, size_t count, char* pool,
                                       tdm_optimizer** out);
TDM_API tdm_error* tg_zero_create(tdm_process_group* group, const char* type, tdm_tensor* const* parameters,
                                  size_t parameter_count, const int64_t* names, tdm_value* values, size_t count,
                                  char* pool, tdm_optimizer** out);
TDM_API tdm_error* tg_optimizer_add_group(tdm_optimizer* optimizer, tdm_tensor* const* parameters,
                                          size_t parameter_count, const int64_t* names, tdm_value* values, size_t count,
                                          char* pool);
/* `function`, where it is not 0, is a Go callback of rates. */
TDM_API tdm_error* tg_lr_scheduler_create(const char* type, tdm_optimizer* optimizer, const int64_t* names,
                                          tdm_value* values, size_t count, char* pool, uintptr_t function,
                                          tdm_lr_scheduler** out);
TDM_API tdm_error* tg_lr_scheduler_create_with_function(const char* type, tdm_optimizer* optimizer,
                                                        const tdm_option* options, size_t count, uintptr_t function,
                                                        tdm_lr_scheduler** out);
TDM_API tdm_error* tg_lr_scheduler_load_state(tdm_lr_scheduler* scheduler, tdm_value* state, char* pool);
TDM_API tdm_error* tg_optimizer_set_option(tdm_optimizer* optimizer, int64_t group, const int64_t* names,
                                           tdm_value* values, char* pool);

TDM_API tg_tensor tg_tensor_from_data(const void* data, size_t bytes, tdm_dtype dtype, const int64_t* sizes,
                                      int64_t ndim);
TDM_API tg_tensor tg_tensor_index(const tdm_tensor* tensor, const tdm_index* indices, size_t count);
TDM_API tg_tensor tg_tensor_share(const tdm_tensor* tensor);
TDM_API tg_tensor tg_tensor_grad(const tdm_tensor* tensor);
TDM_API tg_tensor tg_named_tensors_get(const tdm_named_tensors* list, size_t index);

/* Hands `tensor` on; all_the_way: out of every open scope. Returns the scope that owns it now. */
TDM_API uint64_t tg_scope_keep(tdm_tensor* tensor, int32_t all_the_way);

typedef struct tg_scope {
  tdm_error* error;
  tdm_scope* scope;
  uint64_t id;
} tg_scope;
TDM_API tg_scope tg_scope_enter(void);

typedef struct tg_double {
  tdm_error* error;
  double value;
} tg_double;
TDM_API tg_double tg_tensor_item_double(const tdm_tensor* tensor);
typedef struct tg_int64 {
  tdm_error* error;
  int64_t value;
} tg_int64;
TDM_API tg_int64 tg_tensor_item_int64(const tdm_tensor* tensor);

/* A list's elements, handed to the caller: the value is left without them. */
TDM_API tdm_tensor* tg_value_list_tensor(const tdm_value* value, size_t index);

/* DDP around a module's forward. One output, the usual case, goes without a frame. */
TDM_API tdm_error* tg_ddp_prepare_forward(tdm_ddp* ddp, int32_t training, tdm_value* arguments, size_t count,
                                          char* pool, tdm_value* prepared);
TDM_API tdm_error* tg_ddp_prepare_backward(tdm_ddp* ddp, tdm_value* outputs, size_t count, char* pool,
                                           tdm_value* prepared);
TDM_API tg_tensor tg_ddp_prepare_backward_one(tdm_ddp* ddp, tdm_tensor* output);
TDM_API tdm_error* tg_backward_one(tdm_tensor* tensor, tdm_tensor* gradient, int32_t retain_graph,
                                   int32_t create_graph);

/* Of one value. */
TDM_API tdm_error* tg_pt_save(const char* path, tdm_value* value, char* pool);
TDM_API tdm_error* tg_optimizer_load_state_dict(tdm_optimizer* optimizer, tdm_value* state_dict, char* pool);

/* What a data set or sampler in Go is asked for. */
typedef struct tg_data_call {
  int32_t what; /* TG_GET … */
  uint64_t seed;
  int64_t epoch;
  int64_t number; /* of the sample to get; of the samples to skip; of the first position to list */
  int64_t stream; /* that is gone through, as opening it gave */
  int64_t* samples; /* to list */
  size_t sample_count;
  int64_t result; /* the stream that was opened; whether there is a next sample; how many were skipped */
} tg_data_call;
enum { TG_GET, TG_MAP, TG_OPEN, TG_NEXT, TG_SKIP, TG_CLOSE, TG_LIST };

/* What a scheduler asks a function of rates for. */
typedef struct tg_rate_call {
  int64_t group;
  double at;
  double factor; /* the answer */
} tg_rate_call;

/* Callbacks: each is a cgo.Handle of a Go function, given to the C ABI as user_data. tgCallback, in Go, calls it. */
typedef struct tg_call {
  uint64_t scope; /* that the callback runs in */
  tdm_tensor* const* inputs;
  size_t input_count;
  tdm_tensor** results; /* room for result_count, all NULL */
  size_t result_count;
  /* Of the backward of a function: */
  tdm_tensor* const* saved;
  size_t saved_count;
  const uint8_t* needs; /* result_count flags; NULL: none */
  /* Of a communication hook: */
  const tdm_grad_bucket* bucket; /* NULL: none */
  tdm_work** work;               /* where it begins; NULL where it finishes */
  /* Of a replica's forward, and of a pipeline: the stage, -1: the loss, whose targets are `saved`. */
  int32_t replica;
  size_t* output_count; /* how many of the results there are; NULL: all */
  /* Of a data set or sampler: */
  tg_data_call* data; /* NULL: none */
  /* Of a loader's step: */
  const tdm_step_batch* step; /* NULL: none */
  /* Of a scheduler: */
  tg_rate_call* rate; /* NULL: none */
} tg_call;

TDM_API tdm_error* tg_dataset_create(int64_t size, const char* const* names, size_t field_count, uint64_t fingerprint,
                                     uintptr_t handle, tdm_dataset** out);
TDM_API tdm_error* tg_dataset_map(const tdm_dataset* dataset, const char* const* names, size_t field_count,
                                  uintptr_t handle, tdm_dataset** out);
TDM_API tdm_error* tg_dataset_from_iterable(int64_t size, const char* const* names, size_t field_count,
                                            uint64_t fingerprint, uintptr_t handle, tdm_dataset** out);
TDM_API tdm_error* tg_sampler_create(const char* name, int64_t positions, int32_t by_epoch, uintptr_t handle,
                                     tdm_sampler** out);

TDM_API tdm_error* tg_register_hook(tdm_tensor* tensor, uintptr_t handle, tdm_hook** out);
TDM_API tdm_error* tg_register_post_accumulate_grad_hook(tdm_tensor* tensor, uintptr_t handle, tdm_hook** out);
TDM_API tdm_error* tg_ddp_register_comm_hook(tdm_ddp* ddp, uintptr_t handle);
TDM_API tdm_error* tg_enter_checkpoint(tdm_tensor* const* inputs, size_t input_count, int32_t preserve_random_state,
                                       uintptr_t handle, tdm_mode** out);
/* tdm_function_record(), whose struct would hold addresses of Go's memory. */
TDM_API tdm_error* tg_function_record(const char* name, tdm_tensor* const* inputs, size_t input_count,
                                      tdm_tensor* const* outputs, size_t output_count, tdm_tensor* const* saved,
                                      size_t saved_count, tdm_tensor* const* dirty, size_t dirty_count,
                                      tdm_tensor* const* non_differentiable, size_t non_differentiable_count,
                                      int32_t materialize_grads, uintptr_t handle, tdm_tensor** results);

/* tdm_data_parallel_forward(), likewise. */
TDM_API tdm_error* tg_data_parallel_forward(tdm_data_parallel* data_parallel, tdm_tensor* const* parameters,
                                            size_t parameter_count, tdm_tensor* const* replica_parameters,
                                            tdm_tensor* const* buffers, size_t buffer_count,
                                            tdm_tensor* const* replica_buffers, uintptr_t handle,
                                            tdm_tensor* const* inputs, size_t input_count, tdm_tensor** results,
                                            size_t* result_count);

/* tdm_pipeline_create(), likewise. `has_loss`: the callback computes the loss, too, as stage -1. */
TDM_API tdm_error* tg_pipeline_create(tdm_process_group* group, tdm_tensor* const* parameters, const char* const* names,
                                      const int32_t* stages, const uint8_t* tied, const uint8_t* sparse,
                                      size_t parameter_count, tdm_tensor* const* buffers,
                                      const char* const* buffer_names, const int32_t* buffer_stages,
                                      const uint8_t* tied_buffers, size_t buffer_count,
                                      const tdm_pipeline_options* options, int32_t has_loss, uintptr_t handle,
                                      tdm_pipeline** out);

/* tdm_pipeline_split_by_time(), likewise. */
TDM_API tdm_error* tg_pipeline_split_by_time(tdm_process_group* group, int64_t layer_count, tdm_tensor* const* tensors,
                                             size_t tensor_count, tdm_tensor* const* inputs, size_t input_count,
                                             tdm_tensor* const* targets, size_t target_count,
                                             const tdm_pipeline_split_options* options, int32_t has_loss,
                                             uintptr_t handle, int64_t* first_layers, size_t* stage_count);

/* tdm_loader_add_step(), likewise. */
TDM_API tdm_error* tg_loader_add_step(tdm_loader* loader, const char* const* adds, size_t add_count, uintptr_t handle);

/* tdm_optimizer_step_closure(), with a Go callback that gives the loss. */
TDM_API tg_tensor tg_optimizer_step_closure(tdm_optimizer* optimizer, uintptr_t handle);

/* tdm_jit_trace_function() of a Go callback, whose inputs are tensors. */
TDM_API tdm_error* tg_jit_trace(tdm_tensor* const* inputs, size_t input_count, const char* const* parameter_names,
                                tdm_tensor* const* parameters, size_t parameter_count, const char* const* buffer_names,
                                tdm_tensor* const* buffers, size_t buffer_count, uintptr_t handle, tdm_module** out);

/* A Go error, by its cgo.Handle, on its way through C. */
TDM_API tdm_error* tg_error(int32_t code, const char* message, uintptr_t handle);
/* The handle of the Go error that led to this one, 0 when there is none. */
TDM_API uintptr_t tg_error_cause(const tdm_error* error);

#endif
