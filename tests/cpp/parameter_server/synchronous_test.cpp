// Synchronous trainers: what one process computes on whole batches, several do on parts of them.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <algorithm>

#include "cpp/parameter_server/servers.h"
#include "support/temporary_folder.h"
#include "tandem/checkpoint.h"
#include "tandem/optim.h"
#include "tandem/process_group.h"

namespace tandem::testing::parameter_server_synchronous_test {
namespace {

using namespace parameter_servers;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const Role kServer("parameter server", serve_parameters);

constexpr int kBatch = 12, kSteps = 20, kSavedAt = 10, kWidth = 3, kRowsOfUsers = 7;

// Tables with three optimizers, on rows by modulo and by range.
std::map<std::string, EmbeddingTable> tables() {
  EmbeddingTable words{.rows = 11, .width = kWidth, .dtype = at::kDouble, .optimizer = "SparseAdam"};
  words.optimizer_options = {{"lr", 0.02}};
  words.initial = numbers({words.rows, kWidth}, 0.7);
  EmbeddingTable users{.rows = kRowsOfUsers, .width = kWidth, .dtype = at::kDouble, .optimizer = "Adagrad"};
  users.optimizer_options = {{"lr", 0.05}};
  users.placement = RowPlacement::kRange;
  users.initial = numbers({users.rows, kWidth}, 0.9);
  EmbeddingTable rare{.rows = 5, .width = kWidth, .dtype = at::kDouble, .optimizer = "SGD"};
  rare.optimizer_options = {{"lr", 0.1}};
  rare.initial = numbers({rare.rows, kWidth}, 1.1);
  return {{"words", words}, {"users", users}, {"rare.ones", rare}};
}

DenseParameters dense() {
  DenseParameters all;
  all.parameters = {{"weight", numbers({kWidth, 2}, 0.5).requires_grad_(true)},
                    {"bias", numbers({2}, 0.3).requires_grad_(true)},
                    {"unused", numbers({3}, 0.2).requires_grad_(true)}};
  all.optimizer = "Adam";
  all.optimizer_options = {{"lr", 0.03}};
  return all;
}

using Lookup = std::function<at::Tensor(const std::string& table, const at::Tensor& indices)>;

// Of the rows from `begin` on of a step's batch. Not all of them use all tables, nor do all steps.
at::Tensor loss_of(int step, int begin, int count, const Lookup& look_up, const DenseParameters& with) {
  const at::Tensor row = torch::arange(begin, begin + count);
  at::Tensor x = look_up("words", torch::stack({(row * 5 + step) % 11, (row + 2 * step) % 11}, 1)).sum(1);
  x = x + look_up("words", (row * row) % 11);  // twice in a step
  if (step % 3 != 2) x = x + look_up("users", (row * 3 + step * step) % kRowsOfUsers);
  const int with_rare = std::min(begin + count, 4) - begin;
  if (with_rare > 0) {
    const at::Tensor rare = look_up("rare.ones", row.narrow(0, 0, with_rare) % 5);
    x = x + torch::cat({rare, torch::zeros({count - with_rare, kWidth}, torch::kDouble)});
  }
  const at::Tensor y = torch::tanh(x).matmul(with.parameters[0].second) + with.parameters[1].second;
  return (y - (row % 3).unsqueeze(1).to(torch::kDouble)).square().mean();
}

// One process.
std::map<std::string, at::Tensor> alone() {
  std::map<std::string, at::Tensor> all;
  std::vector<std::unique_ptr<optim::Optimizer>> optimizers;
  for (const auto& [name, table] : tables()) {
    all[name] = table.initial.clone().requires_grad_(true);
    optimizers.push_back(optim::make_optimizer(table.optimizer, {all[name]}, table.optimizer_options));
  }
  const DenseParameters own = dense();
  std::vector<at::Tensor> parameters;
  for (const auto& [name, parameter] : own.parameters) parameters.push_back(all[name] = parameter);
  optimizers.push_back(optim::make_optimizer(own.optimizer, parameters, own.optimizer_options));
  for (int step = 0; step < kSteps; ++step) {
    const auto look_up = [&](const std::string& table, const at::Tensor& indices) {
      return torch::embedding(all.at(table), indices, -1, false, /*sparse=*/true);
    };
    loss_of(step, 0, kBatch, look_up, own).backward();
    for (const auto& optimizer : optimizers) {
      optimizer->step();
      optimizer->zero_grad();
    }
  }
  return all;
}

std::shared_ptr<ProcessGroup> trainers_group(int trainers) {
  ProcessGroupOptions options;
  options.rank = rank() - servers();
  options.world_size = trainers;
  options.timeout = milliseconds(60000);
  options.name = "trainers";
  const std::string path = std::string(std::getenv("TEST_FOLDER")) + "/meeting-" + std::getenv("TEST_RUN");
  return ProcessGroup::create(options, file_store(path, trainers));
}

const Role kTrains("trains by servers", [] {
  const int trainers = static_cast<int>(number("TEST_TRAINERS", 1)), own_rank = rank() - servers();
  join();
  const bool goes_on = number("TEST_GO_ON", 0) == 1;
  say_error([&] {
    CheckpointOptions of_folder;
    of_folder.group = trainers_group(trainers);
    CheckpointFolder folder(std::string(std::getenv("TEST_FOLDER")) + "/saved", of_folder);
    auto own = dense();
    auto declared = tables();
    if (goes_on || own_rank > 0) {  // the first one's count
      for (auto& [name, parameter] : own.parameters) parameter.detach().zero_();
    }
    if (goes_on) {
      for (auto& [name, table] : declared) table.initial.zero_();
    }
    auto client_with = client_options(trainers);
    // So that it is the first trainer that joins first.
    if (own_rank > 0) wait_for("worker0", "joined", 1);
    ParameterClient client(client_with, own, declared);
    if (goes_on) {
      auto request = client.request(own_rank, trainers);
      request.step = kSavedAt;
      const auto loaded = folder.load(request);
      folder.together([&] { client.load(*loaded, own_rank, trainers); });
    }
    const int count = kBatch / trainers;
    for (int step = goes_on ? kSavedAt : 0; step < kSteps; ++step) {
      const auto look_up = [&](const std::string& table, const at::Tensor& indices) { return client.embedding(table, indices); };
      loss_of(step, own_rank * count, count, look_up, own).backward();
      client.step();
      if (step + 1 == kSavedAt && !goes_on) {
        folder.save(kSavedAt, [&] { return CheckpointContent{.own = client.state(own_rank, trainers)}; });
      }
    }
    const auto expected = alone();
    double most = 0;
    for (const auto& [name, table] : tables()) {
      const at::NoGradGuard no_grad;
      most = std::max(most, (client.embedding(name, torch::arange(table.rows)) - expected.at(name)).abs().max().item<double>());
    }
    for (const auto& [name, parameter] : own.parameters) {
      most = std::max(most, (parameter - expected.at(name)).abs().max().item<double>());
    }
    const double moved = (expected.at("rare.ones") - tables().at("rare.ones").initial).abs().max().item<double>();
    say(most < 1e-12 && moved > 1e-3 ? "equal" : "differs by " + std::to_string(most) + ", moved " + std::to_string(moved));
    const bool kept = own.parameters[2].second.equal(dense().parameters[2].second);
    say(kept ? "unused kept" : "unused changed");
    client.leave();
  });
  rpc::shutdown();
});

TEST(Synchronous, TwentyStepsOfSeveralTrainersAreThoseOfOneProcess) {
  const TemporaryFolder folder;
  struct Run {
    int servers, trainers;
    bool goes_on;
  };
  // The last one goes on from what the first one saved, on other servers.
  for (const Run run : {Run{1, 2, false}, Run{2, 3, false}, Run{2, 3, true}}) {
    if (run.trainers == 3 && !run.goes_on) std::filesystem::rename(folder / "saved", folder / "of two");
    if (run.goes_on) {
      std::filesystem::remove_all(folder / "saved");
      std::filesystem::rename(folder / "of two", folder / "saved");
    }
    const Job job = job_of(run.servers, {{"TEST_TRAINERS", std::to_string(run.trainers)},
                                         {"TEST_FOLDER", folder.path},
                                         {"TEST_RUN", std::to_string(run.trainers) + (run.goes_on ? "+" : "")},
                                         {"TEST_GO_ON", run.goes_on ? "1" : "0"}});
    const auto workers = start_trainers(job, run.servers, std::vector<std::string>(static_cast<std::size_t>(run.trainers), "trains by servers"));
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (i >= static_cast<std::size_t>(run.servers)) {
        EXPECT_EQ(workers[i]->line(), "equal") << run.trainers;
        EXPECT_EQ(workers[i]->line(), "unused kept");
      }
      EXPECT_EQ(workers[i]->line(), "no error");
      EXPECT_EQ(workers[i]->line(), "no error");
      EXPECT_EQ(workers[i]->wait(), 0);
    }
  }
}

// A number on each of two servers; each step subtracts the mean of what trainers have as gradients.
constexpr int kEarly = 3, kLate = 4, kAll = 12;

struct Numbers {
  at::Tensor a = torch::zeros({1}, torch::kDouble).requires_grad_(true), b = torch::zeros({1}, torch::kDouble).requires_grad_(true);

