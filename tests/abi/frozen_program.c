/* A program of the first release: built against frozen/0.1/tandem.h alone, it runs with today's libtandem and with any
 * LibTorch that this has a core for.
 *
 *   frozen_program FOLDER LIBTORCH           trains, exchanges, saves and loads a little, on the LibTorch of that
 * version; FOLDER is for its files frozen_program FOLDER LIBTORCH NAMES     also prints the schemas of the operators
 * that the file lists ("add.Tensor …") as that LibTorch has them, and "absent NAME" for those it lacks
 *
 * Exit status 1: standard error names the line that failed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tandem.h"

#include "every_function.h"

static void need(int holds, const char* what, int line) {
  if (holds) return;
  fprintf(stderr, "line %d: not so: %s\n", line, what);
  exit(1);
}
#define NEED(condition) need((condition) != 0, #condition, __LINE__)

static void succeed(tdm_error* error, const char* call, int line) {
  if (!error) return;
  fprintf(stderr, "line %d: %s: %s: %s\n", line, call, tdm_error_operation(error), tdm_error_message(error));
  exit(1);
}
#define OK(call) succeed((call), #call, __LINE__)

static void refused(tdm_error* error, tdm_error_code code, const char* part, int line) {
  if (error && tdm_error_get_code(error) == code && strstr(tdm_error_message(error), part)) {
    tdm_error_free(error);
    return;
  }
  fprintf(stderr, "line %d: expected code %d and \"%s\", got %d: %s\n", line, (int)code, part,
          (int)tdm_error_get_code(error), tdm_error_message(error));
  exit(1);
}
#define REFUSED(call, code, part) refused((call), (code), (part), __LINE__)

static tdm_tensor* floats(const float* values, int64_t rows, int64_t columns) {
  const int64_t sizes[] = {rows, columns};
  tdm_tensor* made = NULL;
  OK(tdm_tensor_from_data(values, (size_t)(rows * columns) * sizeof *values, TDM_DTYPE_FLOAT32, sizes, 2, &made));
  return made;
}

static double item(const tdm_tensor* tensor) {
  double value = 0;
  OK(tdm_tensor_item_double(tensor, &value));
  return value;
}

static tdm_value tensor_value(tdm_tensor* tensor) {
  tdm_value value = {TDM_VALUE_TENSOR, {NULL}};
  value.as.tensor = tensor;
  return value;
}

static tdm_value int_value(int64_t integer) {
  tdm_value value = {TDM_VALUE_INT, {NULL}};
  value.as.integer = integer;
  return value;
}

static tdm_value double_value(double real) {
  tdm_value value = {TDM_VALUE_DOUBLE, {NULL}};
  value.as.real = real;
  return value;
}

/* An operator with one result. */
static tdm_tensor* call(const char* name, const char* overload, const tdm_value* arguments, size_t count) {
  const tdm_op* op = NULL;
  tdm_value result;
  OK(tdm_op_find(name, overload, &op));
  NEED(strstr(tdm_op_schema(op), name) == tdm_op_schema(op));
  NEED(count <= tdm_op_argument_count(op) && tdm_op_result_count(op) == 1);
  OK(tdm_op_call(op, arguments, count, &result, 1));
  NEED(result.tag == TDM_VALUE_TENSOR);
  return result.as.tensor;
}
static tdm_tensor* call1(const char* name, const char* overload, tdm_tensor* a) {
  const tdm_value value = tensor_value(a);
  return call(name, overload, &value, 1);
}
static tdm_tensor* call2(const char* name, const char* overload, tdm_tensor* a, tdm_value b) {
  tdm_value values[2];
  values[0] = tensor_value(a);
  values[1] = b;
  return call(name, overload, values, 2);
}

