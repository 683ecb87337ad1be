// Structs of other sizes than this header's: what an older program passes, what a newer one does, and what is none.
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <set>

#include "abi/guarded.h"
#include "abi/struct_cases.h"
#include "capi/autograd_values.h"
#include "cpp/data/temp_dir.h"

namespace {

using namespace calls;
using testing::AllOf;
using testing::HasSubstr;
using namespace struct_sizes;

tdm_error* write_file(const std::string& path, const tdm_recordio_writer_options* options) {
  tdm_recordio_writer* writer = nullptr;
  tdm_error* error = tdm_recordio_writer_create(path.c_str(), options, &writer);
  for (unsigned char i = 0; i < 10 && !error; ++i) error = tdm_recordio_writer_write(writer, &i, 1);
  if (!error) error = tdm_recordio_writer_close(writer);
  tdm_recordio_writer_free(writer);
  return error;
}

// Ten records of one byte.
class Records {
 public:
  Records() : path_(folder_ / "records") { EXPECT_OK(write_file(path_, nullptr)); }

  tdm_error* loader(const tdm_loader_options* options, tdm_loader** out) const {
    const char* path = path_.c_str();
    const tdm_field field{"byte", TDM_DTYPE_UINT8, TDM_DTYPE_UINT8, nullptr, 0, 0, 1, 1};
    return tdm_loader_create(&path, 1, &field, 1, options, out);
  }
  tdm_error* dataset(tdm_dataset** out, const tdm_open_records_options* options = nullptr) const {
    const char* path = path_.c_str();
    const tdm_field field{"byte", TDM_DTYPE_UINT8, TDM_DTYPE_UINT8, nullptr, 0, 0, 1, 1};
    return tdm_dataset_from_records(&path, 1, &field, 1, options, out);
  }

