// Parameters that live on servers: trainers read them, and servers apply the trainers' gradients. Embedding tables are
// spread over the servers by rows, and a trainer reads and pushes only the rows that its batch needs.
//
//   tandem::ParameterServer server;                            // on a server
//   tandem::rpc::init("server0");
//   while (!server.wait(std::chrono::minutes(1))) {}
//   tandem::rpc::shutdown();
//
//   tandem::rpc::init("trainer" + rank);                       // on a trainer
//   tandem::ParameterClient client({.servers = {"server0", "server1"}, .trainers = 2}, {},
//                                  {{"users", {.rows = 1000000, .width = 64, .optimizer = "Adagrad"}}});
//   for (...) {
//     at::Tensor x = client.embedding("users", ids);           // [*, 64], with history
//     loss_of(ddp.forward(x)).backward();
//     dense_optimizer->step();
//     client.step();                                           // the rows' gradients go to the servers
//   }
//   client.leave();
//
// Built on tandem/rpc.h, whose workers trust each other; docs/parameter-server.md has more. Sources: Li et al. 2014
// (Scaling Distributed Machine Learning with the Parameter Server); Ho et al. 2013 (stale synchronous parallel).
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tandem/checkpoint.h"
#include "tandem/export.h"
#include "tandem/named_tensors.h"
#include "tandem/option.h"

namespace tandem {

struct ParameterServerOptions {
  // Of all tables of this server, without what optimizers remember; a trainer that declares more gets an error. 0: three
  // quarters of this machine's memory.
  std::int64_t most_bytes = 0;
};

struct ParameterServerStatistics {
  std::int64_t updates = 0;      // synchronous: of all tables at a time; else one a push
  std::int64_t pushes = 0;       // that trainers made, one a step
  std::int64_t waits = 0;        // pushes after which the trainer had to wait for others
  std::int64_t rows_read = 0;    // of embedding tables
  std::int64_t rows_pushed = 0;
  std::int64_t most_ahead = 0;   // steps that a trainer was ahead of the slowest when it pushed
  std::int64_t bytes = 0;        // of all tables
  std::vector<std::string> trainers;  // that take part now
  std::vector<std::string> tables;    // of which this server has a part, and the dense parameters that it has
};

// What makes a worker a server: one a process. Make it before rpc::init(), so that no trainer comes too early. Handles what
// trainers ask on the session's threads, none of which waits for another trainer. Thread-safe.
class TANDEM_API ParameterServer {
 public:
  // Errors: kInvalidArgument where the process has one.
  explicit ParameterServer(const ParameterServerOptions& options = {});
  // Drops the tables; trainers that are left get kNotFound.
  ~ParameterServer();
  ParameterServer(const ParameterServer&) = delete;
  ParameterServer& operator=(const ParameterServer&) = delete;