  DenseParameters dense() const { return {{{"a", a}, {"b", b}}, "SGD", {{"lr", 1.0}}}; }
  void step(ParameterClient& client, double gradient) {
    a.mutable_grad() = torch::full({1}, gradient, torch::kDouble);
    b.mutable_grad() = torch::full({1}, 10 * gradient, torch::kDouble);
    client.step();
  }
  std::string text() const { return std::to_string(a.item<double>()) + " " + std::to_string(b.item<double>()); }
};

std::atomic<std::int64_t> steps_made{0};

const Role kStays("trains all along", [] {
  rpc::register_function("steps made", [](const rpc::Values&) { return at::IValue(steps_made.load()); });
  join();
  say_error([] {
    const bool is_first = rank() == 2;
    Numbers numbers;
    ParameterClient client(client_options(2), numbers.dense());
    for (int step = 0; step < kAll; ++step) {
      steps_made = step;
      if (step == kEarly && is_first) {  // the late one joins within this step
        wait_for("worker0", "joined", 3);
        wait_for("worker1", "joined", 3);
      }
      numbers.step(client, is_first ? 1 : 3);
    }
    client.leave();
    say(numbers.text());
  });
  rpc::shutdown();
});
const Role kComesLate("trains later", [] {
  join();
  say_error([] {
    wait_for("worker2", "steps made", kEarly);
    Numbers numbers;
    ParameterClient client(client_options(2), numbers.dense());
    say(std::to_string(client.steps()) + ": " + numbers.text());
    for (int step = 0; step < kLate; ++step) numbers.step(client, 8);
    client.leave();
    say_error([&] { numbers.step(client, 8); });
  });
  rpc::shutdown();
});

TEST(Synchronous, ATrainerMayComeLateAndLeaveEarly) {
  const Job job = job_of(2);
  const auto workers = start_trainers(job, 2, {"trains all along", "trains all along", "trains later"});
  EXPECT_EQ(workers[4]->line(), std::to_string(kEarly + 1) + ": " + std::to_string(-2.0 * (kEarly + 1)) + " " + std::to_string(-20.0 * (kEarly + 1)));
  EXPECT_THAT(workers[4]->line(), IsError(ErrorCode::kClosed, HasSubstr("has left")));
  const double all = -2 * (kAll - kLate) - 4 * kLate;
  for (const int trainer : {2, 3}) {
    EXPECT_EQ(workers[trainer]->line(), std::to_string(all) + " " + std::to_string(10 * all));
  }
  for (const auto& worker : workers) {
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->wait(), 0);
  }
}

