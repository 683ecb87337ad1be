/* Written by capi/generator from tandem.h; do not edit. */
#include "forward.h"

#include <dlfcn.h>

char tandem_go_missing[TANDEM_GO_FUNCTION_COUNT];
static void (*slots[TANDEM_GO_FUNCTION_COUNT])(void);

const char* const tandem_go_names[TANDEM_GO_FUNCTION_COUNT] = {
    "tdm_error_get_code",
    "tdm_error_operation",
    "tdm_error_message",
    "tdm_error_free",
    "tdm_error_create",
    "tdm_error_user_data",
    "tdm_string_data",
    "tdm_string_size",
    "tdm_string_free",
    "tdm_strings_count",
    "tdm_strings_data",
    "tdm_strings_size",
    "tdm_strings_free",
    "tdm_load_options_init",
    "tdm_load",
    "tdm_shutdown",
    "tdm_version",
    "tdm_libtorch_version",
    "tdm_cuda_device_count",
    "tdm_live_count",
    "tdm_tensor_live_bytes",
    "tdm_tensor_from_data",
    "tdm_tensor_from_blob",
    "tdm_tensor_share",
    "tdm_tensor_free",
    "tdm_tensor_dim",
    "tdm_tensor_sizes",
    "tdm_tensor_strides",
    "tdm_tensor_numel",
    "tdm_tensor_nbytes",
    "tdm_tensor_storage_nbytes",
    "tdm_tensor_get_dtype",
    "tdm_tensor_get_device",
    "tdm_tensor_get_layout",
    "tdm_tensor_requires_grad",
    "tdm_tensor_is_leaf",
    "tdm_tensor_is_contiguous",
    "tdm_tensor_is_same",
    "tdm_tensor_data",
    "tdm_tensor_copy_to",
    "tdm_tensor_copy_from",
    "tdm_tensor_item_double",
    "tdm_tensor_item_int64",
    "tdm_tensor_to_string",
    "tdm_tensor_grad_fn_name",
    "tdm_named_tensors_size",
    "tdm_named_tensors_name",
    "tdm_named_tensors_get",
    "tdm_named_tensors_free",
    "tdm_scope_enter",
    "tdm_scope_exit",
    "tdm_scope_keep",
    "tdm_tensor_scope_id",
    "tdm_scope_id",
    "tdm_scope_current",
    "tdm_value_clear",
    "tdm_tensor_index",
    "tdm_tensor_index_put",
    "tdm_op_find",
    "tdm_op_schema",
    "tdm_op_argument_count",
    "tdm_op_result_count",
    "tdm_op_call",
    "tdm_load_library",
    "tdm_autograd_backward",
    "tdm_autograd_grad",
    "tdm_tensor_grad",
    "tdm_tensor_set_grad",
    "tdm_tensor_set_requires_grad",
    "tdm_mode_enter_grad",
    "tdm_mode_enter_inference",
    "tdm_mode_enter_autocast",
    "tdm_mode_enter_anomaly",
    "tdm_mode_exit",
    "tdm_modes_init",
    "tdm_get_modes",
    "tdm_tensor_register_hook",
    "tdm_tensor_register_post_accumulate_grad_hook",
    "tdm_hook_remove",
    "tdm_hook_free",
    "tdm_function_init",
    "tdm_function_record",
    "tdm_mode_enter_checkpoint",
    "tdm_manual_seed",
    "tdm_generator_create",
    "tdm_generator_default",
    "tdm_generator_free",
    "tdm_generator_get_device",
    "tdm_generator_manual_seed",
    "tdm_generator_seed",
    "tdm_generator_initial_seed",
    "tdm_generator_get_state",
    "tdm_generator_set_state",
    "tdm_set_num_threads",
    "tdm_get_num_threads",
    "tdm_device_current",
    "tdm_mode_enter_device",
    "tdm_device_synchronize",
    "tdm_device_memory_init",
    "tdm_device_get_memory",
    "tdm_device_reset_peak_memory",
    "tdm_cuda_empty_cache",
    "tdm_stream_create",
    "tdm_stream_current",
    "tdm_stream_default",
    "tdm_stream_free",
    "tdm_mode_enter_stream",
    "tdm_stream_query",
    "tdm_stream_synchronize",
    "tdm_stream_wait_event",
    "tdm_stream_record_tensor",
    "tdm_event_create",
    "tdm_event_free",
    "tdm_event_record",
    "tdm_event_query",
    "tdm_event_synchronize",
    "tdm_event_elapsed_ms",
    "tdm_cuda_settings_init",
    "tdm_cuda_get_settings",
    "tdm_cuda_set_settings",
    "tdm_set_determinism",
    "tdm_get_determinism",
    "tdm_set_num_interop_threads",
    "tdm_get_num_interop_threads",
    "tdm_module_create",
    "tdm_module_free",
    "tdm_module_forward",
    "tdm_module_named_parameters",
    "tdm_module_named_buffers",
    "tdm_module_train",
    "tdm_module_is_training",
    "tdm_module_to",
    "tdm_module_set_batch_norm_momentum",
    "tdm_module_types",
    "tdm_module_clone",
    "tdm_module_parametrize",
    "tdm_module_remove_parametrizations",
    "tdm_module_generate",
    "tdm_optimizer_create",
    "tdm_optimizer_free",
    "tdm_optimizer_add_group",
    "tdm_optimizer_group_count",
    "tdm_optimizer_step",
    "tdm_optimizer_step_closure",
    "tdm_optimizer_zero_grad",
    "tdm_optimizer_set_option",
    "tdm_optimizer_get_option",
    "tdm_optimizer_state",
    "tdm_optimizer_load_state",
    "tdm_optimizer_state_dict",
    "tdm_optimizer_load_state_dict",
    "tdm_lr_scheduler_create",
    "tdm_lr_scheduler_create_with_function",
    "tdm_lr_scheduler_create_sequential",
    "tdm_lr_scheduler_create_chained",
    "tdm_lr_scheduler_free",
    "tdm_lr_scheduler_step",
    "tdm_lr_scheduler_step_metric",
    "tdm_lr_scheduler_step_to",
    "tdm_lr_scheduler_last_lr",
    "tdm_lr_scheduler_state",
    "tdm_lr_scheduler_load_state",
    "tdm_averaged_parameters_options_init",
    "tdm_averaged_parameters_create",
    "tdm_averaged_parameters_free",
    "tdm_averaged_parameters_update",
    "tdm_averaged_parameters_swap",
    "tdm_averaged_parameters_state",
    "tdm_averaged_parameters_load_state",
    "tdm_grad_scaler_options_init",
    "tdm_grad_scaler_create",
    "tdm_grad_scaler_free",
    "tdm_grad_scaler_scale",
    "tdm_grad_scaler_unscale",
    "tdm_grad_scaler_step",
    "tdm_grad_scaler_update",
    "tdm_grad_scaler_state_init",
    "tdm_grad_scaler_get_state",
    "tdm_grad_scaler_set_state",
    "tdm_safetensors_save",
    "tdm_safetensors_save_sharded",
    "tdm_safetensors_load_options_init",
    "tdm_safetensors_load",
    "tdm_pt_load_options_init",
    "tdm_pt_load",
    "tdm_pt_save",
    "tdm_names_replace",
    "tdm_tensors_load",
    "tdm_exported_options_init",
    "tdm_exported_load",
    "tdm_exported_call",
    "tdm_exported_inputs",
    "tdm_exported_save",
    "tdm_exported_parts",
    "tdm_jit_load",
    "tdm_jit_load_bytes",
    "tdm_jit_compile",
    "tdm_jit_save",
    "tdm_jit_save_bytes",
    "tdm_jit_methods",
    "tdm_jit_schema",
    "tdm_jit_call",
    "tdm_jit_trace_init",
    "tdm_jit_trace_function",
    "tdm_tcp_store_options_init",
    "tdm_store_tcp",
    "tdm_store_file",
    "tdm_store_hash",
    "tdm_store_prefix",
    "tdm_store_free",
    "tdm_store_port",
    "tdm_store_set",
    "tdm_store_get",
    "tdm_store_add",
    "tdm_store_check",
    "tdm_store_delete",
    "tdm_store_wait",
    "tdm_store_compare_set",
    "tdm_store_set_timeout",
    "tdm_launch_place",
    "tdm_process_group_options_init",
    "tdm_process_group_create",
    "tdm_process_group_free",
    "tdm_process_group_rank",
    "tdm_process_group_size",
    "tdm_process_group_backend",
    "tdm_process_group_name",
    "tdm_process_group_abort",
    "tdm_process_group_new_group",
    "tdm_process_group_split",
    "tdm_process_group_new_subgroups",
    "tdm_process_group_global_rank",
    "tdm_process_group_rank_of",
    "tdm_broadcast",
    "tdm_all_reduce",
    "tdm_all_reduce_premul_sum",
    "tdm_all_reduce_coalesced",
    "tdm_reduce",
    "tdm_all_gather",
    "tdm_all_gather_into_tensor",
    "tdm_gather",
    "tdm_scatter",
    "tdm_reduce_scatter",
    "tdm_reduce_scatter_tensor",
    "tdm_all_to_all",
    "tdm_all_to_all_single",
    "tdm_barrier",
    "tdm_monitored_barrier",
    "tdm_send",
    "tdm_recv",
    "tdm_batch_send_recv",
    "tdm_broadcast_bytes",
    "tdm_all_gather_bytes",
    "tdm_gather_bytes",
    "tdm_scatter_bytes",
    "tdm_work_wait",
    "tdm_work_is_completed",
    "tdm_work_error",
    "tdm_work_on_completion",
    "tdm_work_result_count",
    "tdm_work_result",
    "tdm_work_source_rank",
    "tdm_work_free",
    "tdm_flight_record",
    "tdm_trace_options_init",
    "tdm_trace_start",
    "tdm_trace_stop",
    "tdm_profiler_options_init",
    "tdm_profiler_start",
    "tdm_profiler_stop",
    "tdm_differentiable_broadcast",
    "tdm_differentiable_all_reduce",
    "tdm_differentiable_reduce",
    "tdm_differentiable_gather",
    "tdm_differentiable_scatter",
    "tdm_differentiable_all_gather",
    "tdm_differentiable_reduce_scatter",
    "tdm_differentiable_all_to_all",
    "tdm_differentiable_all_to_all_single",
    "tdm_ddp_options_init",
    "tdm_ddp_create",
    "tdm_ddp_free",
    "tdm_ddp_prepare_forward",
    "tdm_ddp_prepare_backward",
    "tdm_ddp_cancel_forward",
    "tdm_ddp_set_require_backward_grad_sync",
    "tdm_ddp_set_batch_samples",
    "tdm_ddp_set_buffers",
    "tdm_comm_hook_options_init",
    "tdm_ddp_set_comm_hook",
    "tdm_ddp_state",
    "tdm_ddp_load_state",
    "tdm_ddp_register_comm_hook",
    "tdm_ddp_set_optimizer_in_backward",
    "tdm_ddp_join_options_init",
    "tdm_ddp_begin_join",
    "tdm_ddp_end_join",
    "tdm_ddp_cancel_join",
    "tdm_ddp_statistics_init",
    "tdm_ddp_get_statistics",
    "tdm_ddp_get_bucket",
    "tdm_ddp_set_statistics_sample_rate",
    "tdm_ddp_statistics_table",
    "tdm_ddp_set_separate_exchanges",
    "tdm_ddp_iteration_init",
    "tdm_ddp_get_iteration_count",
    "tdm_ddp_get_iteration",
    "tdm_ddp_get_iteration_bucket",
    "tdm_bucket_trial_options_init",
    "tdm_ddp_try_bucket_sizes",
    "tdm_bucket_advice_init",
    "tdm_ddp_get_bucket_advice",
    "tdm_ddp_get_bucket_trial",
    "tdm_module_synchronize_batch_norm",
    "tdm_data_parallel_options_init",
    "tdm_data_parallel_create",
    "tdm_data_parallel_free",
    "tdm_data_parallel_replicas",
    "tdm_replicas_init",
    "tdm_data_parallel_forward",
    "tdm_periodic_model_averager_create",
    "tdm_hierarchical_model_averager_create",
    "tdm_model_averager_free",
    "tdm_model_averager_average",
    "tdm_post_local_sgd_optimizer_create",
    "tdm_zero_redundancy_optimizer_create",
    "tdm_zero_redundancy_optimizer_consolidate",
    "tdm_share_parameters",
    "tdm_device_mesh_create",
    "tdm_device_mesh_free",
    "tdm_device_mesh_dimensions",
    "tdm_device_mesh_name",
    "tdm_device_mesh_size",
    "tdm_device_mesh_coordinate",
    "tdm_device_mesh_group",
    "tdm_device_mesh_submesh",
    "tdm_device_mesh_flatten",
    "tdm_pipeline_options_init",
    "tdm_pipeline_create",
    "tdm_pipeline_free",
    "tdm_pipeline_step",
    "tdm_pipeline_evaluate",
    "tdm_pipeline_forward",
    "tdm_pipeline_saves",
    "tdm_pipeline_split_options_init",
    "tdm_pipeline_split_by_time",
    "tdm_checkpoint_folder_options_init",
    "tdm_checkpoint_folder_create",
    "tdm_checkpoint_folder_free",
    "tdm_checkpoint_folder_path",
    "tdm_checkpoint_folder_save",
    "tdm_checkpoint_folder_save_async",
    "tdm_checkpoint_folder_save_failed",
    "tdm_checkpoint_folder_saving",
    "tdm_checkpoint_folder_wait",
    "tdm_checkpoint_folder_close",
    "tdm_checkpoint_folder_abort",
    "tdm_checkpoint_folder_steps",
    "tdm_checkpoint_folder_load",
    "tdm_checkpoint_selection_init",
    "tdm_checkpoint_folder_load_part",
    "tdm_checkpoint_folder_agree",
    "tdm_checkpoint_free",
    "tdm_checkpoint_step",
    "tdm_checkpoint_world_size",
    "tdm_checkpoint_values",
    "tdm_checkpoint_refused",
    "tdm_checkpoint_sections",
    "tdm_checkpoint_tensors",
    "tdm_elastic_options_init",
    "tdm_elastic_create",
    "tdm_elastic_free",
    "tdm_elastic_commit",
    "tdm_elastic_committed",
    "tdm_elastic_meet",
    "tdm_elastic_epoch",
    "tdm_elastic_steps",
    "tdm_elastic_step",
    "tdm_elastic_has_ended",
    "tdm_elastic_done",
    "tdm_elastic_notify",
    "tdm_elastic_left",
    "tdm_elastic_has_left",
    "tdm_elastic_abort",
    "tdm_elastic_describe",
    "tdm_rpc_options_init",
    "tdm_rpc_init",
    "tdm_rpc_shutdown",
    "tdm_rpc_is_initialized",
    "tdm_rpc_workers",
    "tdm_rpc_worker_id",
    "tdm_rpc_result_set",
    "tdm_rpc_register_function",
    "tdm_rpc_register_module",
    "tdm_rpc_unregister",
    "tdm_rpc_wait_begin",
    "tdm_rpc_wait_end",
    "tdm_rpc_call_options_init",
    "tdm_rpc_sync",
    "tdm_rpc_async",
    "tdm_rpc_future_wait",
    "tdm_rpc_future_is_done",
    "tdm_rpc_future_on_completion",
    "tdm_rpc_future_free",
    "tdm_rpc_remote",
    "tdm_rref_create",
    "tdm_rref_owner",
    "tdm_rref_is_owner",
    "tdm_rref_confirmed_by_owner",
    "tdm_rref_local_value",
    "tdm_rref_to_here",
    "tdm_rref_free",
    "tdm_rref_counts_init",
    "tdm_rref_get_counts",
    "tdm_rpc_statistics_init",
    "tdm_rpc_get_statistics",
    "tdm_dist_autograd_new_context",
    "tdm_dist_autograd_release_context",
    "tdm_dist_autograd_current_context",
    "tdm_dist_autograd_backward",
    "tdm_dist_autograd_gradients",
    "tdm_distributed_optimizer_options_init",
    "tdm_distributed_optimizer_create",
    "tdm_distributed_optimizer_step",
    "tdm_distributed_optimizer_set_option",
    "tdm_distributed_optimizer_free",
    "tdm_parameter_server_options_init",
    "tdm_parameter_server_create",
    "tdm_parameter_server_free",
    "tdm_parameter_server_wait",
    "tdm_parameter_server_statistics_init",
    "tdm_parameter_server_get_statistics",
    "tdm_parameter_server_trainers",
    "tdm_parameter_server_tables",
    "tdm_parameter_client_options_init",
    "tdm_parameter_client_create",
    "tdm_parameter_client_free",
    "tdm_parameter_client_embedding",
    "tdm_parameter_client_step",
    "tdm_parameter_client_steps",
    "tdm_parameter_client_set_option",
    "tdm_parameter_client_leave",
    "tdm_parameter_client_state",
    "tdm_parameter_client_read",
    "tdm_parameter_client_load",
    "tdm_own_tensors_size",
    "tdm_own_tensors_section",
    "tdm_own_tensors_name",
    "tdm_own_tensors_whole",
    "tdm_own_tensors_begin",
    "tdm_own_tensors_get",
    "tdm_own_tensors_free",
    "tdm_metrics_options_init",
    "tdm_metrics_report",
    "tdm_recordio_writer_options_init",
    "tdm_recordio_writer_create",
    "tdm_recordio_writer_write",
    "tdm_recordio_writer_close",
    "tdm_recordio_writer_free",
    "tdm_recordio_reader_create",
    "tdm_recordio_reader_count",
    "tdm_recordio_reader_get",
    "tdm_recordio_reader_copy",
    "tdm_recordio_reader_version",
    "tdm_recordio_reader_schema",
    "tdm_recordio_reader_metadata_count",
    "tdm_recordio_reader_metadata_key",
    "tdm_recordio_reader_metadata_value",
    "tdm_recordio_reader_free",
    "tdm_loader_options_init",
    "tdm_loader_create",
    "tdm_loader_free",
    "tdm_loader_sample_count",
    "tdm_loader_batch_count",
    "tdm_loader_start_epoch",
    "tdm_loader_next",
    "tdm_loader_abort",
    "tdm_loader_batch_init",
    "tdm_loader_get_batch",
    "tdm_loader_get_batch_mask",
    "tdm_loader_commit",
    "tdm_loader_get_state",
    "tdm_loader_restore",
    "tdm_loader_current_epoch",
    "tdm_dataset_free",
    "tdm_dataset_size",
    "tdm_dataset_field_count",
    "tdm_dataset_field_name",
    "tdm_dataset_get",
    "tdm_open_records_options_init",
    "tdm_dataset_from_records",
    "tdm_dataset_from_tensors",
    "tdm_dataset_concat",
    "tdm_dataset_subset",
    "tdm_dataset_random_split",
    "tdm_dataset_split_sizes",
    "tdm_dataset_map",
    "tdm_dataset_create",
    "tdm_iterable_init",
    "tdm_dataset_from_iterable",
    "tdm_loader_create_from",
    "tdm_schema_options_init",
    "tdm_dataset_from_schema",
    "tdm_loader_add_transforms",
    "tdm_loader_add_step",
    "tdm_loader_statistics_init",
    "tdm_loader_get_statistics",
    "tdm_loader_statistics_text",
    "tdm_sampler_free",
    "tdm_sampler_size",
    "tdm_sampler_samples",
    "tdm_sampler_sequential",
    "tdm_sampler_random",
    "tdm_sampler_weighted",
    "tdm_sampler_subset",
    "tdm_sampler_batches",
    "tdm_sampler_by_length",
    "tdm_sampler_distributed",
    "tdm_sampler_create",
    "tdm_dynamic_loader_options_init",
    "tdm_loader_create_dynamic",
    "tdm_loader_create_replay",
    "tdm_loader_next_step",
    "tdm_loader_fail",
    "tdm_loader_current_step",
    "tdm_loader_step_local_count",
    "tdm_loader_step_global_count",
    "tdm_loader_get_quarantine",
    "tdm_summary_writer_create",
    "tdm_summary_writer_path",
    "tdm_summary_writer_add_scalar",
    "tdm_summary_writer_add_histogram",
    "tdm_summary_writer_add_image",
    "tdm_summary_writer_add_text",
    "tdm_summary_writer_flush",
    "tdm_summary_writer_close",
    "tdm_summary_writer_free",
};

int tandem_go_bind(void* library) {
  int missing = 0;
  for (int i = 0; i < TANDEM_GO_FUNCTION_COUNT; ++i) {
    *(void**)&slots[i] = dlsym(library, tandem_go_names[i]);
    missing += !slots[i];
  }
  return missing;
}

tdm_error_code tdm_error_get_code(const tdm_error* error) {
  if (!slots[0]) return 0;
  return ((tdm_error_code (*)(const tdm_error* error))slots[0])(error);
}

const char* tdm_error_operation(const tdm_error* error) {
  if (!slots[1]) return 0;
  return ((const char* (*)(const tdm_error* error))slots[1])(error);
}

const char* tdm_error_message(const tdm_error* error) {
  if (!slots[2]) return 0;
  return ((const char* (*)(const tdm_error* error))slots[2])(error);
}

void tdm_error_free(tdm_error* error) {
  if (!slots[3]) return;
  ((void (*)(tdm_error* error))slots[3])(error);
}

tdm_error* tdm_error_create(tdm_error_code code, const char* operation, const char* message, void* user_data, void (*destroy)(void* user_data)) {
  if (!slots[4]) return 0;
  return ((tdm_error* (*)(tdm_error_code code, const char* operation, const char* message, void* user_data, void (*destroy)(void* user_data)))slots[4])(code, operation, message, user_data, destroy);
}

void* tdm_error_user_data(const tdm_error* error, void (*destroy)(void* user_data)) {
  if (!slots[5]) return 0;
  return ((void* (*)(const tdm_error* error, void (*destroy)(void* user_data)))slots[5])(error, destroy);
}

const char* tdm_string_data(const tdm_string* string) {
  if (!slots[6]) return 0;
  return ((const char* (*)(const tdm_string* string))slots[6])(string);
}

size_t tdm_string_size(const tdm_string* string) {
  if (!slots[7]) return 0;
  return ((size_t (*)(const tdm_string* string))slots[7])(string);
}

void tdm_string_free(tdm_string* string) {
  if (!slots[8]) return;
  ((void (*)(tdm_string* string))slots[8])(string);
}

size_t tdm_strings_count(const tdm_strings* list) {
  if (!slots[9]) return 0;
  return ((size_t (*)(const tdm_strings* list))slots[9])(list);
}

const char* tdm_strings_data(const tdm_strings* list, size_t index) {
  if (!slots[10]) return 0;
  return ((const char* (*)(const tdm_strings* list, size_t index))slots[10])(list, index);
}

size_t tdm_strings_size(const tdm_strings* list, size_t index) {
  if (!slots[11]) return 0;
  return ((size_t (*)(const tdm_strings* list, size_t index))slots[11])(list, index);
}

void tdm_strings_free(tdm_strings* list) {
  if (!slots[12]) return;
  ((void (*)(tdm_strings* list))slots[12])(list);
}

void tdm_load_options_init(tdm_load_options* made, size_t struct_size) {
  if (!slots[13]) return;
  ((void (*)(tdm_load_options* made, size_t struct_size))slots[13])(made, struct_size);
}

tdm_error* tdm_load(const tdm_load_options* options) {
  if (!slots[14]) return (tdm_error*)&tandem_go_missing[14];
  return ((tdm_error* (*)(const tdm_load_options* options))slots[14])(options);
}

