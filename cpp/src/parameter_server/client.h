// A trainer's part: which server has what, and what it pushes in a step.
#pragma once

#include <ATen/ATen.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parameter_server/calls.h"
#include "parameter_server/declaration.h"
#include "parameter_server/rows.h"
#include "tandem/parameter_server.h"

namespace tandem::parameter_server {

class Client {
 public:
  Client(ParameterClientOptions options, DenseParameters dense, std::map<std::string, EmbeddingTable> embeddings);

  void join();
  at::Tensor embedding(const std::string& table, const at::Tensor& indices);
  void step();
  std::int64_t steps() const { return clock_; }
  void set_option(const std::string& table, const Option& option);
  void leave(bool in_good_order);

  std::map<std::string, std::vector<OwnTensor>> state(int part, int parts);
  CheckpointRequest request(int part, int parts) const;
  void load(const Checkpoint& checkpoint, int part, int parts);

 private:
  struct Asked {  // rows that embedding() gave
    at::Tensor rows, values;
  };
  struct Embedding {
    EmbeddingTable table;
    Rows rows;
    std::vector<Asked> asked;
  };
  // Some rows of a table, on one server.
  struct OnServer {
    std::size_t server;
    at::Tensor positions, places;  // in the list of rows; on the server
  };

  std::size_t servers() const { return options_.servers.size(); }
  Embedding& find(const std::string& table);
  std::vector<OnServer> spread(const Embedding& embedding, const at::Tensor& rows) const;
  void place_dense();
  void check_tables() const;
  Declarations declarations(std::size_t server) const;
  at::IValue values_for(std::size_t server) const;
  void join_server(std::size_t server, bool& is_first);
  rpc::Future call_server(std::size_t server, const char* function, rpc::Values arguments,
                          std::chrono::milliseconds timeout = std::chrono::milliseconds(0)) const;
  std::vector<rpc::Values> take_pushes();
  // Until all servers let this trainer go on; takes the dense values that they give. `standings`: what servers answered.
  void wait_for_others(std::vector<std::optional<at::IValue>> standings, std::int64_t clock, std::int64_t told,
                       const std::string& what);
  void take_dense(std::size_t server, const at::IValue& values);
  void check_usable() const;
  void fail_on(const Error& error);

  void read_table(const std::string& name, int part, int parts, std::map<std::string, std::vector<OwnTensor>>& sections) const;
  void read_dense(int part, int parts, std::map<std::string, std::vector<OwnTensor>>& sections) const;
  void check_between_steps(const char* what) const;
  void check_optimizers(const Checkpoint& checkpoint) const;
  void check_optimizer(const std::string& what, const std::string& name, const std::string& type,
                       const Checkpoint& checkpoint) const;
  void load_table(const std::string& name, const Checkpoint& checkpoint, int part, int parts);
  void load_dense(const Checkpoint& checkpoint, int part, int parts);

  const ParameterClientOptions options_;
  DenseParameters dense_;
  std::vector<std::size_t> dense_servers_;  // of each parameter
  std::map<std::string, Embedding> embeddings_;
  std::string self_;
  std::vector<bool> joined_;
  std::int64_t clock_ = 0;
  bool has_pushed_ = false, has_left_ = false;
  std::optional<Error> failure_;
};

constexpr const char* kTables = "tables";  // sections of checkpoints
constexpr const char* kTableOptimizers = "table_optimizers";

}  // namespace tandem::parameter_server