// One after the other: each goes on where the last one was, on both servers.
const Role kInTurn("trains again after it has left", [] {
  join();
  say_error([] {
    for (int times = 0; times < 3; ++times) {
      Numbers numbers;
      ParameterClient client(client_options(1), numbers.dense());
      say(std::to_string(client.steps()) + ": " + numbers.text());
      for (int step = 0; step < 2; ++step) numbers.step(client, 1);
      client.leave();
    }
  });
  rpc::shutdown();
});

TEST(Synchronous, ATrainerMayComeAfterAllOthersHaveLeft) {
  const Job job = job_of(2, {{"TEST_STEP_TIMEOUT_MS", "20000"}});
  const auto workers = start_trainers(job, 2, {"trains again after it has left"});
  for (const std::string begin : {"0: ", "3: ", "6: "}) EXPECT_THAT(workers[2]->line(), StartsWith(begin));
  for (const auto& worker : workers) {
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->wait(), 0);
  }
}

// Rows that are fetched before a step and used after it.
const Role kPrefetches("fetches a batch ahead", [] {
  join();
  say_error([] {
    const EmbeddingTable table{.rows = 4, .width = 1, .optimizer = "SGD", .optimizer_options = {{"lr", 1.0}}, .initial = torch::zeros({4, 1})};
    ParameterClient client(client_options(1), {}, {{"rows", table}});
    const auto row = [](std::int64_t i) { return torch::full({1}, i, torch::kLong); };
    at::Tensor now = client.embedding("rows", row(0));
    for (std::int64_t i = 1; i < 4; ++i) {
      at::Tensor next = client.embedding("rows", row(i));
      now.sum().backward();
      client.step();
      now = next;
    }
    now.sum().backward();
    client.step();
    const at::NoGradGuard no_grad;
    say(std::to_string(client.embedding("rows", torch::arange(4)).eq(-1).all().item<bool>()));
    client.leave();
  });
  rpc::shutdown();
});

TEST(Synchronous, RowsMayBeFetchedBeforeAStepAndUsedAfterIt) {
  const Job job = job_of(1);
  const auto workers = start_trainers(job, 1, {"fetches a batch ahead"});
  EXPECT_EQ(workers[1]->line(), "1");
  for (const auto& worker : workers) {
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->wait(), 0);
  }
}

}  // namespace
}  // namespace tandem::testing::parameter_server_synchronous_test