tdm_error* tdm_shutdown(int64_t timeout_ms) {
  if (!slots[15]) return (tdm_error*)&tandem_go_missing[15];
  return ((tdm_error* (*)(int64_t timeout_ms))slots[15])(timeout_ms);
}

const char* tdm_version(void) {
  if (!slots[16]) return 0;
  return ((const char* (*)(void))slots[16])();
}

const char* tdm_libtorch_version(void) {
  if (!slots[17]) return 0;
  return ((const char* (*)(void))slots[17])();
}

tdm_error* tdm_cuda_device_count(int32_t* out) {
  if (!slots[18]) return (tdm_error*)&tandem_go_missing[18];
  return ((tdm_error* (*)(int32_t* out))slots[18])(out);
}

int64_t tdm_live_count(const char* type) {
  if (!slots[19]) return 0;
  return ((int64_t (*)(const char* type))slots[19])(type);
}

int64_t tdm_tensor_live_bytes(void) {
  if (!slots[20]) return 0;
  return ((int64_t (*)(void))slots[20])();
}

tdm_error* tdm_tensor_from_data(const void* data, size_t data_bytes, tdm_dtype dtype, const int64_t* sizes, int64_t ndim, tdm_tensor** out) {
  if (!slots[21]) return (tdm_error*)&tandem_go_missing[21];
  return ((tdm_error* (*)(const void* data, size_t data_bytes, tdm_dtype dtype, const int64_t* sizes, int64_t ndim, tdm_tensor** out))slots[21])(data, data_bytes, dtype, sizes, ndim, out);
}

tdm_error* tdm_tensor_from_blob(void* data, size_t data_bytes, tdm_dtype dtype, const int64_t* sizes, int64_t ndim, void (*destroy)(void* user_data), void* user_data, tdm_tensor** out) {
  if (!slots[22]) return (tdm_error*)&tandem_go_missing[22];
  return ((tdm_error* (*)(void* data, size_t data_bytes, tdm_dtype dtype, const int64_t* sizes, int64_t ndim, void (*destroy)(void* user_data), void* user_data, tdm_tensor** out))slots[22])(data, data_bytes, dtype, sizes, ndim, destroy, user_data, out);
}

tdm_error* tdm_tensor_share(const tdm_tensor* tensor, tdm_tensor** out) {
  if (!slots[23]) return (tdm_error*)&tandem_go_missing[23];
  return ((tdm_error* (*)(const tdm_tensor* tensor, tdm_tensor** out))slots[23])(tensor, out);
}

void tdm_tensor_free(tdm_tensor* tensor) {
  if (!slots[24]) return;
  ((void (*)(tdm_tensor* tensor))slots[24])(tensor);
}

int64_t tdm_tensor_dim(const tdm_tensor* tensor) {
  if (!slots[25]) return 0;
  return ((int64_t (*)(const tdm_tensor* tensor))slots[25])(tensor);
}

const int64_t* tdm_tensor_sizes(const tdm_tensor* tensor) {
  if (!slots[26]) return 0;
  return ((const int64_t* (*)(const tdm_tensor* tensor))slots[26])(tensor);
}

const int64_t* tdm_tensor_strides(const tdm_tensor* tensor) {
  if (!slots[27]) return 0;
  return ((const int64_t* (*)(const tdm_tensor* tensor))slots[27])(tensor);
}

int64_t tdm_tensor_numel(const tdm_tensor* tensor) {
  if (!slots[28]) return 0;
  return ((int64_t (*)(const tdm_tensor* tensor))slots[28])(tensor);
}

size_t tdm_tensor_nbytes(const tdm_tensor* tensor) {
  if (!slots[29]) return 0;
  return ((size_t (*)(const tdm_tensor* tensor))slots[29])(tensor);
}

size_t tdm_tensor_storage_nbytes(const tdm_tensor* tensor) {
  if (!slots[30]) return 0;
  return ((size_t (*)(const tdm_tensor* tensor))slots[30])(tensor);
}

tdm_dtype tdm_tensor_get_dtype(const tdm_tensor* tensor) {
  if (!slots[31]) return 0;
  return ((tdm_dtype (*)(const tdm_tensor* tensor))slots[31])(tensor);
}

tdm_device tdm_tensor_get_device(const tdm_tensor* tensor) {
  if (!slots[32]) return (tdm_device){TDM_DEVICE_CPU, -1};
  return ((tdm_device (*)(const tdm_tensor* tensor))slots[32])(tensor);
}

tdm_layout tdm_tensor_get_layout(const tdm_tensor* tensor) {
  if (!slots[33]) return -1;
  return ((tdm_layout (*)(const tdm_tensor* tensor))slots[33])(tensor);
}

int32_t tdm_tensor_requires_grad(const tdm_tensor* tensor) {
  if (!slots[34]) return 0;
  return ((int32_t (*)(const tdm_tensor* tensor))slots[34])(tensor);
}

int32_t tdm_tensor_is_leaf(const tdm_tensor* tensor) {
  if (!slots[35]) return 0;
  return ((int32_t (*)(const tdm_tensor* tensor))slots[35])(tensor);
}

int32_t tdm_tensor_is_contiguous(const tdm_tensor* tensor) {
  if (!slots[36]) return 0;
  return ((int32_t (*)(const tdm_tensor* tensor))slots[36])(tensor);
}

int32_t tdm_tensor_is_same(const tdm_tensor* a, const tdm_tensor* b) {
  if (!slots[37]) return 0;
  return ((int32_t (*)(const tdm_tensor* a, const tdm_tensor* b))slots[37])(a, b);
}

tdm_error* tdm_tensor_data(const tdm_tensor* tensor, void** out) {
  if (!slots[38]) return (tdm_error*)&tandem_go_missing[38];
  return ((tdm_error* (*)(const tdm_tensor* tensor, void** out))slots[38])(tensor, out);
}

tdm_error* tdm_tensor_copy_to(const tdm_tensor* tensor, void* destination, size_t bytes) {
  if (!slots[39]) return (tdm_error*)&tandem_go_missing[39];
  return ((tdm_error* (*)(const tdm_tensor* tensor, void* destination, size_t bytes))slots[39])(tensor, destination, bytes);
}

tdm_error* tdm_tensor_copy_from(tdm_tensor* tensor, const void* source, size_t bytes) {
  if (!slots[40]) return (tdm_error*)&tandem_go_missing[40];
  return ((tdm_error* (*)(tdm_tensor* tensor, const void* source, size_t bytes))slots[40])(tensor, source, bytes);
}

tdm_error* tdm_tensor_item_double(const tdm_tensor* tensor, double* out) {
  if (!slots[41]) return (tdm_error*)&tandem_go_missing[41];
  return ((tdm_error* (*)(const tdm_tensor* tensor, double* out))slots[41])(tensor, out);
}

tdm_error* tdm_tensor_item_int64(const tdm_tensor* tensor, int64_t* out) {
  if (!slots[42]) return (tdm_error*)&tandem_go_missing[42];
  return ((tdm_error* (*)(const tdm_tensor* tensor, int64_t* out))slots[42])(tensor, out);
}

tdm_error* tdm_tensor_to_string(const tdm_tensor* tensor, tdm_string** out) {
  if (!slots[43]) return (tdm_error*)&tandem_go_missing[43];
  return ((tdm_error* (*)(const tdm_tensor* tensor, tdm_string** out))slots[43])(tensor, out);
}

tdm_error* tdm_tensor_grad_fn_name(const tdm_tensor* tensor, tdm_string** out) {
  if (!slots[44]) return (tdm_error*)&tandem_go_missing[44];
  return ((tdm_error* (*)(const tdm_tensor* tensor, tdm_string** out))slots[44])(tensor, out);
}

size_t tdm_named_tensors_size(const tdm_named_tensors* list) {
  if (!slots[45]) return 0;
  return ((size_t (*)(const tdm_named_tensors* list))slots[45])(list);
}

const char* tdm_named_tensors_name(const tdm_named_tensors* list, size_t index) {
  if (!slots[46]) return 0;
  return ((const char* (*)(const tdm_named_tensors* list, size_t index))slots[46])(list, index);
}

tdm_error* tdm_named_tensors_get(const tdm_named_tensors* list, size_t index, tdm_tensor** out) {
  if (!slots[47]) return (tdm_error*)&tandem_go_missing[47];
  return ((tdm_error* (*)(const tdm_named_tensors* list, size_t index, tdm_tensor** out))slots[47])(list, index, out);
}

void tdm_named_tensors_free(tdm_named_tensors* list) {
  if (!slots[48]) return;
  ((void (*)(tdm_named_tensors* list))slots[48])(list);
}

tdm_error* tdm_scope_enter(tdm_scope** out) {
  if (!slots[49]) return (tdm_error*)&tandem_go_missing[49];
  return ((tdm_error* (*)(tdm_scope** out))slots[49])(out);
}

void tdm_scope_exit(tdm_scope* scope) {
  if (!slots[50]) return;
  ((void (*)(tdm_scope* scope))slots[50])(scope);
}

void tdm_scope_keep(tdm_tensor* tensor) {
  if (!slots[51]) return;
  ((void (*)(tdm_tensor* tensor))slots[51])(tensor);
}

uint64_t tdm_tensor_scope_id(const tdm_tensor* tensor) {
  if (!slots[52]) return 0;
  return ((uint64_t (*)(const tdm_tensor* tensor))slots[52])(tensor);
}

uint64_t tdm_scope_id(const tdm_scope* scope) {
  if (!slots[53]) return 0;
  return ((uint64_t (*)(const tdm_scope* scope))slots[53])(scope);
}

uint64_t tdm_scope_current(void) {
  if (!slots[54]) return 0;
  return ((uint64_t (*)(void))slots[54])();
}

void tdm_value_clear(tdm_value* value) {
  if (!slots[55]) return;
  ((void (*)(tdm_value* value))slots[55])(value);
}

tdm_error* tdm_tensor_index(const tdm_tensor* tensor, const tdm_index* indices, size_t count, tdm_tensor** out) {
  if (!slots[56]) return (tdm_error*)&tandem_go_missing[56];
  return ((tdm_error* (*)(const tdm_tensor* tensor, const tdm_index* indices, size_t count, tdm_tensor** out))slots[56])(tensor, indices, count, out);
}

tdm_error* tdm_tensor_index_put(tdm_tensor* tensor, const tdm_index* indices, size_t count, const tdm_value* value) {
  if (!slots[57]) return (tdm_error*)&tandem_go_missing[57];
  return ((tdm_error* (*)(tdm_tensor* tensor, const tdm_index* indices, size_t count, const tdm_value* value))slots[57])(tensor, indices, count, value);
}

tdm_error* tdm_op_find(const char* name, const char* overload, const tdm_op** out) {
  if (!slots[58]) return (tdm_error*)&tandem_go_missing[58];
  return ((tdm_error* (*)(const char* name, const char* overload, const tdm_op** out))slots[58])(name, overload, out);
}

const char* tdm_op_schema(const tdm_op* op) {
  if (!slots[59]) return 0;
  return ((const char* (*)(const tdm_op* op))slots[59])(op);
}

size_t tdm_op_argument_count(const tdm_op* op) {
  if (!slots[60]) return 0;
  return ((size_t (*)(const tdm_op* op))slots[60])(op);
}

size_t tdm_op_result_count(const tdm_op* op) {
  if (!slots[61]) return 0;
  return ((size_t (*)(const tdm_op* op))slots[61])(op);
}

tdm_error* tdm_op_call(const tdm_op* op, const tdm_value* arguments, size_t argument_count, tdm_value* results, size_t result_count) {
  if (!slots[62]) return (tdm_error*)&tandem_go_missing[62];
  return ((tdm_error* (*)(const tdm_op* op, const tdm_value* arguments, size_t argument_count, tdm_value* results, size_t result_count))slots[62])(op, arguments, argument_count, results, result_count);
}

tdm_error* tdm_load_library(const char* path) {
  if (!slots[63]) return (tdm_error*)&tandem_go_missing[63];
  return ((tdm_error* (*)(const char* path))slots[63])(path);
}

tdm_error* tdm_autograd_backward(tdm_tensor* const* tensors, tdm_tensor* const* gradients, size_t count, int32_t retain_graph, int32_t create_graph) {
  if (!slots[64]) return (tdm_error*)&tandem_go_missing[64];
  return ((tdm_error* (*)(tdm_tensor* const* tensors, tdm_tensor* const* gradients, size_t count, int32_t retain_graph, int32_t create_graph))slots[64])(tensors, gradients, count, retain_graph, create_graph);
}

tdm_error* tdm_autograd_grad(tdm_tensor* const* outputs, tdm_tensor* const* grad_outputs, size_t output_count, tdm_tensor* const* inputs, size_t input_count, int32_t retain_graph, int32_t create_graph, int32_t allow_unused, tdm_tensor** results) {
  if (!slots[65]) return (tdm_error*)&tandem_go_missing[65];
  return ((tdm_error* (*)(tdm_tensor* const* outputs, tdm_tensor* const* grad_outputs, size_t output_count, tdm_tensor* const* inputs, size_t input_count, int32_t retain_graph, int32_t create_graph, int32_t allow_unused, tdm_tensor** results))slots[65])(outputs, grad_outputs, output_count, inputs, input_count, retain_graph, create_graph, allow_unused, results);
}

tdm_error* tdm_tensor_grad(const tdm_tensor* tensor, tdm_tensor** out) {
  if (!slots[66]) return (tdm_error*)&tandem_go_missing[66];
  return ((tdm_error* (*)(const tdm_tensor* tensor, tdm_tensor** out))slots[66])(tensor, out);
}

tdm_error* tdm_tensor_set_grad(tdm_tensor* tensor, const tdm_tensor* grad) {
  if (!slots[67]) return (tdm_error*)&tandem_go_missing[67];
  return ((tdm_error* (*)(tdm_tensor* tensor, const tdm_tensor* grad))slots[67])(tensor, grad);
}

tdm_error* tdm_tensor_set_requires_grad(tdm_tensor* tensor, int32_t requires_grad) {
  if (!slots[68]) return (tdm_error*)&tandem_go_missing[68];
  return ((tdm_error* (*)(tdm_tensor* tensor, int32_t requires_grad))slots[68])(tensor, requires_grad);
}

tdm_error* tdm_mode_enter_grad(int32_t enabled, tdm_mode** out) {
  if (!slots[69]) return (tdm_error*)&tandem_go_missing[69];
  return ((tdm_error* (*)(int32_t enabled, tdm_mode** out))slots[69])(enabled, out);
}

tdm_error* tdm_mode_enter_inference(int32_t enabled, tdm_mode** out) {
  if (!slots[70]) return (tdm_error*)&tandem_go_missing[70];
  return ((tdm_error* (*)(int32_t enabled, tdm_mode** out))slots[70])(enabled, out);
}

tdm_error* tdm_mode_enter_autocast(tdm_device_type device, tdm_dtype dtype, int32_t enabled, tdm_mode** out) {
  if (!slots[71]) return (tdm_error*)&tandem_go_missing[71];
  return ((tdm_error* (*)(tdm_device_type device, tdm_dtype dtype, int32_t enabled, tdm_mode** out))slots[71])(device, dtype, enabled, out);
}

tdm_error* tdm_mode_enter_anomaly(int32_t check_nan, tdm_mode** out) {
  if (!slots[72]) return (tdm_error*)&tandem_go_missing[72];
  return ((tdm_error* (*)(int32_t check_nan, tdm_mode** out))slots[72])(check_nan, out);
}

tdm_error* tdm_mode_exit(tdm_mode* mode) {
  if (!slots[73]) return (tdm_error*)&tandem_go_missing[73];
  return ((tdm_error* (*)(tdm_mode* mode))slots[73])(mode);
}

void tdm_modes_init(tdm_modes* made, size_t struct_size) {
  if (!slots[74]) return;
  ((void (*)(tdm_modes* made, size_t struct_size))slots[74])(made, struct_size);
}

tdm_error* tdm_get_modes(tdm_modes* out) {
  if (!slots[75]) return (tdm_error*)&tandem_go_missing[75];
  return ((tdm_error* (*)(tdm_modes* out))slots[75])(out);
}

tdm_error* tdm_tensor_register_hook(tdm_tensor* tensor, tdm_error* (*hook)(void* user_data, tdm_tensor* gradient, tdm_tensor** replacement), void* user_data, void (*destroy)(void* user_data), tdm_hook** out) {
  if (!slots[76]) return (tdm_error*)&tandem_go_missing[76];
  return ((tdm_error* (*)(tdm_tensor* tensor, tdm_error* (*hook)(void* user_data, tdm_tensor* gradient, tdm_tensor** replacement), void* user_data, void (*destroy)(void* user_data), tdm_hook** out))slots[76])(tensor, hook, user_data, destroy, out);
}

tdm_error* tdm_tensor_register_post_accumulate_grad_hook(tdm_tensor* tensor, tdm_error* (*hook)(void* user_data, tdm_tensor* tensor), void* user_data, void (*destroy)(void* user_data), tdm_hook** out) {
  if (!slots[77]) return (tdm_error*)&tandem_go_missing[77];
  return ((tdm_error* (*)(tdm_tensor* tensor, tdm_error* (*hook)(void* user_data, tdm_tensor* tensor), void* user_data, void (*destroy)(void* user_data), tdm_hook** out))slots[77])(tensor, hook, user_data, destroy, out);
}

void tdm_hook_remove(tdm_hook* hook) {
  if (!slots[78]) return;
  ((void (*)(tdm_hook* hook))slots[78])(hook);
}

void tdm_hook_free(tdm_hook* hook) {
  if (!slots[79]) return;
  ((void (*)(tdm_hook* hook))slots[79])(hook);
}

void tdm_function_init(tdm_function* made, size_t struct_size) {
  if (!slots[80]) return;
  ((void (*)(tdm_function* made, size_t struct_size))slots[80])(made, struct_size);
}

tdm_error* tdm_function_record(const tdm_function* function, tdm_tensor** results) {
  if (!slots[81]) return (tdm_error*)&tandem_go_missing[81];
  return ((tdm_error* (*)(const tdm_function* function, tdm_tensor** results))slots[81])(function, results);
}

tdm_error* tdm_mode_enter_checkpoint(tdm_tensor* const* inputs, size_t input_count, int32_t preserve_random_state, tdm_error* (*recompute)(void* user_data, tdm_tensor* const* inputs, size_t input_count), void* user_data, void (*destroy)(void* user_data), tdm_mode** out) {
  if (!slots[82]) return (tdm_error*)&tandem_go_missing[82];
  return ((tdm_error* (*)(tdm_tensor* const* inputs, size_t input_count, int32_t preserve_random_state, tdm_error* (*recompute)(void* user_data, tdm_tensor* const* inputs, size_t input_count), void* user_data, void (*destroy)(void* user_data), tdm_mode** out))slots[82])(inputs, input_count, preserve_random_state, recompute, user_data, destroy, out);
}

tdm_error* tdm_manual_seed(uint64_t seed) {
  if (!slots[83]) return (tdm_error*)&tandem_go_missing[83];
  return ((tdm_error* (*)(uint64_t seed))slots[83])(seed);
}

tdm_error* tdm_generator_create(tdm_device device, tdm_generator** out) {
  if (!slots[84]) return (tdm_error*)&tandem_go_missing[84];
  return ((tdm_error* (*)(tdm_device device, tdm_generator** out))slots[84])(device, out);
}

tdm_error* tdm_generator_default(tdm_device device, tdm_generator** out) {
  if (!slots[85]) return (tdm_error*)&tandem_go_missing[85];
  return ((tdm_error* (*)(tdm_device device, tdm_generator** out))slots[85])(device, out);
}

void tdm_generator_free(tdm_generator* generator) {
  if (!slots[86]) return;
  ((void (*)(tdm_generator* generator))slots[86])(generator);
}

tdm_device tdm_generator_get_device(const tdm_generator* generator) {
  if (!slots[87]) return (tdm_device){TDM_DEVICE_CPU, -1};
  return ((tdm_device (*)(const tdm_generator* generator))slots[87])(generator);
}

tdm_error* tdm_generator_manual_seed(tdm_generator* generator, uint64_t seed) {
  if (!slots[88]) return (tdm_error*)&tandem_go_missing[88];
  return ((tdm_error* (*)(tdm_generator* generator, uint64_t seed))slots[88])(generator, seed);
}

tdm_error* tdm_generator_seed(tdm_generator* generator, uint64_t* out) {
  if (!slots[89]) return (tdm_error*)&tandem_go_missing[89];
  return ((tdm_error* (*)(tdm_generator* generator, uint64_t* out))slots[89])(generator, out);
}

tdm_error* tdm_generator_initial_seed(const tdm_generator* generator, uint64_t* out) {
  if (!slots[90]) return (tdm_error*)&tandem_go_missing[90];
  return ((tdm_error* (*)(const tdm_generator* generator, uint64_t* out))slots[90])(generator, out);
}

tdm_error* tdm_generator_get_state(const tdm_generator* generator, tdm_tensor** out) {
  if (!slots[91]) return (tdm_error*)&tandem_go_missing[91];
  return ((tdm_error* (*)(const tdm_generator* generator, tdm_tensor** out))slots[91])(generator, out);
}

tdm_error* tdm_generator_set_state(tdm_generator* generator, const tdm_tensor* state) {
  if (!slots[92]) return (tdm_error*)&tandem_go_missing[92];
  return ((tdm_error* (*)(tdm_generator* generator, const tdm_tensor* state))slots[92])(generator, state);
}

tdm_error* tdm_set_num_threads(int32_t threads) {
  if (!slots[93]) return (tdm_error*)&tandem_go_missing[93];
  return ((tdm_error* (*)(int32_t threads))slots[93])(threads);
}

tdm_error* tdm_get_num_threads(int32_t* out) {
  if (!slots[94]) return (tdm_error*)&tandem_go_missing[94];
  return ((tdm_error* (*)(int32_t* out))slots[94])(out);
}

tdm_error* tdm_device_current(tdm_device_type type, tdm_device* out) {
  if (!slots[95]) return (tdm_error*)&tandem_go_missing[95];
  return ((tdm_error* (*)(tdm_device_type type, tdm_device* out))slots[95])(type, out);
}

tdm_error* tdm_mode_enter_device(tdm_device device, tdm_mode** out) {
  if (!slots[96]) return (tdm_error*)&tandem_go_missing[96];
  return ((tdm_error* (*)(tdm_device device, tdm_mode** out))slots[96])(device, out);
}

tdm_error* tdm_device_synchronize(tdm_device device) {
  if (!slots[97]) return (tdm_error*)&tandem_go_missing[97];
  return ((tdm_error* (*)(tdm_device device))slots[97])(device);
}

void tdm_device_memory_init(tdm_device_memory* made, size_t struct_size) {
  if (!slots[98]) return;
  ((void (*)(tdm_device_memory* made, size_t struct_size))slots[98])(made, struct_size);
}

tdm_error* tdm_device_get_memory(tdm_device device, tdm_device_memory* out) {
  if (!slots[99]) return (tdm_error*)&tandem_go_missing[99];
  return ((tdm_error* (*)(tdm_device device, tdm_device_memory* out))slots[99])(device, out);
}

tdm_error* tdm_device_reset_peak_memory(tdm_device device) {
  if (!slots[100]) return (tdm_error*)&tandem_go_missing[100];
  return ((tdm_error* (*)(tdm_device device))slots[100])(device);
}

tdm_error* tdm_cuda_empty_cache(void) {
  if (!slots[101]) return (tdm_error*)&tandem_go_missing[101];
  return ((tdm_error* (*)(void))slots[101])();
}

