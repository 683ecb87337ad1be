// What an agent does with what others ask of this worker.
#pragma once

#include <torch/csrc/distributed/rpc/request_callback_no_python.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "rpc/function_pool.h"

namespace tandem::rpc {

// LibTorch's, but functions and backward passes, which may call others, run in a pool of their own.
class Callback final : public torch::distributed::rpc::RequestCallbackNoPython {
 public:
  using Message = torch::distributed::rpc::Message;
  using Command = torch::distributed::rpc::RpcCommandBase;
  using Type = torch::distributed::rpc::MessageType;
  using Future = c10::intrusive_ptr<torch::distributed::rpc::JitFuture>;
  using Streams = std::vector<c10::Stream>;

  explicit Callback(FunctionPool& pool) : pool_(pool) {}

  Future processMessage(Message& request, Streams streams) const override;

 protected:
  Future processRpcWithErrors(Command& rpc, const Type& type, const Streams& streams) const override;
  Future processScriptCall(Command& rpc, const Streams& streams) const override;
  Future processScriptRemoteCall(Command& rpc, const Streams& streams) const override;
  // LibTorch's reads from a null reference whenever a deleted one is not the value's last.
  void handleRRefDelete(c10::intrusive_ptr<torch::distributed::rpc::RRef>&) const override {}

 private:
  // Contexts of autograd that are over: the latest ones.
  class Over {
   public:
    void add(std::int64_t context);
    bool has(std::int64_t context);

   private:
    std::mutex mutex_;
    std::deque<std::int64_t> order_;
    std::unordered_set<std::int64_t> all_;
  };

  Future backward(Command& rpc, const Streams& streams) const;
  void forget_context(std::int64_t context) const;

  FunctionPool& pool_;
  mutable Over over_;
};

}  // namespace tandem::rpc
