// A server's tables and trainers, and what trainers call.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "parameter_server/declaration.h"
#include "parameter_server/table.h"
#include "parameter_server/trainers.h"
#include "tandem/rpc.h"

namespace tandem::parameter_server {

// Thread-safe. No function waits for another trainer: who has to wait is told to, and called when it need not any more.
class Server : public std::enable_shared_from_this<Server> {
 public:
  explicit Server(std::int64_t most_bytes);

  // Arguments as in calls.h.
  at::IValue join(const rpc::Values& given);
  at::IValue admit(const rpc::Values& given);
  at::IValue leave(const rpc::Values& given);
  at::IValue read(const rpc::Values& given);
  at::IValue push(const rpc::Values& given);
  at::IValue look(const rpc::Values& given);
  at::IValue set_option(const rpc::Values& given);
  at::IValue read_state(const rpc::Values& given);
  at::IValue write_state(const rpc::Values& given);
  at::IValue stays(const rpc::Values&);

  bool wait(std::chrono::milliseconds timeout);
  ParameterServerStatistics statistics() const;

 private:
  // One trainer's gradients of a step.
  struct TableGradients {
    std::shared_ptr<Table> table;
    at::Tensor places, gradients;
  };
  struct Gradients {
    std::vector<at::Tensor> dense;
    std::vector<TableGradients> tables;
  };
  // Those of all trainers.
  struct Sum {
    std::vector<at::Tensor> dense;
    std::map<std::string, std::vector<TableGradients>> tables;
    std::int64_t pushes = 0;
  };
  struct Tables {
    std::string declared_by;
    std::map<std::string, std::shared_ptr<Table>> embeddings;
    std::shared_ptr<DenseTable> dense;
    std::int64_t bytes = 0;
  };

  std::shared_ptr<const Tables> tables() const;
  std::shared_ptr<Table> table(const std::string& name) const;
  Tables make(const std::string& trainer, const Declarations& declared, const at::IValue& values) const;
  at::IValue join(const std::string& trainer, std::int64_t number, const rpc::Values& given);
  void check_same(const std::string& trainer, const Declarations& declared) const;
  Gradients gradients_from(const rpc::Values& given) const;
  static void apply(const Tables& tables, const Gradients& gradients);

  // With the mutex.
  void add(Gradients&& gradients);
  void apply_sum();
  void go_through_steps();
  void fail(const Error& error);
  void lose(const std::string& trainer, const std::string& how);
  void check_failure() const;
  std::vector<std::string> take_released();

  // Without it.
  at::IValue standing(const std::string& trainer, std::int64_t clock, bool has_pushed);
  void tell(const std::vector<std::string>& released) const;
  void ping(const std::vector<std::string>& trainers);

  const std::int64_t most_bytes_;
  std::mutex making_;  // of tables
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const Tables> tables_;
  std::optional<Trainers> trainers_;
  std::optional<Error> failure_;
  std::map<std::int64_t, std::string> joins_;  // under way; who gives up is taken out
  std::int64_t next_join_ = 0;
  Sum sum_;
  std::set<std::string> waiting_, pinged_;
  ParameterServerStatistics statistics_;
};

}  // namespace tandem::parameter_server
