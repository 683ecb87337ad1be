// Trainers and servers that are killed: errors that name them, and nobody waits for ever.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include "cpp/parameter_server/servers.h"

namespace tandem::testing::parameter_server_lost_workers_test {
namespace {

using namespace parameter_servers;
using ::testing::AllOf;
using ::testing::HasSubstr;

const Role kTrains("trains until an error", [] {
  join();
  say_error([] {
    auto options = client_options(2);
    options.lost_trainers = number("TEST_LEAVE", 0) == 1 ? LostTrainers::kLeave : LostTrainers::kFail;
    ParameterClient client(options, {}, {{"rows", {.rows = 8, .width = 2}}});
    const auto step = [&] {
      client.embedding("rows", torch::arange(8)).sum().backward();
      client.step();
    };
    for (int i = 0; i < 3; ++i) step();
    say("three steps");
    if (number("TEST_LEAVE", 0) == 1) {
      step();  // the other trainer is dead
      step();
      say("went on");
    }
    say_error([&] {
      for (;;) step();
    });
    say_error([&] { client.embedding("rows", torch::arange(8)); });  // for good
    say_error([&] { client.leave(); });
  });
  rpc::shutdown(/*graceful=*/false);
});
const Role kStops("stops training", [] {
  join();
  auto options = client_options(2);
  options.lost_trainers = number("TEST_LEAVE", 0) == 1 ? LostTrainers::kLeave : LostTrainers::kFail;
  ParameterClient client(options, {}, {{"rows", {.rows = 8, .width = 2}}});
  for (int i = 0; i < 3; ++i) client.step();
  say("kill me");
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
});
const Role kGivesUp("gives up", [] {
  join();
  say_error([] {
    ParameterClient client(client_options(2), {}, {{"rows", {.rows = 8, .width = 2}}});
    for (int i = 0; i < 3; ++i) client.step();
    throw Error(ErrorCode::kDataLoss, "record 7 is torn");
  });
  rpc::shutdown(/*graceful=*/false);
});

const Role kForgets("forgets to leave", [] {
  join();
  ParameterClient client(client_options(1), {}, {{"rows", {.rows = 8, .width = 2}}});
  client.step();
  say_error([] { rpc::shutdown(/*graceful=*/true, milliseconds(1000)); });
});

// The second trainer's parameter on the second server is of another size, which the first server does not know.
const Role kJoins("joins", [] {
  join();
  say_error([] {
    auto options = client_options(2);
    options.lost_trainers = LostTrainers::kLeave;
    const bool is_second = rank() > servers();
    for (const char* server : {"worker0", "worker1"}) {
      if (is_second) wait_for(server, "joined", 1);
    }
    ParameterClient(options, {{{"a", torch::zeros({5}).requires_grad_(true)},
                               {"b", torch::zeros({is_second ? 4 : 3}).requires_grad_(true)}}});
  });
  rpc::shutdown(/*graceful=*/false);
});

TEST(LostWorkers, ATrainerThatOneServerRefusesIsNamedToThoseWhoWaitForItThere) {
  const Job job = job_of(2, {{"TEST_GRACEFUL", "0"}});
  const auto workers = start_trainers(job, 2, {"joins", "joins"});
  EXPECT_THAT(workers[3]->line(), IsError(ErrorCode::kInvalidArgument, HasSubstr("dense parameters of trainer 'worker3'")));
  EXPECT_THAT(workers[2]->line(), IsError(ErrorCode::kAborted, AllOf(HasSubstr("trainer 'worker3' gave up"),
                                                                     HasSubstr("before it had joined all servers"))));
  for (const int worker : {2, 3}) EXPECT_EQ(workers[worker]->wait(), 0);
}

TEST(LostWorkers, AShutdownThatWaitsForAServerNamesTheClientsThatHaveNotLeft) {
  const Job job = job_of(1, {{"TEST_GRACEFUL", "0"}});
  const auto workers = start_trainers(job, 1, {"forgets to leave"});
  EXPECT_THAT(workers[1]->line(),
              IsError(ErrorCode::kTimeout,
                      AllOf(HasSubstr("rank 0 is missing"),
                            HasSubstr("'worker0' is a parameter server that clients have not left: those of 'worker1'"),
                            HasSubstr("ParameterClient::leave()"))));
  EXPECT_EQ(workers[1]->line(), "no error");
  EXPECT_THAT(workers[0]->line(), IsError(ErrorCode::kPeerLost, HasSubstr("trainer 'worker1'")));
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

TEST(LostWorkers, ATrainerThatIsKilledIsNamedToAll) {
  const Job job = job_of(1, {{"TEST_GRACEFUL", "0"}});
  const auto workers = start_trainers(job, 1, {"trains until an error", "stops training"});
  EXPECT_EQ(workers[2]->line(), "kill me");
  EXPECT_EQ(workers[1]->line(), "three steps");
  workers[2]->signal(SIGKILL);
  const auto lost = IsError(ErrorCode::kPeerLost, HasSubstr("trainer 'worker2' is gone"));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(workers[1]->line(), lost);
  EXPECT_EQ(workers[1]->line(), "no error");
  EXPECT_THAT(workers[0]->line(), lost);
  for (const int worker : {0, 1}) EXPECT_EQ(workers[worker]->wait(), 0);
}

TEST(LostWorkers, OthersGoOnWithoutATrainerWhereTheyMayAndAKilledServerIsNamed) {
  const Job job = job_of(2, {{"TEST_GRACEFUL", "0"}, {"TEST_LEAVE", "1"}});
  const auto workers = start_trainers(job, 2, {"trains until an error", "stops training"});
  EXPECT_EQ(workers[3]->line(), "kill me");
  EXPECT_EQ(workers[2]->line(), "three steps");
  workers[3]->signal(SIGKILL);
  EXPECT_EQ(workers[2]->line(), "went on");
  workers[1]->signal(SIGKILL);
  const auto lost = IsError(ErrorCode::kPeerLost, HasSubstr("on worker 'worker1': the worker is gone"));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(workers[2]->line(), lost);
  EXPECT_EQ(workers[2]->line(), "no error");
  // It was told that the trainer gave up: nobody is left.
  EXPECT_EQ(workers[0]->line(), "no error");
  for (const int worker : {0, 2}) EXPECT_EQ(workers[worker]->wait(), 0);
}

TEST(LostWorkers, ATrainerThatGivesUpIsNamedToAll) {
  const Job job = job_of(1, {{"TEST_GRACEFUL", "0"}});
  const auto workers = start_trainers(job, 1, {"trains until an error", "gives up"});
  EXPECT_THAT(workers[2]->line(), IsError(ErrorCode::kDataLoss, HasSubstr("record 7 is torn")));
  EXPECT_EQ(workers[1]->line(), "three steps");
  const auto gave_up = IsError(ErrorCode::kAborted, HasSubstr("trainer 'worker2' gave up"));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(workers[1]->line(), gave_up);
  EXPECT_THAT(workers[0]->line(), gave_up);
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

}  // namespace
}  // namespace tandem::testing::parameter_server_lost_workers_test