tdm_error* tdm_stream_create(tdm_device device, int32_t high_priority, tdm_stream** out) {
  if (!slots[102]) return (tdm_error*)&tandem_go_missing[102];
  return ((tdm_error* (*)(tdm_device device, int32_t high_priority, tdm_stream** out))slots[102])(device, high_priority, out);
}

tdm_error* tdm_stream_current(tdm_device device, tdm_stream** out) {
  if (!slots[103]) return (tdm_error*)&tandem_go_missing[103];
  return ((tdm_error* (*)(tdm_device device, tdm_stream** out))slots[103])(device, out);
}

tdm_error* tdm_stream_default(tdm_device device, tdm_stream** out) {
  if (!slots[104]) return (tdm_error*)&tandem_go_missing[104];
  return ((tdm_error* (*)(tdm_device device, tdm_stream** out))slots[104])(device, out);
}

void tdm_stream_free(tdm_stream* stream) {
  if (!slots[105]) return;
  ((void (*)(tdm_stream* stream))slots[105])(stream);
}

tdm_error* tdm_mode_enter_stream(const tdm_stream* stream, tdm_mode** out) {
  if (!slots[106]) return (tdm_error*)&tandem_go_missing[106];
  return ((tdm_error* (*)(const tdm_stream* stream, tdm_mode** out))slots[106])(stream, out);
}

tdm_error* tdm_stream_query(const tdm_stream* stream, int32_t* out) {
  if (!slots[107]) return (tdm_error*)&tandem_go_missing[107];
  return ((tdm_error* (*)(const tdm_stream* stream, int32_t* out))slots[107])(stream, out);
}

tdm_error* tdm_stream_synchronize(const tdm_stream* stream) {
  if (!slots[108]) return (tdm_error*)&tandem_go_missing[108];
  return ((tdm_error* (*)(const tdm_stream* stream))slots[108])(stream);
}

tdm_error* tdm_stream_wait_event(const tdm_stream* stream, const tdm_event* event) {
  if (!slots[109]) return (tdm_error*)&tandem_go_missing[109];
  return ((tdm_error* (*)(const tdm_stream* stream, const tdm_event* event))slots[109])(stream, event);
}

tdm_error* tdm_stream_record_tensor(const tdm_stream* stream, const tdm_tensor* tensor) {
  if (!slots[110]) return (tdm_error*)&tandem_go_missing[110];
  return ((tdm_error* (*)(const tdm_stream* stream, const tdm_tensor* tensor))slots[110])(stream, tensor);
}

tdm_error* tdm_event_create(tdm_device_type type, int32_t enable_timing, tdm_event** out) {
  if (!slots[111]) return (tdm_error*)&tandem_go_missing[111];
  return ((tdm_error* (*)(tdm_device_type type, int32_t enable_timing, tdm_event** out))slots[111])(type, enable_timing, out);
}

void tdm_event_free(tdm_event* event) {
  if (!slots[112]) return;
  ((void (*)(tdm_event* event))slots[112])(event);
}

tdm_error* tdm_event_record(tdm_event* event, const tdm_stream* stream) {
  if (!slots[113]) return (tdm_error*)&tandem_go_missing[113];
  return ((tdm_error* (*)(tdm_event* event, const tdm_stream* stream))slots[113])(event, stream);
}

tdm_error* tdm_event_query(const tdm_event* event, int32_t* out) {
  if (!slots[114]) return (tdm_error*)&tandem_go_missing[114];
  return ((tdm_error* (*)(const tdm_event* event, int32_t* out))slots[114])(event, out);
}

tdm_error* tdm_event_synchronize(const tdm_event* event) {
  if (!slots[115]) return (tdm_error*)&tandem_go_missing[115];
  return ((tdm_error* (*)(const tdm_event* event))slots[115])(event);
}

tdm_error* tdm_event_elapsed_ms(const tdm_event* start, const tdm_event* end, double* out) {
  if (!slots[116]) return (tdm_error*)&tandem_go_missing[116];
  return ((tdm_error* (*)(const tdm_event* start, const tdm_event* end, double* out))slots[116])(start, end, out);
}

void tdm_cuda_settings_init(tdm_cuda_settings* made, size_t struct_size) {
  if (!slots[117]) return;
  ((void (*)(tdm_cuda_settings* made, size_t struct_size))slots[117])(made, struct_size);
}

tdm_error* tdm_cuda_get_settings(tdm_cuda_settings* out) {
  if (!slots[118]) return (tdm_error*)&tandem_go_missing[118];
  return ((tdm_error* (*)(tdm_cuda_settings* out))slots[118])(out);
}

tdm_error* tdm_cuda_set_settings(const tdm_cuda_settings* settings) {
  if (!slots[119]) return (tdm_error*)&tandem_go_missing[119];
  return ((tdm_error* (*)(const tdm_cuda_settings* settings))slots[119])(settings);
}

tdm_error* tdm_set_determinism(tdm_determinism determinism) {
  if (!slots[120]) return (tdm_error*)&tandem_go_missing[120];
  return ((tdm_error* (*)(tdm_determinism determinism))slots[120])(determinism);
}

tdm_error* tdm_get_determinism(tdm_determinism* out) {
  if (!slots[121]) return (tdm_error*)&tandem_go_missing[121];
  return ((tdm_error* (*)(tdm_determinism* out))slots[121])(out);
}

tdm_error* tdm_set_num_interop_threads(int32_t threads) {
  if (!slots[122]) return (tdm_error*)&tandem_go_missing[122];
  return ((tdm_error* (*)(int32_t threads))slots[122])(threads);
}

tdm_error* tdm_get_num_interop_threads(int32_t* out) {
  if (!slots[123]) return (tdm_error*)&tandem_go_missing[123];
  return ((tdm_error* (*)(int32_t* out))slots[123])(out);
}

tdm_error* tdm_module_create(const char* type, const tdm_option* options, size_t option_count, tdm_module** out) {
  if (!slots[124]) return (tdm_error*)&tandem_go_missing[124];
  return ((tdm_error* (*)(const char* type, const tdm_option* options, size_t option_count, tdm_module** out))slots[124])(type, options, option_count, out);
}

void tdm_module_free(tdm_module* module) {
  if (!slots[125]) return;
  ((void (*)(tdm_module* module))slots[125])(module);
}

tdm_error* tdm_module_forward(tdm_module* module, const tdm_value* arguments, size_t argument_count, tdm_value* results, size_t* result_count) {
  if (!slots[126]) return (tdm_error*)&tandem_go_missing[126];
  return ((tdm_error* (*)(tdm_module* module, const tdm_value* arguments, size_t argument_count, tdm_value* results, size_t* result_count))slots[126])(module, arguments, argument_count, results, result_count);
}

tdm_error* tdm_module_named_parameters(const tdm_module* module, tdm_named_tensors** out) {
  if (!slots[127]) return (tdm_error*)&tandem_go_missing[127];
  return ((tdm_error* (*)(const tdm_module* module, tdm_named_tensors** out))slots[127])(module, out);
}

tdm_error* tdm_module_named_buffers(const tdm_module* module, tdm_named_tensors** out) {
  if (!slots[128]) return (tdm_error*)&tandem_go_missing[128];
  return ((tdm_error* (*)(const tdm_module* module, tdm_named_tensors** out))slots[128])(module, out);
}

tdm_error* tdm_module_train(tdm_module* module, int32_t on) {
  if (!slots[129]) return (tdm_error*)&tandem_go_missing[129];
  return ((tdm_error* (*)(tdm_module* module, int32_t on))slots[129])(module, on);
}

int32_t tdm_module_is_training(const tdm_module* module) {
  if (!slots[130]) return 0;
  return ((int32_t (*)(const tdm_module* module))slots[130])(module);
}

tdm_error* tdm_module_to(tdm_module* module, tdm_device device, tdm_dtype dtype) {
  if (!slots[131]) return (tdm_error*)&tandem_go_missing[131];
  return ((tdm_error* (*)(tdm_module* module, tdm_device device, tdm_dtype dtype))slots[131])(module, device, dtype);
}

tdm_error* tdm_module_set_batch_norm_momentum(tdm_module* module, const tdm_value* momentum, tdm_value* before) {
  if (!slots[132]) return (tdm_error*)&tandem_go_missing[132];
  return ((tdm_error* (*)(tdm_module* module, const tdm_value* momentum, tdm_value* before))slots[132])(module, momentum, before);
}

tdm_error* tdm_module_types(tdm_strings** out) {
  if (!slots[133]) return (tdm_error*)&tandem_go_missing[133];
  return ((tdm_error* (*)(tdm_strings** out))slots[133])(out);
}

tdm_error* tdm_module_clone(const tdm_module* module, tdm_module** out) {
  if (!slots[134]) return (tdm_error*)&tandem_go_missing[134];
  return ((tdm_error* (*)(const tdm_module* module, tdm_module** out))slots[134])(module, out);
}

tdm_error* tdm_module_parametrize(tdm_module* module, const char* kind, const char* name, const tdm_option* options, size_t option_count) {
  if (!slots[135]) return (tdm_error*)&tandem_go_missing[135];
  return ((tdm_error* (*)(tdm_module* module, const char* kind, const char* name, const tdm_option* options, size_t option_count))slots[135])(module, kind, name, options, option_count);
}

tdm_error* tdm_module_remove_parametrizations(tdm_module* module, const char* name) {
  if (!slots[136]) return (tdm_error*)&tandem_go_missing[136];
  return ((tdm_error* (*)(tdm_module* module, const char* name))slots[136])(module, name);
}

tdm_error* tdm_module_generate(tdm_module* module, const tdm_tensor* input_ids, const tdm_option* options, size_t option_count, tdm_tensor** out) {
  if (!slots[137]) return (tdm_error*)&tandem_go_missing[137];
  return ((tdm_error* (*)(tdm_module* module, const tdm_tensor* input_ids, const tdm_option* options, size_t option_count, tdm_tensor** out))slots[137])(module, input_ids, options, option_count, out);
}

tdm_error* tdm_optimizer_create(const char* type, tdm_tensor* const* parameters, size_t parameter_count, const tdm_option* options, size_t option_count, tdm_optimizer** out) {
  if (!slots[138]) return (tdm_error*)&tandem_go_missing[138];
  return ((tdm_error* (*)(const char* type, tdm_tensor* const* parameters, size_t parameter_count, const tdm_option* options, size_t option_count, tdm_optimizer** out))slots[138])(type, parameters, parameter_count, options, option_count, out);
}

void tdm_optimizer_free(tdm_optimizer* optimizer) {
  if (!slots[139]) return;
  ((void (*)(tdm_optimizer* optimizer))slots[139])(optimizer);
}

tdm_error* tdm_optimizer_add_group(tdm_optimizer* optimizer, tdm_tensor* const* parameters, size_t parameter_count, const tdm_option* options, size_t option_count) {
  if (!slots[140]) return (tdm_error*)&tandem_go_missing[140];
  return ((tdm_error* (*)(tdm_optimizer* optimizer, tdm_tensor* const* parameters, size_t parameter_count, const tdm_option* options, size_t option_count))slots[140])(optimizer, parameters, parameter_count, options, option_count);
}

tdm_error* tdm_optimizer_group_count(const tdm_optimizer* optimizer, int64_t* out) {
  if (!slots[141]) return (tdm_error*)&tandem_go_missing[141];
  return ((tdm_error* (*)(const tdm_optimizer* optimizer, int64_t* out))slots[141])(optimizer, out);
}

tdm_error* tdm_optimizer_step(tdm_optimizer* optimizer) {
  if (!slots[142]) return (tdm_error*)&tandem_go_missing[142];
  return ((tdm_error* (*)(tdm_optimizer* optimizer))slots[142])(optimizer);
}

tdm_error* tdm_optimizer_step_closure(tdm_optimizer* optimizer, tdm_error* (*closure)(void* user_data, tdm_tensor** loss), void* user_data, void (*destroy)(void* user_data), tdm_tensor** loss) {
  if (!slots[143]) return (tdm_error*)&tandem_go_missing[143];
  return ((tdm_error* (*)(tdm_optimizer* optimizer, tdm_error* (*closure)(void* user_data, tdm_tensor** loss), void* user_data, void (*destroy)(void* user_data), tdm_tensor** loss))slots[143])(optimizer, closure, user_data, destroy, loss);
}

tdm_error* tdm_optimizer_zero_grad(tdm_optimizer* optimizer, int32_t set_to_none) {
  if (!slots[144]) return (tdm_error*)&tandem_go_missing[144];
  return ((tdm_error* (*)(tdm_optimizer* optimizer, int32_t set_to_none))slots[144])(optimizer, set_to_none);
}

tdm_error* tdm_optimizer_set_option(tdm_optimizer* optimizer, int64_t group, const tdm_option* option) {
  if (!slots[145]) return (tdm_error*)&tandem_go_missing[145];
  return ((tdm_error* (*)(tdm_optimizer* optimizer, int64_t group, const tdm_option* option))slots[145])(optimizer, group, option);
}

tdm_error* tdm_optimizer_get_option(const tdm_optimizer* optimizer, int64_t group, const char* name, tdm_value* out) {
  if (!slots[146]) return (tdm_error*)&tandem_go_missing[146];
  return ((tdm_error* (*)(const tdm_optimizer* optimizer, int64_t group, const char* name, tdm_value* out))slots[146])(optimizer, group, name, out);
}

tdm_error* tdm_optimizer_state(const tdm_optimizer* optimizer, tdm_named_tensors** out) {
  if (!slots[147]) return (tdm_error*)&tandem_go_missing[147];
  return ((tdm_error* (*)(const tdm_optimizer* optimizer, tdm_named_tensors** out))slots[147])(optimizer, out);
}

tdm_error* tdm_optimizer_load_state(tdm_optimizer* optimizer, const char* const* names, tdm_tensor* const* tensors, size_t count) {
  if (!slots[148]) return (tdm_error*)&tandem_go_missing[148];
  return ((tdm_error* (*)(tdm_optimizer* optimizer, const char* const* names, tdm_tensor* const* tensors, size_t count))slots[148])(optimizer, names, tensors, count);
}

tdm_error* tdm_optimizer_state_dict(const tdm_optimizer* optimizer, tdm_value* out) {
  if (!slots[149]) return (tdm_error*)&tandem_go_missing[149];
  return ((tdm_error* (*)(const tdm_optimizer* optimizer, tdm_value* out))slots[149])(optimizer, out);
}

tdm_error* tdm_optimizer_load_state_dict(tdm_optimizer* optimizer, const tdm_value* state_dict) {
  if (!slots[150]) return (tdm_error*)&tandem_go_missing[150];
  return ((tdm_error* (*)(tdm_optimizer* optimizer, const tdm_value* state_dict))slots[150])(optimizer, state_dict);
}

tdm_error* tdm_lr_scheduler_create(const char* type, tdm_optimizer* optimizer, const tdm_option* options, size_t option_count, tdm_lr_scheduler** out) {
  if (!slots[151]) return (tdm_error*)&tandem_go_missing[151];
  return ((tdm_error* (*)(const char* type, tdm_optimizer* optimizer, const tdm_option* options, size_t option_count, tdm_lr_scheduler** out))slots[151])(type, optimizer, options, option_count, out);
}

tdm_error* tdm_lr_scheduler_create_with_function(const char* type, tdm_optimizer* optimizer, const tdm_option* options, size_t option_count, tdm_error* (*function)(void* user_data, int64_t group, double at, double* factor), void* user_data, void (*destroy)(void* user_data), tdm_lr_scheduler** out) {
  if (!slots[152]) return (tdm_error*)&tandem_go_missing[152];
  return ((tdm_error* (*)(const char* type, tdm_optimizer* optimizer, const tdm_option* options, size_t option_count, tdm_error* (*function)(void* user_data, int64_t group, double at, double* factor), void* user_data, void (*destroy)(void* user_data), tdm_lr_scheduler** out))slots[152])(type, optimizer, options, option_count, function, user_data, destroy, out);
}

tdm_error* tdm_lr_scheduler_create_sequential(tdm_optimizer* optimizer, tdm_lr_scheduler* const* schedulers, size_t count, const int64_t* milestones, size_t milestone_count, int64_t last_epoch, tdm_lr_scheduler** out) {
  if (!slots[153]) return (tdm_error*)&tandem_go_missing[153];
  return ((tdm_error* (*)(tdm_optimizer* optimizer, tdm_lr_scheduler* const* schedulers, size_t count, const int64_t* milestones, size_t milestone_count, int64_t last_epoch, tdm_lr_scheduler** out))slots[153])(optimizer, schedulers, count, milestones, milestone_count, last_epoch, out);
}

tdm_error* tdm_lr_scheduler_create_chained(tdm_lr_scheduler* const* schedulers, size_t count, tdm_lr_scheduler** out) {
  if (!slots[154]) return (tdm_error*)&tandem_go_missing[154];
  return ((tdm_error* (*)(tdm_lr_scheduler* const* schedulers, size_t count, tdm_lr_scheduler** out))slots[154])(schedulers, count, out);
}

void tdm_lr_scheduler_free(tdm_lr_scheduler* scheduler) {
  if (!slots[155]) return;
  ((void (*)(tdm_lr_scheduler* scheduler))slots[155])(scheduler);
}

tdm_error* tdm_lr_scheduler_step(tdm_lr_scheduler* scheduler) {
  if (!slots[156]) return (tdm_error*)&tandem_go_missing[156];
  return ((tdm_error* (*)(tdm_lr_scheduler* scheduler))slots[156])(scheduler);
}

tdm_error* tdm_lr_scheduler_step_metric(tdm_lr_scheduler* scheduler, double metric) {
  if (!slots[157]) return (tdm_error*)&tandem_go_missing[157];
  return ((tdm_error* (*)(tdm_lr_scheduler* scheduler, double metric))slots[157])(scheduler, metric);
}

tdm_error* tdm_lr_scheduler_step_to(tdm_lr_scheduler* scheduler, double epoch) {
  if (!slots[158]) return (tdm_error*)&tandem_go_missing[158];
  return ((tdm_error* (*)(tdm_lr_scheduler* scheduler, double epoch))slots[158])(scheduler, epoch);
}

tdm_error* tdm_lr_scheduler_last_lr(const tdm_lr_scheduler* scheduler, tdm_value* out) {
  if (!slots[159]) return (tdm_error*)&tandem_go_missing[159];
  return ((tdm_error* (*)(const tdm_lr_scheduler* scheduler, tdm_value* out))slots[159])(scheduler, out);
}

tdm_error* tdm_lr_scheduler_state(const tdm_lr_scheduler* scheduler, tdm_value* out) {
  if (!slots[160]) return (tdm_error*)&tandem_go_missing[160];
  return ((tdm_error* (*)(const tdm_lr_scheduler* scheduler, tdm_value* out))slots[160])(scheduler, out);
}

tdm_error* tdm_lr_scheduler_load_state(tdm_lr_scheduler* scheduler, const tdm_value* state) {
  if (!slots[161]) return (tdm_error*)&tandem_go_missing[161];
  return ((tdm_error* (*)(tdm_lr_scheduler* scheduler, const tdm_value* state))slots[161])(scheduler, state);
}

void tdm_averaged_parameters_options_init(tdm_averaged_parameters_options* made, size_t struct_size) {
  if (!slots[162]) return;
  ((void (*)(tdm_averaged_parameters_options* made, size_t struct_size))slots[162])(made, struct_size);
}

tdm_error* tdm_averaged_parameters_create(tdm_tensor* const* parameters, size_t parameter_count, tdm_tensor* const* buffers, size_t buffer_count, const tdm_averaged_parameters_options* options, tdm_averaged_parameters** out) {
  if (!slots[163]) return (tdm_error*)&tandem_go_missing[163];
  return ((tdm_error* (*)(tdm_tensor* const* parameters, size_t parameter_count, tdm_tensor* const* buffers, size_t buffer_count, const tdm_averaged_parameters_options* options, tdm_averaged_parameters** out))slots[163])(parameters, parameter_count, buffers, buffer_count, options, out);
}

void tdm_averaged_parameters_free(tdm_averaged_parameters* averages) {
  if (!slots[164]) return;
  ((void (*)(tdm_averaged_parameters* averages))slots[164])(averages);
}

tdm_error* tdm_averaged_parameters_update(tdm_averaged_parameters* averages) {
  if (!slots[165]) return (tdm_error*)&tandem_go_missing[165];
  return ((tdm_error* (*)(tdm_averaged_parameters* averages))slots[165])(averages);
}

tdm_error* tdm_averaged_parameters_swap(tdm_averaged_parameters* averages) {
  if (!slots[166]) return (tdm_error*)&tandem_go_missing[166];
  return ((tdm_error* (*)(tdm_averaged_parameters* averages))slots[166])(averages);
}

tdm_error* tdm_averaged_parameters_state(const tdm_averaged_parameters* averages, tdm_named_tensors** out) {
  if (!slots[167]) return (tdm_error*)&tandem_go_missing[167];
  return ((tdm_error* (*)(const tdm_averaged_parameters* averages, tdm_named_tensors** out))slots[167])(averages, out);
}

tdm_error* tdm_averaged_parameters_load_state(tdm_averaged_parameters* averages, const char* const* names, tdm_tensor* const* tensors, size_t count) {
  if (!slots[168]) return (tdm_error*)&tandem_go_missing[168];
  return ((tdm_error* (*)(tdm_averaged_parameters* averages, const char* const* names, tdm_tensor* const* tensors, size_t count))slots[168])(averages, names, tensors, count);
}

void tdm_grad_scaler_options_init(tdm_grad_scaler_options* made, size_t struct_size) {
  if (!slots[169]) return;
  ((void (*)(tdm_grad_scaler_options* made, size_t struct_size))slots[169])(made, struct_size);
}

tdm_error* tdm_grad_scaler_create(const tdm_grad_scaler_options* options, tdm_grad_scaler** out) {
  if (!slots[170]) return (tdm_error*)&tandem_go_missing[170];
  return ((tdm_error* (*)(const tdm_grad_scaler_options* options, tdm_grad_scaler** out))slots[170])(options, out);
}

void tdm_grad_scaler_free(tdm_grad_scaler* scaler) {
  if (!slots[171]) return;
  ((void (*)(tdm_grad_scaler* scaler))slots[171])(scaler);
}

tdm_error* tdm_grad_scaler_scale(tdm_grad_scaler* scaler, const tdm_tensor* tensor, tdm_tensor** out) {
  if (!slots[172]) return (tdm_error*)&tandem_go_missing[172];
  return ((tdm_error* (*)(tdm_grad_scaler* scaler, const tdm_tensor* tensor, tdm_tensor** out))slots[172])(scaler, tensor, out);
}

tdm_error* tdm_grad_scaler_unscale(tdm_grad_scaler* scaler, tdm_optimizer* optimizer) {
  if (!slots[173]) return (tdm_error*)&tandem_go_missing[173];
  return ((tdm_error* (*)(tdm_grad_scaler* scaler, tdm_optimizer* optimizer))slots[173])(scaler, optimizer);
}

tdm_error* tdm_grad_scaler_step(tdm_grad_scaler* scaler, tdm_optimizer* optimizer, int32_t* stepped) {
  if (!slots[174]) return (tdm_error*)&tandem_go_missing[174];
  return ((tdm_error* (*)(tdm_grad_scaler* scaler, tdm_optimizer* optimizer, int32_t* stepped))slots[174])(scaler, optimizer, stepped);
}

tdm_error* tdm_grad_scaler_update(tdm_grad_scaler* scaler, double new_scale) {
  if (!slots[175]) return (tdm_error*)&tandem_go_missing[175];
  return ((tdm_error* (*)(tdm_grad_scaler* scaler, double new_scale))slots[175])(scaler, new_scale);
}

