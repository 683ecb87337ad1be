// Our side of `rpc`: calls from one worker to another.
//
//   bench-rpc --seconds 0.5
//
// Writes rank-R.json into the folder BENCH_OUT: microseconds a call, by case; nothing on rank 1, which serves.
#include <torch/torch.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "bench/cpp/rpc_calls.h"
#include "tandem/rpc.h"

namespace {

namespace rpc = tandem::rpc;
void measure(std::ostream& out, double seconds) {
  const at::Tensor small = torch::arange(256, torch::kFloat32), large = torch::ones(16 << 20);
  const auto nothing = [] { rpc::rpc_sync("worker1", "nothing"); };
  const auto echo = [&] {
    if (!rpc::rpc_sync("worker1", "echo", {small}).toTensor().equal(small)) std::abort();
  };
  const auto sum = [&] {
    if (rpc::rpc_sync("worker1", "last", {large}).toDouble() != 1.0) std::abort();
  };
  out << "{\"us\": {\"empty-call\": " << time_calls(seconds, 1, nothing);
  out << ", \"1KB-tensor\": " << time_calls(seconds, 1, echo);
  out << ", \"64MB-tensor\": " << time_calls(2 * seconds, 1, sum);
  out << ", \"calls-8\": " << time_calls(seconds, 8, nothing);
  out << ", \"tensor-calls-8\": " << time_calls(seconds, 8, echo) << "}}";
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = seconds_of(argc, argv);
  torch::set_num_threads(1);
  const std::string rank = std::getenv("RANK");
  rpc::register_function("nothing", [](const auto&) { return at::IValue(); });
  rpc::register_function("echo", [](const auto& given) { return given[0]; });
  rpc::register_function("last", [](const auto& given) { return at::IValue(given[0].toTensor()[-1].template item<double>()); });
  try {
    rpc::init("worker" + rank);
    std::ofstream out(std::string(std::getenv("BENCH_OUT")) + "/rank-" + rank + ".json");
    if (rank == "0") {
      measure(out, seconds);
    } else {
      out << "{}";
    }
    out.close();
    rpc::shutdown();
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
