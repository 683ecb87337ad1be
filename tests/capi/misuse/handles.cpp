#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "capi/calls.h"
#include "capi/misuse/arguments.h"
#include "capi/rpc_alone.h"

namespace misuse {
namespace {

using calls::tagged;

const char* const kPath = "records";  // in the test's own folder

void write_records() {
  tdm_recordio_writer* writer = nullptr;
  EXPECT_OK(tdm_recordio_writer_create(kPath, nullptr, &writer));
  const float record = 1;
  EXPECT_OK(tdm_recordio_writer_write(writer, &record, sizeof record));
  EXPECT_OK(tdm_recordio_writer_close(writer));
  tdm_recordio_writer_free(writer);
}

tdm_error* keep_gradient(void*, tdm_tensor*, tdm_tensor**) {
  return nullptr;
}

// `out` of a function, or NULL where this machine cannot make one.
template <typename T, typename Make>
void* made(Make&& make, bool needs_gpu = false) {
  T* out = nullptr;
  tdm_error* error = make(&out);
  if (error && needs_gpu && tdm_error_get_code(error) == TDM_ERROR_UNSUPPORTED) {
    tdm_error_free(error);
    return nullptr;
  }
  EXPECT_OK(error);
  return out;
}

template <typename T>
T* as(void* handle) {
  return static_cast<T*>(handle);
}

void* make_tensor() {
  calls::Tensor tensor = calls::tensor({1}, {1});
  EXPECT_OK(tdm_tensor_set_requires_grad(tensor.get(), 1));
  return tensor.release();
}

tdm_field one_number() {
  tdm_field field{};
  field.name = "value";
  field.dtype = field.out_dtype = TDM_DTYPE_FLOAT32;
  field.std = field.scale = 1;
  return field;
}

void* make_loader() {
  write_records();
  const tdm_field field = one_number();
  tdm_loader_options options = TDM_LOADER_OPTIONS_INIT;
  options.drop_last = 0;
  return made<tdm_loader>([&](auto* out) { return tdm_loader_create(&kPath, 1, &field, 1, &options, out); });
}

void* make_dataset() {
  write_records();
  const tdm_field field = one_number();
  return made<tdm_dataset>([&](auto* out) { return tdm_dataset_from_records(&kPath, 1, &field, 1, nullptr, out); });
}

void* make_dynamic_loader(tdm_dataset* dataset, tdm_store* store) {
  static std::int64_t generation = 0;
  tdm_dynamic_loader_options options = TDM_DYNAMIC_LOADER_OPTIONS_INIT;
  options.generation = ++generation;
  options.prefetch = 0;
  return made<tdm_loader>(
      [&](auto* out) { return tdm_loader_create_dynamic(dataset, store, &options, nullptr, 0, nullptr, out); });
}

void* make_store() {
  void* store = made<tdm_store>([](auto* out) { return tdm_store_hash(out); });
  EXPECT_OK(tdm_store_set_timeout(as<tdm_store>(store), 50));
  EXPECT_OK(tdm_store_set(as<tdm_store>(store), "key", "value", 5));
  return store;
}

void* make_group() {
  tdm_process_group_options options = TDM_PROCESS_GROUP_OPTIONS_INIT;
  options.backend = "none";
  options.rank = 0;
  options.world_size = 1;
  return made<tdm_process_group>([&](auto* out) { return tdm_process_group_create(&options, nullptr, out); });
}

}  // namespace

Handles::~Handles() {
  for (auto at = order_.rbegin(); at != order_.rend(); ++at) free(at->first, at->second);
}

void* Handles::get(const std::string& type) {
  const auto found = made_.find(type);
  if (found != made_.end()) return found->second;
  void* handle = make(type);
  made_[type] = handle;
  order_.emplace_back(type, handle);
  return handle;
}

void* Handles::dynamic_loader() {
  void* handle = make_dynamic_loader(as<tdm_dataset>(get("dataset")), as<tdm_store>(get("store")));
  own("loader", handle);
  return handle;
}

void Handles::forget(const std::string& type) {
  made_.erase(type);
  std::erase_if(order_, [&](const auto& one) { return one.first == type; });
}

void* Handles::make(const std::string& type) {
  if (type == "tensor") return make_tensor();
  if (type == "error") return tdm_error_create(TDM_ERROR_CALLBACK, "test", "made by a test", nullptr, nullptr);
  if (type == "string") {
    return made<tdm_string>([&](auto* out) { return tdm_tensor_to_string(as<tdm_tensor>(get("tensor")), out); });
  }
  if (type == "strings") return made<tdm_strings>([](auto* out) { return tdm_module_types(out); });
  if (type == "named_tensors") {
    return made<tdm_named_tensors>(
        [&](auto* out) { return tdm_module_named_parameters(as<tdm_module>(get("module")), out); });
  }
  if (type == "scope") return made<tdm_scope>([](auto* out) { return tdm_scope_enter(out); });
  if (type == "mode") return made<tdm_mode>([](auto* out) { return tdm_mode_enter_grad(1, out); });
  if (type == "hook") {
    return made<tdm_hook>([&](auto* out) {
      return tdm_tensor_register_hook(as<tdm_tensor>(get("tensor")), keep_gradient, nullptr, nullptr, out);
    });
  }
  if (type == "generator") {
    return made<tdm_generator>([](auto* out) { return tdm_generator_create({TDM_DEVICE_CPU, -1}, out); });
  }
  if (type == "stream") {
    return made<tdm_stream>([](auto* out) { return tdm_stream_current({TDM_DEVICE_CUDA, -1}, out); }, true);
  }
  if (type == "event") {
    return made<tdm_event>([](auto* out) { return tdm_event_create(TDM_DEVICE_CUDA, 1, out); }, true);
  }
  if (type == "op") {
    return const_cast<tdm_op*>(calls::find("aten::neg"));
  }
  if (type == "module") {
    return calls::module("Linear",
                         {calls::option("in_features", calls::of(1)), calls::option("out_features", calls::of(1))})
        .release();
  }
  if (type == "optimizer") {
    tdm_tensor* const parameters[] = {as<tdm_tensor>(get("tensor"))};
    const tdm_option rate = calls::option("lr", calls::of(0.1));
    return made<tdm_optimizer>([&](auto* out) { return tdm_optimizer_create("SGD", parameters, 1, &rate, 1, out); });
  }
  if (type == "lr_scheduler") {
    const tdm_option gamma = calls::option("gamma", calls::of(0.5));
    return made<tdm_lr_scheduler>([&](auto* out) {
      return tdm_lr_scheduler_create("ExponentialLR", as<tdm_optimizer>(get("optimizer")), &gamma, 1, out);
    });
  }
  if (type == "averaged_parameters") {
    tdm_tensor* const parameters[] = {as<tdm_tensor>(get("tensor"))};
    return made<tdm_averaged_parameters>(
        [&](auto* out) { return tdm_averaged_parameters_create(parameters, 1, nullptr, 0, nullptr, out); });
  }
  if (type == "grad_scaler") {
    return made<tdm_grad_scaler>([](auto* out) { return tdm_grad_scaler_create(nullptr, out); });
  }
  if (type == "store") return make_store();
  if (type == "process_group") return make_group();
  if (type == "work") {
    return made<tdm_work>([&](auto* out) { return tdm_barrier(as<tdm_process_group>(get("process_group")), out); });
  }
  if (type == "ddp") {
    tdm_tensor* const parameters[] = {as<tdm_tensor>(get("tensor"))};
    return made<tdm_ddp>([&](auto* out) {
      return tdm_ddp_create(as<tdm_process_group>(get("process_group")), parameters, nullptr, 1, nullptr, 0, nullptr,
                            out);
    });
  }
  if (type == "model_averager") {
    return made<tdm_model_averager>([&](auto* out) {
      return tdm_periodic_model_averager_create(as<tdm_process_group>(get("process_group")), 1, 0, out);
    });
  }
  if (type == "summary_writer") {
    return made<tdm_summary_writer>([](auto* out) { return tdm_summary_writer_create("summaries", nullptr, out); });
  }
  if (type == "checkpoint_folder") {
    return made<tdm_checkpoint_folder>(
        [](auto* out) { return tdm_checkpoint_folder_create("checkpoints", nullptr, nullptr, out); });
  }
  if (type == "checkpoint") {
    auto* const folder = as<tdm_checkpoint_folder>(get("checkpoint_folder"));
    return made<tdm_checkpoint>([&](auto* out) {
      tdm_error* error = tdm_checkpoint_folder_save(folder, 1, nullptr, 0, nullptr);
      return error ? error : tdm_checkpoint_folder_load(folder, -1, nullptr, 0, out);
    });
  }
  if (type == "elastic") {
    return made<tdm_elastic>([](auto* out) { return tdm_elastic_create(nullptr, nullptr, out); });
  }
  if (type == "data_parallel") {
    return made<tdm_data_parallel>([](auto* out) {
      tdm_data_parallel_options options = TDM_DATA_PARALLEL_OPTIONS_INIT;
      options.replicas = 1;
      return tdm_data_parallel_create(&options, out);
    });
  }
  if (type == "pipeline") {
    return made<tdm_pipeline>([&](auto* out) {
      const auto compute = [](void*, const tdm_pipeline_call*) -> tdm_error* { return nullptr; };
      return tdm_pipeline_create(as<tdm_process_group>(get("process_group")), nullptr, nullptr, nullptr, nullptr, nullptr, 0,
                                 nullptr, nullptr, nullptr, nullptr, 0, nullptr, compute, compute, nullptr, nullptr, out);
    });
  }
  if (type == "device_mesh") {
    return made<tdm_device_mesh>([&](auto* out) {
      const std::int64_t shape[] = {1};
      const char* const names[] = {"dp"};
      return tdm_device_mesh_create(as<tdm_process_group>(get("process_group")), shape, names, 1, out);
    });
  }
  if (type == "rpc_result") return nullptr;  // of a function that is called alone
  if (type == "rref") {
    calls::join_alone();
    const tdm_value parameter = calls::of(as<tdm_tensor>(get("tensor")));
    return made<tdm_rref>([&](auto* out) { return tdm_rref_create(&parameter, out); });
  }
  if (type == "rpc_future") {
    calls::join_alone();
    const tdm_value one = calls::of(as<tdm_tensor>(get("tensor")));
    void* const future =
        made<tdm_rpc_future>([&](auto* out) { return tdm_rpc_async("self", "aten::neg", &one, 1, nullptr, out); });
    tdm_value result{};  // so that nothing of it comes later
    EXPECT_OK(tdm_rpc_future_wait(as<tdm_rpc_future>(future), 0, &result));
    tdm_value_clear(&result);
    return future;
  }
  if (type == "distributed_optimizer") {
    tdm_rref* const parameters[] = {as<tdm_rref>(get("rref"))};
    const tdm_option rate = calls::option("lr", calls::of(0.1));
    return made<tdm_distributed_optimizer>([&](auto* out) {
      return tdm_distributed_optimizer_create("SGD", parameters, 1, &rate, 1, nullptr, out);
    });
  }
  if (type == "parameter_server") {  // one a process, which several may have here
    static tdm_parameter_server* of_process = nullptr;
    if (tdm_live_count("parameter_server") > 0) return of_process;
    of_process = as<tdm_parameter_server>(
        made<tdm_parameter_server>([](auto* out) { return tdm_parameter_server_create(nullptr, out); }));
    return of_process;
  }
  if (type == "parameter_client") {
    calls::join_alone();
    get("parameter_server");
    const char* const servers[] = {"self"};
    tdm_parameter_client_options options = TDM_PARAMETER_CLIENT_OPTIONS_INIT;
    options.servers = servers;
    options.server_count = 1;
    tdm_embedding_table table{};
    table.name = "text";
    table.rows = table.width = 1;
    table.dtype = TDM_DTYPE_FLOAT32;
    static tdm_parameter_client* of_process = nullptr;
    if (tdm_live_count("parameter_client") > 0) return of_process;
    of_process = as<tdm_parameter_client>(made<tdm_parameter_client>(
        [&](auto* out) { return tdm_parameter_client_create(&options, nullptr, nullptr, 0, &table, 1, out); }));
    return of_process;
  }
  if (type == "own_tensors") {
    return made<tdm_own_tensors>([&](auto* out) {
      return tdm_parameter_client_state(as<tdm_parameter_client>(get("parameter_client")), 0, 1, out);
    });
  }
  if (type == "recordio_writer") {
    return made<tdm_recordio_writer>([](auto* out) { return tdm_recordio_writer_create("written", nullptr, out); });
  }
  if (type == "recordio_reader") {
    write_records();
    return made<tdm_recordio_reader>([](auto* out) { return tdm_recordio_reader_create(kPath, out); });
  }
  if (type == "dataset") return make_dataset();
  if (type == "sampler") return made<tdm_sampler>([](auto* out) { return tdm_sampler_sequential(1, out); });
  if (type == "loader") return make_loader();
  ADD_FAILURE() << "tests/capi/misuse/handles.cpp has no handle of type " << type << "; say there how one is made";
  return nullptr;
}

void Handles::free(const std::string& type, void* handle) {
  static const std::map<std::string, std::function<void(void*)>> how = {
      {"tensor", [](void* h) { tdm_tensor_free(as<tdm_tensor>(h)); }},
      {"error", [](void* h) { tdm_error_free(as<tdm_error>(h)); }},
      {"string", [](void* h) { tdm_string_free(as<tdm_string>(h)); }},
      {"strings", [](void* h) { tdm_strings_free(as<tdm_strings>(h)); }},
      {"named_tensors", [](void* h) { tdm_named_tensors_free(as<tdm_named_tensors>(h)); }},
      {"scope", [](void* h) { tdm_scope_exit(as<tdm_scope>(h)); }},
      {"mode", [](void* h) { tdm_error_free(tdm_mode_exit(as<tdm_mode>(h))); }},
      {"hook", [](void* h) { tdm_hook_free(as<tdm_hook>(h)); }},
      {"generator", [](void* h) { tdm_generator_free(as<tdm_generator>(h)); }},
      {"stream", [](void* h) { tdm_stream_free(as<tdm_stream>(h)); }},
      {"event", [](void* h) { tdm_event_free(as<tdm_event>(h)); }},
      {"op", [](void*) {}},
      {"module", [](void* h) { tdm_module_free(as<tdm_module>(h)); }},
      {"optimizer", [](void* h) { tdm_optimizer_free(as<tdm_optimizer>(h)); }},
      {"lr_scheduler", [](void* h) { tdm_lr_scheduler_free(as<tdm_lr_scheduler>(h)); }},
      {"averaged_parameters", [](void* h) { tdm_averaged_parameters_free(as<tdm_averaged_parameters>(h)); }},
      {"grad_scaler", [](void* h) { tdm_grad_scaler_free(as<tdm_grad_scaler>(h)); }},
      {"store", [](void* h) { tdm_store_free(as<tdm_store>(h)); }},
      {"process_group", [](void* h) { tdm_process_group_free(as<tdm_process_group>(h)); }},
      {"work", [](void* h) { tdm_work_free(as<tdm_work>(h)); }},
      {"ddp", [](void* h) { tdm_ddp_free(as<tdm_ddp>(h)); }},
      {"model_averager", [](void* h) { tdm_model_averager_free(as<tdm_model_averager>(h)); }},
      {"data_parallel", [](void* h) { tdm_data_parallel_free(as<tdm_data_parallel>(h)); }},
      {"pipeline", [](void* h) { tdm_pipeline_free(as<tdm_pipeline>(h)); }},
      {"device_mesh", [](void* h) { tdm_device_mesh_free(as<tdm_device_mesh>(h)); }},
      {"rpc_result", [](void*) {}},
      {"rref", [](void* h) { tdm_rref_free(as<tdm_rref>(h)); }},
      {"rpc_future", [](void* h) { tdm_rpc_future_free(as<tdm_rpc_future>(h)); }},
      {"distributed_optimizer", [](void* h) { tdm_distributed_optimizer_free(as<tdm_distributed_optimizer>(h)); }},
      {"parameter_server", [](void* h) { tdm_parameter_server_free(as<tdm_parameter_server>(h)); }},
      {"parameter_client", [](void* h) { tdm_parameter_client_free(as<tdm_parameter_client>(h)); }},
      {"own_tensors", [](void* h) { tdm_own_tensors_free(as<tdm_own_tensors>(h)); }},
      {"recordio_writer", [](void* h) { tdm_recordio_writer_free(as<tdm_recordio_writer>(h)); }},
      {"recordio_reader", [](void* h) { tdm_recordio_reader_free(as<tdm_recordio_reader>(h)); }},
      {"dataset", [](void* h) { tdm_dataset_free(as<tdm_dataset>(h)); }},
      {"sampler", [](void* h) { tdm_sampler_free(as<tdm_sampler>(h)); }},
      {"loader", [](void* h) { tdm_loader_free(as<tdm_loader>(h)); }},
      {"checkpoint_folder", [](void* h) { tdm_checkpoint_folder_free(as<tdm_checkpoint_folder>(h)); }},
      {"checkpoint", [](void* h) { tdm_checkpoint_free(as<tdm_checkpoint>(h)); }},
      {"elastic", [](void* h) { tdm_elastic_free(as<tdm_elastic>(h)); }},
      {"summary_writer", [](void* h) { tdm_summary_writer_free(as<tdm_summary_writer>(h)); }}};
  const auto found = how.find(type);
  if (found == how.end()) {
    ADD_FAILURE() << "tests/capi/misuse/handles.cpp does not know how a handle of type " << type << " is freed";
  } else {
    found->second(handle);
  }
}

bool Handles::is_checked(const std::string& type) {
  // Errors are plain memory, so that they can be made when nothing else can.
  return type != "error";
}

}  // namespace misuse
