// How workers come together, where they listen, and how they leave.
#include <gmock/gmock.h>

#include <cmath>

#include "comm/sockets.h"
#include "cpp/rpc/workers.h"
#include "tandem/runtime.h"

namespace tandem::testing::rpc_sessions_test {
namespace {

using namespace workers;
using ::testing::_;
using ::testing::AllOf;
using ::testing::HasSubstr;

const Role kIntroduce("introduce", [] {
  say(rpc::is_initialized() ? "joined" : "not joined");
  say_error([] { rpc::self(); });
  join();
  std::string all;
  for (const rpc::Worker& worker : rpc::workers()) all += std::to_string(worker.id) + "=" + worker.name + " ";
  say(all + "self=" + rpc::self().name + " " + std::to_string(rpc::worker("worker1").id) + rpc::worker(0).name);
  say_error([] { rpc::worker(2); });
  rpc::shutdown();
  rpc::shutdown();  // does nothing
  say_error([] { rpc::rpc_sync("worker0", "name"); });
  say_error([] { rpc::init("again", options()); });
});

TEST(Sessions, WorkersHaveNamesAndIds) {
  const Job job;
  const auto workers = start(job, {"introduce", "introduce"});
  for (int rank = 0; rank < 2; ++rank) {
    Child& worker = *workers[rank];
    EXPECT_EQ(worker.line(), "not joined");
    EXPECT_THAT(worker.line(), IsError(ErrorCode::kClosed, HasSubstr("call rpc::init first")));
    EXPECT_EQ(worker.line(), "0=worker0 1=worker1 self=worker" + std::to_string(rank) + " 1worker0");
    EXPECT_THAT(worker.line(), IsError(ErrorCode::kNotFound, HasSubstr("no worker has the id 2; there are 2")));
    EXPECT_THAT(worker.line(), IsError(ErrorCode::kClosed, HasSubstr("was shut down")));
    EXPECT_THAT(worker.line(), IsError(ErrorCode::kUnsupported, HasSubstr("start a new process")));
    EXPECT_EQ(worker.line(), "no error");
    EXPECT_EQ(worker.wait(), 0);
  }
}

TEST(Sessions, AWorkerMayBeAlone) {
  const Job job;
  const auto alone = job.start("serve", 0, 1);
  EXPECT_EQ(alone->line(), "ready");
  EXPECT_EQ(alone->line(), "left");
  EXPECT_EQ(alone->wait(), 0);
}

// After all have connected to each other.
const Role kListen("listen", [] {
  join();
  for (const rpc::Worker& worker : rpc::workers()) rpc::rpc_sync(worker.name, "echo", {torch::ones(100000)});
  for (const net::ListeningSocket& socket : net::listening_sockets()) say("listens on " + socket.endpoint.address);
  say("these");
  rpc::shutdown();
});

std::vector<std::string> listeners(const Environment& environment) {
  const Job job(environment);
  const auto workers = start(job, {"listen", "listen"});
  std::vector<std::string> all;
  for (const auto& worker : workers) {
    const auto lines = lines_until(*worker, "these");
    EXPECT_FALSE(lines.empty());
    all.insert(all.end(), lines.begin(), lines.end());
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->wait(), 0);
  }
  return all;
}

TEST(Sessions, ListenOnLoopbackAlone) {
  const auto all = listeners({});
  EXPECT_THAT(all, ::testing::Each("listens on 127.0.0.1"));
  EXPECT_EQ(all.size(), 3u);  // the store's and one a worker
}

TEST(Sessions, ListenWhereTheyAreTold) {
  for (const Environment& environment : {Environment{{"TEST_ADDRESS", "127.0.0.2"}}, Environment{{"TP_SOCKET_IFNAME", "127.0.0.2"}}}) {
    const auto all = listeners(environment);
    EXPECT_EQ(std::ranges::count(all, "listens on 127.0.0.2"), 2);
    EXPECT_EQ(all.size(), 3u);
  }
  EXPECT_THAT(listeners({{"TP_SOCKET_IFNAME", "lo"}}), ::testing::Each("listens on 127.0.0.1"));
}

TEST(Sessions, AnInterfaceThatIsNotThereIsNamed) {
  const Job job(Environment{{"TEST_ADDRESS", "nosuch0"}});
  EXPECT_THAT(job.start("serve", 0, 1)->line(),
              IsError(ErrorCode::kNotFound, AllOf(HasSubstr("'nosuch0'"), HasSubstr("lo"))));
}

TEST(Sessions, AllAddressesAtOnceAreNone) {
  for (const char* address : {"0.0.0.0", "::", "::ffff:0.0.0.0"}) {
    const Job job(Environment{{"TEST_ADDRESS", address}});
    EXPECT_THAT(job.start("serve", 0, 1)->line(),
                IsError(ErrorCode::kInvalidArgument, AllOf(HasSubstr(address), HasSubstr("network interface"))));
  }
  const Job job(Environment{{"TP_SOCKET_IFNAME", "0.0.0.0"}});
  EXPECT_THAT(job.start("serve", 0, 1)->line(), IsError(ErrorCode::kInvalidArgument, HasSubstr("0.0.0.0")));
}

TEST(Sessions, DevicesThatAreNotThereAreNamed) {
  const Job job(Environment{{"TEST_MAP_TO", "worker0"}});
  EXPECT_THAT(job.start("serve", 0, 1)->line(),
              IsError(ErrorCode::kUnsupported, AllOf(HasSubstr("device_maps of worker 'worker0'"), HasSubstr("load_cuda()"))));
}

TEST(Sessions, NamesThatAreTakenOrMakeNoSenseAreRefused) {
  const Job job(Environment{{"TEST_NAME", "same"}});
  for (const auto& worker : start(job, {"serve", "serve"})) {
    EXPECT_THAT(worker->line(), IsError(ErrorCode::kInvalidArgument, HasSubstr("ranks 0 and 1 are both named 'same'")));
  }
  const Job other(Environment{{"TEST_NAME", "with space"}});
  EXPECT_THAT(other.start("serve", 0, 1)->line(), IsError(ErrorCode::kInvalidArgument, HasSubstr("'with space' is no name")));
}

TEST(Sessions, WhoDoesNotComeIsNamed) {
  const Job job(Environment{{"TEST_TIMEOUT_MS", "4000"}});
  const auto first = job.start("serve", 0, 3), second = job.start("serve", 1, 3);
  EXPECT_THAT(first->line(), IsError(ErrorCode::kTimeout, HasSubstr("rank 2 is missing")));
  EXPECT_THAT(second->line(), IsError(ErrorCode::kTimeout, _));
}

// Leaves while others' calls of its functions, and calls of those, go on.
const Role kBusy("busy", [] {
  join();
  std::vector<rpc::Future> calls;
  for (int i = 0; i < 3; ++i) {
    calls.push_back(rpc::rpc_async("worker" + std::to_string((rank() + 1) % 3), "pass on",
                                   {"worker" + std::to_string((rank() + 2) % 3), "sleep", 200 * i}));
  }
  std::vector<rpc::Future> after;
  for (const rpc::Future& call : calls) {
    after.push_back(call.then([](const rpc::Future& done) { return done.wait(); }));
  }
  rpc::shutdown();
  std::string texts;
  for (const rpc::Future& one : after) texts += one.wait().toStringRef() + " ";
  say(texts);
});

TEST(Sessions, NobodyIsCutOffByAGracefulShutdown) {
  const Job job;
  for (const auto& worker : start(job, {"busy", "busy", "busy"})) {
    EXPECT_EQ(worker->line(), "slept slept slept ");
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->wait(), 0);
  }
}

