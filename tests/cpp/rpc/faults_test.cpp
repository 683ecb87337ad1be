// Workers that are killed or stopped: errors that name them, and nobody waits for ever.
#include <gmock/gmock.h>

#include "cpp/rpc/workers.h"

namespace tandem::testing::rpc_faults_test {
namespace {

using namespace workers;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

const Role kWaits("waits", [] {
  join();
  rpc::rpc_sync("worker1", "name");
  rpc::Future call = rpc::rpc_async("worker1", "sleep", {60000});
  rpc::RRef value = rpc::remote("worker1", "echo", {5});
  rpc::RRef later = rpc::remote("worker1", "sleep", {60000});
  say(std::to_string(value.to_here().toInt()));
  say_error([&] { call.wait(); });
  say_error([] { rpc::rpc_sync("worker1", "name"); });
  say_error([&] { value.to_here(); });
  say_error([&] { later.to_here(); });
  say_error([] { rpc::remote("worker1", "name").to_here(); });
  say(rpc::rpc_sync("worker2", "name").toStringRef());
  say_error([] { rpc::shutdown(true, milliseconds(20000)); });
});
const Role kServesOn("serves on", [] {
  join();
  say("ready");
  say_error([] { rpc::shutdown(true, milliseconds(20000)); });
});

TEST(Faults, ACalleeThatIsKilledIsAnErrorAtOnce) {
  const Job job;
  const auto workers = start(job, {"waits", "serve", "serves on"});
  EXPECT_EQ(workers[1]->line(), "ready");
  EXPECT_EQ(workers[0]->line(), "5");
  workers[1]->signal(SIGKILL);
  const auto lost = [](const char* what) {
    return IsError(ErrorCode::kPeerLost, AllOf(HasSubstr(what), HasSubstr("on worker 'worker1': the worker is gone")));
  };
  EXPECT_THAT(workers[0]->line(), lost("sleep"));
  EXPECT_THAT(workers[0]->line(), lost("name"));
  EXPECT_THAT(workers[0]->line(), lost("echo"));
  EXPECT_THAT(workers[0]->line(), lost("sleep"));
  EXPECT_THAT(workers[0]->line(), lost("name"));
  EXPECT_EQ(workers[0]->line(), "worker2");
  EXPECT_THAT(workers[0]->line(), IsError(ErrorCode::kPeerLost, HasSubstr("'worker1': the worker is gone")));
  EXPECT_EQ(workers[0]->line(), "no error");
  EXPECT_EQ(workers[0]->wait(), 0);
  // It is told, or finds the store gone that worker 0 served.
  EXPECT_EQ(workers[2]->line(), "ready");
  EXPECT_THAT(workers[2]->line(), IsError(ErrorCode::kPeerLost, HasSubstr("shutting RPC down")));
}

const Role kCalls("calls others", [] {
  join();
  std::vector<rpc::Future> calls;
  for (int i = 0; i < 3; ++i) calls.push_back(rpc::rpc_async("worker0", "sleep", {1000}));
  say("calling");
  for (;;) rpc::rpc_sync("worker0", "echo", {torch::ones(100000)});
});
const Role kGoesOn("goes on", [] {
  join();
  say("ready");
  say(rpc::rpc_sync("worker2", "name").toStringRef());
  // Once those calls of the dead one have ended here.
  say(rpc::rpc_sync("worker2", "pass on", {"worker0", "sleep", 1200}).toStringRef());
  say(std::to_string(rpc::rref_counts().owners));
  rpc::shutdown(/*graceful=*/false);
});

TEST(Faults, ACallerThatIsKilledHarmsNobody) {
  const Job job;
  const auto workers = start(job, {"goes on", "calls others", "serves on"});
  EXPECT_EQ(workers[1]->line(), "calling");
  workers[1]->signal(SIGKILL);
  EXPECT_EQ(workers[0]->line(), "ready");
  EXPECT_EQ(workers[0]->line(), "worker2");
  EXPECT_EQ(workers[0]->line(), "slept");
  EXPECT_EQ(workers[0]->line(), "0");
  EXPECT_EQ(workers[0]->line(), "no error");
  EXPECT_EQ(workers[0]->wait(), 0);
}


constexpr int kMany = 10000;

const Role kManyCalls("many calls", [] {
  join();
  rpc::rpc_sync("worker1", "name");
  say("ready");
  // The other one is stopped by the test, which takes a moment.
  std::this_thread::sleep_for(milliseconds(number("TEST_WAIT_MS", 0)));
  rpc::CallOptions options;
  options.timeout = milliseconds(4000);
  std::vector<rpc::Future> calls;
  for (int i = 0; i < kMany; ++i) calls.push_back(rpc::rpc_async("worker1", "echo", {i}, options));
  std::map<std::string, int> ends;
  for (const rpc::Future& call : calls) {
    try {
      call.wait();
      ++ends["answers"];
    } catch (const Error& error) {
      ++ends[std::to_string(static_cast<int>(error.code()))];
    }
  }
  std::string text;
  for (const auto& [end, count] : ends) text += end + "=" + std::to_string(count) + " ";
  say(text + "outstanding=" + std::to_string(rpc::statistics().at("worker1").outstanding));
  say("go on");
  // Late answers are nobody's.
  options.timeout = milliseconds(60000);
  say(rpc::rpc_sync("worker1", "name", {}, options).toStringRef());
  rpc::shutdown();
});

TEST(Faults, TenThousandCallsToOneThatIsStoppedTimeOut) {
  const Job job(Environment{{"TEST_WAIT_MS", "500"}});
  const auto workers = start(job, {"many calls", "serve"});
  EXPECT_EQ(workers[1]->line(), "ready");
  EXPECT_EQ(workers[0]->line(), "ready");
  workers[1]->stop();
  EXPECT_EQ(workers[0]->line(), std::to_string(static_cast<int>(ErrorCode::kTimeout)) + "=10000 outstanding=0");
  EXPECT_EQ(workers[0]->line(), "go on");
  workers[1]->signal(SIGCONT);
  EXPECT_EQ(workers[0]->line(), "worker1");
  EXPECT_EQ(workers[0]->line(), "no error");
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

TEST(Faults, TenThousandCallsAtATimeAreAnswered) {
  const Job job;
  const auto workers = start(job, {"many calls", "serve"});
  EXPECT_EQ(workers[0]->line(), "ready");
  EXPECT_EQ(workers[0]->line(), "answers=10000 outstanding=0");
  EXPECT_EQ(workers[0]->line(), "go on");
  EXPECT_EQ(workers[0]->line(), "worker1");
  EXPECT_EQ(workers[0]->line(), "no error");
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

}  // namespace
}  // namespace tandem::testing::rpc_faults_test
