// References: who has the value, who may use it, and when it goes.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include "cpp/rpc/workers.h"
#include "tandem/dist_autograd.h"

namespace tandem::testing::rpc_rref_test {
namespace {

using namespace workers;
using ::testing::AllOf;
using ::testing::HasSubstr;
using rpc::RRef;
using rpc::Values;

// Functions that take references.
void register_more() {
  rpc::register_function("local sum", [](const Values& given) {
    return at::IValue(RRef::from(given.at(0)).local_value().toTensor().sum());
  });
  rpc::register_function("fetch sum", [](const Values& given) {
    return at::IValue(RRef::from(given.at(0)).to_here().toTensor().sum());
  });
  rpc::register_function("add to", [](const Values& given) {
    RRef::from(given.at(0)).local_value().toTensor().add_(given.at(1).toTensor());
    return at::IValue();
  });
  rpc::register_function("mine", [](const Values&) { return RRef(torch::full({2}, rank() + 1.0)).value(); });
  rpc::register_function("keep", [](const Values& given) {
    static std::vector<RRef> kept;
    if (given.empty()) {
      kept.clear();
    } else {
      kept.push_back(RRef::from(given[0]));
    }
    return at::IValue(static_cast<std::int64_t>(kept.size()));
  });
  rpc::register_function("slowly mine", [](const Values& given) {
    std::this_thread::sleep_for(milliseconds(given.at(0).toInt()));
    c10::impl::GenericList list(c10::AnyType::get());
    for (int i = 0; i < 3; ++i) list.push_back(RRef(torch::ones(2)).value());
    return at::IValue(list);
  });
  rpc::register_function("counts", [](const Values&) {
    const rpc::RRefCounts counts = rpc::rref_counts();
    return at::IValue(c10::List<std::int64_t>({counts.owners, counts.forks, counts.pending}));
  });
}

// Deletions are messages of their own: until nothing is left, or for long enough.
// Once its counts begin like that, or what they are after a while.
std::string settled_counts(const std::string& worker, const std::string& wanted = "0 0 0 ") {
  std::string text;
  for (int i = 0; i < 500; ++i) {
    text.clear();
    for (const std::int64_t one : rpc::rpc_sync(worker, "counts").toIntVector()) text += std::to_string(one) + " ";
    if (text.starts_with(wanted)) return wanted;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return text;
}

const Role kServes("serves references", [] {
  register_more();
  join();
  rpc::shutdown();
  say("left " + std::to_string(rpc::is_initialized()));
});

void use_references(const std::function<void()>& body) {
  register_more();
  join();
  say_error(body);
  rpc::shutdown();
  say("left");
}

const Role kUses("uses references", [] {
  use_references([] {
    {
      const at::Tensor a = torch::arange(4, torch::kDouble);
      RRef there = rpc::remote("worker1", "aten::add", {a, 1.0});
      say(there.owner().name + (there.is_owner() ? " here" : " there"));
      say(std::to_string(there.to_here().toTensor().sum().item<double>()));
      say(there.confirmed_by_owner() ? "confirmed" : "not confirmed");
      say(std::to_string(rpc::rpc_sync("worker1", "local sum", {there.value()}).toTensor().item<double>()));
      rpc::rpc_sync("worker1", "add to", {there.value(), a});
      say(std::to_string(there.to_here().toTensor().sum().item<double>()));
      // Passed on to a third worker, which asks the owner; inside of a list, too.
      say(std::to_string(rpc::rpc_sync("worker2", "fetch sum", {there.value()}).toTensor().item<double>()));
      say_error([&] { there.local_value(); });
      say_error([&] { RRef::from(at::IValue(1)); });

      RRef own(torch::ones(3));
      say(own.is_owner() ? "own" : "another's");
      say(std::to_string(own.local_value().toTensor().sum().item<double>()));
      say(std::to_string(rpc::rpc_sync("worker1", "fetch sum", {own.value()}).toTensor().item<double>()));
      own.local_value().toTensor().mul_(2);
      say(std::to_string(own.to_here().toTensor().sum().item<double>()));

      RRef self = rpc::remote("worker0", "aten::mul", {a, 3.0});
      say(std::to_string(self.to_here().toTensor().sum().item<double>()) + (self.is_owner() ? " own" : ""));

      RRef given = RRef::from(rpc::rpc_sync("worker2", "mine"));
      say(given.owner().name + " " + std::to_string(given.to_here().toTensor().sum().item<double>()));
    }
    for (const char* worker : {"worker0", "worker1", "worker2"}) say(settled_counts(worker));
  });
});

TEST(References, AreUsedByAllWorkersAndGoWithTheirLastHolder) {
  const Job job;
  const auto workers = start(job, {"uses references", "serves references", "serves references"});
  Child& user = *workers[0];
  EXPECT_EQ(user.line(), "worker1 there");
  EXPECT_EQ(user.line(), "10.000000");
  EXPECT_EQ(user.line(), "confirmed");
  EXPECT_EQ(user.line(), "10.000000");
  EXPECT_EQ(user.line(), "16.000000");
  EXPECT_EQ(user.line(), "16.000000");
  EXPECT_THAT(user.line(), IsError(ErrorCode::kInvalidArgument, HasSubstr("the value is worker 'worker1's")));
  EXPECT_THAT(user.line(), IsError(ErrorCode::kInvalidArgument, HasSubstr("not a reference")));
  EXPECT_EQ(user.line(), "own");
  EXPECT_EQ(user.line(), "3.000000");
  EXPECT_EQ(user.line(), "3.000000");
  EXPECT_EQ(user.line(), "6.000000");
  EXPECT_EQ(user.line(), "18.000000 own");
  EXPECT_EQ(user.line(), "worker2 6.000000");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(user.line(), "0 0 0 ");
  EXPECT_EQ(user.line(), "no error");
  EXPECT_EQ(user.line(), "left");
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

const Role kHolds("holds references", [] {
  use_references([] {
    {
      RRef there = rpc::remote("worker1", "aten::ones", {c10::List<std::int64_t>({2})});
      say(std::to_string(rpc::rpc_sync("worker2", "keep", {there.value()}).toInt()));
    }
    // The third worker's is the last.
    say(settled_counts("worker1", "1 1 "));
    rpc::rpc_sync("worker2", "keep");
    say(settled_counts("worker1"));
  });
});

TEST(References, LiveAsLongAsAnybodyHasThem) {
  const Job job;
  const auto workers = start(job, {"holds references", "serves references", "serves references"});
  Child& holder = *workers[0];
  EXPECT_EQ(holder.line(), "1");
  EXPECT_EQ(holder.line(), "1 1 ");
  EXPECT_EQ(holder.line(), "0 0 0 ");
  EXPECT_EQ(holder.line(), "no error");
  EXPECT_EQ(holder.line(), "left");
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

const Role kFails("fails to make", [] {
  use_references([] {
    {
      RRef failed = rpc::remote("worker1", "fails");
      say_error([&] { failed.to_here(); });
      say_error([&] { rpc::rpc_sync("worker1", "local sum", {failed.value()}); });
      say_error([] { rpc::remote("worker0", "throws").local_value(); });
      RRef slow = rpc::remote("worker1", "sleep", {700});
      say_error([&] { slow.to_here(milliseconds(100)); });
      say(slow.to_here().toStringRef());
    }
    for (const char* worker : {"worker0", "worker1"}) say(settled_counts(worker));
  });
});

TEST(References, HaveTheFailureOfWhatWasToMakeTheirValue) {
  const Job job;
  const auto workers = start(job, {"fails to make", "serves references"});
  Child& user = *workers[0];
  EXPECT_THAT(user.line(), IsError(ErrorCode::kDataLoss, HasSubstr("fails on worker 'worker1': record 7 is torn")));
  EXPECT_THAT(user.line(), IsError(ErrorCode::kDataLoss, HasSubstr("record 7 is torn")));
  EXPECT_THAT(user.line(), IsError(ErrorCode::kCallback, HasSubstr("throws on worker 'worker0': out of paper")));
  EXPECT_THAT(user.line(), IsError(ErrorCode::kTimeout, HasSubstr("sleep on worker 'worker1'")));
  EXPECT_EQ(user.line(), "slept");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(user.line(), "0 0 0 ");
  EXPECT_EQ(user.line(), "no error");
  EXPECT_EQ(user.line(), "left");
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

const Role kLate("gets references late", [] {
  use_references([] {
    rpc::CallOptions soon;
    soon.timeout = milliseconds(100);
    say_error([&] { rpc::rpc_sync("worker1", "slowly mine", {500}, soon); });
    rpc::remote("worker1", "slowly mine", {500}, soon);
    rpc::remote("worker0", "slowly mine", {500}, soon);
    {
      const rpc::AutogradContext context;
      say_error([&] { rpc::rpc_sync("worker1", "slowly mine", {500, torch::ones(2).requires_grad_(true)}, soon); });
    }
    {
      const RRef many = rpc::remote("worker1", "slowly mine", {300});
      say_error([&] { many.to_here(milliseconds(50)); });
    }
    std::this_thread::sleep_for(milliseconds(600));  // all have been answered, most likely
    for (const char* worker : {"worker0", "worker1"}) say(settled_counts(worker));
    say(std::to_string(rpc::context_count()));
  });
});

TEST(References, InAnswersThatComeTooLateGo) {
  const Job job;
  const auto workers = start(job, {"gets references late", "serves references"});
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(workers[0]->line(), IsError(ErrorCode::kTimeout, HasSubstr("slowly mine on worker 'worker1'")));
  }
  EXPECT_THAT(workers[0]->line(), IsError(ErrorCode::kTimeout, HasSubstr("worker1")));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(workers[0]->line(), "0 0 0 ");
  EXPECT_EQ(workers[0]->line(), "0");
  EXPECT_EQ(workers[0]->line(), "no error");
  EXPECT_EQ(workers[0]->line(), "left");
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

// Leaves by force while others pass references to it, and get references of it.
const Role kPasses("passes references", [] {
  register_more();
  join();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([] {
      try {
        for (;;) {
          const RRef own(at::IValue(1));
          const RRef there = RRef::from(rpc::rpc_sync("worker1", "mine"));
          rpc::rpc_sync("worker1", "fetch sum", {RRef(torch::ones(2)).value()});
          rpc::rpc_sync("worker1", "local sum", {there.value()});
        }
      } catch (const Error&) {
        // It has left.
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  say("alone");
  rpc::shutdown(/*graceful=*/false);
});
const Role kLeavesThem("leaves by force", [] {
  register_more();
  join();
  std::this_thread::sleep_for(milliseconds(300));
  std::vector<RRef> held;
  for (int i = 0; i < 50; ++i) held.push_back(rpc::remote("worker0", "mine"));
  rpc::shutdown(/*graceful=*/false);
  held.clear();
  say("left");
});

TEST(References, AreNoDangerToWhoLeavesByForce) {
  const Job job;
  const auto workers = start(job, {"passes references", "leaves by force", "passes references"});
  EXPECT_EQ(workers[1]->line(), "left");
  EXPECT_EQ(workers[1]->line(), "no error");
  EXPECT_EQ(workers[1]->wait(), 0);
  for (const int other : {0, 2}) {
    EXPECT_EQ(workers[other]->line(), "alone");
    EXPECT_EQ(workers[other]->wait(), 0);
  }
}

// With references still held on both sides.
const Role kLeaves("leaves with references", [] {
  register_more();
  join();
  static std::vector<RRef> kept;
  for (int i = 0; i < 10; ++i) {
    kept.push_back(rpc::remote("worker" + std::to_string(1 - rank()), "echo", {i}));
    kept.emplace_back(at::IValue(i));
    rpc::rpc_sync("worker" + std::to_string(1 - rank()), "keep", {kept.back().value()});
  }
  rpc::shutdown();
  say("left");
});

TEST(References, ThatAreHeldDoNotKeepWorkersFromLeaving) {
  const Job job;
  for (const auto& worker : start(job, {"leaves with references", "leaves with references"})) {
    EXPECT_EQ(worker->line(), "left");
    EXPECT_EQ(worker->line(), "no error");
    EXPECT_EQ(worker->wait(), 0);
  }
}

}  // namespace
}  // namespace tandem::testing::rpc_rref_test