const Role kForced("forced", [] {
  join();
  rpc::Future call = rpc::rpc_async("worker1", "sleep", {3000});
  rpc::rpc_sync("worker1", "name");
  rpc::shutdown(/*graceful=*/false);
  say_error([&] { call.wait(); });
});
const Role kStays("stays", [] {
  join();
  say_error([] {
    for (;;) rpc::rpc_sync("worker0", "name");
  });
  rpc::shutdown(/*graceful=*/false);
  say("left");
});

TEST(Sessions, AForcedShutdownFailsWhatIsUnderWay) {
  const Job job;
  const auto workers = start(job, {"forced", "stays"});
  EXPECT_THAT(workers[0]->line(), IsError(ErrorCode::kAborted, HasSubstr("sleep on worker 'worker1'")));
  EXPECT_THAT(workers[1]->line(), IsError(ErrorCode::kPeerLost, HasSubstr("name on worker 'worker0'")));
  EXPECT_EQ(workers[1]->line(), "left");
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

const Role kImpatient("impatient", [] {
  join();
  if (rank() == 1) {
    say("stays");
    std::this_thread::sleep_for(std::chrono::seconds(60));
  }
  say_error([] { rpc::shutdown(true, milliseconds(500)); });
  say(rpc::is_initialized() ? "still there" : "left");
});

TEST(Sessions, WhoDoesNotLeaveIsNamed) {
  const Job job;
  const auto workers = start(job, {"impatient", "impatient"});
  EXPECT_EQ(workers[1]->line(), "stays");
  EXPECT_THAT(workers[0]->line(),
              IsError(ErrorCode::kTimeout, AllOf(HasSubstr("rank 1 is missing"), HasSubstr("'worker0', 'worker1'"))));
  EXPECT_EQ(workers[0]->line(), "left");
}

// Without a shutdown of RPC's own: the process's exit, and the core's shutdown.
const Role kReturns("returns", [] {
  join();
  rpc::rpc_async("worker0", "sleep", {100000});
  say("ready");
});
const Role kCoreEnds("core ends", [] {
  join();
  rpc::Future call = rpc::rpc_async("worker0", "sleep", {100});
  tandem::shutdown(std::chrono::seconds(20));
  say_error([&] { call.wait(std::chrono::seconds(20)); });
});

TEST(Sessions, AProgramMayEndWithoutLeaving) {
  const Job job;
  const auto returns = job.start("returns", 0, 1);
  EXPECT_EQ(returns->line(), "ready");
  EXPECT_EQ(returns->line(), "no error");
  EXPECT_EQ(returns->wait(std::chrono::seconds(30)), 0);
  const Job other;
  const auto ends = other.start("core ends", 0, 1);
  EXPECT_THAT(ends->line(), IsError(ErrorCode::kAborted, _));
  EXPECT_EQ(ends->line(), "no error");
  EXPECT_EQ(ends->wait(), 0);
}

}  // namespace
}  // namespace tandem::testing::rpc_sessions_test
