#include "shim.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

void* tg_open(const char* path, char** error) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    const char* text = dlerror();
    *error = strdup(text ? text : "unknown error");
  }
  return library;
}

int32_t tg_has_more_rights(void) { return getauxval(AT_SECURE) != 0; }

void tg_trim_memory(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

tg_tensor tg_describe(tdm_tensor* tensor) {
  tg_tensor made = {NULL, tensor, 0, 0, 0};
  if (tensor) {
    made.scope = tdm_tensor_scope_id(tensor);
    made.bytes = (int64_t)tdm_tensor_nbytes(tensor);
  }
  return made;
}

void tg_tensor_free_all(tdm_tensor* const* tensors, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (tensors[i]) tdm_tensor_free(tensors[i]);
  }
}

static tg_tensor described(tdm_error* error, tdm_tensor* tensor) {
  if (error) {
    tg_tensor failed = {error, NULL, 0, 0, 0};
    return failed;
  }
  return tg_describe(tensor);
}

static int holds_values(tdm_value_tag tag) { return tag >= TDM_VALUE_TUPLE && tag <= TDM_VALUE_LIST; }

static int is_list(tdm_value_tag tag) {
  return (tag >= TDM_VALUE_TENSOR_LIST && tag <= TDM_VALUE_SCALAR_LIST) || holds_values(tag);
}

/* Offsets become addresses. A list of strings is a list of offsets itself, and tuples and dicts have some in them. */
static void place(tdm_value* values, size_t count, char* pool) {
  for (size_t i = 0; i < count; ++i) {
    tdm_value* value = &values[i];
    if (value->tag == TDM_VALUE_STRING) {
      value->as.string.data = pool + (size_t)value->as.string.data;
    } else if (is_list(value->tag)) {
      char* data = pool + (size_t)value->as.list.data;
      if (value->tag == TDM_VALUE_STRING_LIST) {
        char** strings = (char**)data;
        for (size_t j = 0; j < value->as.list.size; ++j) strings[j] = pool + (size_t)strings[j];
      } else if (holds_values(value->tag)) {
        place((tdm_value*)data, value->as.list.size, pool);
      }
      value->as.list.data = data;
    }
  }
}

tg_tensor tg_op_call_one(const tdm_op* op, tdm_value* arguments, size_t count, char* pool) {
  tdm_value result;
  memset(&result, 0, sizeof result);
  place(arguments, count, pool);
  tdm_error* error = tdm_op_call(op, arguments, count, &result, 1);
  return described(error, error ? NULL : result.as.tensor);
}

tg_tensor tg_op_call_tensors(const tdm_op* op, size_t count, tdm_tensor* first, tdm_tensor* second,
                             tdm_tensor* third) {
  tdm_value result;
  tdm_value arguments[3];
  memset(&result, 0, sizeof result);
  for (size_t i = 0; i < count; ++i) arguments[i].tag = TDM_VALUE_TENSOR;
  arguments[0].as.tensor = first;
  arguments[1].as.tensor = second;
  arguments[2].as.tensor = third;
  tg_tensor made = {NULL, NULL, 0, 0, 0};
  made.error = tdm_op_call(op, arguments, count, &result, 1);
  if (made.error) return made;
  made.tensor = result.as.tensor;
  made.scope = tdm_tensor_scope_id(made.tensor);
  if (made.tensor && !made.scope) {
    made.bytes = (int64_t)tdm_tensor_nbytes(made.tensor);
    made.light = tdm_tensor_storage_nbytes(made.tensor) <= TG_LIGHT_BYTES && !tdm_tensor_requires_grad(made.tensor);
  }
  return made;
}

tdm_error* tg_op_call(const tdm_op* op, tdm_value* arguments, size_t count, char* pool, tdm_value* results,
                      size_t result_count) {
  place(arguments, count, pool);
  return tdm_op_call(op, arguments, count, results, result_count);
}

tg_tensor tg_module_forward_one(tdm_module* module, tdm_value* arguments, size_t count, char* pool) {
  tdm_value result;
  size_t results = 1;
  memset(&result, 0, sizeof result);
  place(arguments, count, pool);
  tdm_error* error = tdm_module_forward(module, arguments, count, &result, &results);
  return described(error, error ? NULL : result.as.tensor);
}