void tdm_grad_scaler_state_init(tdm_grad_scaler_state* made, size_t struct_size) {
  if (!slots[176]) return;
  ((void (*)(tdm_grad_scaler_state* made, size_t struct_size))slots[176])(made, struct_size);
}

tdm_error* tdm_grad_scaler_get_state(const tdm_grad_scaler* scaler, tdm_grad_scaler_state* out) {
  if (!slots[177]) return (tdm_error*)&tandem_go_missing[177];
  return ((tdm_error* (*)(const tdm_grad_scaler* scaler, tdm_grad_scaler_state* out))slots[177])(scaler, out);
}

tdm_error* tdm_grad_scaler_set_state(tdm_grad_scaler* scaler, const tdm_grad_scaler_state* state) {
  if (!slots[178]) return (tdm_error*)&tandem_go_missing[178];
  return ((tdm_error* (*)(tdm_grad_scaler* scaler, const tdm_grad_scaler_state* state))slots[178])(scaler, state);
}

tdm_error* tdm_safetensors_save(const char* path, const char* const* names, tdm_tensor* const* tensors, size_t count, const char* const* metadata_keys, const char* const* metadata_values, size_t metadata_count) {
  if (!slots[179]) return (tdm_error*)&tandem_go_missing[179];
  return ((tdm_error* (*)(const char* path, const char* const* names, tdm_tensor* const* tensors, size_t count, const char* const* metadata_keys, const char* const* metadata_values, size_t metadata_count))slots[179])(path, names, tensors, count, metadata_keys, metadata_values, metadata_count);
}

tdm_error* tdm_safetensors_save_sharded(const char* folder, const char* const* names, tdm_tensor* const* tensors, size_t count, const char* const* metadata_keys, const char* const* metadata_values, size_t metadata_count, int64_t shard_bytes) {
  if (!slots[180]) return (tdm_error*)&tandem_go_missing[180];
  return ((tdm_error* (*)(const char* folder, const char* const* names, tdm_tensor* const* tensors, size_t count, const char* const* metadata_keys, const char* const* metadata_values, size_t metadata_count, int64_t shard_bytes))slots[180])(folder, names, tensors, count, metadata_keys, metadata_values, metadata_count, shard_bytes);
}

void tdm_safetensors_load_options_init(tdm_safetensors_load_options* made, size_t struct_size) {
  if (!slots[181]) return;
  ((void (*)(tdm_safetensors_load_options* made, size_t struct_size))slots[181])(made, struct_size);
}

tdm_error* tdm_safetensors_load(const char* path, const tdm_safetensors_load_options* options, tdm_named_tensors** out, tdm_strings** metadata_keys, tdm_strings** metadata_values) {
  if (!slots[182]) return (tdm_error*)&tandem_go_missing[182];
  return ((tdm_error* (*)(const char* path, const tdm_safetensors_load_options* options, tdm_named_tensors** out, tdm_strings** metadata_keys, tdm_strings** metadata_values))slots[182])(path, options, out, metadata_keys, metadata_values);
}

void tdm_pt_load_options_init(tdm_pt_load_options* made, size_t struct_size) {
  if (!slots[183]) return;
  ((void (*)(tdm_pt_load_options* made, size_t struct_size))slots[183])(made, struct_size);
}

tdm_error* tdm_pt_load(const char* path, const tdm_pt_load_options* options, tdm_value* out) {
  if (!slots[184]) return (tdm_error*)&tandem_go_missing[184];
  return ((tdm_error* (*)(const char* path, const tdm_pt_load_options* options, tdm_value* out))slots[184])(path, options, out);
}

tdm_error* tdm_pt_save(const char* path, const tdm_value* value) {
  if (!slots[185]) return (tdm_error*)&tandem_go_missing[185];
  return ((tdm_error* (*)(const char* path, const tdm_value* value))slots[185])(path, value);
}

tdm_error* tdm_names_replace(const char* const* names, size_t count, const char* const* patterns, const char* const* replacements, size_t rule_count, tdm_strings** out) {
  if (!slots[186]) return (tdm_error*)&tandem_go_missing[186];
  return ((tdm_error* (*)(const char* const* names, size_t count, const char* const* patterns, const char* const* replacements, size_t rule_count, tdm_strings** out))slots[186])(names, count, patterns, replacements, rule_count, out);
}

tdm_error* tdm_tensors_load(const char* const* into_names, tdm_tensor* const* into, size_t into_count, const char* const* from_names, tdm_tensor* const* from, size_t from_count, int32_t strict, int32_t convert_dtype, tdm_strings** missing, tdm_strings** unexpected) {
  if (!slots[187]) return (tdm_error*)&tandem_go_missing[187];
  return ((tdm_error* (*)(const char* const* into_names, tdm_tensor* const* into, size_t into_count, const char* const* from_names, tdm_tensor* const* from, size_t from_count, int32_t strict, int32_t convert_dtype, tdm_strings** missing, tdm_strings** unexpected))slots[187])(into_names, into, into_count, from_names, from, from_count, strict, convert_dtype, missing, unexpected);
}

void tdm_exported_options_init(tdm_exported_options* made, size_t struct_size) {
  if (!slots[188]) return;
  ((void (*)(tdm_exported_options* made, size_t struct_size))slots[188])(made, struct_size);
}

tdm_error* tdm_exported_load(const char* path, const tdm_exported_options* options, tdm_module** out) {
  if (!slots[189]) return (tdm_error*)&tandem_go_missing[189];
  return ((tdm_error* (*)(const char* path, const tdm_exported_options* options, tdm_module** out))slots[189])(path, options, out);
}

tdm_error* tdm_exported_call(tdm_module* program, const tdm_value* arguments, size_t argument_count, tdm_value* out) {
  if (!slots[190]) return (tdm_error*)&tandem_go_missing[190];
  return ((tdm_error* (*)(tdm_module* program, const tdm_value* arguments, size_t argument_count, tdm_value* out))slots[190])(program, arguments, argument_count, out);
}

tdm_error* tdm_exported_inputs(const tdm_module* program, tdm_strings** names, tdm_strings** descriptions) {
  if (!slots[191]) return (tdm_error*)&tandem_go_missing[191];
  return ((tdm_error* (*)(const tdm_module* program, tdm_strings** names, tdm_strings** descriptions))slots[191])(program, names, descriptions);
}

tdm_error* tdm_exported_save(const tdm_module* program, const char* path) {
  if (!slots[192]) return (tdm_error*)&tandem_go_missing[192];
  return ((tdm_error* (*)(const tdm_module* program, const char* path))slots[192])(program, path);
}

tdm_error* tdm_exported_parts(const tdm_module* program, int64_t least, tdm_module** parts, size_t* part_count) {
  if (!slots[193]) return (tdm_error*)&tandem_go_missing[193];
  return ((tdm_error* (*)(const tdm_module* program, int64_t least, tdm_module** parts, size_t* part_count))slots[193])(program, least, parts, part_count);
}

tdm_error* tdm_jit_load(const char* path, tdm_module** out) {
  if (!slots[194]) return (tdm_error*)&tandem_go_missing[194];
  return ((tdm_error* (*)(const char* path, tdm_module** out))slots[194])(path, out);
}

tdm_error* tdm_jit_load_bytes(const void* data, size_t data_bytes, tdm_module** out) {
  if (!slots[195]) return (tdm_error*)&tandem_go_missing[195];
  return ((tdm_error* (*)(const void* data, size_t data_bytes, tdm_module** out))slots[195])(data, data_bytes, out);
}

tdm_error* tdm_jit_compile(const char* source, tdm_module** out) {
  if (!slots[196]) return (tdm_error*)&tandem_go_missing[196];
  return ((tdm_error* (*)(const char* source, tdm_module** out))slots[196])(source, out);
}

tdm_error* tdm_jit_save(const tdm_module* module, const char* path) {
  if (!slots[197]) return (tdm_error*)&tandem_go_missing[197];
  return ((tdm_error* (*)(const tdm_module* module, const char* path))slots[197])(module, path);
}

tdm_error* tdm_jit_save_bytes(const tdm_module* module, tdm_string** out) {
  if (!slots[198]) return (tdm_error*)&tandem_go_missing[198];
  return ((tdm_error* (*)(const tdm_module* module, tdm_string** out))slots[198])(module, out);
}

tdm_error* tdm_jit_methods(const tdm_module* module, tdm_strings** out) {
  if (!slots[199]) return (tdm_error*)&tandem_go_missing[199];
  return ((tdm_error* (*)(const tdm_module* module, tdm_strings** out))slots[199])(module, out);
}

tdm_error* tdm_jit_schema(const tdm_module* module, const char* method, tdm_string** out) {
  if (!slots[200]) return (tdm_error*)&tandem_go_missing[200];
  return ((tdm_error* (*)(const tdm_module* module, const char* method, tdm_string** out))slots[200])(module, method, out);
}

tdm_error* tdm_jit_call(tdm_module* module, const char* method, const tdm_value* arguments, size_t argument_count, tdm_value* out) {
  if (!slots[201]) return (tdm_error*)&tandem_go_missing[201];
  return ((tdm_error* (*)(tdm_module* module, const char* method, const tdm_value* arguments, size_t argument_count, tdm_value* out))slots[201])(module, method, arguments, argument_count, out);
}

void tdm_jit_trace_init(tdm_jit_trace* made, size_t struct_size) {
  if (!slots[202]) return;
  ((void (*)(tdm_jit_trace* made, size_t struct_size))slots[202])(made, struct_size);
}

tdm_error* tdm_jit_trace_function(const tdm_jit_trace* trace, tdm_module** out) {
  if (!slots[203]) return (tdm_error*)&tandem_go_missing[203];
  return ((tdm_error* (*)(const tdm_jit_trace* trace, tdm_module** out))slots[203])(trace, out);
}

void tdm_tcp_store_options_init(tdm_tcp_store_options* made, size_t struct_size) {
  if (!slots[204]) return;
  ((void (*)(tdm_tcp_store_options* made, size_t struct_size))slots[204])(made, struct_size);
}

tdm_error* tdm_store_tcp(const char* host, uint16_t port, const tdm_tcp_store_options* options, tdm_store** out) {
  if (!slots[205]) return (tdm_error*)&tandem_go_missing[205];
  return ((tdm_error* (*)(const char* host, uint16_t port, const tdm_tcp_store_options* options, tdm_store** out))slots[205])(host, port, options, out);
}

tdm_error* tdm_store_file(const char* path, int32_t world_size, tdm_store** out) {
  if (!slots[206]) return (tdm_error*)&tandem_go_missing[206];
  return ((tdm_error* (*)(const char* path, int32_t world_size, tdm_store** out))slots[206])(path, world_size, out);
}

tdm_error* tdm_store_hash(tdm_store** out) {
  if (!slots[207]) return (tdm_error*)&tandem_go_missing[207];
  return ((tdm_error* (*)(tdm_store** out))slots[207])(out);
}

tdm_error* tdm_store_prefix(const char* prefix, const tdm_store* store, tdm_store** out) {
  if (!slots[208]) return (tdm_error*)&tandem_go_missing[208];
  return ((tdm_error* (*)(const char* prefix, const tdm_store* store, tdm_store** out))slots[208])(prefix, store, out);
}

void tdm_store_free(tdm_store* store) {
  if (!slots[209]) return;
  ((void (*)(tdm_store* store))slots[209])(store);
}

uint16_t tdm_store_port(const tdm_store* store) {
  if (!slots[210]) return 0;
  return ((uint16_t (*)(const tdm_store* store))slots[210])(store);
}

tdm_error* tdm_store_set(tdm_store* store, const char* key, const void* data, size_t size) {
  if (!slots[211]) return (tdm_error*)&tandem_go_missing[211];
  return ((tdm_error* (*)(tdm_store* store, const char* key, const void* data, size_t size))slots[211])(store, key, data, size);
}

tdm_error* tdm_store_get(tdm_store* store, const char* key, tdm_string** out) {
  if (!slots[212]) return (tdm_error*)&tandem_go_missing[212];
  return ((tdm_error* (*)(tdm_store* store, const char* key, tdm_string** out))slots[212])(store, key, out);
}

tdm_error* tdm_store_add(tdm_store* store, const char* key, int64_t amount, int64_t* out) {
  if (!slots[213]) return (tdm_error*)&tandem_go_missing[213];
  return ((tdm_error* (*)(tdm_store* store, const char* key, int64_t amount, int64_t* out))slots[213])(store, key, amount, out);
}

tdm_error* tdm_store_check(tdm_store* store, const char* const* keys, size_t count, int32_t* out) {
  if (!slots[214]) return (tdm_error*)&tandem_go_missing[214];
  return ((tdm_error* (*)(tdm_store* store, const char* const* keys, size_t count, int32_t* out))slots[214])(store, keys, count, out);
}

tdm_error* tdm_store_delete(tdm_store* store, const char* key, int32_t* out) {
  if (!slots[215]) return (tdm_error*)&tandem_go_missing[215];
  return ((tdm_error* (*)(tdm_store* store, const char* key, int32_t* out))slots[215])(store, key, out);
}

tdm_error* tdm_store_wait(tdm_store* store, const char* const* keys, size_t count, int64_t timeout_ms) {
  if (!slots[216]) return (tdm_error*)&tandem_go_missing[216];
  return ((tdm_error* (*)(tdm_store* store, const char* const* keys, size_t count, int64_t timeout_ms))slots[216])(store, keys, count, timeout_ms);
}

tdm_error* tdm_store_compare_set(tdm_store* store, const char* key, const void* expected, size_t expected_size, const void* desired, size_t desired_size, tdm_string** out) {
  if (!slots[217]) return (tdm_error*)&tandem_go_missing[217];
  return ((tdm_error* (*)(tdm_store* store, const char* key, const void* expected, size_t expected_size, const void* desired, size_t desired_size, tdm_string** out))slots[217])(store, key, expected, expected_size, desired, desired_size, out);
}

tdm_error* tdm_store_set_timeout(tdm_store* store, int64_t timeout_ms) {
  if (!slots[218]) return (tdm_error*)&tandem_go_missing[218];
  return ((tdm_error* (*)(tdm_store* store, int64_t timeout_ms))slots[218])(store, timeout_ms);
}

tdm_error* tdm_launch_place(int32_t* rank, int32_t* world_size, int32_t* local_rank, int32_t* local_world_size, int32_t* node_rank, tdm_string** launcher) {
  if (!slots[219]) return (tdm_error*)&tandem_go_missing[219];
  return ((tdm_error* (*)(int32_t* rank, int32_t* world_size, int32_t* local_rank, int32_t* local_world_size, int32_t* node_rank, tdm_string** launcher))slots[219])(rank, world_size, local_rank, local_world_size, node_rank, launcher);
}

void tdm_process_group_options_init(tdm_process_group_options* made, size_t struct_size) {
  if (!slots[220]) return;
  ((void (*)(tdm_process_group_options* made, size_t struct_size))slots[220])(made, struct_size);
}

tdm_error* tdm_process_group_create(const tdm_process_group_options* options, const tdm_store* store, tdm_process_group** out) {
  if (!slots[221]) return (tdm_error*)&tandem_go_missing[221];
  return ((tdm_error* (*)(const tdm_process_group_options* options, const tdm_store* store, tdm_process_group** out))slots[221])(options, store, out);
}

void tdm_process_group_free(tdm_process_group* group) {
  if (!slots[222]) return;
  ((void (*)(tdm_process_group* group))slots[222])(group);
}

int32_t tdm_process_group_rank(const tdm_process_group* group) {
  if (!slots[223]) return 0;
  return ((int32_t (*)(const tdm_process_group* group))slots[223])(group);
}

int32_t tdm_process_group_size(const tdm_process_group* group) {
  if (!slots[224]) return 0;
  return ((int32_t (*)(const tdm_process_group* group))slots[224])(group);
}

const char* tdm_process_group_backend(const tdm_process_group* group) {
  if (!slots[225]) return 0;
  return ((const char* (*)(const tdm_process_group* group))slots[225])(group);
}

const char* tdm_process_group_name(const tdm_process_group* group) {
  if (!slots[226]) return 0;
  return ((const char* (*)(const tdm_process_group* group))slots[226])(group);
}

tdm_error* tdm_process_group_abort(tdm_process_group* group) {
  if (!slots[227]) return (tdm_error*)&tandem_go_missing[227];
  return ((tdm_error* (*)(tdm_process_group* group))slots[227])(group);
}

tdm_error* tdm_process_group_new_group(tdm_process_group* group, const int32_t* ranks, size_t rank_count, const char* name, tdm_process_group** out) {
  if (!slots[228]) return (tdm_error*)&tandem_go_missing[228];
  return ((tdm_error* (*)(tdm_process_group* group, const int32_t* ranks, size_t rank_count, const char* name, tdm_process_group** out))slots[228])(group, ranks, rank_count, name, out);
}

tdm_error* tdm_process_group_split(tdm_process_group* group, const int32_t* ranks, size_t rank_count, const size_t* sizes, size_t group_count, const char* name, tdm_process_group** out) {
  if (!slots[229]) return (tdm_error*)&tandem_go_missing[229];
  return ((tdm_error* (*)(tdm_process_group* group, const int32_t* ranks, size_t rank_count, const size_t* sizes, size_t group_count, const char* name, tdm_process_group** out))slots[229])(group, ranks, rank_count, sizes, group_count, name, out);
}

tdm_error* tdm_process_group_new_subgroups(tdm_process_group* group, int32_t size, const char* name, tdm_process_group** out) {
  if (!slots[230]) return (tdm_error*)&tandem_go_missing[230];
  return ((tdm_error* (*)(tdm_process_group* group, int32_t size, const char* name, tdm_process_group** out))slots[230])(group, size, name, out);
}

int32_t tdm_process_group_global_rank(const tdm_process_group* group, int32_t rank) {
  if (!slots[231]) return 0;
  return ((int32_t (*)(const tdm_process_group* group, int32_t rank))slots[231])(group, rank);
}

int32_t tdm_process_group_rank_of(const tdm_process_group* group, int32_t global_rank) {
  if (!slots[232]) return 0;
  return ((int32_t (*)(const tdm_process_group* group, int32_t global_rank))slots[232])(group, global_rank);
}

tdm_error* tdm_broadcast(tdm_process_group* group, tdm_tensor* tensor, int32_t root, tdm_work** work) {
  if (!slots[233]) return (tdm_error*)&tandem_go_missing[233];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* tensor, int32_t root, tdm_work** work))slots[233])(group, tensor, root, work);
}

tdm_error* tdm_all_reduce(tdm_process_group* group, tdm_tensor* tensor, tdm_reduce_op op, tdm_work** work) {
  if (!slots[234]) return (tdm_error*)&tandem_go_missing[234];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* tensor, tdm_reduce_op op, tdm_work** work))slots[234])(group, tensor, op, work);
}

tdm_error* tdm_all_reduce_premul_sum(tdm_process_group* group, tdm_tensor* tensor, double factor, tdm_work** work) {
  if (!slots[235]) return (tdm_error*)&tandem_go_missing[235];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* tensor, double factor, tdm_work** work))slots[235])(group, tensor, factor, work);
}

tdm_error* tdm_all_reduce_coalesced(tdm_process_group* group, tdm_tensor* const* tensors, size_t tensor_count, tdm_reduce_op op, tdm_work** work) {
  if (!slots[236]) return (tdm_error*)&tandem_go_missing[236];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* const* tensors, size_t tensor_count, tdm_reduce_op op, tdm_work** work))slots[236])(group, tensors, tensor_count, op, work);
}

tdm_error* tdm_reduce(tdm_process_group* group, tdm_tensor* tensor, int32_t root, tdm_reduce_op op, tdm_work** work) {
  if (!slots[237]) return (tdm_error*)&tandem_go_missing[237];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* tensor, int32_t root, tdm_reduce_op op, tdm_work** work))slots[237])(group, tensor, root, op, work);
}

tdm_error* tdm_all_gather(tdm_process_group* group, tdm_tensor* const* outputs, size_t output_count, const tdm_tensor* input, tdm_work** work) {
  if (!slots[238]) return (tdm_error*)&tandem_go_missing[238];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* const* outputs, size_t output_count, const tdm_tensor* input, tdm_work** work))slots[238])(group, outputs, output_count, input, work);
}

tdm_error* tdm_all_gather_into_tensor(tdm_process_group* group, tdm_tensor* output, const tdm_tensor* input, tdm_work** work) {
  if (!slots[239]) return (tdm_error*)&tandem_go_missing[239];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* output, const tdm_tensor* input, tdm_work** work))slots[239])(group, output, input, work);
}

tdm_error* tdm_gather(tdm_process_group* group, tdm_tensor* const* outputs, size_t output_count, const tdm_tensor* input, int32_t root, tdm_work** work) {
  if (!slots[240]) return (tdm_error*)&tandem_go_missing[240];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* const* outputs, size_t output_count, const tdm_tensor* input, int32_t root, tdm_work** work))slots[240])(group, outputs, output_count, input, root, work);
}

tdm_error* tdm_scatter(tdm_process_group* group, tdm_tensor* output, tdm_tensor* const* inputs, size_t input_count, int32_t root, tdm_work** work) {
  if (!slots[241]) return (tdm_error*)&tandem_go_missing[241];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* output, tdm_tensor* const* inputs, size_t input_count, int32_t root, tdm_work** work))slots[241])(group, output, inputs, input_count, root, work);
}

tdm_error* tdm_reduce_scatter(tdm_process_group* group, tdm_tensor* output, tdm_tensor* const* inputs, size_t input_count, tdm_reduce_op op, tdm_work** work) {
  if (!slots[242]) return (tdm_error*)&tandem_go_missing[242];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* output, tdm_tensor* const* inputs, size_t input_count, tdm_reduce_op op, tdm_work** work))slots[242])(group, output, inputs, input_count, op, work);
}

tdm_error* tdm_reduce_scatter_tensor(tdm_process_group* group, tdm_tensor* output, const tdm_tensor* input, tdm_reduce_op op, tdm_work** work) {
  if (!slots[243]) return (tdm_error*)&tandem_go_missing[243];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* output, const tdm_tensor* input, tdm_reduce_op op, tdm_work** work))slots[243])(group, output, input, op, work);
}

tdm_error* tdm_all_to_all(tdm_process_group* group, tdm_tensor* const* outputs, size_t output_count, tdm_tensor* const* inputs, size_t input_count, tdm_work** work) {
  if (!slots[244]) return (tdm_error*)&tandem_go_missing[244];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* const* outputs, size_t output_count, tdm_tensor* const* inputs, size_t input_count, tdm_work** work))slots[244])(group, outputs, output_count, inputs, input_count, work);
}

tdm_error* tdm_all_to_all_single(tdm_process_group* group, tdm_tensor* output, const tdm_tensor* input, const int64_t* output_splits, size_t output_split_count, const int64_t* input_splits, size_t input_split_count, tdm_work** work) {
  if (!slots[245]) return (tdm_error*)&tandem_go_missing[245];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* output, const tdm_tensor* input, const int64_t* output_splits, size_t output_split_count, const int64_t* input_splits, size_t input_split_count, tdm_work** work))slots[245])(group, output, input, output_splits, output_split_count, input_splits, input_split_count, work);
}

tdm_error* tdm_barrier(tdm_process_group* group, tdm_work** work) {
  if (!slots[246]) return (tdm_error*)&tandem_go_missing[246];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_work** work))slots[246])(group, work);
}

tdm_error* tdm_monitored_barrier(tdm_process_group* group, int64_t timeout_ms) {
  if (!slots[247]) return (tdm_error*)&tandem_go_missing[247];
  return ((tdm_error* (*)(tdm_process_group* group, int64_t timeout_ms))slots[247])(group, timeout_ms);
}