static void operators(void) {
  static const float four[] = {1, 2, 3, 4};
  tdm_scope* scope = NULL;
  tdm_value values[3];
  int64_t shape[] = {4};
  float read[4];
  OK(tdm_scope_enter(&scope));
  NEED(tdm_scope_current() == tdm_scope_id(scope) && tdm_scope_id(scope) != 0);
  tdm_tensor* x = floats(four, 2, 2);
  NEED(tdm_tensor_dim(x) == 2 && tdm_tensor_sizes(x)[1] == 2 && tdm_tensor_strides(x)[0] == 2);
  NEED(tdm_tensor_numel(x) == 4 && tdm_tensor_nbytes(x) == 16 && tdm_tensor_get_dtype(x) == TDM_DTYPE_FLOAT32);
  NEED(tdm_tensor_get_device(x).type == TDM_DEVICE_CPU && tdm_tensor_scope_id(x) == tdm_scope_id(scope));

  tdm_tensor* sum = call2("aten::add", "Tensor", x, tensor_value(x));
  OK(tdm_tensor_copy_to(sum, read, sizeof read));
  NEED(read[0] == 2 && read[3] == 8);
  values[0] = tensor_value(x);
  values[1] = tensor_value(x);
  values[2] = double_value(10);
  NEED(item(call1("aten::sum", "", call("aten::sub", "Tensor", values, 3))) == -90);
  NEED(item(call1("aten::sum", "", call2("aten::matmul", "", x, tensor_value(x)))) == 54);
  NEED(item(call1("aten::max", "", call1("aten::relu", "", x))) == 4);
  NEED(fabs(item(call1("aten::sum", "", call2("aten::softmax", "int", x, int_value(1)))) - 2) < 1e-6);
  NEED(item(call1("aten::mean", "", call2("aten::pow", "Tensor_Scalar", x, double_value(2)))) == 7.5);
  NEED(item(call1("aten::sum", "", call1("aten::t", "", call2("aten::mul", "Scalar", x, double_value(3))))) == 30);
  tdm_value list = {TDM_VALUE_INT_LIST, {NULL}};
  list.as.list.data = shape;
  list.as.list.size = 1;
  NEED(tdm_tensor_dim(call2("aten::reshape", "", x, list)) == 1);
  tdm_tensor* pair[2];
  pair[0] = pair[1] = x;
  values[0].tag = TDM_VALUE_TENSOR_LIST;
  values[0].as.list.data = pair;
  values[0].as.list.size = 2;
  values[1] = int_value(1);
  NEED(tdm_tensor_sizes(call("aten::cat", "", values, 2))[1] == 4);

  tdm_tensor* kept = call1("aten::neg", "", x);
  tdm_scope_keep(kept);
  REFUSED(tdm_op_call(NULL, NULL, 0, NULL, 0), TDM_ERROR_INVALID_ARGUMENT, "op");
  const tdm_op* op = NULL;
  REFUSED(tdm_op_find("aten::no_such_operator", "", &op), TDM_ERROR_NOT_FOUND, tdm_libtorch_version());
  tdm_scope_exit(scope);
  NEED(tdm_live_count("tensor") == 1);
  tdm_string* text = NULL;
  OK(tdm_tensor_to_string(kept, &text));
  NEED(strstr(tdm_string_data(text), "-4") && tdm_string_size(text) == strlen(tdm_string_data(text)));
  tdm_string_free(text);
  tdm_tensor_free(kept);
}

static tdm_error* doubles(void* user_data, tdm_tensor* gradient, tdm_tensor** replacement) {
  ++*(int*)user_data;
  *replacement = call2("aten::mul", "Scalar", gradient, double_value(2));
  return NULL;
}

static tdm_error* cube_backward(void* user_data, const tdm_function_backward* given) {
  ++*(int*)user_data;
  NEED(given->struct_size >= sizeof *given && given->gradient_count == 1 && given->saved_count == 1);
  NEED(given->input_count == 1 && given->needs_input_grad[0]);
  tdm_tensor* square = call2("aten::mul", "Tensor", given->saved[0], tensor_value(given->saved[0]));
  tdm_tensor* slope = call2("aten::mul", "Scalar", square, double_value(3));
  given->results[0] = call2("aten::mul", "Tensor", slope, tensor_value(given->gradients[0]));
  return NULL;
}