tdm_error* tg_module_forward(tdm_module* module, tdm_value* arguments, size_t count, char* pool, tdm_value* results,
                             size_t* result_count) {
  place(arguments, count, pool);
  return tdm_module_forward(module, arguments, count, results, result_count);
}

tdm_error* tg_exported_call(tdm_module* program, tdm_value* arguments, size_t count, char* pool, tdm_value* out) {
  place(arguments, count, pool);
  return tdm_exported_call(program, arguments, count, out);
}

tdm_error* tg_jit_call(tdm_module* module, const char* method, tdm_value* arguments, size_t count, char* pool,
                       tdm_value* out) {
  place(arguments, count, pool);
  return tdm_jit_call(module, method, arguments, count, out);
}

/* The caller frees the array. NULL when memory is exhausted or there are none. */
static tdm_option* options_of(const int64_t* names, tdm_value* values, size_t count, char* pool) {
  tdm_option* options = count ? calloc(count, sizeof *options) : NULL;
  if (!options) return NULL;
  place(values, count, pool);
  for (size_t i = 0; i < count; ++i) {
    options[i].name = pool + names[i];
    options[i].value = values[i];
  }
  return options;
}

tdm_error* tg_module_create(const char* type, const int64_t* names, tdm_value* values, size_t count, char* pool,
                            tdm_module** out) {
  tdm_option* options = options_of(names, values, count, pool);
  tdm_error* error = tdm_module_create(type, options, count, out);
  free(options);
  return error;
}

tdm_error* tg_module_parametrize(tdm_module* module, const char* kind, const char* name, const int64_t* names,
                                 tdm_value* values, size_t count, char* pool) {
  tdm_option* options = options_of(names, values, count, pool);
  tdm_error* error = tdm_module_parametrize(module, kind, name, options, count);
  free(options);
  return error;
}

tg_tensor tg_module_generate(tdm_module* module, const tdm_tensor* input_ids, const int64_t* names, tdm_value* values,
                             size_t count, char* pool) {
  tdm_option* options = options_of(names, values, count, pool);
  tdm_tensor* out = NULL;
  tdm_error* error = tdm_module_generate(module, input_ids, options, count, &out);
  free(options);
  return described(error, out);
}

tdm_error* tg_optimizer_create(const char* type, tdm_tensor* const* parameters, size_t parameter_count,
                               const int64_t* names, tdm_value* values, size_t count, char* pool,
                               tdm_optimizer** out) {
  tdm_option* options = options_of(names, values, count, pool);
  tdm_error* error = tdm_optimizer_create(type, parameters, parameter_count, options, count, out);
  free(options);
  return error;
}

tdm_error* tg_zero_create(tdm_process_group* group, const char* type, tdm_tensor* const* parameters,
                          size_t parameter_count, const int64_t* names, tdm_value* values, size_t count, char* pool,
                          tdm_optimizer** out) {
  tdm_option* options = options_of(names, values, count, pool);
  tdm_error* error =
      tdm_zero_redundancy_optimizer_create(group, type, parameters, parameter_count, options, count, out);
  free(options);
  return error;
}

tdm_error* tg_distributed_optimizer_create(const char* type, tdm_rref* const* parameters, size_t parameter_count,
                                           const int64_t* names, tdm_value* values, size_t count, char* pool,
                                           const tdm_distributed_optimizer_options* distributed,
                                           tdm_distributed_optimizer** out) {
  tdm_option* options = options_of(names, values, count, pool);
  tdm_error* error =
      tdm_distributed_optimizer_create(type, parameters, parameter_count, options, count, distributed, out);
  free(options);
  return error;
}

tdm_error* tg_distributed_optimizer_set_option(tdm_distributed_optimizer* optimizer, const int64_t* names,
                                               tdm_value* values, char* pool) {
  tdm_option* option = options_of(names, values, 1, pool);
  tdm_error* error = tdm_distributed_optimizer_set_option(optimizer, option);
  free(option);
  return error;
}