tdm_error* tdm_send(tdm_process_group* group, const tdm_tensor* tensor, int32_t to, int32_t tag, tdm_work** work) {
  if (!slots[248]) return (tdm_error*)&tandem_go_missing[248];
  return ((tdm_error* (*)(tdm_process_group* group, const tdm_tensor* tensor, int32_t to, int32_t tag, tdm_work** work))slots[248])(group, tensor, to, tag, work);
}

tdm_error* tdm_recv(tdm_process_group* group, tdm_tensor* tensor, int32_t from, int32_t tag, int32_t* source, tdm_work** work) {
  if (!slots[249]) return (tdm_error*)&tandem_go_missing[249];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* tensor, int32_t from, int32_t tag, int32_t* source, tdm_work** work))slots[249])(group, tensor, from, tag, source, work);
}

tdm_error* tdm_batch_send_recv(tdm_process_group* group, const tdm_message* messages, size_t message_count, tdm_work** work) {
  if (!slots[250]) return (tdm_error*)&tandem_go_missing[250];
  return ((tdm_error* (*)(tdm_process_group* group, const tdm_message* messages, size_t message_count, tdm_work** work))slots[250])(group, messages, message_count, work);
}

tdm_error* tdm_broadcast_bytes(tdm_process_group* group, const void* data, size_t size, int32_t root, tdm_string** out) {
  if (!slots[251]) return (tdm_error*)&tandem_go_missing[251];
  return ((tdm_error* (*)(tdm_process_group* group, const void* data, size_t size, int32_t root, tdm_string** out))slots[251])(group, data, size, root, out);
}

tdm_error* tdm_all_gather_bytes(tdm_process_group* group, const void* data, size_t size, tdm_string** out, size_t out_count) {
  if (!slots[252]) return (tdm_error*)&tandem_go_missing[252];
  return ((tdm_error* (*)(tdm_process_group* group, const void* data, size_t size, tdm_string** out, size_t out_count))slots[252])(group, data, size, out, out_count);
}

tdm_error* tdm_gather_bytes(tdm_process_group* group, const void* data, size_t size, int32_t root, tdm_string** out, size_t out_count) {
  if (!slots[253]) return (tdm_error*)&tandem_go_missing[253];
  return ((tdm_error* (*)(tdm_process_group* group, const void* data, size_t size, int32_t root, tdm_string** out, size_t out_count))slots[253])(group, data, size, root, out, out_count);
}

tdm_error* tdm_scatter_bytes(tdm_process_group* group, const void* const* data, const size_t* sizes, size_t count, int32_t root, tdm_string** out) {
  if (!slots[254]) return (tdm_error*)&tandem_go_missing[254];
  return ((tdm_error* (*)(tdm_process_group* group, const void* const* data, const size_t* sizes, size_t count, int32_t root, tdm_string** out))slots[254])(group, data, sizes, count, root, out);
}

tdm_error* tdm_work_wait(tdm_work* work, int64_t timeout_ms) {
  if (!slots[255]) return (tdm_error*)&tandem_go_missing[255];
  return ((tdm_error* (*)(tdm_work* work, int64_t timeout_ms))slots[255])(work, timeout_ms);
}

int32_t tdm_work_is_completed(const tdm_work* work) {
  if (!slots[256]) return 0;
  return ((int32_t (*)(const tdm_work* work))slots[256])(work);
}

tdm_error* tdm_work_error(const tdm_work* work, tdm_error** out) {
  if (!slots[257]) return (tdm_error*)&tandem_go_missing[257];
  return ((tdm_error* (*)(const tdm_work* work, tdm_error** out))slots[257])(work, out);
}

tdm_error* tdm_work_on_completion(tdm_work* work, void (*callback)(void* user_data, const tdm_error* error), void* user_data, void (*destroy)(void* user_data)) {
  if (!slots[258]) return (tdm_error*)&tandem_go_missing[258];
  return ((tdm_error* (*)(tdm_work* work, void (*callback)(void* user_data, const tdm_error* error), void* user_data, void (*destroy)(void* user_data)))slots[258])(work, callback, user_data, destroy);
}

size_t tdm_work_result_count(const tdm_work* work) {
  if (!slots[259]) return 0;
  return ((size_t (*)(const tdm_work* work))slots[259])(work);
}

tdm_error* tdm_work_result(const tdm_work* work, size_t index, tdm_tensor** out) {
  if (!slots[260]) return (tdm_error*)&tandem_go_missing[260];
  return ((tdm_error* (*)(const tdm_work* work, size_t index, tdm_tensor** out))slots[260])(work, index, out);
}

int32_t tdm_work_source_rank(const tdm_work* work) {
  if (!slots[261]) return 0;
  return ((int32_t (*)(const tdm_work* work))slots[261])(work);
}

void tdm_work_free(tdm_work* work) {
  if (!slots[262]) return;
  ((void (*)(tdm_work* work))slots[262])(work);
}

tdm_error* tdm_flight_record(tdm_string** out) {
  if (!slots[263]) return (tdm_error*)&tandem_go_missing[263];
  return ((tdm_error* (*)(tdm_string** out))slots[263])(out);
}

void tdm_trace_options_init(tdm_trace_options* made, size_t struct_size) {
  if (!slots[264]) return;
  ((void (*)(tdm_trace_options* made, size_t struct_size))slots[264])(made, struct_size);
}

tdm_error* tdm_trace_start(tdm_process_group* group, const tdm_trace_options* options) {
  if (!slots[265]) return (tdm_error*)&tandem_go_missing[265];
  return ((tdm_error* (*)(tdm_process_group* group, const tdm_trace_options* options))slots[265])(group, options);
}

tdm_error* tdm_trace_stop(const char* path) {
  if (!slots[266]) return (tdm_error*)&tandem_go_missing[266];
  return ((tdm_error* (*)(const char* path))slots[266])(path);
}

void tdm_profiler_options_init(tdm_profiler_options* made, size_t struct_size) {
  if (!slots[267]) return;
  ((void (*)(tdm_profiler_options* made, size_t struct_size))slots[267])(made, struct_size);
}

tdm_error* tdm_profiler_start(tdm_process_group* group, const tdm_profiler_options* options) {
  if (!slots[268]) return (tdm_error*)&tandem_go_missing[268];
  return ((tdm_error* (*)(tdm_process_group* group, const tdm_profiler_options* options))slots[268])(group, options);
}

tdm_error* tdm_profiler_stop(const char* path, tdm_string** table) {
  if (!slots[269]) return (tdm_error*)&tandem_go_missing[269];
  return ((tdm_error* (*)(const char* path, tdm_string** table))slots[269])(path, table);
}

tdm_error* tdm_differentiable_broadcast(tdm_process_group* group, const tdm_tensor* tensor, int32_t root, tdm_tensor** out) {
  if (!slots[270]) return (tdm_error*)&tandem_go_missing[270];
  return ((tdm_error* (*)(tdm_process_group* group, const tdm_tensor* tensor, int32_t root, tdm_tensor** out))slots[270])(group, tensor, root, out);
}

tdm_error* tdm_differentiable_all_reduce(tdm_process_group* group, const tdm_tensor* tensor, tdm_reduce_op op, tdm_tensor** out) {
  if (!slots[271]) return (tdm_error*)&tandem_go_missing[271];
  return ((tdm_error* (*)(tdm_process_group* group, const tdm_tensor* tensor, tdm_reduce_op op, tdm_tensor** out))slots[271])(group, tensor, op, out);
}

tdm_error* tdm_differentiable_reduce(tdm_process_group* group, const tdm_tensor* tensor, int32_t root, tdm_reduce_op op, tdm_tensor** out) {
  if (!slots[272]) return (tdm_error*)&tandem_go_missing[272];
  return ((tdm_error* (*)(tdm_process_group* group, const tdm_tensor* tensor, int32_t root, tdm_reduce_op op, tdm_tensor** out))slots[272])(group, tensor, root, op, out);
}

tdm_error* tdm_differentiable_gather(tdm_process_group* group, const tdm_tensor* tensor, int32_t root, tdm_tensor** out, size_t out_count) {
  if (!slots[273]) return (tdm_error*)&tandem_go_missing[273];
  return ((tdm_error* (*)(tdm_process_group* group, const tdm_tensor* tensor, int32_t root, tdm_tensor** out, size_t out_count))slots[273])(group, tensor, root, out, out_count);
}

tdm_error* tdm_differentiable_scatter(tdm_process_group* group, tdm_tensor* const* tensors, size_t tensor_count, int32_t root, tdm_tensor** out) {
  if (!slots[274]) return (tdm_error*)&tandem_go_missing[274];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* const* tensors, size_t tensor_count, int32_t root, tdm_tensor** out))slots[274])(group, tensors, tensor_count, root, out);
}

tdm_error* tdm_differentiable_all_gather(tdm_process_group* group, const tdm_tensor* tensor, tdm_tensor** out, size_t out_count) {
  if (!slots[275]) return (tdm_error*)&tandem_go_missing[275];
  return ((tdm_error* (*)(tdm_process_group* group, const tdm_tensor* tensor, tdm_tensor** out, size_t out_count))slots[275])(group, tensor, out, out_count);
}

tdm_error* tdm_differentiable_reduce_scatter(tdm_process_group* group, tdm_tensor* const* tensors, size_t tensor_count, tdm_reduce_op op, tdm_tensor** out) {
  if (!slots[276]) return (tdm_error*)&tandem_go_missing[276];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* const* tensors, size_t tensor_count, tdm_reduce_op op, tdm_tensor** out))slots[276])(group, tensors, tensor_count, op, out);
}

tdm_error* tdm_differentiable_all_to_all(tdm_process_group* group, tdm_tensor* const* tensors, size_t tensor_count, tdm_tensor** out, size_t out_count) {
  if (!slots[277]) return (tdm_error*)&tandem_go_missing[277];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* const* tensors, size_t tensor_count, tdm_tensor** out, size_t out_count))slots[277])(group, tensors, tensor_count, out, out_count);
}

tdm_error* tdm_differentiable_all_to_all_single(tdm_process_group* group, const tdm_tensor* tensor, const int64_t* output_splits, size_t output_split_count, const int64_t* input_splits, size_t input_split_count, tdm_tensor** out) {
  if (!slots[278]) return (tdm_error*)&tandem_go_missing[278];
  return ((tdm_error* (*)(tdm_process_group* group, const tdm_tensor* tensor, const int64_t* output_splits, size_t output_split_count, const int64_t* input_splits, size_t input_split_count, tdm_tensor** out))slots[278])(group, tensor, output_splits, output_split_count, input_splits, input_split_count, out);
}

void tdm_ddp_options_init(tdm_ddp_options* made, size_t struct_size) {
  if (!slots[279]) return;
  ((void (*)(tdm_ddp_options* made, size_t struct_size))slots[279])(made, struct_size);
}

tdm_error* tdm_ddp_create(tdm_process_group* group, tdm_tensor* const* parameters, const char* const* names, size_t parameter_count, tdm_tensor* const* buffers, size_t buffer_count, const tdm_ddp_options* options, tdm_ddp** out) {
  if (!slots[280]) return (tdm_error*)&tandem_go_missing[280];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* const* parameters, const char* const* names, size_t parameter_count, tdm_tensor* const* buffers, size_t buffer_count, const tdm_ddp_options* options, tdm_ddp** out))slots[280])(group, parameters, names, parameter_count, buffers, buffer_count, options, out);
}

void tdm_ddp_free(tdm_ddp* ddp) {
  if (!slots[281]) return;
  ((void (*)(tdm_ddp* ddp))slots[281])(ddp);
}

tdm_error* tdm_ddp_prepare_forward(tdm_ddp* ddp, int32_t training, const tdm_value* arguments, size_t argument_count, tdm_value* prepared) {
  if (!slots[282]) return (tdm_error*)&tandem_go_missing[282];
  return ((tdm_error* (*)(tdm_ddp* ddp, int32_t training, const tdm_value* arguments, size_t argument_count, tdm_value* prepared))slots[282])(ddp, training, arguments, argument_count, prepared);
}

tdm_error* tdm_ddp_prepare_backward(tdm_ddp* ddp, const tdm_value* outputs, size_t output_count, tdm_value* prepared) {
  if (!slots[283]) return (tdm_error*)&tandem_go_missing[283];
  return ((tdm_error* (*)(tdm_ddp* ddp, const tdm_value* outputs, size_t output_count, tdm_value* prepared))slots[283])(ddp, outputs, output_count, prepared);
}

tdm_error* tdm_ddp_cancel_forward(tdm_ddp* ddp) {
  if (!slots[284]) return (tdm_error*)&tandem_go_missing[284];
  return ((tdm_error* (*)(tdm_ddp* ddp))slots[284])(ddp);
}

tdm_error* tdm_ddp_set_require_backward_grad_sync(tdm_ddp* ddp, int32_t on) {
  if (!slots[285]) return (tdm_error*)&tandem_go_missing[285];
  return ((tdm_error* (*)(tdm_ddp* ddp, int32_t on))slots[285])(ddp, on);
}

tdm_error* tdm_ddp_set_batch_samples(tdm_ddp* ddp, int64_t samples) {
  if (!slots[286]) return (tdm_error*)&tandem_go_missing[286];
  return ((tdm_error* (*)(tdm_ddp* ddp, int64_t samples))slots[286])(ddp, samples);
}

tdm_error* tdm_ddp_set_buffers(tdm_ddp* ddp, tdm_tensor* const* buffers, size_t buffer_count) {
  if (!slots[287]) return (tdm_error*)&tandem_go_missing[287];
  return ((tdm_error* (*)(tdm_ddp* ddp, tdm_tensor* const* buffers, size_t buffer_count))slots[287])(ddp, buffers, buffer_count);
}

void tdm_comm_hook_options_init(tdm_comm_hook_options* made, size_t struct_size) {
  if (!slots[288]) return;
  ((void (*)(tdm_comm_hook_options* made, size_t struct_size))slots[288])(made, struct_size);
}

tdm_error* tdm_ddp_set_comm_hook(tdm_ddp* ddp, tdm_comm_hook hook, const tdm_comm_hook_options* options) {
  if (!slots[289]) return (tdm_error*)&tandem_go_missing[289];
  return ((tdm_error* (*)(tdm_ddp* ddp, tdm_comm_hook hook, const tdm_comm_hook_options* options))slots[289])(ddp, hook, options);
}

tdm_error* tdm_ddp_state(const tdm_ddp* ddp, tdm_named_tensors** out) {
  if (!slots[290]) return (tdm_error*)&tandem_go_missing[290];
  return ((tdm_error* (*)(const tdm_ddp* ddp, tdm_named_tensors** out))slots[290])(ddp, out);
}

tdm_error* tdm_ddp_load_state(tdm_ddp* ddp, const char* const* names, tdm_tensor* const* tensors, size_t count) {
  if (!slots[291]) return (tdm_error*)&tandem_go_missing[291];
  return ((tdm_error* (*)(tdm_ddp* ddp, const char* const* names, tdm_tensor* const* tensors, size_t count))slots[291])(ddp, names, tensors, count);
}

tdm_error* tdm_ddp_register_comm_hook(tdm_ddp* ddp, tdm_error* (*begin)(void* user_data, const tdm_grad_bucket* bucket, tdm_work** work), tdm_error* (*finish)(void* user_data, const tdm_grad_bucket* bucket, tdm_tensor** result), void* user_data, void (*destroy)(void* user_data)) {
  if (!slots[292]) return (tdm_error*)&tandem_go_missing[292];
  return ((tdm_error* (*)(tdm_ddp* ddp, tdm_error* (*begin)(void* user_data, const tdm_grad_bucket* bucket, tdm_work** work), tdm_error* (*finish)(void* user_data, const tdm_grad_bucket* bucket, tdm_tensor** result), void* user_data, void (*destroy)(void* user_data)))slots[292])(ddp, begin, finish, user_data, destroy);
}

tdm_error* tdm_ddp_set_optimizer_in_backward(tdm_ddp* ddp, tdm_optimizer* optimizer) {
  if (!slots[293]) return (tdm_error*)&tandem_go_missing[293];
  return ((tdm_error* (*)(tdm_ddp* ddp, tdm_optimizer* optimizer))slots[293])(ddp, optimizer);
}

void tdm_ddp_join_options_init(tdm_ddp_join_options* made, size_t struct_size) {
  if (!slots[294]) return;
  ((void (*)(tdm_ddp_join_options* made, size_t struct_size))slots[294])(made, struct_size);
}

tdm_error* tdm_ddp_begin_join(tdm_ddp* ddp, const tdm_ddp_join_options* options) {
  if (!slots[295]) return (tdm_error*)&tandem_go_missing[295];
  return ((tdm_error* (*)(tdm_ddp* ddp, const tdm_ddp_join_options* options))slots[295])(ddp, options);
}

tdm_error* tdm_ddp_end_join(tdm_ddp* ddp) {
  if (!slots[296]) return (tdm_error*)&tandem_go_missing[296];
  return ((tdm_error* (*)(tdm_ddp* ddp))slots[296])(ddp);
}

tdm_error* tdm_ddp_cancel_join(tdm_ddp* ddp) {
  if (!slots[297]) return (tdm_error*)&tandem_go_missing[297];
  return ((tdm_error* (*)(tdm_ddp* ddp))slots[297])(ddp);
}

void tdm_ddp_statistics_init(tdm_ddp_statistics* made, size_t struct_size) {
  if (!slots[298]) return;
  ((void (*)(tdm_ddp_statistics* made, size_t struct_size))slots[298])(made, struct_size);
}

tdm_error* tdm_ddp_get_statistics(const tdm_ddp* ddp, tdm_ddp_statistics* out) {
  if (!slots[299]) return (tdm_error*)&tandem_go_missing[299];
  return ((tdm_error* (*)(const tdm_ddp* ddp, tdm_ddp_statistics* out))slots[299])(ddp, out);
}

tdm_error* tdm_ddp_get_bucket(const tdm_ddp* ddp, int64_t index, int64_t* bytes, tdm_strings** names) {
  if (!slots[300]) return (tdm_error*)&tandem_go_missing[300];
  return ((tdm_error* (*)(const tdm_ddp* ddp, int64_t index, int64_t* bytes, tdm_strings** names))slots[300])(ddp, index, bytes, names);
}

tdm_error* tdm_ddp_set_statistics_sample_rate(tdm_ddp* ddp, int64_t iterations) {
  if (!slots[301]) return (tdm_error*)&tandem_go_missing[301];
  return ((tdm_error* (*)(tdm_ddp* ddp, int64_t iterations))slots[301])(ddp, iterations);
}

tdm_error* tdm_ddp_statistics_table(const tdm_ddp* ddp, tdm_string** out) {
  if (!slots[302]) return (tdm_error*)&tandem_go_missing[302];
  return ((tdm_error* (*)(const tdm_ddp* ddp, tdm_string** out))slots[302])(ddp, out);
}

tdm_error* tdm_ddp_set_separate_exchanges(tdm_ddp* ddp, int64_t every) {
  if (!slots[303]) return (tdm_error*)&tandem_go_missing[303];
  return ((tdm_error* (*)(tdm_ddp* ddp, int64_t every))slots[303])(ddp, every);
}

void tdm_ddp_iteration_init(tdm_ddp_iteration* made, size_t struct_size) {
  if (!slots[304]) return;
  ((void (*)(tdm_ddp_iteration* made, size_t struct_size))slots[304])(made, struct_size);
}

tdm_error* tdm_ddp_get_iteration_count(const tdm_ddp* ddp, int64_t* out) {
  if (!slots[305]) return (tdm_error*)&tandem_go_missing[305];
  return ((tdm_error* (*)(const tdm_ddp* ddp, int64_t* out))slots[305])(ddp, out);
}

tdm_error* tdm_ddp_get_iteration(const tdm_ddp* ddp, int64_t index, tdm_ddp_iteration* out) {
  if (!slots[306]) return (tdm_error*)&tandem_go_missing[306];
  return ((tdm_error* (*)(const tdm_ddp* ddp, int64_t index, tdm_ddp_iteration* out))slots[306])(ddp, index, out);
}

tdm_error* tdm_ddp_get_iteration_bucket(const tdm_ddp* ddp, int64_t index, int64_t bucket, int64_t* bytes, int64_t* begun, int64_t* done) {
  if (!slots[307]) return (tdm_error*)&tandem_go_missing[307];
  return ((tdm_error* (*)(const tdm_ddp* ddp, int64_t index, int64_t bucket, int64_t* bytes, int64_t* begun, int64_t* done))slots[307])(ddp, index, bucket, bytes, begun, done);
}

void tdm_bucket_trial_options_init(tdm_bucket_trial_options* made, size_t struct_size) {
  if (!slots[308]) return;
  ((void (*)(tdm_bucket_trial_options* made, size_t struct_size))slots[308])(made, struct_size);
}

tdm_error* tdm_ddp_try_bucket_sizes(tdm_ddp* ddp, const tdm_bucket_trial_options* options) {
  if (!slots[309]) return (tdm_error*)&tandem_go_missing[309];
  return ((tdm_error* (*)(tdm_ddp* ddp, const tdm_bucket_trial_options* options))slots[309])(ddp, options);
}

void tdm_bucket_advice_init(tdm_bucket_advice* made, size_t struct_size) {
  if (!slots[310]) return;
  ((void (*)(tdm_bucket_advice* made, size_t struct_size))slots[310])(made, struct_size);
}

tdm_error* tdm_ddp_get_bucket_advice(const tdm_ddp* ddp, tdm_bucket_advice* out) {
  if (!slots[311]) return (tdm_error*)&tandem_go_missing[311];
  return ((tdm_error* (*)(const tdm_ddp* ddp, tdm_bucket_advice* out))slots[311])(ddp, out);
}

tdm_error* tdm_ddp_get_bucket_trial(const tdm_ddp* ddp, int64_t index, double* bucket_cap_mb, int64_t* buckets, int64_t* step) {
  if (!slots[312]) return (tdm_error*)&tandem_go_missing[312];
  return ((tdm_error* (*)(const tdm_ddp* ddp, int64_t index, double* bucket_cap_mb, int64_t* buckets, int64_t* step))slots[312])(ddp, index, bucket_cap_mb, buckets, step);
}

tdm_error* tdm_module_synchronize_batch_norm(tdm_module* module, tdm_process_group* group) {
  if (!slots[313]) return (tdm_error*)&tandem_go_missing[313];
  return ((tdm_error* (*)(tdm_module* module, tdm_process_group* group))slots[313])(module, group);
}

void tdm_data_parallel_options_init(tdm_data_parallel_options* made, size_t struct_size) {
  if (!slots[314]) return;
  ((void (*)(tdm_data_parallel_options* made, size_t struct_size))slots[314])(made, struct_size);
}

tdm_error* tdm_data_parallel_create(const tdm_data_parallel_options* options, tdm_data_parallel** out) {
  if (!slots[315]) return (tdm_error*)&tandem_go_missing[315];
  return ((tdm_error* (*)(const tdm_data_parallel_options* options, tdm_data_parallel** out))slots[315])(options, out);
}

void tdm_data_parallel_free(tdm_data_parallel* data_parallel) {
  if (!slots[316]) return;
  ((void (*)(tdm_data_parallel* data_parallel))slots[316])(data_parallel);
}

int32_t tdm_data_parallel_replicas(const tdm_data_parallel* data_parallel) {
  if (!slots[317]) return 0;
  return ((int32_t (*)(const tdm_data_parallel* data_parallel))slots[317])(data_parallel);
}