/* y = x³ as the caller's own function; dy/dx doubled by a hook. */
static void autograd(void) {
  static const float two = 2;
  int hooked = 0, called = 0;
  tdm_tensor *x = floats(&two, 1, 1), *y = NULL, *gradient = NULL, *recorded = NULL;
  tdm_hook* hook = NULL;
  tdm_mode* mode = NULL;
  tdm_modes modes = TDM_MODES_INIT;
  OK(tdm_tensor_set_requires_grad(x, 1));
  OK(tdm_tensor_register_hook(x, doubles, &hooked, NULL, &hook));
  OK(tdm_mode_enter_grad(0, &mode));
  OK(tdm_get_modes(&modes));
  NEED(!modes.grad);
  y = call2("aten::pow", "Tensor_Scalar", x, double_value(3));
  OK(tdm_mode_exit(mode));
  tdm_function function = TDM_FUNCTION_INIT;
  function.name = "Cube";
  function.inputs = function.saved = &x;
  function.outputs = &y;
  function.input_count = function.saved_count = function.output_count = 1;
  function.backward = cube_backward;
  function.user_data = &called;
  OK(tdm_function_record(&function, &recorded));
  OK(tdm_autograd_backward(&recorded, NULL, 1, 0, 0));
  OK(tdm_tensor_grad(x, &gradient));
  NEED(item(gradient) == 24 && hooked == 1 && called == 1);
  tdm_hook_remove(hook);
  tdm_hook_free(hook);
  tdm_tensor_free(gradient);
  tdm_tensor_free(recorded);
  tdm_tensor_free(y);
  tdm_tensor_free(x);
}

static void random_numbers(void) {
  int64_t shape[] = {3};
  double sums[2];
  tdm_generator* generator = NULL;
  const tdm_device cpu = {TDM_DEVICE_CPU, -1};
  OK(tdm_generator_create(cpu, &generator));
  for (int i = 0; i < 2; ++i) {
    tdm_value values[2] = {{TDM_VALUE_INT_LIST, {NULL}}, {TDM_VALUE_GENERATOR, {NULL}}};
    values[0].as.list.data = shape;
    values[0].as.list.size = 1;
    values[1].as.generator = generator;
    OK(tdm_generator_manual_seed(generator, 7));
    tdm_tensor* drawn = call("aten::rand", "generator", values, 2);
    tdm_tensor* sum = call1("aten::sum", "", drawn);
    sums[i] = item(sum);
    tdm_tensor_free(sum);
    tdm_tensor_free(drawn);
  }
  NEED(sums[0] == sums[1] && sums[0] > 0);
  tdm_generator_free(generator);
}

/* Ten bytes and their squares, as records of two fields. */
static void records(const char* path) {
  tdm_recordio_writer_options options = TDM_RECORDIO_WRITER_OPTIONS_INIT;
  tdm_recordio_writer* writer = NULL;
  tdm_recordio_reader* reader = NULL;
  options.compressor = TDM_COMPRESSOR_SNAPPY;
  OK(tdm_recordio_writer_create(path, &options, &writer));
  for (unsigned char i = 0; i < 10; ++i) {
    const unsigned char record[] = {i, (unsigned char)(i * i)};
    OK(tdm_recordio_writer_write(writer, record, sizeof record));
  }
  OK(tdm_recordio_writer_close(writer));
  tdm_recordio_writer_free(writer);
  const void* data = NULL;
  size_t size = 0;
  OK(tdm_recordio_reader_create(path, &reader));
  NEED(tdm_recordio_reader_count(reader) == 10);
  OK(tdm_recordio_reader_get(reader, 9, &data, &size));
  NEED(size == 2 && ((const unsigned char*)data)[1] == 81);
  tdm_recordio_reader_free(reader);
}

