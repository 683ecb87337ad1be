// Parameters that live on servers; see docs/parameter-server.md.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tandem/abi/checkpoint_folder.hpp"
#include "tandem/abi/value.hpp"

namespace tandem::abi {

// Makes this worker one whose tables trainers read, before rpc_init(). Thread-safe.
class ParameterServer {
 public:
  // Of all tables; 0: three quarters of this machine's memory.
  explicit ParameterServer(int64_t most_bytes = 0) {
    tdm_parameter_server_options options = TDM_PARAMETER_SERVER_OPTIONS_INIT;
    options.most_bytes = most_bytes;
    check(tdm_parameter_server_create(&options, handle_.out()));
  }

  // Until all trainers have joined and none is left; false: the time was over before.
  bool wait(int64_t timeout_ms) {
    int32_t done = 0;
    check(tdm_parameter_server_wait(raw(), timeout_ms, &done));
    return done != 0;
  }
  // Updates, pushes, waits, rows read, rows pushed, most steps ahead, bytes.
  std::vector<int64_t> statistics() const {
    tdm_parameter_server_statistics counted = TDM_PARAMETER_SERVER_STATISTICS_INIT;
    check(tdm_parameter_server_get_statistics(raw(), &counted));
    return {counted.updates,     counted.pushes,     counted.waits, counted.rows_read,
            counted.rows_pushed, counted.most_ahead, counted.bytes};
  }
  std::vector<std::string> trainers() const {
    tdm_strings* names = nullptr;
    check(tdm_parameter_server_trainers(raw(), &names));
    return take_strings(names);
  }
  std::vector<std::string> tables() const {
    tdm_strings* names = nullptr;
    check(tdm_parameter_server_tables(raw(), &names));
    return take_strings(names);
  }

  tdm_parameter_server* raw() const noexcept { return handle_.get(); }

 private:
  Handle<tdm_parameter_server, tdm_parameter_server_free> handle_;
};

// A table of `rows` vectors, spread over the servers. Source: torch.nn.Embedding.
struct EmbeddingTable {
  int64_t rows = 0;
  int64_t width = 0;
  int32_t dtype = TDM_DTYPE_FLOAT32;  // or TDM_DTYPE_FLOAT64
  int32_t placement = TDM_ROW_PLACEMENT_MODULO;
  std::string optimizer = "SGD";  // one that takes sparse gradients
  double standard_deviation = 1;
  uint64_t seed = 0;
};

// The tables that trainers declare.
class EmbeddingTables {
 public:
  EmbeddingTables() = default;
  EmbeddingTables(EmbeddingTables&&) = default;
  EmbeddingTables& operator=(EmbeddingTables&&) = default;

  // `options` are its optimizer's, and are left empty. `initial` may be null: rows are drawn on the servers.
  void add(const std::string& name, const EmbeddingTable& table, Options& options, const Tensor* initial) {
    items_.push_back({name, table, std::move(options), initial ? Tensor(*initial) : Tensor()});
    options = Options();
  }

 private:
  friend class ParameterClient;
  struct Item {
    std::string name;
    EmbeddingTable table;
    Options options;
    Tensor initial;
  };

  std::vector<Item> items_;
};

struct ParameterClientOptions {
  int64_t trainers = 1;         // that have to join before the first step
  int64_t staleness = 0;        // not synchronous: steps that a trainer may be ahead of the slowest one
  int64_t timeout_ms = 300000;  // of each call and each wait
  bool synchronous = true;
  int32_t lost_trainers = TDM_LOST_TRAINERS_FAIL;
  std::string dense_optimizer = "SGD";
};

// A trainer's view of the servers; tandem.h says what all of it does. One thread at a time.
class ParameterClient {
 public:
  // `servers` are workers, and `parameters` this trainer's own dense tensors, each with its name. Blocks.
  ParameterClient(const std::vector<std::string>& servers, const ParameterClientOptions& options,
                  const std::vector<std::string>& names, const TensorList& parameters, const Options& dense_options,
                  const EmbeddingTables& tables) {
    if (names.size() != parameters.size()) {
      throw Error(TDM_ERROR_INVALID_ARGUMENT, "ParameterClient", "give one name for each parameter");
    }
    const auto server_names = c_strings(servers), parameter_names = c_strings(names);
    const auto dense = dense_options.raw();
    tdm_parameter_client_options raw = TDM_PARAMETER_CLIENT_OPTIONS_INIT;
    raw.servers = server_names.data();
    raw.server_count = server_names.size();
    raw.trainers = options.trainers;
    raw.staleness = options.staleness;
    raw.timeout_ms = options.timeout_ms;
    raw.dense_optimizer = or_null(options.dense_optimizer);
    raw.dense_options = dense.data();
    raw.dense_option_count = dense.size();
    raw.synchronous = options.synchronous;
    raw.lost_trainers = options.lost_trainers;
    std::vector<std::vector<tdm_option>> table_options;
    for (const auto& item : tables.items_) table_options.push_back(item.options.raw());
    std::vector<tdm_embedding_table> declared;
    for (const auto& item : tables.items_) {
      const auto& of_optimizer = table_options[declared.size()];
      const EmbeddingTable& table = item.table;
      declared.push_back({item.name.c_str(), table.rows, table.width, table.dtype, table.placement,
                          or_null(table.optimizer), of_optimizer.data(), of_optimizer.size(), item.initial.raw(),
                          table.standard_deviation, table.seed});
    }
    check(tdm_parameter_client_create(&raw, parameter_names.data(), parameters.data(), parameters.size(),
                                      declared.data(), declared.size(), handle_.out()));
  }

  // The rows of `indices`, [*indices, width].
  Tensor embedding(const std::string& table, const Tensor& indices) {
    tdm_tensor* rows = nullptr;
    check(tdm_parameter_client_embedding(raw(), table.c_str(), indices.raw(), &rows));
    return Tensor(rows);
  }
  void step() { check(tdm_parameter_client_step(raw())); }
  int64_t steps() const { return tdm_parameter_client_steps(raw()); }
  // One after the other; "": of the dense parameters' optimizer.
  void set_options(const std::string& table, const Options& options) {
    for (const tdm_option& option : options.raw()) {
      check(tdm_parameter_client_set_option(raw(), table.c_str(), &option));
    }
  }
  void leave() { check(tdm_parameter_client_leave(raw())); }

  // What trainer `part` of `parts` saves of what the servers have.
  OwnTensors state(int32_t part, int32_t parts) {
    tdm_own_tensors* list = nullptr;
    check(tdm_parameter_client_state(raw(), part, parts, &list));
    return OwnTensors(list);
  }
  // A checkpoint, of whose tables this trainer reads its part alone: the newest, or with `step` from 0 that one.
  LoadedCheckpoint read(const CheckpointFolder& folder, int64_t step, int32_t part, int32_t parts) const {
    tdm_checkpoint_selection selection = TDM_CHECKPOINT_SELECTION_INIT;
    selection.step = step;
    tdm_checkpoint* checkpoint = nullptr;
    check(tdm_parameter_client_read(raw(), folder.raw(), &selection, part, parts, &checkpoint));
    return LoadedCheckpoint(checkpoint);
  }
  // Gives the servers the part that read() read.
  void load(const LoadedCheckpoint& checkpoint, int32_t part, int32_t parts) {
    check(tdm_parameter_client_load(raw(), checkpoint.raw(), part, parts));
  }

  tdm_parameter_client* raw() const noexcept { return handle_.get(); }

 private:
  Handle<tdm_parameter_client, tdm_parameter_client_free> handle_;
};

}  // namespace tandem::abi