void tdm_replicas_init(tdm_replicas* made, size_t struct_size) {
  if (!slots[318]) return;
  ((void (*)(tdm_replicas* made, size_t struct_size))slots[318])(made, struct_size);
}

tdm_error* tdm_data_parallel_forward(tdm_data_parallel* data_parallel, const tdm_replicas* replicas, tdm_tensor* const* inputs, size_t input_count, tdm_tensor** results, size_t* result_count) {
  if (!slots[319]) return (tdm_error*)&tandem_go_missing[319];
  return ((tdm_error* (*)(tdm_data_parallel* data_parallel, const tdm_replicas* replicas, tdm_tensor* const* inputs, size_t input_count, tdm_tensor** results, size_t* result_count))slots[319])(data_parallel, replicas, inputs, input_count, results, result_count);
}

tdm_error* tdm_periodic_model_averager_create(tdm_process_group* group, int64_t period, int64_t warmup_steps, tdm_model_averager** out) {
  if (!slots[320]) return (tdm_error*)&tandem_go_missing[320];
  return ((tdm_error* (*)(tdm_process_group* group, int64_t period, int64_t warmup_steps, tdm_model_averager** out))slots[320])(group, period, warmup_steps, out);
}

tdm_error* tdm_hierarchical_model_averager_create(const int64_t* periods, tdm_process_group* const* groups, size_t count, int64_t warmup_steps, tdm_model_averager** out) {
  if (!slots[321]) return (tdm_error*)&tandem_go_missing[321];
  return ((tdm_error* (*)(const int64_t* periods, tdm_process_group* const* groups, size_t count, int64_t warmup_steps, tdm_model_averager** out))slots[321])(periods, groups, count, warmup_steps, out);
}

void tdm_model_averager_free(tdm_model_averager* averager) {
  if (!slots[322]) return;
  ((void (*)(tdm_model_averager* averager))slots[322])(averager);
}

tdm_error* tdm_model_averager_average(tdm_model_averager* averager, tdm_tensor* const* parameters, size_t parameter_count, int32_t* averaged) {
  if (!slots[323]) return (tdm_error*)&tandem_go_missing[323];
  return ((tdm_error* (*)(tdm_model_averager* averager, tdm_tensor* const* parameters, size_t parameter_count, int32_t* averaged))slots[323])(averager, parameters, parameter_count, averaged);
}

tdm_error* tdm_post_local_sgd_optimizer_create(tdm_optimizer* optimizer, tdm_model_averager* averager, tdm_optimizer** out) {
  if (!slots[324]) return (tdm_error*)&tandem_go_missing[324];
  return ((tdm_error* (*)(tdm_optimizer* optimizer, tdm_model_averager* averager, tdm_optimizer** out))slots[324])(optimizer, averager, out);
}

tdm_error* tdm_zero_redundancy_optimizer_create(tdm_process_group* group, const char* type, tdm_tensor* const* parameters, size_t parameter_count, const tdm_option* options, size_t option_count, tdm_optimizer** out) {
  if (!slots[325]) return (tdm_error*)&tandem_go_missing[325];
  return ((tdm_error* (*)(tdm_process_group* group, const char* type, tdm_tensor* const* parameters, size_t parameter_count, const tdm_option* options, size_t option_count, tdm_optimizer** out))slots[325])(group, type, parameters, parameter_count, options, option_count, out);
}

tdm_error* tdm_zero_redundancy_optimizer_consolidate(tdm_optimizer* optimizer, int32_t to) {
  if (!slots[326]) return (tdm_error*)&tandem_go_missing[326];
  return ((tdm_error* (*)(tdm_optimizer* optimizer, int32_t to))slots[326])(optimizer, to);
}

tdm_error* tdm_share_parameters(const char* const* names, tdm_tensor* const* tensors, size_t count, const char* model, int64_t timeout_ms, int32_t* made) {
  if (!slots[327]) return (tdm_error*)&tandem_go_missing[327];
  return ((tdm_error* (*)(const char* const* names, tdm_tensor* const* tensors, size_t count, const char* model, int64_t timeout_ms, int32_t* made))slots[327])(names, tensors, count, model, timeout_ms, made);
}

tdm_error* tdm_device_mesh_create(tdm_process_group* world, const int64_t* shape, const char* const* names, size_t dimension_count, tdm_device_mesh** out) {
  if (!slots[328]) return (tdm_error*)&tandem_go_missing[328];
  return ((tdm_error* (*)(tdm_process_group* world, const int64_t* shape, const char* const* names, size_t dimension_count, tdm_device_mesh** out))slots[328])(world, shape, names, dimension_count, out);
}

void tdm_device_mesh_free(tdm_device_mesh* mesh) {
  if (!slots[329]) return;
  ((void (*)(tdm_device_mesh* mesh))slots[329])(mesh);
}

int64_t tdm_device_mesh_dimensions(const tdm_device_mesh* mesh) {
  if (!slots[330]) return 0;
  return ((int64_t (*)(const tdm_device_mesh* mesh))slots[330])(mesh);
}

const char* tdm_device_mesh_name(const tdm_device_mesh* mesh, int64_t dimension) {
  if (!slots[331]) return 0;
  return ((const char* (*)(const tdm_device_mesh* mesh, int64_t dimension))slots[331])(mesh, dimension);
}

int64_t tdm_device_mesh_size(const tdm_device_mesh* mesh, int64_t dimension) {
  if (!slots[332]) return 0;
  return ((int64_t (*)(const tdm_device_mesh* mesh, int64_t dimension))slots[332])(mesh, dimension);
}

int64_t tdm_device_mesh_coordinate(const tdm_device_mesh* mesh, int64_t dimension) {
  if (!slots[333]) return 0;
  return ((int64_t (*)(const tdm_device_mesh* mesh, int64_t dimension))slots[333])(mesh, dimension);
}

tdm_error* tdm_device_mesh_group(const tdm_device_mesh* mesh, const char* name, tdm_process_group** out) {
  if (!slots[334]) return (tdm_error*)&tandem_go_missing[334];
  return ((tdm_error* (*)(const tdm_device_mesh* mesh, const char* name, tdm_process_group** out))slots[334])(mesh, name, out);
}

tdm_error* tdm_device_mesh_submesh(const tdm_device_mesh* mesh, const char* const* names, size_t name_count, tdm_device_mesh** out) {
  if (!slots[335]) return (tdm_error*)&tandem_go_missing[335];
  return ((tdm_error* (*)(const tdm_device_mesh* mesh, const char* const* names, size_t name_count, tdm_device_mesh** out))slots[335])(mesh, names, name_count, out);
}

tdm_error* tdm_device_mesh_flatten(const tdm_device_mesh* mesh, const char* name, tdm_device_mesh** out) {
  if (!slots[336]) return (tdm_error*)&tandem_go_missing[336];
  return ((tdm_error* (*)(const tdm_device_mesh* mesh, const char* name, tdm_device_mesh** out))slots[336])(mesh, name, out);
}

void tdm_pipeline_options_init(tdm_pipeline_options* made, size_t struct_size) {
  if (!slots[337]) return;
  ((void (*)(tdm_pipeline_options* made, size_t struct_size))slots[337])(made, struct_size);
}

tdm_error* tdm_pipeline_create(tdm_process_group* group, tdm_tensor* const* parameters, const char* const* names, const int32_t* stages, const uint8_t* tied, const uint8_t* sparse, size_t parameter_count, tdm_tensor* const* buffers, const char* const* buffer_names, const int32_t* buffer_stages, const uint8_t* tied_buffers, size_t buffer_count, const tdm_pipeline_options* options, tdm_error* (*forward)(void* user_data, const tdm_pipeline_call* call), tdm_error* (*loss)(void* user_data, const tdm_pipeline_call* call), void* user_data, void (*destroy)(void* user_data), tdm_pipeline** out) {
  if (!slots[338]) return (tdm_error*)&tandem_go_missing[338];
  return ((tdm_error* (*)(tdm_process_group* group, tdm_tensor* const* parameters, const char* const* names, const int32_t* stages, const uint8_t* tied, const uint8_t* sparse, size_t parameter_count, tdm_tensor* const* buffers, const char* const* buffer_names, const int32_t* buffer_stages, const uint8_t* tied_buffers, size_t buffer_count, const tdm_pipeline_options* options, tdm_error* (*forward)(void* user_data, const tdm_pipeline_call* call), tdm_error* (*loss)(void* user_data, const tdm_pipeline_call* call), void* user_data, void (*destroy)(void* user_data), tdm_pipeline** out))slots[338])(group, parameters, names, stages, tied, sparse, parameter_count, buffers, buffer_names, buffer_stages, tied_buffers, buffer_count, options, forward, loss, user_data, destroy, out);
}

void tdm_pipeline_free(tdm_pipeline* pipeline) {
  if (!slots[339]) return;
  ((void (*)(tdm_pipeline* pipeline))slots[339])(pipeline);
}

tdm_error* tdm_pipeline_step(tdm_pipeline* pipeline, tdm_tensor* const* inputs, size_t input_count, tdm_tensor* const* targets, size_t target_count, double* loss) {
  if (!slots[340]) return (tdm_error*)&tandem_go_missing[340];
  return ((tdm_error* (*)(tdm_pipeline* pipeline, tdm_tensor* const* inputs, size_t input_count, tdm_tensor* const* targets, size_t target_count, double* loss))slots[340])(pipeline, inputs, input_count, targets, target_count, loss);
}

tdm_error* tdm_pipeline_evaluate(tdm_pipeline* pipeline, tdm_tensor* const* inputs, size_t input_count, tdm_tensor* const* targets, size_t target_count, double* loss) {
  if (!slots[341]) return (tdm_error*)&tandem_go_missing[341];
  return ((tdm_error* (*)(tdm_pipeline* pipeline, tdm_tensor* const* inputs, size_t input_count, tdm_tensor* const* targets, size_t target_count, double* loss))slots[341])(pipeline, inputs, input_count, targets, target_count, loss);
}

tdm_error* tdm_pipeline_forward(tdm_pipeline* pipeline, tdm_tensor* const* inputs, size_t input_count, tdm_tensor** results, size_t* result_count) {
  if (!slots[342]) return (tdm_error*)&tandem_go_missing[342];
  return ((tdm_error* (*)(tdm_pipeline* pipeline, tdm_tensor* const* inputs, size_t input_count, tdm_tensor** results, size_t* result_count))slots[342])(pipeline, inputs, input_count, results, result_count);
}

tdm_error* tdm_pipeline_saves(const tdm_pipeline* pipeline, const char* name, int32_t is_spread, int32_t* saves) {
  if (!slots[343]) return (tdm_error*)&tandem_go_missing[343];
  return ((tdm_error* (*)(const tdm_pipeline* pipeline, const char* name, int32_t is_spread, int32_t* saves))slots[343])(pipeline, name, is_spread, saves);
}

void tdm_pipeline_split_options_init(tdm_pipeline_split_options* made, size_t struct_size) {
  if (!slots[344]) return;
  ((void (*)(tdm_pipeline_split_options* made, size_t struct_size))slots[344])(made, struct_size);
}

tdm_error* tdm_pipeline_split_by_time(tdm_process_group* group, int64_t layer_count, tdm_tensor* const* tensors, size_t tensor_count, tdm_tensor* const* inputs, size_t input_count, tdm_tensor* const* targets, size_t target_count, const tdm_pipeline_split_options* options, tdm_error* (*forward)(void* user_data, const tdm_pipeline_call* call), tdm_error* (*loss)(void* user_data, const tdm_pipeline_call* call), void* user_data, void (*destroy)(void* user_data), int64_t* first_layers, size_t* stage_count) {
  if (!slots[345]) return (tdm_error*)&tandem_go_missing[345];
  return ((tdm_error* (*)(tdm_process_group* group, int64_t layer_count, tdm_tensor* const* tensors, size_t tensor_count, tdm_tensor* const* inputs, size_t input_count, tdm_tensor* const* targets, size_t target_count, const tdm_pipeline_split_options* options, tdm_error* (*forward)(void* user_data, const tdm_pipeline_call* call), tdm_error* (*loss)(void* user_data, const tdm_pipeline_call* call), void* user_data, void (*destroy)(void* user_data), int64_t* first_layers, size_t* stage_count))slots[345])(group, layer_count, tensors, tensor_count, inputs, input_count, targets, target_count, options, forward, loss, user_data, destroy, first_layers, stage_count);
}

void tdm_checkpoint_folder_options_init(tdm_checkpoint_folder_options* made, size_t struct_size) {
  if (!slots[346]) return;
  ((void (*)(tdm_checkpoint_folder_options* made, size_t struct_size))slots[346])(made, struct_size);
}

tdm_error* tdm_checkpoint_folder_create(const char* path, const tdm_checkpoint_folder_options* options, tdm_process_group* group, tdm_checkpoint_folder** out) {
  if (!slots[347]) return (tdm_error*)&tandem_go_missing[347];
  return ((tdm_error* (*)(const char* path, const tdm_checkpoint_folder_options* options, tdm_process_group* group, tdm_checkpoint_folder** out))slots[347])(path, options, group, out);
}

void tdm_checkpoint_folder_free(tdm_checkpoint_folder* folder) {
  if (!slots[348]) return;
  ((void (*)(tdm_checkpoint_folder* folder))slots[348])(folder);
}

const char* tdm_checkpoint_folder_path(const tdm_checkpoint_folder* folder) {
  if (!slots[349]) return 0;
  return ((const char* (*)(const tdm_checkpoint_folder* folder))slots[349])(folder);
}

tdm_error* tdm_checkpoint_folder_save(tdm_checkpoint_folder* folder, int64_t step, const tdm_checkpoint_tensor* tensors, size_t tensor_count, const char* values) {
  if (!slots[350]) return (tdm_error*)&tandem_go_missing[350];
  return ((tdm_error* (*)(tdm_checkpoint_folder* folder, int64_t step, const tdm_checkpoint_tensor* tensors, size_t tensor_count, const char* values))slots[350])(folder, step, tensors, tensor_count, values);
}

tdm_error* tdm_checkpoint_folder_save_async(tdm_checkpoint_folder* folder, int64_t step, const tdm_checkpoint_tensor* tensors, size_t tensor_count, const char* values) {
  if (!slots[351]) return (tdm_error*)&tandem_go_missing[351];
  return ((tdm_error* (*)(tdm_checkpoint_folder* folder, int64_t step, const tdm_checkpoint_tensor* tensors, size_t tensor_count, const char* values))slots[351])(folder, step, tensors, tensor_count, values);
}

tdm_error* tdm_checkpoint_folder_save_failed(tdm_checkpoint_folder* folder, int64_t step, int32_t beside, const char* reason) {
  if (!slots[352]) return (tdm_error*)&tandem_go_missing[352];
  return ((tdm_error* (*)(tdm_checkpoint_folder* folder, int64_t step, int32_t beside, const char* reason))slots[352])(folder, step, beside, reason);
}

int32_t tdm_checkpoint_folder_saving(const tdm_checkpoint_folder* folder) {
  if (!slots[353]) return 0;
  return ((int32_t (*)(const tdm_checkpoint_folder* folder))slots[353])(folder);
}

tdm_error* tdm_checkpoint_folder_wait(tdm_checkpoint_folder* folder) {
  if (!slots[354]) return (tdm_error*)&tandem_go_missing[354];
  return ((tdm_error* (*)(tdm_checkpoint_folder* folder))slots[354])(folder);
}

tdm_error* tdm_checkpoint_folder_close(tdm_checkpoint_folder* folder) {
  if (!slots[355]) return (tdm_error*)&tandem_go_missing[355];
  return ((tdm_error* (*)(tdm_checkpoint_folder* folder))slots[355])(folder);
}

tdm_error* tdm_checkpoint_folder_abort(tdm_checkpoint_folder* folder) {
  if (!slots[356]) return (tdm_error*)&tandem_go_missing[356];
  return ((tdm_error* (*)(tdm_checkpoint_folder* folder))slots[356])(folder);
}

tdm_error* tdm_checkpoint_folder_steps(const tdm_checkpoint_folder* folder, int64_t* steps, size_t* step_count) {
  if (!slots[357]) return (tdm_error*)&tandem_go_missing[357];
  return ((tdm_error* (*)(const tdm_checkpoint_folder* folder, int64_t* steps, size_t* step_count))slots[357])(folder, steps, step_count);
}

tdm_error* tdm_checkpoint_folder_load(tdm_checkpoint_folder* folder, int64_t step, const char* const* sections, size_t section_count, tdm_checkpoint** out) {
  if (!slots[358]) return (tdm_error*)&tandem_go_missing[358];
  return ((tdm_error* (*)(tdm_checkpoint_folder* folder, int64_t step, const char* const* sections, size_t section_count, tdm_checkpoint** out))slots[358])(folder, step, sections, section_count, out);
}

void tdm_checkpoint_selection_init(tdm_checkpoint_selection* made, size_t struct_size) {
  if (!slots[359]) return;
  ((void (*)(tdm_checkpoint_selection* made, size_t struct_size))slots[359])(made, struct_size);
}

tdm_error* tdm_checkpoint_folder_load_part(tdm_checkpoint_folder* folder, const tdm_checkpoint_selection* selection, tdm_checkpoint** out) {
  if (!slots[360]) return (tdm_error*)&tandem_go_missing[360];
  return ((tdm_error* (*)(tdm_checkpoint_folder* folder, const tdm_checkpoint_selection* selection, tdm_checkpoint** out))slots[360])(folder, selection, out);
}

tdm_error* tdm_checkpoint_folder_agree(tdm_checkpoint_folder* folder, const char* failure) {
  if (!slots[361]) return (tdm_error*)&tandem_go_missing[361];
  return ((tdm_error* (*)(tdm_checkpoint_folder* folder, const char* failure))slots[361])(folder, failure);
}

void tdm_checkpoint_free(tdm_checkpoint* checkpoint) {
  if (!slots[362]) return;
  ((void (*)(tdm_checkpoint* checkpoint))slots[362])(checkpoint);
}

int64_t tdm_checkpoint_step(const tdm_checkpoint* checkpoint) {
  if (!slots[363]) return 0;
  return ((int64_t (*)(const tdm_checkpoint* checkpoint))slots[363])(checkpoint);
}

int32_t tdm_checkpoint_world_size(const tdm_checkpoint* checkpoint) {
  if (!slots[364]) return 0;
  return ((int32_t (*)(const tdm_checkpoint* checkpoint))slots[364])(checkpoint);
}

const char* tdm_checkpoint_values(const tdm_checkpoint* checkpoint) {
  if (!slots[365]) return 0;
  return ((const char* (*)(const tdm_checkpoint* checkpoint))slots[365])(checkpoint);
}

tdm_error* tdm_checkpoint_refused(const tdm_checkpoint* checkpoint, tdm_strings** out) {
  if (!slots[366]) return (tdm_error*)&tandem_go_missing[366];
  return ((tdm_error* (*)(const tdm_checkpoint* checkpoint, tdm_strings** out))slots[366])(checkpoint, out);
}

tdm_error* tdm_checkpoint_sections(const tdm_checkpoint* checkpoint, tdm_strings** out) {
  if (!slots[367]) return (tdm_error*)&tandem_go_missing[367];
  return ((tdm_error* (*)(const tdm_checkpoint* checkpoint, tdm_strings** out))slots[367])(checkpoint, out);
}

tdm_error* tdm_checkpoint_tensors(const tdm_checkpoint* checkpoint, const char* section, tdm_named_tensors** out) {
  if (!slots[368]) return (tdm_error*)&tandem_go_missing[368];
  return ((tdm_error* (*)(const tdm_checkpoint* checkpoint, const char* section, tdm_named_tensors** out))slots[368])(checkpoint, section, out);
}

void tdm_elastic_options_init(tdm_elastic_options* made, size_t struct_size) {
  if (!slots[369]) return;
  ((void (*)(tdm_elastic_options* made, size_t struct_size))slots[369])(made, struct_size);
}

tdm_error* tdm_elastic_create(const tdm_process_group_options* group, const tdm_elastic_options* options, tdm_elastic** out) {
  if (!slots[370]) return (tdm_error*)&tandem_go_missing[370];
  return ((tdm_error* (*)(const tdm_process_group_options* group, const tdm_elastic_options* options, tdm_elastic** out))slots[370])(group, options, out);
}

void tdm_elastic_free(tdm_elastic* elastic) {
  if (!slots[371]) return;
  ((void (*)(tdm_elastic* elastic))slots[371])(elastic);
}

tdm_error* tdm_elastic_commit(tdm_elastic* elastic, const tdm_checkpoint_tensor* tensors, size_t tensor_count, const char* values) {
  if (!slots[372]) return (tdm_error*)&tandem_go_missing[372];
  return ((tdm_error* (*)(tdm_elastic* elastic, const tdm_checkpoint_tensor* tensors, size_t tensor_count, const char* values))slots[372])(elastic, tensors, tensor_count, values);
}

tdm_error* tdm_elastic_committed(const tdm_elastic* elastic, tdm_checkpoint** out) {
  if (!slots[373]) return (tdm_error*)&tandem_go_missing[373];
  return ((tdm_error* (*)(const tdm_elastic* elastic, tdm_checkpoint** out))slots[373])(elastic, out);
}

tdm_error* tdm_elastic_meet(tdm_elastic* elastic, tdm_process_group** out) {
  if (!slots[374]) return (tdm_error*)&tandem_go_missing[374];
  return ((tdm_error* (*)(tdm_elastic* elastic, tdm_process_group** out))slots[374])(elastic, out);
}

int64_t tdm_elastic_epoch(const tdm_elastic* elastic) {
  if (!slots[375]) return 0;
  return ((int64_t (*)(const tdm_elastic* elastic))slots[375])(elastic);
}

int64_t tdm_elastic_steps(const tdm_elastic* elastic) {
  if (!slots[376]) return 0;
  return ((int64_t (*)(const tdm_elastic* elastic))slots[376])(elastic);
}

tdm_error* tdm_elastic_step(tdm_elastic* elastic, tdm_elastic_next* next) {
  if (!slots[377]) return (tdm_error*)&tandem_go_missing[377];
  return ((tdm_error* (*)(tdm_elastic* elastic, tdm_elastic_next* next))slots[377])(elastic, next);
}

tdm_error* tdm_elastic_has_ended(tdm_elastic* elastic, int32_t* ended) {
  if (!slots[378]) return (tdm_error*)&tandem_go_missing[378];
  return ((tdm_error* (*)(tdm_elastic* elastic, int32_t* ended))slots[378])(elastic, ended);
}

tdm_error* tdm_elastic_done(tdm_elastic* elastic) {
  if (!slots[379]) return (tdm_error*)&tandem_go_missing[379];
  return ((tdm_error* (*)(tdm_elastic* elastic))slots[379])(elastic);
}

tdm_error* tdm_elastic_notify(tdm_elastic* elastic) {
  if (!slots[380]) return (tdm_error*)&tandem_go_missing[380];
  return ((tdm_error* (*)(tdm_elastic* elastic))slots[380])(elastic);
}

tdm_error* tdm_elastic_left(tdm_elastic* elastic) {
  if (!slots[381]) return (tdm_error*)&tandem_go_missing[381];
  return ((tdm_error* (*)(tdm_elastic* elastic))slots[381])(elastic);
}

int32_t tdm_elastic_has_left(const tdm_elastic* elastic) {
  if (!slots[382]) return 0;
  return ((int32_t (*)(const tdm_elastic* elastic))slots[382])(elastic);
}

tdm_error* tdm_elastic_abort(tdm_elastic* elastic) {
  if (!slots[383]) return (tdm_error*)&tandem_go_missing[383];
  return ((tdm_error* (*)(tdm_elastic* elastic))slots[383])(elastic);
}