/* A linear layer learns y = x²'s straight part from those records, under DDP with a world of one, and is saved. */
static void training(const char* data, const char* checkpoint) {
  tdm_store* store = NULL;
  tdm_process_group* group = NULL;
  tdm_process_group_options alone = TDM_PROCESS_GROUP_OPTIONS_INIT;
  alone.backend = "gloo";
  alone.rank = 0;
  alone.world_size = 1;
  OK(tdm_store_hash(&store));
  OK(tdm_store_set(store, "key", "value", 5));
  OK(tdm_process_group_create(&alone, store, &group));
  NEED(tdm_process_group_rank(group) == 0 && tdm_process_group_size(group) == 1);
  NEED(strcmp(tdm_process_group_backend(group), "gloo") == 0);

  tdm_module *model = NULL, *loss = NULL;
  tdm_option features[2] = {{"in_features", {TDM_VALUE_INT, {NULL}}}, {"out_features", {TDM_VALUE_INT, {NULL}}}};
  features[0].value = features[1].value = int_value(1);
  OK(tdm_manual_seed(1));
  OK(tdm_module_create("Linear", features, 2, &model));
  OK(tdm_module_create("MSELoss", NULL, 0, &loss));
  tdm_named_tensors* named = NULL;
  tdm_tensor* parameters[2];
  OK(tdm_module_named_parameters(model, &named));
  NEED(tdm_named_tensors_size(named) == 2 && strcmp(tdm_named_tensors_name(named, 0), "weight") == 0);
  for (size_t i = 0; i < 2; ++i) OK(tdm_named_tensors_get(named, i, &parameters[i]));
  tdm_named_tensors_free(named);

  tdm_option rate = {"lr", {TDM_VALUE_DOUBLE, {NULL}}};
  tdm_optimizer* optimizer = NULL;
  rate.value = double_value(0.5);
  OK(tdm_optimizer_create("SGD", parameters, 2, &rate, 1, &optimizer));
  tdm_grad_scaler* scaler = NULL;
  OK(tdm_grad_scaler_create(NULL, &scaler));
  tdm_ddp* ddp = NULL;
  OK(tdm_ddp_create(group, parameters, NULL, 2, NULL, 0, NULL, &ddp));

  const tdm_field fields[2] = {{"x", TDM_DTYPE_UINT8, TDM_DTYPE_FLOAT32, NULL, 0, 0, 1, 0.1},
                               {"y", TDM_DTYPE_UINT8, TDM_DTYPE_FLOAT32, NULL, 0, 0, 1, 0.01}};
  tdm_loader_options batches = TDM_LOADER_OPTIONS_INIT;
  tdm_loader* loader = NULL;
  batches.batch_size = 5;
  OK(tdm_loader_create(&data, 1, fields, 2, &batches, &loader));
  NEED(tdm_loader_sample_count(loader) == 10 && tdm_loader_batch_count(loader) == 2);
  double first = 0, last = 0;
  for (int epoch = 0; epoch < 40; ++epoch) {
    OK(tdm_loader_start_epoch(loader, epoch, 0));
    for (;;) {
      tdm_tensor* batch[2];
      int32_t more = 0, stepped = 0;
      OK(tdm_loader_next(loader, batch, 2, &more));
      if (!more) break;
      tdm_scope* scope = NULL;
      tdm_value result, output, input, pair[2];
      size_t count = 1;
      OK(tdm_scope_enter(&scope));
      tdm_tensor* x = call2("aten::unsqueeze", "", batch[0], int_value(1));
      tdm_tensor* y = call2("aten::unsqueeze", "", batch[1], int_value(1));
      tdm_tensor* scaled = NULL;
      pair[0] = tensor_value(x);
      OK(tdm_ddp_prepare_forward(ddp, 1, pair, 1, &input));
      OK(tdm_module_forward(model, &input, 1, &output, &count));
      OK(tdm_ddp_prepare_backward(ddp, &output, 1, &pair[0]));
      pair[1] = tensor_value(y);
      count = 1;
      OK(tdm_module_forward(loss, pair, 2, &result, &count));
      last = item(result.as.tensor);
      if (first == 0) first = last;
      OK(tdm_grad_scaler_scale(scaler, result.as.tensor, &scaled));
      OK(tdm_autograd_backward(&scaled, NULL, 1, 0, 0));
      OK(tdm_grad_scaler_step(scaler, optimizer, &stepped));
      OK(tdm_grad_scaler_update(scaler, 0));
      OK(tdm_optimizer_zero_grad(optimizer, 1));
      tdm_scope_exit(scope);
      NEED(stepped);
      for (int i = 0; i < 2; ++i) tdm_tensor_free(batch[i]);
    }
  }
  NEED(last < first && last < 0.05);
  tdm_loader_free(loader);
  tdm_ddp_free(ddp);
  OK(tdm_barrier(group, NULL));
  tdm_process_group_free(group);
  tdm_store_free(store);

  static const char* const names[] = {"weight", "bias"};
  static const char* const note[] = {"note"};
  tdm_strings *keys = NULL, *values = NULL;
  OK(tdm_safetensors_save(checkpoint, names, parameters, 2, note, names, 1));
  OK(tdm_safetensors_load(checkpoint, NULL, &named, &keys, &values));
  NEED(tdm_named_tensors_size(named) == 2 && tdm_strings_count(keys) == 1 && tdm_strings_size(values, 0) == 6);
  NEED(!strcmp(tdm_strings_data(keys, 0), "note") && !strcmp(tdm_strings_data(values, 0), "weight"));
  for (size_t i = 0; i < 2; ++i) {
    tdm_tensor* saved = NULL;
    OK(tdm_named_tensors_get(named, i, &saved));
    NEED(tdm_tensor_nbytes(saved) == sizeof(float));
    tdm_tensor_free(saved);
    tdm_tensor_free(parameters[i]);
  }
  tdm_strings_free(keys);
  tdm_strings_free(values);
  tdm_named_tensors_free(named);
  tdm_grad_scaler_free(scaler);
  tdm_optimizer_free(optimizer);
  tdm_module_free(loss);
  tdm_module_free(model);
}