  // Blocks until all trainers have joined and none is left; false: `timeout` was over before. Errors, once none is left:
  // why the training failed, such as kPeerLost naming a trainer that died.
  bool wait(std::chrono::milliseconds timeout);
  ParameterServerStatistics statistics() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Which server has a row.
enum class RowPlacement {
  kModulo,  // row modulo the number of servers: neighbours, which are often asked for together, are on all servers
  kRange,   // each server has rows that follow each other
};

// A table of `rows` vectors. Source: torch.nn.Embedding.
struct EmbeddingTable {
  std::int64_t rows = 0;
  std::int64_t width = 0;
  at::ScalarType dtype = at::kFloat;  // kFloat or kDouble
  // By name, as make_optimizer() takes it (tandem/optim.h); one that takes sparse gradients: SGD without momentum and
  // weight decay, Adagrad, SparseAdam.
  std::string optimizer = "SGD";
  std::vector<Option> optimizer_options = {};
  RowPlacement placement = RowPlacement::kModulo;
  // Rows begin as [rows, width] of a trainer's or, where that is undefined, as numbers of a normal distribution around 0,
  // drawn on the servers: the same for a seed, however many servers there are.
  at::Tensor initial = {};
  double standard_deviation = 1;
  std::uint64_t seed = 0;
};

// A trainer's own tensors that are to have the servers' values; each parameter lies whole on one server, so that the
// servers have about the same number of elements.
struct DenseParameters {
  NamedTensors parameters = {};  // strided, on the CPU or another device, of floating point; gradients in their grad
  std::string optimizer = "SGD"; // any of the registry but LBFGS; one a server
  std::vector<Option> optimizer_options = {};
};

enum class LostTrainers {
  kFail,  // all trainers get kPeerLost, naming it: the job goes on from a checkpoint
  kLeave  // as if it had left: the others go on without it
};

struct ParameterClientOptions {
  std::vector<std::string> servers = {};  // workers with a ParameterServer, in the same order on all trainers
  int trainers = 1;                       // that have to join before the first step; more may join later
  // The gradients that all trainers pushed in a step are averaged, and make one update. Otherwise each push makes one at
  // once, unscaled.
  bool synchronous = true;
  // Not synchronous: how many steps a trainer may be ahead of the slowest one before it waits.
  int staleness = 0;
  std::chrono::milliseconds timeout{300000};  // of each call and each wait
  LostTrainers lost_trainers = LostTrainers::kFail;
};

// A trainer's view of the servers, one a process at a time. All trainers give the same options and declare the same
// tables. Not thread-safe.
//
// Errors of all that follows: kTimeout that names the trainers, or the server, that it waited for; kPeerLost naming a
// worker that is gone; kAborted after a trainer gave up; those of rpc_sync(). What step() or the fetching of rows failed
// of, unless it was a timeout, every later call fails of, too.
class TANDEM_API ParameterClient {
 public:
  // Blocks until `trainers` have joined; who comes later, until the present step is over. Then the dense parameters have
  // the servers' values, which are those of the trainer that joined first. Names of tables and dense parameters are 1 to
  // 255 bytes, without '/'. Errors: kInvalidArgument for what makes no sense, or differs from what other trainers gave,
  // naming table and trainers; kOutOfMemory for more than a server's most_bytes; kUnsupported for an optimizer that does
  // not suit.
  ParameterClient(ParameterClientOptions options, DenseParameters dense,
                  std::map<std::string, EmbeddingTable> embeddings = {});
  // Without leave() before, the other trainers hear that this one gave up, as if it had died.
  ~ParameterClient();
  ParameterClient(const ParameterClient&) = delete;
  ParameterClient& operator=(const ParameterClient&) = delete;

  // The rows of `indices`, int64 of any shape: [*indices, width] on the CPU. Each row is fetched once. With gradients
  // enabled the result has history, and the next step() pushes the rows' gradients. Errors: kNotFound (no such table),
  // kOutOfRange naming the table and the index.
  at::Tensor embedding(const std::string& table, const at::Tensor& indices);

  // Pushes the gradients of the dense parameters, and those of the rows that embedding() gave since the last step; waits
  // as the mode has it; then the dense parameters have the servers' new values, and gradients are dropped. A parameter
  // without a gradient counts as zeros where another trainer has one. After kTimeout it may be called again: it pushes
  // nothing, and waits on.
  void step();
  // The number of this trainer's next step, from 0; who joined late counts on from where the others were.
  std::int64_t steps() const;

  // Of the optimizer of a table or, for "", of the dense parameters, on all servers: for schedules of learning rates. One
  // trainer calls it, between its steps. Errors: kNotFound; those of Optimizer::set_option().
  void set_option(const std::string& table, const Option& option);

  // After the last step: the others go on without this trainer. Does nothing a second time.
  void leave();

  // --- checkpoints (tandem/checkpoint.h), of which each of `parts` trainers saves and loads its part: `part`, from 0. All
  // of them call between the same two steps; others' steps would show in parts of it.

  // Rows of the tables, in section "tables" by the tables' own names, and what optimizers remember of them, in section
  // "table_optimizers" as "users.sum"; dense parameters likewise. Fetched from the servers by some MiB at a time.
  std::map<std::string, std::vector<OwnTensor>> state(int part = 0, int parts = 1);
  // Has a trainer read its part of these two sections, and all of others.
  CheckpointRequest request(int part = 0, int parts = 1) const;
  // Gives the servers what a checkpoint has, which may be of another number of trainers and of servers, and placed
  // otherwise. Run it in CheckpointFolder::together(). Errors: kInvalidArgument naming what is missing or of another shape
  // or dtype.
  void load(const Checkpoint& checkpoint, int part = 0, int parts = 1);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tandem