tdm_error* tdm_elastic_describe(tdm_elastic* elastic, const char* text) {
  if (!slots[384]) return (tdm_error*)&tandem_go_missing[384];
  return ((tdm_error* (*)(tdm_elastic* elastic, const char* text))slots[384])(elastic, text);
}

void tdm_rpc_options_init(tdm_rpc_options* made, size_t struct_size) {
  if (!slots[385]) return;
  ((void (*)(tdm_rpc_options* made, size_t struct_size))slots[385])(made, struct_size);
}

tdm_error* tdm_rpc_init(const char* name, const tdm_rpc_options* options, const tdm_store* store) {
  if (!slots[386]) return (tdm_error*)&tandem_go_missing[386];
  return ((tdm_error* (*)(const char* name, const tdm_rpc_options* options, const tdm_store* store))slots[386])(name, options, store);
}

tdm_error* tdm_rpc_shutdown(int32_t graceful, int64_t timeout_ms) {
  if (!slots[387]) return (tdm_error*)&tandem_go_missing[387];
  return ((tdm_error* (*)(int32_t graceful, int64_t timeout_ms))slots[387])(graceful, timeout_ms);
}

int32_t tdm_rpc_is_initialized(void) {
  if (!slots[388]) return 0;
  return ((int32_t (*)(void))slots[388])();
}

tdm_error* tdm_rpc_workers(tdm_strings** out) {
  if (!slots[389]) return (tdm_error*)&tandem_go_missing[389];
  return ((tdm_error* (*)(tdm_strings** out))slots[389])(out);
}

tdm_error* tdm_rpc_worker_id(int32_t* out) {
  if (!slots[390]) return (tdm_error*)&tandem_go_missing[390];
  return ((tdm_error* (*)(int32_t* out))slots[390])(out);
}

tdm_error* tdm_rpc_result_set(tdm_rpc_result* result, const tdm_value* value) {
  if (!slots[391]) return (tdm_error*)&tandem_go_missing[391];
  return ((tdm_error* (*)(tdm_rpc_result* result, const tdm_value* value))slots[391])(result, value);
}

tdm_error* tdm_rpc_register_function(const char* name, tdm_error* (*function)(void* user_data, tdm_value* arguments, size_t argument_count, tdm_rpc_result* result), void* user_data, void (*destroy)(void* user_data)) {
  if (!slots[392]) return (tdm_error*)&tandem_go_missing[392];
  return ((tdm_error* (*)(const char* name, tdm_error* (*function)(void* user_data, tdm_value* arguments, size_t argument_count, tdm_rpc_result* result), void* user_data, void (*destroy)(void* user_data)))slots[392])(name, function, user_data, destroy);
}

tdm_error* tdm_rpc_register_module(const char* name, tdm_module* module) {
  if (!slots[393]) return (tdm_error*)&tandem_go_missing[393];
  return ((tdm_error* (*)(const char* name, tdm_module* module))slots[393])(name, module);
}

tdm_error* tdm_rpc_unregister(const char* name, int32_t* existed) {
  if (!slots[394]) return (tdm_error*)&tandem_go_missing[394];
  return ((tdm_error* (*)(const char* name, int32_t* existed))slots[394])(name, existed);
}

int32_t tdm_rpc_wait_begin(void) {
  if (!slots[395]) return 0;
  return ((int32_t (*)(void))slots[395])();
}

void tdm_rpc_wait_end(void) {
  if (!slots[396]) return;
  ((void (*)(void))slots[396])();
}

void tdm_rpc_call_options_init(tdm_rpc_call_options* made, size_t struct_size) {
  if (!slots[397]) return;
  ((void (*)(tdm_rpc_call_options* made, size_t struct_size))slots[397])(made, struct_size);
}

tdm_error* tdm_rpc_sync(const char* to, const char* function, const tdm_value* arguments, size_t argument_count, const tdm_rpc_call_options* options, tdm_value* out) {
  if (!slots[398]) return (tdm_error*)&tandem_go_missing[398];
  return ((tdm_error* (*)(const char* to, const char* function, const tdm_value* arguments, size_t argument_count, const tdm_rpc_call_options* options, tdm_value* out))slots[398])(to, function, arguments, argument_count, options, out);
}

tdm_error* tdm_rpc_async(const char* to, const char* function, const tdm_value* arguments, size_t argument_count, const tdm_rpc_call_options* options, tdm_rpc_future** out) {
  if (!slots[399]) return (tdm_error*)&tandem_go_missing[399];
  return ((tdm_error* (*)(const char* to, const char* function, const tdm_value* arguments, size_t argument_count, const tdm_rpc_call_options* options, tdm_rpc_future** out))slots[399])(to, function, arguments, argument_count, options, out);
}

tdm_error* tdm_rpc_future_wait(const tdm_rpc_future* future, int64_t timeout_ms, tdm_value* out) {
  if (!slots[400]) return (tdm_error*)&tandem_go_missing[400];
  return ((tdm_error* (*)(const tdm_rpc_future* future, int64_t timeout_ms, tdm_value* out))slots[400])(future, timeout_ms, out);
}

int32_t tdm_rpc_future_is_done(const tdm_rpc_future* future) {
  if (!slots[401]) return 0;
  return ((int32_t (*)(const tdm_rpc_future* future))slots[401])(future);
}

tdm_error* tdm_rpc_future_on_completion(const tdm_rpc_future* future, void (*callback)(void* user_data, const tdm_error* error), void* user_data, void (*destroy)(void* user_data)) {
  if (!slots[402]) return (tdm_error*)&tandem_go_missing[402];
  return ((tdm_error* (*)(const tdm_rpc_future* future, void (*callback)(void* user_data, const tdm_error* error), void* user_data, void (*destroy)(void* user_data)))slots[402])(future, callback, user_data, destroy);
}

void tdm_rpc_future_free(tdm_rpc_future* future) {
  if (!slots[403]) return;
  ((void (*)(tdm_rpc_future* future))slots[403])(future);
}

tdm_error* tdm_rpc_remote(const char* to, const char* function, const tdm_value* arguments, size_t argument_count, const tdm_rpc_call_options* options, tdm_rref** out) {
  if (!slots[404]) return (tdm_error*)&tandem_go_missing[404];
  return ((tdm_error* (*)(const char* to, const char* function, const tdm_value* arguments, size_t argument_count, const tdm_rpc_call_options* options, tdm_rref** out))slots[404])(to, function, arguments, argument_count, options, out);
}

tdm_error* tdm_rref_create(const tdm_value* value, tdm_rref** out) {
  if (!slots[405]) return (tdm_error*)&tandem_go_missing[405];
  return ((tdm_error* (*)(const tdm_value* value, tdm_rref** out))slots[405])(value, out);
}

tdm_error* tdm_rref_owner(const tdm_rref* rref, int32_t* out) {
  if (!slots[406]) return (tdm_error*)&tandem_go_missing[406];
  return ((tdm_error* (*)(const tdm_rref* rref, int32_t* out))slots[406])(rref, out);
}

int32_t tdm_rref_is_owner(const tdm_rref* rref) {
  if (!slots[407]) return 0;
  return ((int32_t (*)(const tdm_rref* rref))slots[407])(rref);
}

int32_t tdm_rref_confirmed_by_owner(const tdm_rref* rref) {
  if (!slots[408]) return 0;
  return ((int32_t (*)(const tdm_rref* rref))slots[408])(rref);
}

tdm_error* tdm_rref_local_value(const tdm_rref* rref, int64_t timeout_ms, tdm_value* out) {
  if (!slots[409]) return (tdm_error*)&tandem_go_missing[409];
  return ((tdm_error* (*)(const tdm_rref* rref, int64_t timeout_ms, tdm_value* out))slots[409])(rref, timeout_ms, out);
}

tdm_error* tdm_rref_to_here(const tdm_rref* rref, const tdm_rpc_call_options* options, tdm_value* out) {
  if (!slots[410]) return (tdm_error*)&tandem_go_missing[410];
  return ((tdm_error* (*)(const tdm_rref* rref, const tdm_rpc_call_options* options, tdm_value* out))slots[410])(rref, options, out);
}

void tdm_rref_free(tdm_rref* rref) {
  if (!slots[411]) return;
  ((void (*)(tdm_rref* rref))slots[411])(rref);
}

void tdm_rref_counts_init(tdm_rref_counts* made, size_t struct_size) {
  if (!slots[412]) return;
  ((void (*)(tdm_rref_counts* made, size_t struct_size))slots[412])(made, struct_size);
}

tdm_error* tdm_rref_get_counts(tdm_rref_counts* out) {
  if (!slots[413]) return (tdm_error*)&tandem_go_missing[413];
  return ((tdm_error* (*)(tdm_rref_counts* out))slots[413])(out);
}

void tdm_rpc_statistics_init(tdm_rpc_statistics* made, size_t struct_size) {
  if (!slots[414]) return;
  ((void (*)(tdm_rpc_statistics* made, size_t struct_size))slots[414])(made, struct_size);
}

tdm_error* tdm_rpc_get_statistics(const char* worker, tdm_rpc_statistics* out) {
  if (!slots[415]) return (tdm_error*)&tandem_go_missing[415];
  return ((tdm_error* (*)(const char* worker, tdm_rpc_statistics* out))slots[415])(worker, out);
}

tdm_error* tdm_dist_autograd_new_context(int64_t* out) {
  if (!slots[416]) return (tdm_error*)&tandem_go_missing[416];
  return ((tdm_error* (*)(int64_t* out))slots[416])(out);
}

tdm_error* tdm_dist_autograd_release_context(int64_t context) {
  if (!slots[417]) return (tdm_error*)&tandem_go_missing[417];
  return ((tdm_error* (*)(int64_t context))slots[417])(context);
}

int64_t tdm_dist_autograd_current_context(void) {
  if (!slots[418]) return 0;
  return ((int64_t (*)(void))slots[418])();
}

tdm_error* tdm_dist_autograd_backward(int64_t context, tdm_tensor* const* roots, size_t count, int32_t retain_graph) {
  if (!slots[419]) return (tdm_error*)&tandem_go_missing[419];
  return ((tdm_error* (*)(int64_t context, tdm_tensor* const* roots, size_t count, int32_t retain_graph))slots[419])(context, roots, count, retain_graph);
}

tdm_error* tdm_dist_autograd_gradients(int64_t context, tdm_tensor* const* tensors, size_t count, tdm_tensor** results) {
  if (!slots[420]) return (tdm_error*)&tandem_go_missing[420];
  return ((tdm_error* (*)(int64_t context, tdm_tensor* const* tensors, size_t count, tdm_tensor** results))slots[420])(context, tensors, count, results);
}

void tdm_distributed_optimizer_options_init(tdm_distributed_optimizer_options* made, size_t struct_size) {
  if (!slots[421]) return;
  ((void (*)(tdm_distributed_optimizer_options* made, size_t struct_size))slots[421])(made, struct_size);
}

tdm_error* tdm_distributed_optimizer_create(const char* type, tdm_rref* const* parameters, size_t parameter_count, const tdm_option* options, size_t option_count, const tdm_distributed_optimizer_options* distributed, tdm_distributed_optimizer** out) {
  if (!slots[422]) return (tdm_error*)&tandem_go_missing[422];
  return ((tdm_error* (*)(const char* type, tdm_rref* const* parameters, size_t parameter_count, const tdm_option* options, size_t option_count, const tdm_distributed_optimizer_options* distributed, tdm_distributed_optimizer** out))slots[422])(type, parameters, parameter_count, options, option_count, distributed, out);
}

tdm_error* tdm_distributed_optimizer_step(tdm_distributed_optimizer* optimizer, int64_t context) {
  if (!slots[423]) return (tdm_error*)&tandem_go_missing[423];
  return ((tdm_error* (*)(tdm_distributed_optimizer* optimizer, int64_t context))slots[423])(optimizer, context);
}

tdm_error* tdm_distributed_optimizer_set_option(tdm_distributed_optimizer* optimizer, const tdm_option* option) {
  if (!slots[424]) return (tdm_error*)&tandem_go_missing[424];
  return ((tdm_error* (*)(tdm_distributed_optimizer* optimizer, const tdm_option* option))slots[424])(optimizer, option);
}

void tdm_distributed_optimizer_free(tdm_distributed_optimizer* optimizer) {
  if (!slots[425]) return;
  ((void (*)(tdm_distributed_optimizer* optimizer))slots[425])(optimizer);
}

void tdm_parameter_server_options_init(tdm_parameter_server_options* made, size_t struct_size) {
  if (!slots[426]) return;
  ((void (*)(tdm_parameter_server_options* made, size_t struct_size))slots[426])(made, struct_size);
}

tdm_error* tdm_parameter_server_create(const tdm_parameter_server_options* options, tdm_parameter_server** out) {
  if (!slots[427]) return (tdm_error*)&tandem_go_missing[427];
  return ((tdm_error* (*)(const tdm_parameter_server_options* options, tdm_parameter_server** out))slots[427])(options, out);
}

void tdm_parameter_server_free(tdm_parameter_server* server) {
  if (!slots[428]) return;
  ((void (*)(tdm_parameter_server* server))slots[428])(server);
}

tdm_error* tdm_parameter_server_wait(tdm_parameter_server* server, int64_t timeout_ms, int32_t* done) {
  if (!slots[429]) return (tdm_error*)&tandem_go_missing[429];
  return ((tdm_error* (*)(tdm_parameter_server* server, int64_t timeout_ms, int32_t* done))slots[429])(server, timeout_ms, done);
}

void tdm_parameter_server_statistics_init(tdm_parameter_server_statistics* made, size_t struct_size) {
  if (!slots[430]) return;
  ((void (*)(tdm_parameter_server_statistics* made, size_t struct_size))slots[430])(made, struct_size);
}

tdm_error* tdm_parameter_server_get_statistics(const tdm_parameter_server* server, tdm_parameter_server_statistics* out) {
  if (!slots[431]) return (tdm_error*)&tandem_go_missing[431];
  return ((tdm_error* (*)(const tdm_parameter_server* server, tdm_parameter_server_statistics* out))slots[431])(server, out);
}

tdm_error* tdm_parameter_server_trainers(const tdm_parameter_server* server, tdm_strings** out) {
  if (!slots[432]) return (tdm_error*)&tandem_go_missing[432];
  return ((tdm_error* (*)(const tdm_parameter_server* server, tdm_strings** out))slots[432])(server, out);
}

tdm_error* tdm_parameter_server_tables(const tdm_parameter_server* server, tdm_strings** out) {
  if (!slots[433]) return (tdm_error*)&tandem_go_missing[433];
  return ((tdm_error* (*)(const tdm_parameter_server* server, tdm_strings** out))slots[433])(server, out);
}

void tdm_parameter_client_options_init(tdm_parameter_client_options* made, size_t struct_size) {
  if (!slots[434]) return;
  ((void (*)(tdm_parameter_client_options* made, size_t struct_size))slots[434])(made, struct_size);
}

tdm_error* tdm_parameter_client_create(const tdm_parameter_client_options* options, const char* const* names, tdm_tensor* const* parameters, size_t parameter_count, const tdm_embedding_table* tables, size_t table_count, tdm_parameter_client** out) {
  if (!slots[435]) return (tdm_error*)&tandem_go_missing[435];
  return ((tdm_error* (*)(const tdm_parameter_client_options* options, const char* const* names, tdm_tensor* const* parameters, size_t parameter_count, const tdm_embedding_table* tables, size_t table_count, tdm_parameter_client** out))slots[435])(options, names, parameters, parameter_count, tables, table_count, out);
}

void tdm_parameter_client_free(tdm_parameter_client* client) {
  if (!slots[436]) return;
  ((void (*)(tdm_parameter_client* client))slots[436])(client);
}

tdm_error* tdm_parameter_client_embedding(tdm_parameter_client* client, const char* table, tdm_tensor* indices, tdm_tensor** out) {
  if (!slots[437]) return (tdm_error*)&tandem_go_missing[437];
  return ((tdm_error* (*)(tdm_parameter_client* client, const char* table, tdm_tensor* indices, tdm_tensor** out))slots[437])(client, table, indices, out);
}

tdm_error* tdm_parameter_client_step(tdm_parameter_client* client) {
  if (!slots[438]) return (tdm_error*)&tandem_go_missing[438];
  return ((tdm_error* (*)(tdm_parameter_client* client))slots[438])(client);
}

int64_t tdm_parameter_client_steps(const tdm_parameter_client* client) {
  if (!slots[439]) return 0;
  return ((int64_t (*)(const tdm_parameter_client* client))slots[439])(client);
}

tdm_error* tdm_parameter_client_set_option(tdm_parameter_client* client, const char* table, const tdm_option* option) {
  if (!slots[440]) return (tdm_error*)&tandem_go_missing[440];
  return ((tdm_error* (*)(tdm_parameter_client* client, const char* table, const tdm_option* option))slots[440])(client, table, option);
}

tdm_error* tdm_parameter_client_leave(tdm_parameter_client* client) {
  if (!slots[441]) return (tdm_error*)&tandem_go_missing[441];
  return ((tdm_error* (*)(tdm_parameter_client* client))slots[441])(client);
}

tdm_error* tdm_parameter_client_state(tdm_parameter_client* client, int32_t part, int32_t parts, tdm_own_tensors** out) {
  if (!slots[442]) return (tdm_error*)&tandem_go_missing[442];
  return ((tdm_error* (*)(tdm_parameter_client* client, int32_t part, int32_t parts, tdm_own_tensors** out))slots[442])(client, part, parts, out);
}

tdm_error* tdm_parameter_client_read(const tdm_parameter_client* client, tdm_checkpoint_folder* folder, const tdm_checkpoint_selection* selection, int32_t part, int32_t parts, tdm_checkpoint** out) {
  if (!slots[443]) return (tdm_error*)&tandem_go_missing[443];
  return ((tdm_error* (*)(const tdm_parameter_client* client, tdm_checkpoint_folder* folder, const tdm_checkpoint_selection* selection, int32_t part, int32_t parts, tdm_checkpoint** out))slots[443])(client, folder, selection, part, parts, out);
}

tdm_error* tdm_parameter_client_load(tdm_parameter_client* client, const tdm_checkpoint* checkpoint, int32_t part, int32_t parts) {
  if (!slots[444]) return (tdm_error*)&tandem_go_missing[444];
  return ((tdm_error* (*)(tdm_parameter_client* client, const tdm_checkpoint* checkpoint, int32_t part, int32_t parts))slots[444])(client, checkpoint, part, parts);
}

size_t tdm_own_tensors_size(const tdm_own_tensors* list) {
  if (!slots[445]) return 0;
  return ((size_t (*)(const tdm_own_tensors* list))slots[445])(list);
}

const char* tdm_own_tensors_section(const tdm_own_tensors* list, size_t index) {
  if (!slots[446]) return 0;
  return ((const char* (*)(const tdm_own_tensors* list, size_t index))slots[446])(list, index);
}

const char* tdm_own_tensors_name(const tdm_own_tensors* list, size_t index) {
  if (!slots[447]) return 0;
  return ((const char* (*)(const tdm_own_tensors* list, size_t index))slots[447])(list, index);
}

const int64_t* tdm_own_tensors_whole(const tdm_own_tensors* list, size_t index) {
  if (!slots[448]) return 0;
  return ((const int64_t* (*)(const tdm_own_tensors* list, size_t index))slots[448])(list, index);
}

const int64_t* tdm_own_tensors_begin(const tdm_own_tensors* list, size_t index) {
  if (!slots[449]) return 0;
  return ((const int64_t* (*)(const tdm_own_tensors* list, size_t index))slots[449])(list, index);
}

tdm_error* tdm_own_tensors_get(const tdm_own_tensors* list, size_t index, tdm_tensor** out) {
  if (!slots[450]) return (tdm_error*)&tandem_go_missing[450];
  return ((tdm_error* (*)(const tdm_own_tensors* list, size_t index, tdm_tensor** out))slots[450])(list, index, out);
}

void tdm_own_tensors_free(tdm_own_tensors* list) {
  if (!slots[451]) return;
  ((void (*)(tdm_own_tensors* list))slots[451])(list);
}

void tdm_metrics_options_init(tdm_metrics_options* made, size_t struct_size) {
  if (!slots[452]) return;
  ((void (*)(tdm_metrics_options* made, size_t struct_size))slots[452])(made, struct_size);
}

tdm_error* tdm_metrics_report(const tdm_metrics_options* options) {
  if (!slots[453]) return (tdm_error*)&tandem_go_missing[453];
  return ((tdm_error* (*)(const tdm_metrics_options* options))slots[453])(options);
}

void tdm_recordio_writer_options_init(tdm_recordio_writer_options* made, size_t struct_size) {
  if (!slots[454]) return;
  ((void (*)(tdm_recordio_writer_options* made, size_t struct_size))slots[454])(made, struct_size);
}

tdm_error* tdm_recordio_writer_create(const char* path, const tdm_recordio_writer_options* options, tdm_recordio_writer** out) {
  if (!slots[455]) return (tdm_error*)&tandem_go_missing[455];
  return ((tdm_error* (*)(const char* path, const tdm_recordio_writer_options* options, tdm_recordio_writer** out))slots[455])(path, options, out);
}

tdm_error* tdm_recordio_writer_write(tdm_recordio_writer* writer, const void* data, size_t size) {
  if (!slots[456]) return (tdm_error*)&tandem_go_missing[456];
  return ((tdm_error* (*)(tdm_recordio_writer* writer, const void* data, size_t size))slots[456])(writer, data, size);
}

tdm_error* tdm_recordio_writer_close(tdm_recordio_writer* writer) {
  if (!slots[457]) return (tdm_error*)&tandem_go_missing[457];
  return ((tdm_error* (*)(tdm_recordio_writer* writer))slots[457])(writer);
}

void tdm_recordio_writer_free(tdm_recordio_writer* writer) {
  if (!slots[458]) return;
  ((void (*)(tdm_recordio_writer* writer))slots[458])(writer);
}

tdm_error* tdm_recordio_reader_create(const char* path, tdm_recordio_reader** out) {
  if (!slots[459]) return (tdm_error*)&tandem_go_missing[459];
  return ((tdm_error* (*)(const char* path, tdm_recordio_reader** out))slots[459])(path, out);
}

int64_t tdm_recordio_reader_count(const tdm_recordio_reader* reader) {
  if (!slots[460]) return 0;
  return ((int64_t (*)(const tdm_recordio_reader* reader))slots[460])(reader);
}

tdm_error* tdm_recordio_reader_get(tdm_recordio_reader* reader, int64_t index, const void** data, size_t* size) {
  if (!slots[461]) return (tdm_error*)&tandem_go_missing[461];
  return ((tdm_error* (*)(tdm_recordio_reader* reader, int64_t index, const void** data, size_t* size))slots[461])(reader, index, data, size);
}

tdm_error* tdm_recordio_reader_copy(tdm_recordio_reader* reader, int64_t index, void* destination, size_t bytes) {
  if (!slots[462]) return (tdm_error*)&tandem_go_missing[462];
  return ((tdm_error* (*)(tdm_recordio_reader* reader, int64_t index, void* destination, size_t bytes))slots[462])(reader, index, destination, bytes);
}

int32_t tdm_recordio_reader_version(const tdm_recordio_reader* reader) {
  if (!slots[463]) return 0;
  return ((int32_t (*)(const tdm_recordio_reader* reader))slots[463])(reader);
}

const char* tdm_recordio_reader_schema(const tdm_recordio_reader* reader) {
  if (!slots[464]) return 0;
  return ((const char* (*)(const tdm_recordio_reader* reader))slots[464])(reader);
}