/* Lines "add.Tensor …". */
static void print_schemas(const char* path) {
  char line[512];
  FILE* file = fopen(path, "r");
  NEED(file);
  while (fgets(line, sizeof line, file)) {
    char name[sizeof "aten::" + sizeof line], *overload;
    line[strcspn(line, " \n")] = '\0';
    snprintf(name, sizeof name, "aten::%s", line);
    overload = strchr(name + strlen("aten::"), '.');
    if (overload) *overload++ = '\0';
    const tdm_op* op = NULL;
    tdm_error* error = tdm_op_find(name, overload ? overload : "", &op);
    if (!error) {
      puts(tdm_op_schema(op));
    } else {
      printf("absent %s\n", line);
      REFUSED(error, TDM_ERROR_NOT_FOUND, tdm_libtorch_version());
    }
  }
  fclose(file);
}

int main(int argc, char** argv) {
  char data[4096], checkpoint[4096];
  size_t functions = 0;
  if (argc < 3) return 2;
  snprintf(data, sizeof data, "%s/records", argv[1]);
  snprintf(checkpoint, sizeof checkpoint, "%s/model.safetensors", argv[1]);
  OK(tdm_load(NULL));
  NEED(strcmp(tdm_libtorch_version(), argv[2]) == 0);
  for (size_t i = 0; i < sizeof every_function / sizeof *every_function; ++i) {
    functions += every_function[i].function != NULL;
  }
  NEED(functions == sizeof every_function / sizeof *every_function);
  operators();
  autograd();
  random_numbers();
  records(data);
  training(data, checkpoint);
  static const char* const types[] = {"tensor", "module",   "optimizer", "store", "process_group", "ddp",    "loader",
                                      "hook",   "callback", "generator", "mode",  "scope",         "string", "error"};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) NEED(tdm_live_count(types[i]) == 0);
  if (argc > 3) print_schemas(argv[3]);
  OK(tdm_shutdown(10000));
  REFUSED(tdm_manual_seed(1), TDM_ERROR_CLOSED, "shut");
  return 0;
}
