// Asynchronous trainers: each push counts at once, and nobody is further ahead of the slowest than the bound.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include "cpp/parameter_server/servers.h"

namespace tandem::testing::parameter_server_asynchronous_test {
namespace {

using namespace parameter_servers;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kStaleness = 3, kSteps = 10;

struct Trainer {
  at::Tensor number = torch::zeros({2}).requires_grad_(true);
  ParameterClient client;

  static ParameterClientOptions options() {
    auto options = client_options(2);
    options.synchronous = false;
    options.staleness = kStaleness;
    return options;
  }
  Trainer() : client(options(), {{{"number", number}}, "SGD", {{"lr", 1.0}}}, {{"rows", {.rows = 4, .width = 1, .initial = torch::zeros({4, 1})}}}) {}

  void step() {
    client.embedding("rows", torch::zeros({1}, torch::kLong)).sum().backward();
    number.mutable_grad() = torch::ones({2});
    client.step();
  }
};

const Role kFast("fast", [] {
  join();
  say_error([] {
    Trainer trainer;
    for (int step = 0; step < kSteps; ++step) trainer.step();
    say("fast one is through");
    wait_for("worker0", "updates", 2 * kSteps);
    trainer.client.leave();
  });
  rpc::shutdown();
});
// Makes a step whenever the fast one has to wait for it.
const Role kSlow("slow", [] {
  join();
  say_error([] {
    Trainer trainer;
    for (int step = 0; step < kSteps - kStaleness; ++step) {
      wait_for("worker0", "waits", step + 1);
      trainer.step();
    }
    for (int step = kSteps - kStaleness; step < kSteps; ++step) trainer.step();
    say("ahead " + std::to_string(rpc::rpc_sync("worker0", "most ahead").toInt()) + ", waits " +
        std::to_string(rpc::rpc_sync("worker0", "waits").toInt()));
    wait_for("worker0", "updates", 2 * kSteps);
    // The last push gives what all pushes made; each subtracted 1, and 0.001 from the row.
    const at::Tensor row = trainer.client.embedding("rows", torch::zeros({1}, torch::kLong));
    say(std::to_string(trainer.number[0].item<double>()) + " " + std::to_string(row.item<double>()));
    trainer.client.leave();
  });
  rpc::shutdown();
});

TEST(Asynchronous, NobodyIsFurtherAheadThanTheBound) {
  const Job job = job_of(1);
  const auto workers = start_trainers(job, 1, {"fast", "slow"});
  EXPECT_EQ(workers[1]->line(), "fast one is through");
  EXPECT_EQ(workers[2]->line(), "ahead 3, waits 7");
  EXPECT_EQ(workers[2]->line(), "-20.000000 -0.020000");
  for (const auto& worker : workers) {
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->wait(), 0);
  }
}

std::atomic<std::int64_t> timed_out{0};

const Role kWaits("waits with little patience", [] {
  rpc::register_function("timed out", [](const rpc::Values&) { return at::IValue(timed_out.load()); });
  join();
  say_error([] {
    auto options = Trainer::options();
    options.staleness = 0;
    ParameterClient client(options, {}, {{"rows", {.rows = 4, .width = 1}}});
    const auto step_in_the_end = [&] {  // waits on, and pushes nothing, after a timeout
      for (;;) {
        try {
          return client.step();
        } catch (const Error& error) {
          if (error.code() != ErrorCode::kTimeout) throw;
        }
      }
    };
    step_in_the_end();
    say_error([&] { client.step(); });
    timed_out = 1;
    say_error([&] { client.leave(); });
    step_in_the_end();
    say(std::to_string(client.steps()));
    client.leave();
  });
  rpc::shutdown();
});
const Role kLateStep("steps late", [] {
  join();
  say_error([] {
    auto options = Trainer::options();
    options.staleness = 0;
    options.timeout = milliseconds(60000);
    ParameterClient client(options, {}, {{"rows", {.rows = 4, .width = 1}}});
    client.step();
    wait_for("worker1", "timed out", 1);
    client.step();
    client.leave();
  });
  rpc::shutdown();
});

TEST(Asynchronous, WhoIsWaitedForIsNamedAndMayComeAfterAll) {
  const Job job = job_of(1);
  Children workers;
  workers.push_back(job.start("parameter server", 0, 3));
  workers.push_back(job.start("waits with little patience", 1, 3, {{"TEST_STEP_TIMEOUT_MS", "3000"}}));
  workers.push_back(job.start("steps late", 2, 3));
  EXPECT_THAT(workers[1]->line(), IsError(ErrorCode::kTimeout, AllOf(HasSubstr("step 1: after 3000 ms server 'worker0' waits for trainers 'worker2'"))));
  EXPECT_THAT(workers[1]->line(), IsError(ErrorCode::kInvalidArgument, HasSubstr("call step() again")));
  EXPECT_EQ(workers[1]->line(), "2");
  for (const auto& worker : workers) {
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->wait(), 0);
  }
}

}  // namespace
}  // namespace tandem::testing::parameter_server_asynchronous_test
