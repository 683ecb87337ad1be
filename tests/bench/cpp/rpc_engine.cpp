// LibTorch's engine of `rpc` by itself: its agent, its messages and its callback, with operators of two numbers and of a
// tensor, which gives it back.
//
//   bench-rpc-engine --seconds 0.5
//
// Writes rank-R.json as bench-rpc does, without 64MB-tensor.
#include <torch/csrc/distributed/autograd/context/container.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/rpc/request_callback_no_python.h>
#include <torch/csrc/distributed/rpc/rref_context.h>
#include <torch/csrc/distributed/rpc/script_call.h>
#include <torch/csrc/distributed/rpc/script_resp.h>
#include <torch/csrc/distributed/rpc/tensorpipe_agent.h>
#include <torch/csrc/jit/frontend/script_type_parser.h>
#include <torch/torch.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "bench/cpp/rpc_calls.h"

namespace {

namespace torch_rpc = torch::distributed::rpc;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  if (!value) throw std::runtime_error(std::string(name) + " is not set");
  return value;
}

void run(double seconds) {
  const int rank = std::stoi(environment("RANK")), size = std::stoi(environment("WORLD_SIZE"));
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(std::stoi(environment("MASTER_PORT")));
  options.isServer = rank == 0;
  options.numWorkers = static_cast<std::size_t>(size);
  const auto store = c10::make_intrusive<c10d::TCPStore>(environment("MASTER_ADDR"), options);
  torch_rpc::TensorPipeRpcBackendOptions native(torch_rpc::kDefaultNumWorkerThreads, {}, {}, 60, "");
  const auto agent = std::make_shared<torch_rpc::TensorPipeAgent>(
      store, "worker" + std::to_string(rank), static_cast<torch_rpc::worker_id_t>(rank), size, native,
      std::unordered_map<std::string, torch_rpc::DeviceMap>{}, std::vector<c10::Device>{},
      std::make_unique<torch_rpc::RequestCallbackNoPython>());
  agent->setTypeResolver(std::make_shared<torch_rpc::TypeResolver>([](const c10::QualifiedName& name) {
    return c10::StrongTypePtr(nullptr, torch::jit::ScriptTypeParser().parseType(name.qualifiedName()));
  }));
  torch::distributed::autograd::DistAutogradContainer::init(rank);
  torch_rpc::RpcAgent::setCurrentRpcAgent(agent);
  torch_rpc::RRefContext::getInstance();
  agent->start();
  std::ofstream out(environment("BENCH_OUT") + "/rank-" + std::to_string(rank) + ".json");
  if (rank == 0) {
    const auto add = torch::jit::getOperatorForLiteral("aten::add.int(int a, int b) -> (int)");
    const auto positive = torch::jit::getOperatorForLiteral("aten::positive(Tensor(a) self) -> Tensor(a)");
    const torch_rpc::WorkerInfo& to = agent->getWorkerInfo("worker1");
    const auto call = [&](const std::shared_ptr<torch::jit::Operator>& op, std::vector<at::IValue> given) {
      const auto answer = agent->send(to, torch_rpc::ScriptCall(op, std::move(given)).toMessage());
      answer->waitAndThrow();
      auto type = torch_rpc::MessageType::UNKNOWN;
      const auto message = answer->constValue().toCustomClass<torch_rpc::Message>();
      const auto read = torch_rpc::deserializeResponse(*message, type);
      return static_cast<torch_rpc::ScriptResp&>(*read).value();
    };
    const at::Tensor small = torch::arange(256, torch::kFloat32);
    const auto sum = [&] {
      if (call(add, {1, 2}).toInt() != 3) std::abort();
    };
    const auto echo = [&] {
      if (!call(positive, {small}).toTensor().equal(small)) std::abort();
    };
    out << "{\"us\": {\"empty-call\": " << time_calls(seconds, 1, sum);
    out << ", \"1KB-tensor\": " << time_calls(seconds, 1, echo);
    out << ", \"calls-8\": " << time_calls(seconds, 8, sum);
    out << ", \"tensor-calls-8\": " << time_calls(seconds, 8, echo) << "}}";
  } else {
    out << "{}";
  }
  out.close();
  agent->join(/*shutdown=*/true);
  agent->shutdown();
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = seconds_of(argc, argv);
  torch::set_num_threads(1);
  try {
    run(seconds);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
