// Trainers with parameters on a GPU, which they share, of a server without one.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include "cpp/parameter_server/servers.h"
#include "gpu/gpu.h"
#include "tandem/optim.h"

namespace tandem::testing::gpu_parameter_server_test {
namespace {

using namespace parameter_servers;

constexpr int kSteps = 20, kBatch = 8, kRows = 13, kWidth = 4;

EmbeddingTable users() {
  EmbeddingTable table{.rows = kRows, .width = kWidth, .dtype = at::kDouble, .optimizer = "Adagrad"};
  table.optimizer_options = {{"lr", 0.1}};
  table.initial = numbers({kRows, kWidth}, 0.9);
  return table;
}

DenseParameters dense(at::Device device) {
  DenseParameters all;
  all.parameters = {{"weight", numbers({kWidth, 2}, 0.5).to(device).requires_grad_(true)}};
  all.optimizer = "Adam";
  all.optimizer_options = {{"lr", 0.05}};
  return all;
}

at::Tensor loss_of(const at::Tensor& rows, const at::Tensor& weight) {
  return torch::tanh(rows.matmul(weight)).square().mean();
}

at::Tensor indices_of(int step, int begin, int count, at::Device device) {
  return ((torch::arange(begin, begin + count) * 5 + step * step) % kRows).to(device);
}

const Role kTrains("gpu trains by servers", [] {
  const int trainers = 2, own_rank = rank() - servers(), count = kBatch / trainers;
  load_cuda();
  join();
  say_error([&] {
    const DenseParameters own = dense(kGpu);
    const at::Tensor& weight = own.parameters[0].second;
    ParameterClient client(client_options(trainers), own, {{"users", users()}});
    for (int step = 0; step < kSteps; ++step) {
      const at::Tensor rows = client.embedding("users", indices_of(step, own_rank * count, count, kGpu)).to(kGpu);
      loss_of(rows, weight).backward();
      client.step();
    }
    const at::Tensor table = users().initial.clone().requires_grad_(true);
    const DenseParameters alone = dense(at::kCPU);
    const at::Tensor& alone_weight = alone.parameters[0].second;
    const auto of_table = optim::make_optimizer("Adagrad", {table}, users().optimizer_options);
    const auto of_dense = optim::make_optimizer("Adam", {alone_weight}, alone.optimizer_options);
    for (int step = 0; step < kSteps; ++step) {
      loss_of(torch::embedding(table, indices_of(step, 0, kBatch, at::kCPU), -1, false, /*sparse=*/true), alone_weight).backward();
      for (const auto& optimizer : {of_table.get(), of_dense.get()}) {
        optimizer->step();
        optimizer->zero_grad();
      }
    }
    const at::NoGradGuard no_grad;
    const at::Tensor rows = client.embedding("users", torch::arange(kRows));
    const double most = std::max((rows - table).abs().max().item<double>(), (weight.cpu() - alone_weight).abs().max().item<double>());
    say(weight.device() == kGpu && most < 1e-10 ? "equal" : "differs by " + std::to_string(most));
    say((table - users().initial).abs().max().item<double>() > 0.1 ? "moved" : "did not move");
    client.leave();
  });
  rpc::shutdown();
});

class GpuParameterServer : public Gpu {};

TEST_F(GpuParameterServer, TwentyStepsOfTwoTrainersAreThoseOfOneProcess) {
  const Job job = job_of(1);
  const auto workers = start_trainers(job, 1, {"gpu trains by servers", "gpu trains by servers"});
  for (std::size_t i = 1; i < workers.size(); ++i) {
    EXPECT_EQ(workers[i]->line(), "equal");
    EXPECT_EQ(workers[i]->line(), "moved");
  }
  for (const auto& worker : workers) {
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->wait(), 0);
  }
}

}  // namespace
}  // namespace tandem::testing::gpu_parameter_server_test
