// What can be called, with what, and what comes back.
#include <gmock/gmock.h>
#include <torch/csrc/distributed/rpc/rpc_agent.h>
#include <torch/csrc/distributed/rpc/script_call.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/torch.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>

#include "cpp/rpc/workers.h"
#include "support/temporary_folder.h"
#include "tandem/process_group.h"
#include "tandem/store.h"
#include "tandem/trace.h"

namespace tandem::testing::rpc_calls_test {
namespace {

using namespace workers;
using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using rpc::Values;

std::string numbers(const at::Tensor& tensor) {
  std::string text;
  const at::Tensor flat = tensor.to(at::kDouble).flatten();
  for (std::int64_t i = 0; i < flat.numel(); ++i) text += (i ? " " : "") + std::to_string(std::lround(flat[i].item<double>()));
  return text;
}

// Runs `body` as a worker whose other calls are served by the rest.
void call_from_here(const std::function<void()>& body) {
  join();
  say_error(body);
  say("done");
  rpc::shutdown();
  say("left");
}

const Role kCalls("calls", [] {
  call_from_here([] {
    const at::Tensor a = torch::arange(4), b = torch::ones(4, torch::kLong);
    const auto call = [](const std::string& name, Values given) { return rpc::rpc_sync("worker1", name, std::move(given)); };
    say(numbers(call("aten::add", {a, b}).toTensor()));
    say(numbers(call("aten::add.Tensor", {a, b, 10}).toTensor()));
    say(numbers(call("aten::add", {a, 5}).toTensor()));
    say(numbers(call("aten::zeros", {c10::List<std::int64_t>({2, 1})}).toTensor()));
    say(std::to_string(call("aten::max.dim", {a.view({2, 2}), 1}).toTupleRef().elements().size()));
    say(numbers(call("twice", {a}).toTensor()));
    say(call("name", {}).toStringRef());
    say(std::to_string(call("script.sum_of", {c10::List<std::int64_t>({1, 2, 3})}).toDouble()));
    say(rpc::rpc_sync("worker0", "name").toStringRef());
    say(call("pass on", {"worker0", "name"}).toStringRef());
  });
});

TEST(Calls, OperatorsFunctionsAndMethods) {
  const Job job;
  const auto workers = start(job, {"calls", "serve"});
  EXPECT_THAT(lines_until(*workers[0], "done"),
              ElementsAre("1 2 3 4", "10 11 12 13", "5 6 7 8", "0 0", "2", "0 2 4 6", "worker1", "3.000000", "worker0",
                          "worker0", "no error"));
  EXPECT_EQ(workers[0]->line(), "left");
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

std::vector<at::IValue> samples() {
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  dict.insert("numbers", c10::List<double>({0.5, -1e300}));
  dict.insert("inner", c10::ivalue::Tuple::create({at::IValue(1), at::IValue(std::string("x"))}));
  c10::impl::GenericList mixed(c10::AnyType::get());
  mixed.push_back(at::IValue());
  mixed.push_back(at::IValue(true));
  mixed.push_back(at::IValue(torch::ones({2})));
  return {at::IValue(),
          at::IValue(false),
          at::IValue(std::numeric_limits<std::int64_t>::min()),
          at::IValue(0.1),
          at::IValue(c10::complex<double>(1, -2)),
          at::IValue(std::string("\0\xff bytes \n'", 11)),
          at::IValue(std::string()),
          at::IValue(std::string(300000, 'x')),
          at::IValue(c10::List<std::int64_t>()),
          at::IValue(c10::List<std::string>({"a", "b"})),
          at::IValue(c10::List<at::Tensor>({torch::arange(3)})),
          at::IValue(mixed),
          at::IValue(dict),
          at::IValue(torch::rand({3, 4}).t()),
          at::IValue(torch::empty({0, 5}, torch::kHalf)),
          at::IValue(torch::rand({2, 2}, torch::kComplexDouble)),
          at::IValue(torch::rand({2, 2}, torch::kComplexDouble).conj()),
          at::IValue(torch::arange(5, torch::kInt).to(torch::kUInt16)),
          at::IValue(at::quantize_per_tensor(torch::rand({3}), 0.1, 10, torch::kQInt8)),
          at::IValue(torch::rand({4}).to(torch::kBFloat16))};
}

bool same(const at::IValue& a, const at::IValue& b) {
  if (a.isTensor()) return b.isTensor() && a.toTensor().dtype() == b.toTensor().dtype() && at::equal(a.toTensor(), b.toTensor());
  if (a.isList()) {
    if (!b.isList() || a.toListRef().size() != b.toListRef().size()) return false;
    for (std::size_t i = 0; i < a.toListRef().size(); ++i) {
      if (!same(a.toListRef()[i], b.toListRef()[i])) return false;
    }
    return true;
  }
  if (a.isGenericDict()) {
    if (!b.isGenericDict() || a.toGenericDict().size() != b.toGenericDict().size()) return false;
    for (const auto& item : a.toGenericDict()) {
      if (!same(item.value(), b.toGenericDict().at(item.key()))) return false;
    }
    return true;
  }
  return a.tagKind() == b.tagKind() && a == b;
}

const Role kEcho("echo", [] {
  call_from_here([] {
    for (const at::IValue& value : samples()) {
      const at::IValue back = rpc::rpc_sync("worker1", "echo", {value});
      say(same(value, back) ? "same" : "differs: " + value.tagKind());
    }
  });
});

TEST(Calls, EveryKindOfValueComesBackAsItWas) {
  const Job job;
  const auto workers = start(job, {"echo", "serve"});
  std::vector<std::string> expected(samples().size(), "same");
  expected.push_back("no error");
  EXPECT_EQ(lines_until(*workers[0], "done"), expected);
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

const Role kWrong("wrong calls", [] {
  call_from_here([] {
    const auto call = [](const std::string& to, const std::string& name, Values given) {
      say_error([&] { rpc::rpc_sync(to, name, std::move(given)); });
    };
    const at::Tensor a = torch::ones(3);
    call("worker7", "name", {});
    call("worker1", "no such function", {});
    call("worker1", "aten::no_such_operator", {});
    call("worker1", "aten::add", {a});
    call("worker1", "aten::relu", {"text"});
    call("worker1", "aten::add", {a, torch::ones(4)});
    call("worker1", "fails", {});
    call("worker1", "throws", {});
    call("worker1", "script.fail", {a});
    call("worker1", "script.absent", {a});
    call("worker1", "pass on", {"worker0", "fails"});
    say_error([] { rpc::register_function("aten::mine", [](const Values&) { return at::IValue(); }); });
    say_error([] { rpc::register_function("twice", [](const Values&) { return at::IValue(); }); });
    rpc::CallOptions negative;
    negative.timeout = milliseconds(-1);
    say_error([&] { rpc::rpc_sync("worker1", "name", {}, negative); });
    say_error([] { rpc::init("again"); });
    say(rpc::rpc_sync("worker1", "name").toStringRef());
  });
});

TEST(Calls, WhatFailsThereIsAnErrorHereWithItsCodeAndTheWorker) {
  const Job job;
  const auto workers = start(job, {"wrong calls", "serve"});
  Child& caller = *workers[0];
  const auto expect = [&](ErrorCode code, const std::string& a, const std::string& b = "") {
    EXPECT_THAT(caller.line(), IsError(code, AllOf(HasSubstr(a), HasSubstr(b))));
  };
  expect(ErrorCode::kNotFound, "no worker is named 'worker7'", "'worker0', 'worker1'");
  expect(ErrorCode::kNotFound, "no such function on worker 'worker1'", "twice");
  expect(ErrorCode::kNotFound, "aten::no_such_operator on worker 'worker1'");
  expect(ErrorCode::kInvalidArgument, "aten::add on worker 'worker1': the arguments fit none of");
  expect(ErrorCode::kInvalidArgument, "aten::relu on worker 'worker1'", "argument 'self' must be of type Tensor");
  expect(ErrorCode::kInvalidArgument, "aten::add on worker 'worker1'", "size of tensor a (3)");
  expect(ErrorCode::kDataLoss, "fails on worker 'worker1': record 7 is torn");
  expect(ErrorCode::kCallback, "throws on worker 'worker1': out of paper");
  expect(ErrorCode::kInvalidArgument, "script.fail on worker 'worker1'", "seven");
  expect(ErrorCode::kNotFound, "script.absent on worker 'worker1'");
  expect(ErrorCode::kDataLoss, "pass on on worker 'worker1': fails on worker 'worker0': record 7 is torn");
  expect(ErrorCode::kInvalidArgument, "'aten::mine' cannot be registered");
  expect(ErrorCode::kInvalidArgument, "'twice' is registered already");
  expect(ErrorCode::kInvalidArgument, "timeout is -1 ms");
  expect(ErrorCode::kInvalidArgument, "worker 'worker0' already");
  EXPECT_EQ(caller.line(), "worker1");
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

const Role kAsync("async", [] {
  call_from_here([] {
    const auto calls_before = rpc::statistics().at("worker1").calls;  // init() has connected to it
    rpc::Future slow = rpc::rpc_async("worker1", "sleep", {300});
    say(slow.done() ? "done" : "under way");
    say_error([&] { slow.wait(milliseconds(10)); });
    rpc::Future counted = slow.then([](const rpc::Future& done) {
      return at::IValue(static_cast<std::int64_t>(done.wait().toStringRef().size()));
    });
    say(std::to_string(counted.wait().toInt()));
    say(slow.wait().toStringRef());
    say(std::to_string(slow.then([](const rpc::Future&) { return at::IValue(9); }).wait().toInt()));
    rpc::Future failed = rpc::rpc_async("worker1", "fails");
    rpc::Future after = failed.then([](const rpc::Future& done) {
      return at::IValue(done.error() ? "it failed" : "it did not");
    });
    say(after.wait().toStringRef());
    rpc::Future bad = slow.then([](const rpc::Future&) -> at::IValue { throw std::runtime_error("no more"); });
    say_error([&] { bad.wait(); });
    std::vector<rpc::Future> many;
    for (int i = 0; i < 1000; ++i) many.push_back(rpc::rpc_async("worker1", "echo", {i}));
    std::int64_t sum = 0;
    for (const rpc::Future& one : many) sum += one.wait().toInt();
    say(std::to_string(sum));
    const auto statistics = rpc::statistics().at("worker1");
    say(std::to_string(statistics.calls - calls_before) + " " + std::to_string(statistics.failed) + " " +
        std::to_string(statistics.outstanding) + (statistics.bytes_sent > 0 && statistics.bytes_received > 0 ? " bytes" : ""));
  });
});

TEST(Calls, FuturesGoOnBesideTheProgram) {
  const Job job;
  const auto workers = start(job, {"async", "serve"});
  Child& caller = *workers[0];
  EXPECT_EQ(caller.line(), "under way");
  EXPECT_THAT(caller.line(), IsError(ErrorCode::kTimeout, HasSubstr("it goes on")));
  EXPECT_EQ(caller.line(), "5");
  EXPECT_EQ(caller.line(), "slept");
  EXPECT_EQ(caller.line(), "9");
  EXPECT_EQ(caller.line(), "it failed");
  EXPECT_THAT(caller.line(), IsError(ErrorCode::kCallback, HasSubstr("no more")));
  EXPECT_EQ(caller.line(), "499500");
  EXPECT_EQ(caller.line(), "1002 1 0 bytes");
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

const Role kTimes("times", [] {
  call_from_here([] {
    rpc::CallOptions options;
    options.timeout = milliseconds(800);
    say_error([&] { rpc::rpc_sync("worker1", "sleep", {3000}, options); });
    options.retries = 3;
    say(std::to_string(rpc::rpc_sync("worker1", "slow once", {3000}, options).toInt()));
  });
});

TEST(Calls, HaveATimeoutAndAreMadeAgainWhereTheyMay) {
  const Job job;
  const auto workers = start(job, {"times", "serve"});
  EXPECT_THAT(workers[0]->line(), IsError(ErrorCode::kTimeout, HasSubstr("sleep on worker 'worker1': no answer in time")));
  EXPECT_EQ(workers[0]->line(), "2");
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

const Role kCircles("calls in circles", [] {
  call_from_here([] {
    // More than there are threads on either side, and deeper.
    std::vector<rpc::Future> calls;
    for (int i = 0; i < 12; ++i) calls.push_back(rpc::rpc_async("worker1", "in circles", {21}));
    for (const rpc::Future& call : calls) say(call.wait().toStringRef());
    // What goes on after calls may call, too.
    std::vector<rpc::Future> after;
    for (int i = 0; i < 12; ++i) {
      after.push_back(rpc::rpc_async("worker1", "echo", {i}).then([](const rpc::Future& done) {
        return rpc::rpc_sync("worker1", "pass on", {"worker0", "echo", done.wait()});
      }));
    }
    std::int64_t sum = 0;
    for (const rpc::Future& one : after) sum += one.wait().toInt();
    say(std::to_string(sum));
  });
});

TEST(Calls, ThatWaitForEachOtherComeToTheirEnd) {
  const Job job(Environment{{"TEST_RPC_TIMEOUT_MS", "30000"}});
  const auto workers = start(job, {"calls in circles", "serve"});
  for (int i = 0; i < 12; ++i) EXPECT_EQ(workers[0]->line(), "worker0");
  EXPECT_EQ(workers[0]->line(), "66");
  EXPECT_EQ(workers[0]->line(), "no error");
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

const Role kTooDeep("circles too deep", [] {
  call_from_here([] {
    say_error([] { rpc::rpc_sync("worker1", "in circles", {24}); });
    say(rpc::rpc_sync("worker1", "name").toStringRef());  // nothing is held any more
    say(rpc::rpc_sync("worker1", "in circles", {9}).toStringRef());
  });
});

TEST(Calls, ThatWaitForMoreThanThereMayBeThreadsTimeOut) {
  const Job job(Environment{{"TEST_RPC_TIMEOUT_MS", "2000"}, {"TEST_MOST_THREADS", "10"}});
  const auto workers = start(job, {"circles too deep", "serve"});
  EXPECT_THAT(workers[0]->line(), IsError(ErrorCode::kTimeout, HasSubstr("in circles on worker 'worker1'")));
  EXPECT_EQ(workers[0]->line(), "worker1");
  EXPECT_EQ(workers[0]->line(), "worker0");
  EXPECT_EQ(workers[0]->line(), "no error");
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

// By name, what LibTorch cannot write.
at::IValue unsendable(const std::string& kind) {
  const at::Tensor dense = torch::eye(4);
  if (kind == "SparseCsr") return dense.to_sparse_csr();
  if (kind == "SparseCsc") return dense.to_sparse_csc();
  if (kind == "SparseBsr") return dense.to_sparse_bsr({2, 2});
  if (kind == "SparseBsc") return dense.to_sparse_bsc({2, 2});
  if (kind == "Mkldnn") return dense.to_mkldnn();
  if (kind == "nested") return at::_nested_tensor_from_tensor_list({dense, torch::ones({2, 4})});
  if (kind == "undefined") return at::Tensor();
  if (kind == "meta") return torch::empty({2}, torch::kMeta);
  c10::impl::GenericList ring(c10::AnyType::get());  // "itself"
  for (int i = 0; i < 200; ++i) {
    c10::impl::GenericList around(c10::AnyType::get());
    around.push_back(ring);
    ring = around;
  }
  return ring;
}
const std::vector<std::string> kUnsendable = {"SparseCsr", "SparseCsc", "SparseBsr", "SparseBsc", "Mkldnn", "nested", "undefined", "meta", "itself"};

// In a dict in a list, beside a reference, which must not be counted.
at::IValue wrapped(const at::IValue& value) {
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  dict.insert("value", value);
  c10::impl::GenericList list(c10::AnyType::get());
  list.push_back(rpc::RRef(at::IValue(1)).value());
  list.push_back(dict);
  return list;
}

void register_unsendable() {
  rpc::register_function("unsendable", [](const Values& given) { return wrapped(unsendable(given.at(0).toStringRef())); });
  rpc::register_function("bare", [](const Values& given) { return unsendable(given.at(0).toStringRef()); });
  rpc::register_function("is tensor", [](const Values& given) {
    return at::IValue(rpc::RRef::from(given.at(0)).local_value().isTensor());
  });
  rpc::register_function("owners", [](const Values&) { return at::IValue(rpc::rref_counts().owners); });
}

const Role kUnsendableServes("serves the unsendable", [] {
  register_unsendable();
  join();
  rpc::shutdown();
  say("left");
});
const Role kUnsendableCalls("sends the unsendable", [] {
  register_unsendable();
  call_from_here([] {
    for (const std::string& kind : kUnsendable) {
      say_error([&] { rpc::rpc_sync("worker1", "echo", {1, wrapped(unsendable(kind))}); });
      say_error([&] { rpc::remote("worker1", "echo", {1, wrapped(unsendable(kind))}); });
      say_error([&] { rpc::rpc_sync("worker1", "unsendable", {kind}); });
      const rpc::RRef there = rpc::remote("worker1", "bare", {kind});
      say_error([&] { there.to_here(); });
      if (kind == "SparseCsc") say(rpc::rpc_sync("worker1", "is tensor", {there.value()}).toBool() ? "tensor" : "none");
    }
    const at::Tensor back = rpc::rpc_sync("worker1", "echo", {torch::eye(4).to_sparse()}).toTensor();
    say(back.layout() == at::kSparse && back.to_dense().equal(torch::eye(4)) ? "same" : "differs");
    std::int64_t owners = -1;
    for (int i = 0; i < 500 && owners != 0; ++i) {
      owners = rpc::rpc_sync("worker1", "owners").toInt() + rpc::rref_counts().owners;
      std::this_thread::sleep_for(milliseconds(10));
    }
    say(std::to_string(owners));
  });
});

TEST(Calls, WithTensorsThatCannotBeSentAreErrors) {
  const Job job(Environment{{"TEST_RPC_TIMEOUT_MS", "20000"}});
  const auto workers = start(job, {"sends the unsendable", "serves the unsendable"});
  Child& caller = *workers[0];
  for (const std::string& kind : kUnsendable) {
    const std::string what = kind == "itself" ? "nested more than 100 deep" : kind;
    const auto said = [&](const char* of) {
      EXPECT_THAT(caller.line(), IsError(ErrorCode::kInvalidArgument, AllOf(HasSubstr(of), HasSubstr(what), HasSubstr("worker1"))))
          << kind;
    };
    said("argument 1 ");
    said("argument 1 ");
    said("the result ");
    EXPECT_THAT(caller.line(), ::testing::StartsWith(kind == "itself" ? "no error" : "error ")) << kind;  // to_here()
    if (kind == "SparseCsc") {
      EXPECT_EQ(caller.line(), "tensor");
    }
  }
  EXPECT_EQ(caller.line(), "same");
  EXPECT_EQ(caller.line(), "0");
  EXPECT_EQ(caller.line(), "no error");
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

// Values of all kinds, at random.
class Anything {
 public:
  explicit Anything(unsigned seed) : random_(seed) {}
  std::size_t below(std::size_t n) { return random_() % n; }
  at::IValue value(int deep = 0) {
    switch (below(deep > 3 ? 7 : 10)) {
      case 0: return at::IValue();
      case 1: return at::IValue(static_cast<std::int64_t>(random_()) - (std::int64_t{1} << 31));
      case 2: return at::IValue(std::int64_t{1} << below(63));
      case 3: return at::IValue(std::nan(""));
      case 4: return at::IValue(std::string(below(20), static_cast<char>(random_())));
      case 5: return at::IValue(torch::ones({static_cast<std::int64_t>(below(3))}));
      case 6: return at::IValue(c10::List<std::int64_t>({static_cast<std::int64_t>(below(9)), -1}));
      case 7: {
        c10::impl::GenericList list(c10::AnyType::get());
        for (std::size_t i = below(7); i > 0; --i) list.push_back(value(deep + 1));
        return list;
      }
      case 8: {
        std::vector<at::IValue> parts;
        for (std::size_t i = below(5); i > 0; --i) parts.push_back(value(deep + 1));
        return c10::ivalue::Tuple::create(std::move(parts));
      }
      default: return c10::ivalue::Tuple::create({at::IValue("tandem::rpc failure"), value(deep + 1), value(deep + 1)});
    }
  }
  Values values() {
    Values all;
    for (std::size_t i = below(7); i > 0; --i) all.push_back(value());
    return all;
  }

 private:
  std::mt19937 random_;
};

const Role kAnything("sends anything", [] {
  call_from_here([] {
    namespace native = torch::distributed::rpc;
    const std::vector<std::string> names = {"tandem.autograd.reach", "tandem.autograd.keep", "tandem.optim.make", "tandem.optim.step",
                                            "tandem.optim.set_option", "tandem.optim.drop", "tandem.ping", "echo", "script.sum_of",
                                            "aten::add", "aten::cat", "", ".", "::", "aten::", "script."};
    const auto agent = native::RpcAgent::getCurrentRpcAgent();
    const auto ours = torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString("aten::_tandem_call")).at(0);
    const auto add = torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString("aten::add")).at(0);
    Anything anything(7);
    int answers = 0, errors = 0;
    for (int i = 0; i < 1500; ++i) {
      try {
        rpc::rpc_sync("worker1", names[anything.below(names.size())], anything.values());
        ++answers;
      } catch (const Error&) {
        ++errors;
      }
      if (i % 5 != 0) continue;
      // LibTorch's own messages, with what is no call of ours.
      auto message = native::ScriptCall(anything.below(2) ? ours : add, anything.values()).toMessage();
      const auto answer = agent->send(agent->getWorkerInfo(1), std::move(message), 20);
      answer->wait();
    }
    say(answers > 0 && errors > 0 ? "both" : "of one kind");
    say(rpc::rpc_sync("worker1", "name").toStringRef());
  });
});

TEST(Calls, WithAnythingInThemHarmNobody) {
  const Job job;
  const auto workers = start(job, {"sends anything", "serve"});
  EXPECT_EQ(workers[0]->line(), "both");
  EXPECT_EQ(workers[0]->line(), "worker1");
  EXPECT_EQ(workers[0]->line(), "no error");
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

const Role kRoom("room", [] {
  call_from_here([] {
    std::vector<rpc::Future> held;
    for (int i = 0; i < 2; ++i) held.push_back(rpc::rpc_async("worker1", "sleep", {1000}));
    rpc::CallOptions options;
    options.timeout = milliseconds(100);
    say_error([&] { rpc::rpc_async("worker1", "name", {}, options); });
    say(rpc::rpc_sync("worker1", "name").toStringRef());  // once there is room
  });
});

TEST(Calls, UnderWayAreBoundedInNumber) {
  const Job job(Environment{{"TEST_MOST_OUTSTANDING", "2"}});
  const auto workers = start(job, {"room", "serve"});
  EXPECT_THAT(workers[0]->line(),
              IsError(ErrorCode::kTimeout, AllOf(HasSubstr("2 calls of this worker are under way"), HasSubstr("worker1"))));
  EXPECT_EQ(workers[0]->line(), "worker1");
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
}

const Role kTraced("traced", [] {
  call_from_here([] {
    const auto group = ProcessGroup::create(options_for(0, 1), hash_store());
    start_trace(*group);
    rpc::rpc_sync("worker1", "echo", {1});
    rpc::rpc_sync("worker0", "echo", {1});  // served here
    say_error([] { rpc::rpc_sync("worker1", "fails"); });
    stop_trace(std::getenv("TEST_TRACE"));
  });
});

TEST(Calls, AreInATrace) {
  const TemporaryFolder folder;
  const std::string path = folder / "trace.json";
  const Job job(Environment{{"TEST_TRACE", path}});
  const auto workers = start(job, {"traced", "serve"});
  EXPECT_THAT(workers[0]->line(), IsError(ErrorCode::kDataLoss, _));
  for (const auto& worker : workers) EXPECT_EQ(worker->wait(), 0);
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_THAT(text, HasSubstr("\"worker\":\"worker1\",\"failed\":false"));
  EXPECT_THAT(text, HasSubstr("\"worker\":\"worker1\",\"failed\":true"));
  EXPECT_THAT(text, HasSubstr("\"echo\""));
  EXPECT_THAT(text, HasSubstr("\"rpc served\""));
}

}  // namespace
}  // namespace tandem::testing::rpc_calls_test
