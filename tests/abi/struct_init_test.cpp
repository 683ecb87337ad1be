// tdm_X_init(): what languages without macros have instead of TDM_X_INIT.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "abi/guarded.h"
#include "capi/calls.h"

namespace {

using testing::HasSubstr;
using Bytes = std::vector<unsigned char>;

// For languages without macros: the same bytes as the macro makes, for a caller that knows as much of the struct.
template <typename Struct>
void expect_initialised(const char* type, const Struct& macro, void (*init)(Struct*, std::size_t)) {
  SCOPED_TRACE(type);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&macro);
  for (std::size_t size = sizeof size; size <= sizeof macro + 64; size += sizeof size) {
    Bytes expected(bytes, bytes + std::min(size, sizeof macro));
    expected.resize(size);  // what a newer program's struct has behind that: zeros
    std::memcpy(expected.data(), &size, sizeof size);
    Bytes noise(size, 0xa5);
    const Guarded guarded(noise);
    init(static_cast<Struct*>(static_cast<void*>(guarded.get())), size);
    EXPECT_EQ(Bytes(guarded.bytes(), guarded.bytes() + size), expected) << size;
  }
  const Bytes noise(sizeof macro, 0xa5);
  Bytes untouched = noise;
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, sizeof(std::size_t) + 1, SIZE_MAX}) {
    init(reinterpret_cast<Struct*>(untouched.data()), size);
    EXPECT_EQ(untouched, noise) << size;
  }
  init(nullptr, sizeof macro);
}

// Static, so that what lies between fields is zero.
#define EXPECT_INITIALISED(type, INIT)                   \
  do {                                                   \
    static const type whole = INIT;                      \
    expect_initialised<type>(#type, whole, type##_init); \
  } while (false)

TEST(StructInit, MakesWhatTheMacroMakes) {
  EXPECT_INITIALISED(tdm_load_options, TDM_LOAD_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_modes, TDM_MODES_INIT);
  EXPECT_INITIALISED(tdm_function, TDM_FUNCTION_INIT);
  EXPECT_INITIALISED(tdm_device_memory, TDM_DEVICE_MEMORY_INIT);
  EXPECT_INITIALISED(tdm_cuda_settings, TDM_CUDA_SETTINGS_INIT);
  EXPECT_INITIALISED(tdm_grad_scaler_options, TDM_GRAD_SCALER_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_grad_scaler_state, TDM_GRAD_SCALER_STATE_INIT);
  EXPECT_INITIALISED(tdm_checkpoint_folder_options, TDM_CHECKPOINT_FOLDER_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_checkpoint_selection, TDM_CHECKPOINT_SELECTION_INIT);
  EXPECT_INITIALISED(tdm_elastic_options, TDM_ELASTIC_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_metrics_options, TDM_METRICS_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_averaged_parameters_options, TDM_AVERAGED_PARAMETERS_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_exported_options, TDM_EXPORTED_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_pt_load_options, TDM_PT_LOAD_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_safetensors_load_options, TDM_SAFETENSORS_LOAD_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_tcp_store_options, TDM_TCP_STORE_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_trace_options, TDM_TRACE_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_profiler_options, TDM_PROFILER_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_ddp_options, TDM_DDP_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_comm_hook_options, TDM_COMM_HOOK_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_ddp_join_options, TDM_DDP_JOIN_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_ddp_statistics, TDM_DDP_STATISTICS_INIT);
  EXPECT_INITIALISED(tdm_ddp_iteration, TDM_DDP_ITERATION_INIT);
  EXPECT_INITIALISED(tdm_bucket_trial_options, TDM_BUCKET_TRIAL_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_bucket_advice, TDM_BUCKET_ADVICE_INIT);
  EXPECT_INITIALISED(tdm_data_parallel_options, TDM_DATA_PARALLEL_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_replicas, TDM_REPLICAS_INIT);
  EXPECT_INITIALISED(tdm_pipeline_options, TDM_PIPELINE_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_pipeline_split_options, TDM_PIPELINE_SPLIT_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_rpc_call_options, TDM_RPC_CALL_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_rref_counts, TDM_RREF_COUNTS_INIT);
  EXPECT_INITIALISED(tdm_rpc_statistics, TDM_RPC_STATISTICS_INIT);
  EXPECT_INITIALISED(tdm_distributed_optimizer_options, TDM_DISTRIBUTED_OPTIMIZER_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_parameter_server_options, TDM_PARAMETER_SERVER_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_parameter_server_statistics, TDM_PARAMETER_SERVER_STATISTICS_INIT);
  EXPECT_INITIALISED(tdm_parameter_client_options, TDM_PARAMETER_CLIENT_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_recordio_writer_options, TDM_RECORDIO_WRITER_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_loader_options, TDM_LOADER_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_loader_batch, TDM_LOADER_BATCH_INIT);
  EXPECT_INITIALISED(tdm_open_records_options, TDM_OPEN_RECORDS_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_iterable, TDM_ITERABLE_INIT);
  EXPECT_INITIALISED(tdm_schema_options, TDM_SCHEMA_OPTIONS_INIT);
  EXPECT_INITIALISED(tdm_loader_statistics, TDM_LOADER_STATISTICS_INIT);
  EXPECT_INITIALISED(tdm_dynamic_loader_options, TDM_DYNAMIC_LOADER_OPTIONS_INIT);
}

// Its text is the library's own.
TEST(StructInit, MakesTheOptionsOfAGroup) {
  static tdm_process_group_options whole = TDM_PROCESS_GROUP_OPTIONS_INIT;
  tdm_process_group_options made{};
  tdm_process_group_options_init(&made, sizeof made);
  ASSERT_STREQ(made.init_method, whole.init_method);
  whole.init_method = made.init_method;
  expect_initialised<tdm_process_group_options>("tdm_process_group_options", whole, tdm_process_group_options_init);
}

TEST(StructInit, MakesTheOptionsOfCalls) {
  static tdm_rpc_options whole = TDM_RPC_OPTIONS_INIT;
  tdm_rpc_options made{};
  tdm_rpc_options_init(&made, sizeof made);
  ASSERT_STREQ(made.init_method, whole.init_method);
  whole.init_method = made.init_method;
  expect_initialised<tdm_rpc_options>("tdm_rpc_options", whole, tdm_rpc_options_init);
}

TEST(StructInit, IsThereForEveryMacro) {
  std::ifstream file(TANDEM_HEADER);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::regex macro(R"(#define TDM_(\w+)_INIT \\?\s*\{ sizeof\((tdm_\w+)\))");
  int macros = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), macro), end; match != end; ++match, ++macros) {
    const std::string type = (*match)[2];
    EXPECT_THAT(text, HasSubstr("void " + type + "_init(" + type + "* made, size_t struct_size);"));
  }
  EXPECT_EQ(macros, 47);
}

}  // namespace