tdm_error* tg_parameter_client_create(tdm_parameter_client_options* options, const char* const* names,
                                      tdm_tensor* const* parameters, size_t parameter_count, tdm_embedding_table* tables,
                                      size_t table_count, const int64_t* option_names, tdm_value* values, size_t count,
                                      const int64_t* counts, char* pool, tdm_parameter_client** out) {
  tdm_option* all = options_of(option_names, values, count, pool);
  tdm_option* next = all;
  options->dense_options = next;
  options->dense_option_count = (size_t)counts[0];
  for (size_t i = 0; i < table_count; ++i) {
    next += counts[i];
    tables[i].optimizer_options = next;
    tables[i].optimizer_option_count = (size_t)counts[i + 1];
  }
  tdm_error* error =
      tdm_parameter_client_create(options, names, parameters, parameter_count, tables, table_count, out);
  free(all);
  return error;
}

tdm_error* tg_parameter_client_set_option(tdm_parameter_client* client, const char* table, const int64_t* names,
                                          tdm_value* values, char* pool) {
  tdm_option* option = options_of(names, values, 1, pool);
  tdm_error* error = tdm_parameter_client_set_option(client, table, option);
  free(option);
  return error;
}

tg_tensor tg_parameter_client_embedding(tdm_parameter_client* client, const char* table, tdm_tensor* indices) {
  tdm_tensor* rows = NULL;
  tdm_error* error = tdm_parameter_client_embedding(client, table, indices, &rows);
  return described(error, rows);
}

tg_tensor tg_own_tensors_get(const tdm_own_tensors* list, size_t index) {
  tdm_tensor* tensor = NULL;
  tdm_error* error = tdm_own_tensors_get(list, index, &tensor);
  return described(error, tensor);
}

tdm_error* tg_rpc_async(const char* to, const char* function, tdm_value* arguments, size_t count, char* pool,
                        const tdm_rpc_call_options* options, tdm_rpc_future** out) {
  place(arguments, count, pool);
  return tdm_rpc_async(to, function, arguments, count, options, out);
}

tdm_error* tg_rpc_remote(const char* to, const char* function, tdm_value* arguments, size_t count, char* pool,
                         const tdm_rpc_call_options* options, tdm_rref** out) {
  place(arguments, count, pool);
  return tdm_rpc_remote(to, function, arguments, count, options, out);
}

tdm_error* tg_rpc_result_set(tdm_rpc_result* result, tdm_value* value, char* pool) {
  place(value, 1, pool);
  return tdm_rpc_result_set(result, value);
}

tdm_error* tg_rref_create(tdm_value* value, char* pool, tdm_rref** out) {
  place(value, 1, pool);
  return tdm_rref_create(value, out);
}

tdm_error* tg_optimizer_add_group(tdm_optimizer* optimizer, tdm_tensor* const* parameters, size_t parameter_count,
                                  const int64_t* names, tdm_value* values, size_t count, char* pool) {
  tdm_option* options = options_of(names, values, count, pool);
  tdm_error* error = tdm_optimizer_add_group(optimizer, parameters, parameter_count, options, count);
  free(options);
  return error;
}

tdm_error* tg_optimizer_set_option(tdm_optimizer* optimizer, int64_t group, const int64_t* names, tdm_value* values,
                                   char* pool) {
  tdm_option option;
  place(values, 1, pool);
  option.name = pool + names[0];
  option.value = values[0];
  return tdm_optimizer_set_option(optimizer, group, &option);
}

tdm_error* tg_lr_scheduler_create(const char* type, tdm_optimizer* optimizer, const int64_t* names, tdm_value* values,
                                  size_t count, char* pool, uintptr_t function, tdm_lr_scheduler** out) {
  tdm_option* options = options_of(names, values, count, pool);
  tdm_error* error = function
                         ? tg_lr_scheduler_create_with_function(type, optimizer, options, count, function, out)
                         : tdm_lr_scheduler_create(type, optimizer, options, count, out);
  free(options);
  return error;
}

tdm_error* tg_lr_scheduler_load_state(tdm_lr_scheduler* scheduler, tdm_value* state, char* pool) {
  place(state, 1, pool);
  return tdm_lr_scheduler_load_state(scheduler, state);
}