 private:
  tandem::test::TempDir folder_;
  std::string path_;
};

const char* const kByte = "byte";

// Of streams that nobody opens.
tdm_iterable no_streams() {
  tdm_iterable iterable = TDM_ITERABLE_INIT;
  iterable.names = &kByte;
  iterable.field_count = 1;
  iterable.open = [](void*, std::uint64_t, std::int64_t, void**) -> tdm_error* { return nullptr; };
  iterable.next = [](void*, void*, tdm_tensor**, std::size_t, std::int32_t*) -> tdm_error* { return nullptr; };
  iterable.close = [](void*, void*) {};
  return iterable;
}

// A group of one: the options' own, else what the environment says.
tdm_error* group_of_one(const tdm_process_group_options* options, tdm_process_group** out) {
  setenv("RANK", "0", 1);
  setenv("WORLD_SIZE", "1", 1);
  tdm_store* store = nullptr;
  EXPECT_OK(tdm_store_hash(&store));
  tdm_error* error = tdm_process_group_create(options, store, out);
  tdm_store_free(store);
  return error;
}

// A call on a DDP of one rank, `after_a_step` or before the first.
tdm_error* with_ddp(const std::function<tdm_error*(tdm_ddp*)>& call, bool after_a_step = false) {
  tdm_process_group* group = nullptr;
  EXPECT_OK(group_of_one(nullptr, &group));
  const Tensor weight = parameter({1, 2}, {2});
  tdm_tensor* weights[] = {weight.get()};
  tdm_ddp* ddp = nullptr;
  EXPECT_OK(tdm_ddp_create(group, weights, nullptr, 1, nullptr, 0, nullptr, &ddp));
  if (after_a_step) {
    EXPECT_OK(tdm_ddp_prepare_forward(ddp, 1, nullptr, 0, nullptr));
    const Tensor sum = calls::call("aten::sum", "", {of(weight)});
    const tdm_value output = of(sum);
    tdm_value prepared{};
    EXPECT_OK(tdm_ddp_prepare_backward(ddp, &output, 1, &prepared));
    const Tensor loss(prepared.as.tensor);
    EXPECT_OK(backward(loss));
  }
  tdm_error* error = call(ddp);
  tdm_ddp_free(ddp);
  tdm_process_group_free(group);
  return error;
}

std::vector<Case> cases() {
  std::vector<Case> all{
      of_struct<tdm_load_options>(INITIAL(tdm_load_options, TDM_LOAD_OPTIONS_INIT),
                                  [](tdm_load_options* given) { return tdm_load(given); }),
      output<tdm_modes>(INITIAL(tdm_modes, TDM_MODES_INIT), [](tdm_modes* given) { return tdm_get_modes(given); }),
      of_struct<tdm_function>(
          "tdm_function",
          [] {
            tdm_function function = TDM_FUNCTION_INIT;
            function.backward = [](void*, const tdm_function_backward*) -> tdm_error* { return nullptr; };
            return function;
          }(),
          [](tdm_function* given) {
            const Tensor x = parameter({2, 3}, {2});
            const Tensor y = tensor({4, 9}, {2});
            tdm_tensor *inputs[] = {x.get()}, *outputs[] = {y.get()}, *result = nullptr;
            const std::size_t size = given->struct_size;
            if (size >= offsetof(tdm_function, saved) && size <= 4096 && size % 8 == 0) {
              given->inputs = inputs;
              given->input_count = 1;
              given->outputs = outputs;
              given->output_count = 1;
            }
            tdm_error* error = tdm_function_record(given, &result);
            tdm_tensor_free(result);
            return error;
          },
          offsetof(tdm_function, user_data)),
      output<tdm_device_memory>(INITIAL(tdm_device_memory, TDM_DEVICE_MEMORY_INIT),
                                [](tdm_device_memory* given) {
                                  return tdm_device_get_memory({TDM_DEVICE_CUDA, 0}, given);
                                }),
      of_struct<tdm_cuda_settings>(INITIAL(tdm_cuda_settings, TDM_CUDA_SETTINGS_INIT),
                                   [](tdm_cuda_settings* given) { return tdm_cuda_set_settings(given); }),
      output<tdm_cuda_settings>(INITIAL(tdm_cuda_settings, TDM_CUDA_SETTINGS_INIT),
                                [](tdm_cuda_settings* given) { return tdm_cuda_get_settings(given); }),
      of_struct<tdm_checkpoint_folder_options>(
          INITIAL(tdm_checkpoint_folder_options, TDM_CHECKPOINT_FOLDER_OPTIONS_INIT),
          [](tdm_checkpoint_folder_options* given) {
            tdm_checkpoint_folder* folder = nullptr;
            tdm_error* error = tdm_checkpoint_folder_create("checkpoints", given, nullptr, &folder);
            tdm_checkpoint_folder_free(folder);
            return error;
          }),
      of_struct<tdm_checkpoint_selection>(
          INITIAL(tdm_checkpoint_selection, TDM_CHECKPOINT_SELECTION_INIT),
          [](tdm_checkpoint_selection* given) {
            tdm_checkpoint_folder* folder = nullptr;
            tdm_error* error = tdm_checkpoint_folder_create("checkpoints", nullptr, nullptr, &folder);
            tdm_checkpoint* checkpoint = nullptr;
            if (!error) error = tdm_checkpoint_folder_load_part(folder, given, &checkpoint);
            tdm_checkpoint_free(checkpoint);
            tdm_checkpoint_folder_free(folder);
            return error;
          }),
      of_struct<tdm_elastic_options>(INITIAL(tdm_elastic_options, TDM_ELASTIC_OPTIONS_INIT),
                                     [](tdm_elastic_options* given) {
                                       tdm_elastic* elastic = nullptr;
                                       tdm_error* error = tdm_elastic_create(nullptr, given, &elastic);
                                       tdm_elastic_free(elastic);
                                       return error;
                                     }),
      of_struct<tdm_metrics_options>(INITIAL(tdm_metrics_options, TDM_METRICS_OPTIONS_INIT),
                                     [](tdm_metrics_options* given) { return tdm_metrics_report(given); }),
      of_struct<tdm_grad_scaler_options>(INITIAL(tdm_grad_scaler_options, TDM_GRAD_SCALER_OPTIONS_INIT),
                                         [](tdm_grad_scaler_options* given) {
                                           tdm_grad_scaler* scaler = nullptr;
                                           tdm_error* error = tdm_grad_scaler_create(given, &scaler);
                                           tdm_grad_scaler_free(scaler);
                                           return error;
                                         }),
      of_struct<tdm_grad_scaler_state>(INITIAL(tdm_grad_scaler_state, TDM_GRAD_SCALER_STATE_INIT),
                                       [](tdm_grad_scaler_state* given) {
                                         tdm_grad_scaler* scaler = nullptr;
                                         EXPECT_OK(tdm_grad_scaler_create(nullptr, &scaler));
                                         tdm_error* error = tdm_grad_scaler_set_state(scaler, given);
                                         tdm_grad_scaler_free(scaler);
                                         return error;
                                       }),
      output<tdm_grad_scaler_state>(INITIAL(tdm_grad_scaler_state, TDM_GRAD_SCALER_STATE_INIT),
                                    [](tdm_grad_scaler_state* given) {
                                      tdm_grad_scaler* scaler = nullptr;
                                      EXPECT_OK(tdm_grad_scaler_create(nullptr, &scaler));
                                      tdm_error* error = tdm_grad_scaler_get_state(scaler, given);
                                      tdm_grad_scaler_free(scaler);
                                      return error;
                                    }),
      of_struct<tdm_averaged_parameters_options>(
          INITIAL(tdm_averaged_parameters_options, TDM_AVERAGED_PARAMETERS_OPTIONS_INIT),
          [](tdm_averaged_parameters_options* given) {
            const Tensor weight = tensor({1, 2}, {2});
            tdm_tensor* const weights[] = {weight.get()};
            tdm_averaged_parameters* averages = nullptr;
            tdm_error* error = tdm_averaged_parameters_create(weights, 1, nullptr, 0, given, &averages);
            tdm_averaged_parameters_free(averages);
            return error;
          }),
      of_struct<tdm_pt_load_options>(INITIAL(tdm_pt_load_options, TDM_PT_LOAD_OPTIONS_INIT),
                                     [](tdm_pt_load_options* given) {
                                       const auto folder = std::filesystem::temp_directory_path();
                                       const std::string path = folder / ("size_" + std::to_string(::getpid()) + ".pt");
                                       const tdm_value saved{};
                                       EXPECT_OK(tdm_pt_save(path.c_str(), &saved));
                                       tdm_value loaded{};
                                       tdm_error* error = tdm_pt_load(path.c_str(), given, &loaded);
                                       std::filesystem::remove(path);
                                       return error;
                                     }),
      of_struct<tdm_safetensors_load_options>(
          INITIAL(tdm_safetensors_load_options, TDM_SAFETENSORS_LOAD_OPTIONS_INIT),
          [](tdm_safetensors_load_options* given) {
            const auto folder = std::filesystem::temp_directory_path();
            const std::string path = folder / ("size_" + std::to_string(::getpid()) + ".safetensors");
            EXPECT_OK(tdm_safetensors_save(path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
            tdm_named_tensors* loaded = nullptr;
            tdm_error* error = tdm_safetensors_load(path.c_str(), given, &loaded, nullptr, nullptr);
            tdm_named_tensors_free(loaded);
            std::filesystem::remove(path);
            return error;
          }),
      of_struct<tdm_exported_options>(INITIAL(tdm_exported_options, TDM_EXPORTED_OPTIONS_INIT),
                                      [](tdm_exported_options* given) {
                                        tdm_module* made = nullptr;
                                        tdm_error* error = tdm_exported_load(EXPORTED_MLP, given, &made);
                                        tdm_module_free(made);
                                        return error;
                                      }),
      of_struct<tdm_tcp_store_options>(INITIAL(tdm_tcp_store_options, TDM_TCP_STORE_OPTIONS_INIT),
                                       [](tdm_tcp_store_options* given) {
                                         tdm_tcp_store_options listening = TDM_TCP_STORE_OPTIONS_INIT;
                                         listening.is_server = 1;
                                         tdm_store *server = nullptr, *client = nullptr;
                                         EXPECT_OK(tdm_store_tcp("127.0.0.1", 0, &listening, &server));
                                         tdm_error* error =
                                             tdm_store_tcp("127.0.0.1", tdm_store_port(server), given, &client);
                                         tdm_store_free(client);
                                         tdm_store_free(server);
                                         return error;
                                       }),
      of_struct<tdm_process_group_options>(INITIAL(tdm_process_group_options, TDM_PROCESS_GROUP_OPTIONS_INIT),
                                           [](tdm_process_group_options* given) {
                                             tdm_process_group* group = nullptr;
                                             tdm_error* error = group_of_one(given, &group);
                                             tdm_process_group_free(group);
                                             return error;
                                           }),
      of_struct<tdm_ddp_options>(INITIAL(tdm_ddp_options, TDM_DDP_OPTIONS_INIT),
                                 [](tdm_ddp_options* given) {
                                   tdm_process_group* group = nullptr;
                                   EXPECT_OK(group_of_one(nullptr, &group));
                                   const Tensor weight = parameter({1, 2}, {2});
                                   tdm_tensor* weights[] = {weight.get()};
                                   tdm_ddp* ddp = nullptr;
                                   tdm_error* error =
                                       tdm_ddp_create(group, weights, nullptr, 1, nullptr, 0, given, &ddp);
                                   tdm_ddp_free(ddp);
                                   tdm_process_group_free(group);
                                   return error;
                                 }),
      of_struct<tdm_comm_hook_options>(INITIAL(tdm_comm_hook_options, TDM_COMM_HOOK_OPTIONS_INIT),
                                       [](tdm_comm_hook_options* given) {
                                         return with_ddp([&](tdm_ddp* ddp) {
                                           return tdm_ddp_set_comm_hook(ddp, TDM_COMM_HOOK_ALLREDUCE, given);
                                         });
                                       }),
      of_struct<tdm_ddp_join_options>(INITIAL(tdm_ddp_join_options, TDM_DDP_JOIN_OPTIONS_INIT),
                                      [](tdm_ddp_join_options* given) {
                                        return with_ddp([&](tdm_ddp* ddp) { return tdm_ddp_begin_join(ddp, given); });
                                      }),
      output<tdm_ddp_iteration>(INITIAL(tdm_ddp_iteration, TDM_DDP_ITERATION_INIT),
                                [](tdm_ddp_iteration* given) {
                                  return with_ddp([&](tdm_ddp* ddp) { return tdm_ddp_get_iteration(ddp, 0, given); },
                                                  /*after_a_step=*/true);
                                }),
      of_struct<tdm_trace_options>(INITIAL(tdm_trace_options, TDM_TRACE_OPTIONS_INIT),
                                   [](tdm_trace_options* given) {
                                     tdm_process_group* group = nullptr;
                                     EXPECT_OK(group_of_one(nullptr, &group));
                                     tdm_error* error = tdm_trace_start(group, given);
                                     const tandem::test::TempDir folder;
                                     if (!error) {
                                       EXPECT_OK(tdm_trace_stop((folder / "trace").c_str()));
                                     }
                                     tdm_process_group_free(group);
                                     return error;
                                   }),
      of_struct<tdm_profiler_options>(INITIAL(tdm_profiler_options, TDM_PROFILER_OPTIONS_INIT),
                                      [](tdm_profiler_options* given) {
                                        tdm_error* error = tdm_profiler_start(nullptr, given);
                                        if (!error) {
                                          EXPECT_OK(tdm_profiler_stop(nullptr, nullptr));
                                        }
                                        return error;
                                      }),
      of_struct<tdm_bucket_trial_options>(INITIAL(tdm_bucket_trial_options, TDM_BUCKET_TRIAL_OPTIONS_INIT),
                                          [](tdm_bucket_trial_options* given) {
                                            return with_ddp(
                                                [&](tdm_ddp* ddp) { return tdm_ddp_try_bucket_sizes(ddp, given); });
                                          }),
      output<tdm_bucket_advice>(INITIAL(tdm_bucket_advice, TDM_BUCKET_ADVICE_INIT),
                                [](tdm_bucket_advice* given) {
                                  return with_ddp([&](tdm_ddp* ddp) { return tdm_ddp_get_bucket_advice(ddp, given); });
                                }),
      output<tdm_ddp_statistics>(INITIAL(tdm_ddp_statistics, TDM_DDP_STATISTICS_INIT),
                                 [](tdm_ddp_statistics* given) {
                                   return with_ddp([&](tdm_ddp* ddp) { return tdm_ddp_get_statistics(ddp, given); });
                                 }),
      of_struct<tdm_data_parallel_options>(INITIAL(tdm_data_parallel_options, TDM_DATA_PARALLEL_OPTIONS_INIT),
                                           [](tdm_data_parallel_options* given) {
                                             tdm_data_parallel* made = nullptr;
                                             tdm_error* error = tdm_data_parallel_create(given, &made);
                                             tdm_data_parallel_free(made);
                                             return error;
                                           }),
      of_struct<tdm_replicas>(
          "tdm_replicas",
          [] {
            tdm_replicas replicas = TDM_REPLICAS_INIT;
            replicas.forward = [](void*, const tdm_replica_call* call) -> tdm_error* {
              call->outputs[0] = call->inputs[0];
              *call->output_count = 1;
              return nullptr;
            };
            return replicas;
          }(),
          [](tdm_replicas* given) {
            tdm_data_parallel* parallel = nullptr;
            EXPECT_OK(tdm_data_parallel_create(nullptr, &parallel));
            const Tensor x = tensor({4, 9}, {2});
            tdm_tensor *inputs[] = {x.get()}, *result = nullptr;
            std::size_t count = 1;
            tdm_error* error = tdm_data_parallel_forward(parallel, given, inputs, 1, &result, &count);
            tdm_tensor_free(result);
            tdm_data_parallel_free(parallel);
            return error;
          },
          offsetof(tdm_replicas, user_data)),
      of_struct<tdm_pipeline_options>(INITIAL(tdm_pipeline_options, TDM_PIPELINE_OPTIONS_INIT),
                                      [](tdm_pipeline_options* given) {
                                        const auto compute = [](void*, const tdm_pipeline_call*) -> tdm_error* {
                                          return nullptr;
                                        };
                                        tdm_process_group* group = nullptr;
                                        EXPECT_OK(group_of_one(nullptr, &group));
                                        tdm_pipeline* made = nullptr;
                                        tdm_error* error =
                                            tdm_pipeline_create(group, nullptr, nullptr, nullptr, nullptr, nullptr, 0,
                                                                nullptr, nullptr, nullptr, nullptr, 0, given, compute, compute,
                                                                nullptr, nullptr, &made);
                                        tdm_pipeline_free(made);
                                        tdm_process_group_free(group);
                                        return error;
                                      }),
      of_struct<tdm_pipeline_split_options>(
          INITIAL(tdm_pipeline_split_options, TDM_PIPELINE_SPLIT_OPTIONS_INIT),
          [](tdm_pipeline_split_options* given) {
            const auto compute = [](void*, const tdm_pipeline_call*) -> tdm_error* { return nullptr; };
            tdm_process_group* group = nullptr;
            EXPECT_OK(group_of_one(nullptr, &group));
            std::int64_t first = -1;
            std::size_t count = 1;
            tdm_error* error = tdm_pipeline_split_by_time(group, 1, nullptr, 0, nullptr, 0, nullptr, 0, given, compute,
                                                          nullptr, nullptr, nullptr, &first, &count);
            tdm_process_group_free(group);
            return error;
          }),
      of_struct<tdm_jit_trace>(
          "tdm_jit_trace",
          [] {
            tdm_jit_trace trace = TDM_JIT_TRACE_INIT;
            trace.function = [](void*, const tdm_jit_trace_call* call) -> tdm_error* {
              call->outputs[0] = call->inputs[0];
              *call->output_count = 1;
              return nullptr;
            };
            return trace;
          }(),
          [](tdm_jit_trace* given) {
            const Tensor x = tensor({4, 9}, {2});
            const tdm_value input = of(x);
            const std::size_t size = given->struct_size;
            if (size >= offsetof(tdm_jit_trace, parameter_names) && size <= 4096 && size % 8 == 0) {
              given->inputs = &input;
              given->input_count = 1;
            }
            tdm_module* made = nullptr;
            tdm_error* error = tdm_jit_trace_function(given, &made);
            tdm_module_free(made);
            return error;
          },
          offsetof(tdm_jit_trace, user_data)),
      of_struct<tdm_recordio_writer_options>(INITIAL(tdm_recordio_writer_options, TDM_RECORDIO_WRITER_OPTIONS_INIT),
                                             [](tdm_recordio_writer_options* given) {
                                               const tandem::test::TempDir folder;
                                               return write_file(folder / "records", given);
                                             }),
      of_struct<tdm_loader_options>(INITIAL(tdm_loader_options, TDM_LOADER_OPTIONS_INIT),
                                    [](tdm_loader_options* given) {
                                      const Records records;
                                      tdm_loader* loader = nullptr;
                                      tdm_error* error = records.loader(given, &loader);
                                      tdm_loader_free(loader);
                                      return error;
                                    }),
      output<tdm_loader_batch>(INITIAL(tdm_loader_batch, TDM_LOADER_BATCH_INIT),
                               [](tdm_loader_batch* given) {
                                 const Records records;
                                 tdm_loader* loader = nullptr;
                                 tdm_tensor* tensor = nullptr;
                                 std::int32_t has_batch = 0;
                                 tdm_error* error = records.loader(nullptr, &loader);
                                 if (!error) error = tdm_loader_next(loader, &tensor, 1, &has_batch);
                                 if (!error) error = tdm_loader_get_batch(loader, given);
                                 tdm_tensor_free(tensor);
                                 tdm_loader_free(loader);
                                 return error;
                               }),
      output<tdm_loader_statistics>(INITIAL(tdm_loader_statistics, TDM_LOADER_STATISTICS_INIT),
                                    [](tdm_loader_statistics* given) {
                                      const Records records;
                                      tdm_loader* loader = nullptr;
                                      tdm_error* error = records.loader(nullptr, &loader);
                                      if (!error) error = tdm_loader_get_statistics(loader, given);
                                      tdm_loader_free(loader);
                                      return error;
                                    }),
      of_struct<tdm_dynamic_loader_options>(INITIAL(tdm_dynamic_loader_options, TDM_DYNAMIC_LOADER_OPTIONS_INIT),
                                            [](tdm_dynamic_loader_options* given) {
                                              const Records records;
                                              tdm_dataset* dataset = nullptr;
                                              tdm_error* error = records.dataset(&dataset);
                                              tdm_loader* loader = nullptr;
                                              if (!error) {
                                                error = tdm_loader_create_replay(dataset, nullptr, 0, given, nullptr, 0,
                                                                                 nullptr, &loader);
                                              }
                                              tdm_loader_free(loader);
                                              tdm_dataset_free(dataset);
                                              return error;
                                            }),
      of_struct<tdm_iterable>(
          "tdm_iterable", no_streams(),
          [](tdm_iterable* given) {
            tdm_dataset* dataset = nullptr;
            tdm_error* error = tdm_dataset_from_iterable(given, &dataset);
            tdm_dataset_free(dataset);
            return error;
          },
          offsetof(tdm_iterable, close) + sizeof(void*)),
      of_struct<tdm_open_records_options>(INITIAL(tdm_open_records_options, TDM_OPEN_RECORDS_OPTIONS_INIT),
                                          [](tdm_open_records_options* given) {
                                            const Records records;
                                            tdm_dataset* dataset = nullptr;
                                            tdm_error* error = records.dataset(&dataset, given);
                                            tdm_dataset_free(dataset);
                                            return error;
                                          }),
      of_struct<tdm_schema_options>(INITIAL(tdm_schema_options, TDM_SCHEMA_OPTIONS_INIT),
                                    [](tdm_schema_options* given) {
                                      const tandem::test::TempDir folder;
                                      const std::string path = folder / "records";
                                      tdm_recordio_writer_options with_schema = TDM_RECORDIO_WRITER_OPTIONS_INIT;
                                      with_schema.version = 2;
                                      with_schema.schema = R"({"fields": [{"name": "byte", "dtype": "uint8"}]})";
                                      EXPECT_OK(write_file(path, &with_schema));
                                      const char* paths = path.c_str();
                                      tdm_dataset* dataset = nullptr;
                                      tdm_error* error = tdm_dataset_from_schema(&paths, 1, given, &dataset);
                                      tdm_dataset_free(dataset);
                                      return error;
                                    }),
  };
  for (Case& one : rpc_cases()) all.push_back(std::move(one));
  return all;
}

class StructSize : public testing::TestWithParam<Case> {
 protected:
  // As much of the initial bytes as there are, zeros behind them.
  static Bytes sized(std::size_t size) {
    Bytes bytes = GetParam().initial;
    bytes.resize(size);
    std::memcpy(bytes.data(), &size, sizeof size);
    return bytes;
  }

  // What the call answers to these bytes, with memory that ends behind them; "" for success, or for a GPU that is not
  // there.
  static std::string answer(const Bytes& bytes, tdm_error_code code = TDM_ERROR_INVALID_ARGUMENT) {
    std::size_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    const Guarded guarded(bytes);
    return answer(guarded, size, code);
  }
  static std::string answer(const Guarded& guarded, std::size_t size, tdm_error_code code) {
    const Guarded::Says says(std::string(GetParam().type) + " with struct_size " + std::to_string(size) +
                             ": touched memory behind it");
    const Error error(GetParam().call(guarded.get()));
    if (!error || tdm_error_get_code(error.get()) == TDM_ERROR_UNSUPPORTED) return "";
    EXPECT_EQ(tdm_error_get_code(error.get()), code) << tdm_error_message(error.get());
    return tdm_error_message(error.get());
  }
};

TEST_P(StructSize, AnOlderProgramGetsDefaults) {
  for (std::size_t size = sizeof size; size <= GetParam().initial.size(); size += alignof(std::size_t)) {
    SCOPED_TRACE(size);
    if (size >= GetParam().required) {
      EXPECT_EQ(answer(sized(size)), "");
    } else {
      EXPECT_THAT(answer(sized(size)), HasSubstr("->"));  // names the field that is missing
    }
  }
}

TEST_P(StructSize, ANewerProgramMayLeaveItsFieldsAtZero) {
  for (const std::size_t more : {8, 64}) EXPECT_EQ(answer(sized(GetParam().initial.size() + more)), "");
  EXPECT_EQ(answer(sized(4096)), "");
}

TEST_P(StructSize, ANewerProgramMayLeaveItsFieldsUnchanged) {
  Bytes bytes = sized(GetParam().initial.size() + 16);
  const std::int32_t unchanged = TDM_UNCHANGED;
  std::memcpy(bytes.data() + GetParam().initial.size() + 4, &unchanged, sizeof unchanged);
  EXPECT_EQ(answer(bytes), "");
}

TEST_P(StructSize, ANewerProgramIsToldOfAFieldThatIsNotThere) {
  for (const std::size_t more : {8, 64}) {
    Bytes bytes = sized(GetParam().initial.size() + more);
    bytes.back() = 7;
    if (GetParam().is_output) {  // what only the caller knows stays the caller's
      const Guarded guarded(bytes);
      EXPECT_EQ(answer(guarded, bytes.size(), 0), "");
      EXPECT_EQ(guarded.bytes()[bytes.size() - 1], 7);
    } else {
      EXPECT_THAT(answer(bytes), AllOf(HasSubstr(GetParam().type), HasSubstr("does not know"), HasSubstr("newer")));
    }
  }
}

TEST_P(StructSize, RefusesWhatIsNoSize) {
  const std::size_t whole = GetParam().initial.size();
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, sizeof(std::size_t) - 1, sizeof(std::size_t) + 1,
                                 whole - 1, whole + 4, std::size_t{4104}, SIZE_MAX / 2 + 1, SIZE_MAX - 7, SIZE_MAX}) {
    SCOPED_TRACE(size);
    Bytes bytes(sizeof size);  // nothing but struct_size can be read
    std::memcpy(bytes.data(), &size, sizeof size);
    EXPECT_THAT(
        answer(bytes),
        AllOf(HasSubstr(std::string(GetParam().type) + ".struct_size is " + std::to_string(size)), HasSubstr("_INIT")));
  }
}

INSTANTIATE_TEST_SUITE_P(All, StructSize, testing::ValuesIn(cases()), [](const auto& info) {
  return std::string(info.param.type) + (info.param.is_output ? "_out" : "");
});

// With no field at all, every one is at its default.
TEST(StructSizeDefaults, OfALoader) {
  const Records records;
  tdm_loader_options options = TDM_LOADER_OPTIONS_INIT;
  options.batch_size = 3;
  options.drop_last = 1;  // not seen
  options.struct_size = offsetof(tdm_loader_options, rank);
  tdm_loader* loader = nullptr;
  ASSERT_OK(records.loader(&options, &loader));
  EXPECT_EQ(tdm_loader_batch_count(loader), 4);
  tdm_loader_free(loader);
  options.struct_size = sizeof options.struct_size;
  ASSERT_OK(records.loader(&options, &loader));
  EXPECT_EQ(tdm_loader_batch_count(loader), 10);
  tdm_loader_free(loader);
}

TEST(StructSizeDefaults, OfAGradScaler) {
  tdm_grad_scaler_options options = TDM_GRAD_SCALER_OPTIONS_INIT;
  options.init_scale = 4;
  options.growth_factor = 0;  // would be refused
  options.struct_size = offsetof(tdm_grad_scaler_options, growth_factor);
  tdm_grad_scaler* scaler = nullptr;
  ASSERT_OK(tdm_grad_scaler_create(&options, &scaler));
  tdm_grad_scaler_state state = TDM_GRAD_SCALER_STATE_INIT;
  EXPECT_OK(tdm_grad_scaler_get_state(scaler, &state));
  EXPECT_EQ(state.scale, 4);
  EXPECT_EQ(state.growth_factor, 2);
  EXPECT_EQ(state.growth_interval, 2000);
  // As much as an older program has room for.
  state = {};
  state.struct_size = offsetof(tdm_grad_scaler_state, growth_factor);
  EXPECT_OK(tdm_grad_scaler_get_state(scaler, &state));
  EXPECT_EQ(state.scale, 4);
  EXPECT_EQ(state.growth_factor, 0);
  EXPECT_EQ(state.struct_size, offsetof(tdm_grad_scaler_state, growth_factor));
  tdm_grad_scaler_free(scaler);
}

TEST(StructSizeDefaults, OfATcpStore) {
  tdm_tcp_store_options options = TDM_TCP_STORE_OPTIONS_INIT;
  options.is_server = 1;
  options.wait_workers = 1;  // with nobody to come, and
  options.timeout_ms = -1;   // an impossible timeout: neither is seen
  options.struct_size = offsetof(tdm_tcp_store_options, wait_workers);
  tdm_store* store = nullptr;
  ASSERT_OK(tdm_store_tcp("127.0.0.1", 0, &options, &store));
  EXPECT_NE(tdm_store_port(store), 0);
  tdm_store_free(store);
}

// A struct that the table above lacks is not tested.
TEST(StructSizeTable, HasEveryStructOfTheHeader) {
  std::ifstream file(TANDEM_HEADER);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::set<std::string> declared, tested{"tdm_function_backward", "tdm_grad_bucket", "tdm_jit_trace_call",
                                         "tdm_pipeline_call", "tdm_replica_call",
                                         "tdm_step_batch"};  // Tandem's own: for callbacks
  const std::regex pattern(R"(typedef struct (tdm_\w+) \{\s*size_t struct_size;)");
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    declared.insert((*match)[1]);
  }
  for (const Case& one : cases()) tested.insert(one.type);
  EXPECT_EQ(declared, tested);
}

}  // namespace