int64_t tdm_recordio_reader_metadata_count(const tdm_recordio_reader* reader) {
  if (!slots[465]) return 0;
  return ((int64_t (*)(const tdm_recordio_reader* reader))slots[465])(reader);
}

const char* tdm_recordio_reader_metadata_key(const tdm_recordio_reader* reader, int64_t index) {
  if (!slots[466]) return 0;
  return ((const char* (*)(const tdm_recordio_reader* reader, int64_t index))slots[466])(reader, index);
}

const char* tdm_recordio_reader_metadata_value(const tdm_recordio_reader* reader, int64_t index) {
  if (!slots[467]) return 0;
  return ((const char* (*)(const tdm_recordio_reader* reader, int64_t index))slots[467])(reader, index);
}

void tdm_recordio_reader_free(tdm_recordio_reader* reader) {
  if (!slots[468]) return;
  ((void (*)(tdm_recordio_reader* reader))slots[468])(reader);
}

void tdm_loader_options_init(tdm_loader_options* made, size_t struct_size) {
  if (!slots[469]) return;
  ((void (*)(tdm_loader_options* made, size_t struct_size))slots[469])(made, struct_size);
}

tdm_error* tdm_loader_create(const char* const* paths, size_t path_count, const tdm_field* fields, size_t field_count, const tdm_loader_options* options, tdm_loader** out) {
  if (!slots[470]) return (tdm_error*)&tandem_go_missing[470];
  return ((tdm_error* (*)(const char* const* paths, size_t path_count, const tdm_field* fields, size_t field_count, const tdm_loader_options* options, tdm_loader** out))slots[470])(paths, path_count, fields, field_count, options, out);
}

void tdm_loader_free(tdm_loader* loader) {
  if (!slots[471]) return;
  ((void (*)(tdm_loader* loader))slots[471])(loader);
}

int64_t tdm_loader_sample_count(const tdm_loader* loader) {
  if (!slots[472]) return 0;
  return ((int64_t (*)(const tdm_loader* loader))slots[472])(loader);
}

int64_t tdm_loader_batch_count(const tdm_loader* loader) {
  if (!slots[473]) return 0;
  return ((int64_t (*)(const tdm_loader* loader))slots[473])(loader);
}

tdm_error* tdm_loader_start_epoch(tdm_loader* loader, int64_t epoch, int64_t first_batch) {
  if (!slots[474]) return (tdm_error*)&tandem_go_missing[474];
  return ((tdm_error* (*)(tdm_loader* loader, int64_t epoch, int64_t first_batch))slots[474])(loader, epoch, first_batch);
}

tdm_error* tdm_loader_next(tdm_loader* loader, tdm_tensor** batch, size_t field_count, int32_t* has_batch) {
  if (!slots[475]) return (tdm_error*)&tandem_go_missing[475];
  return ((tdm_error* (*)(tdm_loader* loader, tdm_tensor** batch, size_t field_count, int32_t* has_batch))slots[475])(loader, batch, field_count, has_batch);
}

tdm_error* tdm_loader_abort(tdm_loader* loader) {
  if (!slots[476]) return (tdm_error*)&tandem_go_missing[476];
  return ((tdm_error* (*)(tdm_loader* loader))slots[476])(loader);
}

void tdm_loader_batch_init(tdm_loader_batch* made, size_t struct_size) {
  if (!slots[477]) return;
  ((void (*)(tdm_loader_batch* made, size_t struct_size))slots[477])(made, struct_size);
}

tdm_error* tdm_loader_get_batch(const tdm_loader* loader, tdm_loader_batch* out) {
  if (!slots[478]) return (tdm_error*)&tandem_go_missing[478];
  return ((tdm_error* (*)(const tdm_loader* loader, tdm_loader_batch* out))slots[478])(loader, out);
}

tdm_error* tdm_loader_get_batch_mask(const tdm_loader* loader, tdm_tensor** out) {
  if (!slots[479]) return (tdm_error*)&tandem_go_missing[479];
  return ((tdm_error* (*)(const tdm_loader* loader, tdm_tensor** out))slots[479])(loader, out);
}

tdm_error* tdm_loader_commit(tdm_loader* loader, tdm_string** record) {
  if (!slots[480]) return (tdm_error*)&tandem_go_missing[480];
  return ((tdm_error* (*)(tdm_loader* loader, tdm_string** record))slots[480])(loader, record);
}

tdm_error* tdm_loader_get_state(const tdm_loader* loader, tdm_string** out) {
  if (!slots[481]) return (tdm_error*)&tandem_go_missing[481];
  return ((tdm_error* (*)(const tdm_loader* loader, tdm_string** out))slots[481])(loader, out);
}

tdm_error* tdm_loader_restore(tdm_loader* loader, const void* data, size_t size) {
  if (!slots[482]) return (tdm_error*)&tandem_go_missing[482];
  return ((tdm_error* (*)(tdm_loader* loader, const void* data, size_t size))slots[482])(loader, data, size);
}

int64_t tdm_loader_current_epoch(const tdm_loader* loader) {
  if (!slots[483]) return 0;
  return ((int64_t (*)(const tdm_loader* loader))slots[483])(loader);
}

void tdm_dataset_free(tdm_dataset* dataset) {
  if (!slots[484]) return;
  ((void (*)(tdm_dataset* dataset))slots[484])(dataset);
}

int64_t tdm_dataset_size(const tdm_dataset* dataset) {
  if (!slots[485]) return 0;
  return ((int64_t (*)(const tdm_dataset* dataset))slots[485])(dataset);
}

size_t tdm_dataset_field_count(const tdm_dataset* dataset) {
  if (!slots[486]) return 0;
  return ((size_t (*)(const tdm_dataset* dataset))slots[486])(dataset);
}

const char* tdm_dataset_field_name(const tdm_dataset* dataset, size_t index) {
  if (!slots[487]) return 0;
  return ((const char* (*)(const tdm_dataset* dataset, size_t index))slots[487])(dataset, index);
}

tdm_error* tdm_dataset_get(const tdm_dataset* dataset, int64_t index, tdm_tensor** sample, size_t field_count) {
  if (!slots[488]) return (tdm_error*)&tandem_go_missing[488];
  return ((tdm_error* (*)(const tdm_dataset* dataset, int64_t index, tdm_tensor** sample, size_t field_count))slots[488])(dataset, index, sample, field_count);
}

void tdm_open_records_options_init(tdm_open_records_options* made, size_t struct_size) {
  if (!slots[489]) return;
  ((void (*)(tdm_open_records_options* made, size_t struct_size))slots[489])(made, struct_size);
}

tdm_error* tdm_dataset_from_records(const char* const* paths, size_t path_count, const tdm_field* fields, size_t field_count, const tdm_open_records_options* options, tdm_dataset** out) {
  if (!slots[490]) return (tdm_error*)&tandem_go_missing[490];
  return ((tdm_error* (*)(const char* const* paths, size_t path_count, const tdm_field* fields, size_t field_count, const tdm_open_records_options* options, tdm_dataset** out))slots[490])(paths, path_count, fields, field_count, options, out);
}

tdm_error* tdm_dataset_from_tensors(tdm_tensor* const* tensors, size_t count, const char* const* names, tdm_dataset** out) {
  if (!slots[491]) return (tdm_error*)&tandem_go_missing[491];
  return ((tdm_error* (*)(tdm_tensor* const* tensors, size_t count, const char* const* names, tdm_dataset** out))slots[491])(tensors, count, names, out);
}

tdm_error* tdm_dataset_concat(const tdm_dataset* const* datasets, size_t count, tdm_dataset** out) {
  if (!slots[492]) return (tdm_error*)&tandem_go_missing[492];
  return ((tdm_error* (*)(const tdm_dataset* const* datasets, size_t count, tdm_dataset** out))slots[492])(datasets, count, out);
}

tdm_error* tdm_dataset_subset(const tdm_dataset* dataset, const int64_t* samples, size_t count, tdm_dataset** out) {
  if (!slots[493]) return (tdm_error*)&tandem_go_missing[493];
  return ((tdm_error* (*)(const tdm_dataset* dataset, const int64_t* samples, size_t count, tdm_dataset** out))slots[493])(dataset, samples, count, out);
}

tdm_error* tdm_dataset_random_split(const tdm_dataset* dataset, const int64_t* sizes, size_t count, uint64_t seed, tdm_dataset** parts) {
  if (!slots[494]) return (tdm_error*)&tandem_go_missing[494];
  return ((tdm_error* (*)(const tdm_dataset* dataset, const int64_t* sizes, size_t count, uint64_t seed, tdm_dataset** parts))slots[494])(dataset, sizes, count, seed, parts);
}

tdm_error* tdm_dataset_split_sizes(const tdm_dataset* dataset, const double* fractions, size_t count, int64_t* sizes) {
  if (!slots[495]) return (tdm_error*)&tandem_go_missing[495];
  return ((tdm_error* (*)(const tdm_dataset* dataset, const double* fractions, size_t count, int64_t* sizes))slots[495])(dataset, fractions, count, sizes);
}

tdm_error* tdm_dataset_map(const tdm_dataset* dataset, const char* const* names, size_t field_count, tdm_error* (*map)(void* user_data, tdm_tensor* const* sample, size_t count, tdm_tensor** mapped, size_t field_count), void* user_data, void (*destroy)(void* user_data), tdm_dataset** out) {
  if (!slots[496]) return (tdm_error*)&tandem_go_missing[496];
  return ((tdm_error* (*)(const tdm_dataset* dataset, const char* const* names, size_t field_count, tdm_error* (*map)(void* user_data, tdm_tensor* const* sample, size_t count, tdm_tensor** mapped, size_t field_count), void* user_data, void (*destroy)(void* user_data), tdm_dataset** out))slots[496])(dataset, names, field_count, map, user_data, destroy, out);
}

tdm_error* tdm_dataset_create(int64_t size, const char* const* names, size_t field_count, uint64_t fingerprint, tdm_error* (*get)(void* user_data, int64_t index, tdm_tensor** sample, size_t field_count), void* user_data, void (*destroy)(void* user_data), tdm_dataset** out) {
  if (!slots[497]) return (tdm_error*)&tandem_go_missing[497];
  return ((tdm_error* (*)(int64_t size, const char* const* names, size_t field_count, uint64_t fingerprint, tdm_error* (*get)(void* user_data, int64_t index, tdm_tensor** sample, size_t field_count), void* user_data, void (*destroy)(void* user_data), tdm_dataset** out))slots[497])(size, names, field_count, fingerprint, get, user_data, destroy, out);
}

void tdm_iterable_init(tdm_iterable* made, size_t struct_size) {
  if (!slots[498]) return;
  ((void (*)(tdm_iterable* made, size_t struct_size))slots[498])(made, struct_size);
}

tdm_error* tdm_dataset_from_iterable(const tdm_iterable* iterable, tdm_dataset** out) {
  if (!slots[499]) return (tdm_error*)&tandem_go_missing[499];
  return ((tdm_error* (*)(const tdm_iterable* iterable, tdm_dataset** out))slots[499])(iterable, out);
}

tdm_error* tdm_loader_create_from(const tdm_dataset* dataset, const tdm_loader_options* options, tdm_loader** out) {
  if (!slots[500]) return (tdm_error*)&tandem_go_missing[500];
  return ((tdm_error* (*)(const tdm_dataset* dataset, const tdm_loader_options* options, tdm_loader** out))slots[500])(dataset, options, out);
}

void tdm_schema_options_init(tdm_schema_options* made, size_t struct_size) {
  if (!slots[501]) return;
  ((void (*)(tdm_schema_options* made, size_t struct_size))slots[501])(made, struct_size);
}

tdm_error* tdm_dataset_from_schema(const char* const* paths, size_t path_count, const tdm_schema_options* options, tdm_dataset** out) {
  if (!slots[502]) return (tdm_error*)&tandem_go_missing[502];
  return ((tdm_error* (*)(const char* const* paths, size_t path_count, const tdm_schema_options* options, tdm_dataset** out))slots[502])(paths, path_count, options, out);
}

tdm_error* tdm_loader_add_transforms(tdm_loader* loader, const char* transforms) {
  if (!slots[503]) return (tdm_error*)&tandem_go_missing[503];
  return ((tdm_error* (*)(tdm_loader* loader, const char* transforms))slots[503])(loader, transforms);
}

tdm_error* tdm_loader_add_step(tdm_loader* loader, tdm_error* (*step)(void* user_data, const tdm_step_batch* batch), const char* const* adds, size_t add_count, void* user_data, void (*destroy)(void* user_data)) {
  if (!slots[504]) return (tdm_error*)&tandem_go_missing[504];
  return ((tdm_error* (*)(tdm_loader* loader, tdm_error* (*step)(void* user_data, const tdm_step_batch* batch), const char* const* adds, size_t add_count, void* user_data, void (*destroy)(void* user_data)))slots[504])(loader, step, adds, add_count, user_data, destroy);
}

void tdm_loader_statistics_init(tdm_loader_statistics* made, size_t struct_size) {
  if (!slots[505]) return;
  ((void (*)(tdm_loader_statistics* made, size_t struct_size))slots[505])(made, struct_size);
}

tdm_error* tdm_loader_get_statistics(const tdm_loader* loader, tdm_loader_statistics* out) {
  if (!slots[506]) return (tdm_error*)&tandem_go_missing[506];
  return ((tdm_error* (*)(const tdm_loader* loader, tdm_loader_statistics* out))slots[506])(loader, out);
}

tdm_error* tdm_loader_statistics_text(const tdm_loader* loader, tdm_string** out) {
  if (!slots[507]) return (tdm_error*)&tandem_go_missing[507];
  return ((tdm_error* (*)(const tdm_loader* loader, tdm_string** out))slots[507])(loader, out);
}

void tdm_sampler_free(tdm_sampler* sampler) {
  if (!slots[508]) return;
  ((void (*)(tdm_sampler* sampler))slots[508])(sampler);
}

int64_t tdm_sampler_size(const tdm_sampler* sampler) {
  if (!slots[509]) return 0;
  return ((int64_t (*)(const tdm_sampler* sampler))slots[509])(sampler);
}

tdm_error* tdm_sampler_samples(const tdm_sampler* sampler, uint64_t seed, int64_t epoch, int64_t first, int64_t* samples, size_t count) {
  if (!slots[510]) return (tdm_error*)&tandem_go_missing[510];
  return ((tdm_error* (*)(const tdm_sampler* sampler, uint64_t seed, int64_t epoch, int64_t first, int64_t* samples, size_t count))slots[510])(sampler, seed, epoch, first, samples, count);
}

tdm_error* tdm_sampler_sequential(int64_t size, tdm_sampler** out) {
  if (!slots[511]) return (tdm_error*)&tandem_go_missing[511];
  return ((tdm_error* (*)(int64_t size, tdm_sampler** out))slots[511])(size, out);
}

tdm_error* tdm_sampler_random(int64_t size, tdm_sampler** out) {
  if (!slots[512]) return (tdm_error*)&tandem_go_missing[512];
  return ((tdm_error* (*)(int64_t size, tdm_sampler** out))slots[512])(size, out);
}

tdm_error* tdm_sampler_weighted(const double* weights, size_t count, int64_t positions, int32_t replacement, tdm_sampler** out) {
  if (!slots[513]) return (tdm_error*)&tandem_go_missing[513];
  return ((tdm_error* (*)(const double* weights, size_t count, int64_t positions, int32_t replacement, tdm_sampler** out))slots[513])(weights, count, positions, replacement, out);
}

tdm_error* tdm_sampler_subset(const int64_t* samples, size_t count, int32_t shuffle, tdm_sampler** out) {
  if (!slots[514]) return (tdm_error*)&tandem_go_missing[514];
  return ((tdm_error* (*)(const int64_t* samples, size_t count, int32_t shuffle, tdm_sampler** out))slots[514])(samples, count, shuffle, out);
}

tdm_error* tdm_sampler_batches(const int64_t* samples, size_t count, int64_t batch_size, int32_t shuffle, tdm_sampler** out) {
  if (!slots[515]) return (tdm_error*)&tandem_go_missing[515];
  return ((tdm_error* (*)(const int64_t* samples, size_t count, int64_t batch_size, int32_t shuffle, tdm_sampler** out))slots[515])(samples, count, batch_size, shuffle, out);
}

tdm_error* tdm_sampler_by_length(const int64_t* lengths, size_t count, int64_t batch_size, int64_t window, tdm_sampler** out) {
  if (!slots[516]) return (tdm_error*)&tandem_go_missing[516];
  return ((tdm_error* (*)(const int64_t* lengths, size_t count, int64_t batch_size, int64_t window, tdm_sampler** out))slots[516])(lengths, count, batch_size, window, out);
}

tdm_error* tdm_sampler_distributed(const tdm_sampler* sampler, int32_t rank, int32_t world_size, tdm_sampler** out) {
  if (!slots[517]) return (tdm_error*)&tandem_go_missing[517];
  return ((tdm_error* (*)(const tdm_sampler* sampler, int32_t rank, int32_t world_size, tdm_sampler** out))slots[517])(sampler, rank, world_size, out);
}

tdm_error* tdm_sampler_create(const char* name, int64_t positions, int32_t by_epoch, tdm_error* (*list)(void* user_data, uint64_t seed, int64_t epoch, int64_t first, int64_t* samples, size_t count), void* user_data, void (*destroy)(void* user_data), tdm_sampler** out) {
  if (!slots[518]) return (tdm_error*)&tandem_go_missing[518];
  return ((tdm_error* (*)(const char* name, int64_t positions, int32_t by_epoch, tdm_error* (*list)(void* user_data, uint64_t seed, int64_t epoch, int64_t first, int64_t* samples, size_t count), void* user_data, void (*destroy)(void* user_data), tdm_sampler** out))slots[518])(name, positions, by_epoch, list, user_data, destroy, out);
}

void tdm_dynamic_loader_options_init(tdm_dynamic_loader_options* made, size_t struct_size) {
  if (!slots[519]) return;
  ((void (*)(tdm_dynamic_loader_options* made, size_t struct_size))slots[519])(made, struct_size);
}

tdm_error* tdm_loader_create_dynamic(const tdm_dataset* dataset, const tdm_store* store, const tdm_dynamic_loader_options* options, const void* state, size_t state_size, const char* quarantine, tdm_loader** out) {
  if (!slots[520]) return (tdm_error*)&tandem_go_missing[520];
  return ((tdm_error* (*)(const tdm_dataset* dataset, const tdm_store* store, const tdm_dynamic_loader_options* options, const void* state, size_t state_size, const char* quarantine, tdm_loader** out))slots[520])(dataset, store, options, state, state_size, quarantine, out);
}

tdm_error* tdm_loader_create_replay(const tdm_dataset* dataset, const char* const* records, size_t record_count, const tdm_dynamic_loader_options* options, const void* state, size_t state_size, const char* quarantine, tdm_loader** out) {
  if (!slots[521]) return (tdm_error*)&tandem_go_missing[521];
  return ((tdm_error* (*)(const tdm_dataset* dataset, const char* const* records, size_t record_count, const tdm_dynamic_loader_options* options, const void* state, size_t state_size, const char* quarantine, tdm_loader** out))slots[521])(dataset, records, record_count, options, state, state_size, quarantine, out);
}

tdm_error* tdm_loader_next_step(tdm_loader* loader, int32_t* has_step) {
  if (!slots[522]) return (tdm_error*)&tandem_go_missing[522];
  return ((tdm_error* (*)(tdm_loader* loader, int32_t* has_step))slots[522])(loader, has_step);
}

tdm_error* tdm_loader_fail(tdm_loader* loader, int64_t sample, const char* reason) {
  if (!slots[523]) return (tdm_error*)&tandem_go_missing[523];
  return ((tdm_error* (*)(tdm_loader* loader, int64_t sample, const char* reason))slots[523])(loader, sample, reason);
}

int64_t tdm_loader_current_step(const tdm_loader* loader) {
  if (!slots[524]) return 0;
  return ((int64_t (*)(const tdm_loader* loader))slots[524])(loader);
}

int64_t tdm_loader_step_local_count(const tdm_loader* loader) {
  if (!slots[525]) return 0;
  return ((int64_t (*)(const tdm_loader* loader))slots[525])(loader);
}

int64_t tdm_loader_step_global_count(const tdm_loader* loader) {
  if (!slots[526]) return 0;
  return ((int64_t (*)(const tdm_loader* loader))slots[526])(loader);
}

tdm_error* tdm_loader_get_quarantine(const tdm_loader* loader, tdm_string** out) {
  if (!slots[527]) return (tdm_error*)&tandem_go_missing[527];
  return ((tdm_error* (*)(const tdm_loader* loader, tdm_string** out))slots[527])(loader, out);
}

tdm_error* tdm_summary_writer_create(const char* folder, const char* suffix, tdm_summary_writer** out) {
  if (!slots[528]) return (tdm_error*)&tandem_go_missing[528];
  return ((tdm_error* (*)(const char* folder, const char* suffix, tdm_summary_writer** out))slots[528])(folder, suffix, out);
}

const char* tdm_summary_writer_path(const tdm_summary_writer* writer) {
  if (!slots[529]) return 0;
  return ((const char* (*)(const tdm_summary_writer* writer))slots[529])(writer);
}

tdm_error* tdm_summary_writer_add_scalar(tdm_summary_writer* writer, const char* tag, double value, int64_t step, double wall_time) {
  if (!slots[530]) return (tdm_error*)&tandem_go_missing[530];
  return ((tdm_error* (*)(tdm_summary_writer* writer, const char* tag, double value, int64_t step, double wall_time))slots[530])(writer, tag, value, step, wall_time);
}

tdm_error* tdm_summary_writer_add_histogram(tdm_summary_writer* writer, const char* tag, const tdm_tensor* values, int64_t step, double wall_time) {
  if (!slots[531]) return (tdm_error*)&tandem_go_missing[531];
  return ((tdm_error* (*)(tdm_summary_writer* writer, const char* tag, const tdm_tensor* values, int64_t step, double wall_time))slots[531])(writer, tag, values, step, wall_time);
}

tdm_error* tdm_summary_writer_add_image(tdm_summary_writer* writer, const char* tag, const tdm_tensor* image, tdm_image_layout layout, int64_t step, double wall_time) {
  if (!slots[532]) return (tdm_error*)&tandem_go_missing[532];
  return ((tdm_error* (*)(tdm_summary_writer* writer, const char* tag, const tdm_tensor* image, tdm_image_layout layout, int64_t step, double wall_time))slots[532])(writer, tag, image, layout, step, wall_time);
}

tdm_error* tdm_summary_writer_add_text(tdm_summary_writer* writer, const char* tag, const char* text, int64_t step, double wall_time) {
  if (!slots[533]) return (tdm_error*)&tandem_go_missing[533];
  return ((tdm_error* (*)(tdm_summary_writer* writer, const char* tag, const char* text, int64_t step, double wall_time))slots[533])(writer, tag, text, step, wall_time);
}

tdm_error* tdm_summary_writer_flush(tdm_summary_writer* writer) {
  if (!slots[534]) return (tdm_error*)&tandem_go_missing[534];
  return ((tdm_error* (*)(tdm_summary_writer* writer))slots[534])(writer);
}

tdm_error* tdm_summary_writer_close(tdm_summary_writer* writer) {
  if (!slots[535]) return (tdm_error*)&tandem_go_missing[535];
  return ((tdm_error* (*)(tdm_summary_writer* writer))slots[535])(writer);
}

void tdm_summary_writer_free(tdm_summary_writer* writer) {
  if (!slots[536]) return;
  ((void (*)(tdm_summary_writer* writer))slots[536])(writer);
}
