#include "capi/misuse/arguments.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "capi/calls.h"
#include "capi/rpc_alone.h"

namespace misuse {
namespace {

constexpr unsigned char kUntouched = 0xa5;

std::string key(const Function& function, const std::string& parameter) {
  return function.name + "." + parameter;
}

tdm_error* hook(void*, tdm_tensor*, tdm_tensor**) {
  return nullptr;
}
tdm_error* after_accumulation(void*, tdm_tensor*) {
  return nullptr;
}
tdm_error* recompute(void*, tdm_tensor* const*, std::size_t) {
  return nullptr;
}
tdm_error* begin_bucket(void*, const tdm_grad_bucket*, tdm_work**) {
  return nullptr;
}
tdm_error* finish_bucket(void*, const tdm_grad_bucket*, tdm_tensor**) {
  return nullptr;
}
void completion(void*, const tdm_error*) {}
tdm_error* give_nothing(void*, tdm_value*, std::size_t, tdm_rpc_result*) {
  return nullptr;
}
tdm_error* backward(void*, const tdm_function_backward*) {
  return nullptr;
}
tdm_error* give_micro_batch(void*, const tdm_pipeline_call* call) {
  if (call->input_count == 0) return nullptr;
  call->outputs[0] = call->inputs[0];
  *call->output_count = 1;
  return nullptr;
}

tdm_error* give_input(void*, const tdm_replica_call* call) {
  call->outputs[0] = call->inputs[0];
  *call->output_count = 1;
  return nullptr;
}
tdm_error* give_traced_input(void*, const tdm_jit_trace_call* call) {
  call->outputs[0] = call->inputs[0];
  *call->output_count = 1;
  return nullptr;
}
tdm_error* get_sample(void*, std::int64_t, tdm_tensor**, std::size_t) {
  return nullptr;
}
tdm_error* map_sample(void*, tdm_tensor* const* sample, std::size_t, tdm_tensor** mapped, std::size_t) {
  mapped[0] = sample[0];
  return nullptr;
}
tdm_error* list_samples(void*, std::uint64_t, std::int64_t, std::int64_t, std::int64_t*, std::size_t) {
  return nullptr;
}
tdm_error* open_stream(void*, std::uint64_t, std::int64_t, void**) {
  return nullptr;
}
tdm_error* end_stream(void*, void*, tdm_tensor**, std::size_t, std::int32_t*) {
  return nullptr;
}
void close_stream(void*, void*) {}
tdm_error* leave_batch(void*, const tdm_step_batch*) {
  return nullptr;
}
tdm_error* keep_rate(void*, std::int64_t, double, double* factor) {
  *factor = 1;
  return nullptr;
}
tdm_error* no_loss(void*, tdm_tensor**) {
  return nullptr;
}
void destroy(void*) {}

// Of the dynamic partition alone.
bool takes_steps(const Function& function) {
  static const std::set<std::string> names = {"tdm_loader_next_step", "tdm_loader_fail", "tdm_loader_get_quarantine"};
  return names.contains(function.name);
}

template <typename F>
void* pointer_to(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

Arguments::Arguments(const Function& function) : function_(function), slots_(function.parameters.size()) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Parameter& parameter = function.parameters[i];
    Slot& slot = slots_[i];
    switch (parameter.shape) {
      case Shape::kInteger:
        slot.integer = integer_for(parameter.name);
        break;
      case Shape::kCount:
        slot.integer = parameter.name.ends_with("bytes") || parameter.name == "size" ? sizeof(float) : 1;
        if (parameter.name == "index") slot.integer = 0;
        break;
      case Shape::kReal:
        slot.real = 1;
        break;
      case Shape::kDevice:
        break;
      case Shape::kString:
        slot.pointer = string_for(parameter.name);
        break;
      case Shape::kStringList:
        slot.pointer = list_of(string_for(parameter.name));
        break;
      case Shape::kHandle:
        slot.pointer = handles_.get(parameter.about);
        if (takes_steps(function) && parameter.about == "loader") slot.pointer = handles_.dynamic_loader();
        if (key(function, parameter.name) == "tdm_generator_set_state.state") {
          tdm_tensor* state = nullptr;
          EXPECT_OK(tdm_generator_get_state(static_cast<tdm_generator*>(handles_.get("generator")), &state));
          handles_.own("tensor", state);
          slot.pointer = state;
        }
        break;
      case Shape::kHandleList:
        slot.pointer = list_of(handles_.get(parameter.about));
        break;
      case Shape::kStruct:
        slot.pointer = struct_for(parameter);
        break;
      case Shape::kStructOut:
        slot.pointer = output(i, parameter.size);
        if (parameter.sized) std::memcpy(slot.pointer, &parameter.size, sizeof parameter.size);
        break;
      case Shape::kMemoryList:
        slot.pointer = list_of(memory_for(parameter.name));
        break;
      case Shape::kMemory:
        slot.pointer = memory_for(parameter.name);
        break;
      case Shape::kHandleOut:
      case Shape::kOut:
        slot.pointer = output(i, sizeof(std::uint64_t));
        if (parameter.name == "result_count") *static_cast<std::size_t*>(slot.pointer) = 1;
        break;
      case Shape::kCallback:
        slot.pointer = callback_for(parameter.name);
        break;
    }
  }
  for (Output& output : outputs_) output.before.assign(output.memory, output.memory + output.before.size());
}

Arguments::~Arguments() {
  if (function_.name == "tdm_rpc_register_function" && slots_[0].pointer) {
    tdm_error_free(tdm_rpc_unregister(static_cast<const char*>(slots_[0].pointer), nullptr));
  }
  for (const Output& output : outputs_) {
    const Parameter& parameter = function_.parameters[output.parameter];
    if (std::memcmp(output.memory, output.before.data(), output.before.size()) == 0) continue;
    if (parameter.shape == Shape::kHandleOut) {
      void* handle = nullptr;
      std::memcpy(&handle, output.memory, sizeof handle);
      Handles::free(parameter.about, handle);
    } else if (parameter.about == "tdm_value") {
      tdm_value_clear(reinterpret_cast<tdm_value*>(output.memory));
    }
  }
}

bool Arguments::outputs_touched() const {
  for (const Output& output : outputs_) {
    if (std::memcmp(output.memory, output.before.data(), output.before.size()) != 0) return true;
  }
  return false;
}

void* Arguments::keep(std::size_t bytes) {
  memory_.push_back(std::make_unique<unsigned char[]>(bytes));
  return memory_.back().get();
}

void* Arguments::list_of(void* element) {
  void* list = keep(sizeof element);
  std::memcpy(list, &element, sizeof element);
  return list;
}

void* Arguments::output(std::size_t parameter, std::size_t bytes) {
  auto* memory = static_cast<unsigned char*>(keep(bytes));
  std::memset(memory, kUntouched, bytes);
  outputs_.push_back({parameter, memory, std::vector<unsigned char>(bytes)});
  return memory;
}

std::uint64_t Arguments::integer_for(const std::string& parameter) {
  if (parameter == "dtype") return function_.name == "tdm_mode_enter_autocast" ? TDM_DTYPE_BFLOAT16 : TDM_DTYPE_FLOAT32;
  if (parameter == "timeout_ms") return 50;
  if (parameter == "device" || parameter == "type") {
    return function_.name.starts_with("tdm_event") ? TDM_DEVICE_CUDA : TDM_DEVICE_CPU;
  }
  static const std::set<std::string> ones = {"ndim", "threads", "count", "seed", "is_server", "enabled", "size"};
  return ones.contains(parameter) ? 1 : 0;
}

void* Arguments::string_for(const std::string& parameter) {
  static const std::map<std::string, std::string> texts = {
      {"tdm_module_create.type", "Linear"},
      {"tdm_optimizer_create.type", "SGD"},
      {"tdm_optimizer_get_option.name", "lr"},
      {"tdm_lr_scheduler_create.type", "ExponentialLR"},
      {"tdm_lr_scheduler_create_with_function.type", "LambdaLR"},
      {"tdm_op_find.name", "aten::add"},
      {"tdm_op_find.overload", "Tensor"},
      {"tdm_live_count.type", "tensor"},
      {"tdm_load_library.path", "./no-such-library.so"},
      {"tdm_safetensors_load.path", "no-such-file"},
      {"tdm_recordio_reader_create.path", "records"},
      {"host", "127.0.0.1"},
      {"records", "{}"},
      {"quarantine", "[]"},
      {"key", "key"},
      {"keys", "key"},
      {"transforms", R"([{"step": "to_float", "fields": ["value"]}])"},
      {"path", "written"},
      {"paths", "records"}};
  auto found = texts.find(key(function_, parameter));
  if (found == texts.end()) found = texts.find(parameter);
  texts_.push_back(found == texts.end() ? "text" : found->second);
  return texts_.back().data();
}

void* Arguments::struct_for(const Parameter& parameter) {
  void* memory = keep(parameter.size);
  const auto fill = [&](auto value) { std::memcpy(memory, &value, sizeof value); };
  const std::string& type = parameter.about;
  if (type == "tdm_value") {
    fill(calls::of(static_cast<tdm_tensor*>(handles_.get("tensor"))));
  } else if (type == "tdm_option") {
    if (function_.name == "tdm_module_create") {
      fill(calls::option("in_features", calls::of(1)));
    } else if (function_.name == "tdm_lr_scheduler_create") {
      fill(calls::option("gamma", calls::of(0.5)));
    } else if (function_.name == "tdm_lr_scheduler_create_with_function") {
      fill(calls::option("last_epoch", calls::of(-1)));
    } else {
      fill(calls::option("lr", calls::of(0.1)));
    }
  } else if (type == "tdm_message") {
    fill(tdm_message{static_cast<tdm_tensor*>(handles_.get("tensor")), 1, 0, 0});
  } else if (type == "tdm_index") {
    fill(tdm_index TDM_INDEX_INIT);
  } else if (type == "tdm_checkpoint_tensor") {
    tdm_checkpoint_tensor saved{};
    saved.section = saved.name = static_cast<const char*>(string_for("name"));
    saved.tensor = static_cast<tdm_tensor*>(handles_.get("tensor"));
    fill(saved);
  } else if (type == "tdm_field") {
    tdm_field field{};
    field.dtype = field.out_dtype = TDM_DTYPE_FLOAT32;
    field.std = field.scale = 1;
    fill(field);
  } else if (type == "tdm_function") {
    tdm_function function = TDM_FUNCTION_INIT;
    auto* list = static_cast<tdm_tensor* const*>(list_of(handles_.get("tensor")));
    function.inputs = list;
    function.input_count = 1;
    function.outputs = list;
    function.output_count = 1;
    function.backward = backward;
    fill(function);
  } else if (type == "tdm_iterable") {
    tdm_iterable iterable = TDM_ITERABLE_INIT;
    iterable.names = static_cast<const char* const*>(list_of(string_for("names")));
    iterable.field_count = 1;
    iterable.open = open_stream;
    iterable.next = end_stream;
    iterable.close = close_stream;
    fill(iterable);
  } else if (type == "tdm_replicas") {
    tdm_replicas replicas = TDM_REPLICAS_INIT;
    replicas.forward = give_input;
    fill(replicas);
  } else if (type == "tdm_jit_trace") {
    tdm_jit_trace trace = TDM_JIT_TRACE_INIT;
    trace.inputs = static_cast<const tdm_value*>(keep(sizeof(tdm_value)));
    trace.input_count = 1;
    *const_cast<tdm_value*>(trace.inputs) = calls::of(static_cast<tdm_tensor*>(handles_.get("tensor")));
    trace.function = give_traced_input;
    fill(trace);
  } else if (type == "tdm_grad_scaler_state") {
    fill(tdm_grad_scaler_state TDM_GRAD_SCALER_STATE_INIT);
  } else if (type == "tdm_elastic_options") {
    fill(tdm_elastic_options TDM_ELASTIC_OPTIONS_INIT);
  } else if (type == "tdm_metrics_options") {
    fill(tdm_metrics_options TDM_METRICS_OPTIONS_INIT);
  } else if (type == "tdm_distributed_optimizer_options") {
    fill(tdm_distributed_optimizer_options TDM_DISTRIBUTED_OPTIMIZER_OPTIONS_INIT);
  } else if (type == "tdm_parameter_server_statistics") {
    fill(tdm_parameter_server_statistics TDM_PARAMETER_SERVER_STATISTICS_INIT);
  } else if (type == "tdm_embedding_table") {
    tdm_embedding_table table{};
    table.name = static_cast<const char*>(string_for("name"));
    table.rows = table.width = 1;
    table.dtype = TDM_DTYPE_FLOAT32;
    fill(table);
  } else if (type == "tdm_parameter_client_options") {
    handles_.get("parameter_server");
    calls::join_alone();
    tdm_parameter_client_options options = TDM_PARAMETER_CLIENT_OPTIONS_INIT;
    texts_.push_back("self");
    options.servers = static_cast<const char* const*>(list_of(texts_.back().data()));
    options.server_count = 1;
    fill(options);
  } else if (type == "tdm_checkpoint_selection") {
    fill(tdm_checkpoint_selection TDM_CHECKPOINT_SELECTION_INIT);
  } else if (type == "tdm_cuda_settings") {
    fill(tdm_cuda_settings TDM_CUDA_SETTINGS_INIT);
  } else if (type == "tdm_tcp_store_options") {
    tdm_tcp_store_options options = TDM_TCP_STORE_OPTIONS_INIT;
    options.is_server = 1;
    options.timeout_ms = 1000;
    fill(options);
  } else if (type == "tdm_process_group_options") {
    tdm_process_group_options options = TDM_PROCESS_GROUP_OPTIONS_INIT;
    options.backend = "none";
    options.rank = 0;
    options.world_size = 1;
    fill(options);
  } else {
    // NULL stands for the defaults.
    EXPECT_EQ(parameter.name, "options") << "tests/capi/misuse/arguments.cpp does not know the struct " << type;
    return nullptr;
  }
  return memory;
}

void* Arguments::memory_for(const std::string& parameter) {
  if (parameter == "user_data") return nullptr;
  void* memory = keep(16);
  if (parameter == "sizes" || parameter.ends_with("splits")) {
    const std::int64_t one = 1;
    std::memcpy(memory, &one, sizeof one);
  }
  return memory;
}

void* Arguments::callback_for(const std::string& parameter) {
  if (parameter == "destroy") return pointer_to(destroy);
  if (parameter == "recompute") return pointer_to(recompute);
  if (parameter == "callback") return pointer_to(completion);
  if (parameter == "begin") return pointer_to(begin_bucket);
  if (parameter == "step") return pointer_to(leave_batch);
  if (parameter == "finish") return pointer_to(finish_bucket);
  if (parameter == "get") return pointer_to(get_sample);
  if (parameter == "map") return pointer_to(map_sample);
  if (parameter == "list") return pointer_to(list_samples);
  if (function_.name == "tdm_rpc_register_function") return pointer_to(give_nothing);
  if (parameter == "function") return pointer_to(keep_rate);
  if (parameter == "forward" || parameter == "loss") return pointer_to(give_micro_batch);
  if (parameter == "closure") return pointer_to(no_loss);
  if (function_.name == "tdm_tensor_register_post_accumulate_grad_hook") return pointer_to(after_accumulation);
  EXPECT_EQ(parameter, "hook") << "tests/capi/misuse/arguments.cpp does not know the callback of " << function_.name;
  return pointer_to(hook);
}

}  // namespace misuse