tg_tensor tg_tensor_from_data(const void* data, size_t bytes, tdm_dtype dtype, const int64_t* sizes, int64_t ndim) {
  tdm_tensor* tensor = NULL;
  tdm_error* error = tdm_tensor_from_data(data, bytes, dtype, sizes, ndim, &tensor);
  return described(error, tensor);
}

tg_tensor tg_tensor_index(const tdm_tensor* tensor, const tdm_index* indices, size_t count) {
  tdm_tensor* item = NULL;
  tdm_error* error = tdm_tensor_index(tensor, indices, count, &item);
  return described(error, item);
}

tg_tensor tg_tensor_share(const tdm_tensor* tensor) {
  tdm_tensor* shared = NULL;
  tdm_error* error = tdm_tensor_share(tensor, &shared);
  return described(error, shared);
}

tg_tensor tg_tensor_grad(const tdm_tensor* tensor) {
  tdm_tensor* grad = NULL;
  tdm_error* error = tdm_tensor_grad(tensor, &grad);
  return described(error, grad);
}

tg_tensor tg_named_tensors_get(const tdm_named_tensors* list, size_t index) {
  tdm_tensor* tensor = NULL;
  tdm_error* error = tdm_named_tensors_get(list, index, &tensor);
  return described(error, tensor);
}

uint64_t tg_scope_keep(tdm_tensor* tensor, int32_t all_the_way) {
  uint64_t before, now = tdm_tensor_scope_id(tensor);
  do {
    before = now;
    tdm_scope_keep(tensor);
    now = tdm_tensor_scope_id(tensor);
  } while (all_the_way && now && now != before);
  return now;
}

tg_scope tg_scope_enter(void) {
  tg_scope entered = {NULL, NULL, 0};
  entered.error = tdm_scope_enter(&entered.scope);
  if (!entered.error) entered.id = tdm_scope_id(entered.scope);
  return entered;
}

tg_double tg_tensor_item_double(const tdm_tensor* tensor) {
  tg_double item = {NULL, 0};
  item.error = tdm_tensor_item_double(tensor, &item.value);
  return item;
}

tg_int64 tg_tensor_item_int64(const tdm_tensor* tensor) {
  tg_int64 item = {NULL, 0};
  item.error = tdm_tensor_item_int64(tensor, &item.value);
  return item;
}

tdm_tensor* tg_value_list_tensor(const tdm_value* value, size_t index) {
  return ((tdm_tensor* const*)value->as.list.data)[index];
}

tdm_error* tg_ddp_prepare_forward(tdm_ddp* ddp, int32_t training, tdm_value* arguments, size_t count, char* pool,
                                  tdm_value* prepared) {
  place(arguments, count, pool);
  return tdm_ddp_prepare_forward(ddp, training, arguments, count, prepared);
}

tdm_error* tg_ddp_prepare_backward(tdm_ddp* ddp, tdm_value* outputs, size_t count, char* pool, tdm_value* prepared) {
  place(outputs, count, pool);
  return tdm_ddp_prepare_backward(ddp, outputs, count, prepared);
}

tg_tensor tg_ddp_prepare_backward_one(tdm_ddp* ddp, tdm_tensor* output) {
  tdm_value given, prepared;
  memset(&given, 0, sizeof given);
  memset(&prepared, 0, sizeof prepared);
  given.tag = TDM_VALUE_TENSOR;
  given.as.tensor = output;
  tdm_error* error = tdm_ddp_prepare_backward(ddp, &given, 1, &prepared);
  return described(error, error ? NULL : prepared.as.tensor);
}

tdm_error* tg_backward_one(tdm_tensor* tensor, tdm_tensor* gradient, int32_t retain_graph, int32_t create_graph) {
  return tdm_autograd_backward(&tensor, gradient ? &gradient : NULL, 1, retain_graph, create_graph);
}

tdm_error* tg_pt_save(const char* path, tdm_value* value, char* pool) {
  place(value, 1, pool);
  return tdm_pt_save(path, value);
}

tdm_error* tg_optimizer_load_state_dict(tdm_optimizer* optimizer, tdm_value* state_dict, char* pool) {
  place(state_dict, 1, pool);
  return tdm_optimizer_load_state_dict(optimizer, state_dict);
}
