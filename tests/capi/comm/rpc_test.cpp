// Calls through the C ABI, of a worker that is alone in its job; the tests run in this order, in one process.
#include <atomic>
#include <stdexcept>
#include <thread>

#include "capi/autograd_values.h"
#include "capi/rpc_alone.h"

namespace rpc_test {
namespace {

using namespace calls;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct FreeCalls {
  void operator()(tdm_rref* rref) const { tdm_rref_free(rref); }
  void operator()(tdm_rpc_future* future) const { tdm_rpc_future_free(future); }
};
using RRef = std::unique_ptr<tdm_rref, FreeCalls>;
using Future = std::unique_ptr<tdm_rpc_future, FreeCalls>;

// An owned value.
class Value {
 public:
  Value() = default;
  ~Value() { tdm_value_clear(&value_); }
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  tdm_value* out() { return &value_; }
  const tdm_value& get() const { return value_; }

 private:
  tdm_value value_{};
};

tdm_value list_of(tdm_value_tag tag, const std::vector<tdm_value>& elements) {
  tdm_value list = tagged(tag);
  list.as.list = {elements.data(), elements.size()};
  return list;
}

const tdm_value& element(const tdm_value& list, std::size_t i) {
  return static_cast<const tdm_value*>(list.as.list.data)[i];
}

std::string text(const tdm_value& value) {
  return value.tag == TDM_VALUE_STRING ? std::string(value.as.string.data, value.as.string.size) : "no string";
}

tdm_value of_rref(tdm_rref* rref) {
  tdm_value value = tagged(TDM_VALUE_RREF);
  value.as.rref = rref;
  return value;
}

tdm_error* call(const char* function, const std::vector<tdm_value>& arguments, tdm_value* out) {
  return tdm_rpc_sync("self", function, arguments.data(), arguments.size(), nullptr, out);
}

using Function = tdm_error* (*)(void*, tdm_value*, std::size_t, tdm_rpc_result*);

class Rpc : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    join_alone();
    add("echo", [](void*, tdm_value* arguments, std::size_t, tdm_rpc_result* result) {
      return tdm_rpc_result_set(result, arguments);
    });
    add("fails", [](void*, tdm_value*, std::size_t, tdm_rpc_result*) {
      return tdm_error_create(TDM_ERROR_DATA_LOSS, nullptr, "record 7 is torn", nullptr, nullptr);
    });
    add("throws", [](void*, tdm_value*, std::size_t, tdm_rpc_result*) -> tdm_error* {
      throw std::runtime_error("out of paper");
    });
    add("refused", [](void*, tdm_value*, std::size_t, tdm_rpc_result* result) {
      const tdm_value wrong = tagged(99);
      return tdm_rpc_result_set(result, &wrong);
    });
  }
  static void TearDownTestSuite() {
    for (const char* name : {"echo", "fails", "throws", "refused"}) EXPECT_OK(tdm_rpc_unregister(name, nullptr));
  }
  static void add(const char* name, Function function) {
    EXPECT_OK(tdm_rpc_register_function(name, function, nullptr, nullptr));
  }

  const LeakCheck leaks;
};

TEST_F(Rpc, TheWorkersAreThisOne) {
  tdm_strings* list = nullptr;
  ASSERT_OK(tdm_rpc_workers(&list));
  const Strings names(list);
  ASSERT_EQ(tdm_strings_count(list), 1u);
  EXPECT_STREQ(tdm_strings_data(list, 0), "self");
  std::int32_t id = -1;
  EXPECT_OK(tdm_rpc_worker_id(&id));
  EXPECT_EQ(id, 0);
}

TEST_F(Rpc, OperatorsAreCalled) {
  const Tensor a = tensor({1, 2}, {2}), b = tensor({3, 4}, {2});
  Value sum;
  ASSERT_OK(call("aten::add", {of(a), of(b)}, sum.out()));
  EXPECT_THAT(floats(sum.get().as.tensor), ElementsAre(4, 6));
}

TEST_F(Rpc, ValuesOfAnyStructureGoAndCome) {
  const Tensor x = tensor({1, 2}, {2});
  tdm_value bytes = of("a");
  bytes.as.string = {"a\0b", 3};
  const std::vector<tdm_value> pair = {of(1), of(true)};
  const std::vector<tdm_value> inner = {of("pair"), list_of(TDM_VALUE_TUPLE, pair)};
  const std::vector<tdm_value> elements = {of(x), of(2.5), bytes, tagged(TDM_VALUE_NONE), list_of(TDM_VALUE_DICT, inner)};
  Value back;
  ASSERT_OK(call("echo", {list_of(TDM_VALUE_LIST, elements)}, back.out()));
  ASSERT_EQ(back.get().tag, TDM_VALUE_LIST);
  ASSERT_EQ(back.get().as.list.size, 5u);
  EXPECT_THAT(floats(element(back.get(), 0).as.tensor), ElementsAre(1, 2));
  EXPECT_EQ(element(back.get(), 1).as.real, 2.5);
  EXPECT_EQ(text(element(back.get(), 2)), std::string("a\0b", 3));
  EXPECT_EQ(element(back.get(), 3).tag, TDM_VALUE_NONE);
  const tdm_value& dict = element(back.get(), 4);
  ASSERT_EQ(dict.tag, TDM_VALUE_DICT);
  EXPECT_EQ(text(element(dict, 0)), "pair");
  ASSERT_EQ(element(dict, 1).tag, TDM_VALUE_TUPLE);
  EXPECT_EQ(element(element(dict, 1), 0).as.integer, 1);
  EXPECT_EQ(element(element(dict, 1), 1).as.boolean, 1);
}

TEST_F(Rpc, WhatFailsThereFailsHereWithItsCode) {
  Value none;
  EXPECT_REFUSED(call("fails", {}, none.out()), TDM_ERROR_DATA_LOSS, "fails on worker 'self': record 7 is torn");
  EXPECT_REFUSED(call("throws", {}, none.out()), TDM_ERROR_CALLBACK, "throws on worker 'self': out of paper");
  EXPECT_REFUSED(call("refused", {}, none.out()), TDM_ERROR_INVALID_ARGUMENT, "unknown tag 99");
  EXPECT_REFUSED(call("nobody", {}, none.out()), TDM_ERROR_NOT_FOUND, "registered are echo");
  EXPECT_REFUSED(tdm_rpc_sync("other", "echo", nullptr, 0, nullptr, none.out()), TDM_ERROR_NOT_FOUND, "there are 'self'");
  EXPECT_REFUSED(tdm_rpc_register_function("echo", [](void*, tdm_value*, std::size_t, tdm_rpc_result*) -> tdm_error* {
                   return nullptr;
                 }, nullptr, nullptr), TDM_ERROR_INVALID_ARGUMENT, "registered already");
  EXPECT_EQ(none.get().tag, TDM_VALUE_NONE);
}

TEST_F(Rpc, AFunctionsTensorsGoWithItButThoseItKeeps) {
  static tdm_tensor *kept = nullptr, *dropped = nullptr;
  static std::atomic<int> destroyed{0};
  EXPECT_OK(tdm_rpc_register_function(
      "keeps",
      [](void*, tdm_value* arguments, std::size_t count, tdm_rpc_result*) -> tdm_error* {
        EXPECT_EQ(count, 2u);
        kept = arguments[0].as.tensor;
        arguments[0].tag = TDM_VALUE_NONE;
        tdm_scope_keep(kept);
        dropped = arguments[1].as.tensor;
        return nullptr;
      },
      nullptr, [](void*) { ++destroyed; }));
  const Tensor a = tensor({1, 2}, {2}), b = tensor({3, 4}, {2});
  Value nothing;
  EXPECT_OK(call("keeps", {of(a), of(b)}, nothing.out()));
  EXPECT_EQ(nothing.get().tag, TDM_VALUE_NONE);
  const Tensor own(kept);
  EXPECT_THAT(floats(kept), ElementsAre(1, 2));
  double number = 0;
  EXPECT_REFUSED(tdm_tensor_item_double(dropped, &number), TDM_ERROR_CLOSED, "tensor");
  std::int32_t existed = 0;
  EXPECT_OK(tdm_rpc_unregister("keeps", &existed));
  EXPECT_EQ(existed, 1);
  EXPECT_EQ(destroyed, 1);
  EXPECT_OK(tdm_rpc_unregister("keeps", &existed));
  EXPECT_EQ(existed, 0);
}

TEST_F(Rpc, AFutureIsWaitedForAndTells) {
  const tdm_value seven = of(7);
  tdm_rpc_future* made = nullptr;
  ASSERT_OK(tdm_rpc_async("self", "echo", &seven, 1, nullptr, &made));
  const Future future(made);
  std::atomic<int> told{0}, destroyed{0};
  struct Counts {
    std::atomic<int>&told, &destroyed;
  } counts{told, destroyed};
  ASSERT_OK(tdm_rpc_future_on_completion(
      made,
      [](void* data, const tdm_error* error) {
        EXPECT_EQ(error, nullptr);
        ++static_cast<Counts*>(data)->told;
      },
      &counts, [](void* data) { ++static_cast<Counts*>(data)->destroyed; }));
  for (int i = 0; i < 2; ++i) {
    Value value;
    EXPECT_OK(tdm_rpc_future_wait(made, 0, value.out()));
    EXPECT_EQ(value.get().as.integer, 7);
  }
  EXPECT_EQ(tdm_rpc_future_is_done(made), 1);
  while (destroyed == 0) std::this_thread::yield();
  EXPECT_EQ(told, 1);

  ASSERT_OK(tdm_rpc_async("self", "fails", nullptr, 0, nullptr, &made));
  const Future failed(made);
  Value none;
  EXPECT_REFUSED(tdm_rpc_future_wait(made, 0, none.out()), TDM_ERROR_DATA_LOSS, "record 7");
  static std::atomic<int> code{0};
  EXPECT_OK(tdm_rpc_future_on_completion(
      made, [](void*, const tdm_error* error) { code = tdm_error_get_code(error); }, nullptr, nullptr));
  EXPECT_EQ(code, TDM_ERROR_DATA_LOSS) << "the call had ended, so that the callback came at once";
}

TEST_F(Rpc, AReferenceIsTheValueOnItsOwner) {
  const Tensor x = tensor({1, 2}, {2});
  const tdm_value held = of(x);
  tdm_rref* made = nullptr;
  ASSERT_OK(tdm_rref_create(&held, &made));
  RRef rref(made);
  std::int32_t owner = -1;
  EXPECT_OK(tdm_rref_owner(made, &owner));
  EXPECT_EQ(owner, 0);
  EXPECT_EQ(tdm_rref_is_owner(made), 1);
  Value local;
  ASSERT_OK(tdm_rref_local_value(made, 0, local.out()));
  void *theirs = nullptr, *ours = nullptr;
  EXPECT_OK(tdm_tensor_data(local.get().as.tensor, &theirs));
  EXPECT_OK(tdm_tensor_data(x.get(), &ours));
  EXPECT_EQ(theirs, ours);

  Value back;
  ASSERT_OK(call("echo", {of_rref(made)}, back.out()));
  ASSERT_EQ(back.get().tag, TDM_VALUE_RREF);
  Value here;
  ASSERT_OK(tdm_rref_to_here(back.get().as.rref, nullptr, here.out()));
  EXPECT_THAT(floats(here.get().as.tensor), ElementsAre(1, 2));

  const tdm_value two = of(2);
  ASSERT_OK(tdm_rpc_remote("self", "echo", &two, 1, nullptr, &made));
  const RRef remote(made);
  Value got;
  ASSERT_OK(tdm_rref_to_here(made, nullptr, got.out()));
  EXPECT_EQ(got.get().as.integer, 2);
  ASSERT_OK(tdm_rpc_remote("self", "fails", nullptr, 0, nullptr, &made));
  const RRef failed(made);
  Value none;
  EXPECT_REFUSED(tdm_rref_to_here(made, nullptr, none.out()), TDM_ERROR_DATA_LOSS, "record 7 is torn");
  tdm_rpc_call_options options = TDM_RPC_CALL_OPTIONS_INIT;
  options.retries = 1;
  EXPECT_REFUSED(tdm_rref_to_here(made, &options, none.out()), TDM_ERROR_INVALID_ARGUMENT, "options->retries is 1");
  options = TDM_RPC_CALL_OPTIONS_INIT;
  options.context = -2;
  EXPECT_REFUSED(tdm_rref_to_here(made, &options, none.out()), TDM_ERROR_INVALID_ARGUMENT, "options->context is -2");

  // What is no call takes none.
  tdm_value result{};
  EXPECT_REFUSED(calls::call(find("aten::neg"), {of_rref(rref.get())}, &result), TDM_ERROR_INVALID_ARGUMENT,
                 "a reference (RRef)");
}

TEST_F(Rpc, GradientsAreKeptWithTheirContextAndOptimizersTakeThem) {
  static tdm_tensor* weight = nullptr;
  static std::atomic<std::int64_t> hooked{-1};
  const Tensor w = parameter({1, 2}, {2}), other = parameter({5}, {1}), x = tensor({3, 4}, {2});
  weight = w.get();
  add("scaled", [](void*, tdm_value* arguments, std::size_t, tdm_rpc_result* result) {
    const tdm_value operands[] = {of(weight), arguments[0]};
    tdm_value product{};
    EXPECT_GE(tdm_dist_autograd_current_context(), 0);
    EXPECT_OK(tdm_op_call(find("aten::mul", "Tensor"), operands, 2, &product, 1));
    tdm_error* error = tdm_rpc_result_set(result, &product);
    tdm_value_clear(&product);
    return error;
  });
  add("before", [](void*, tdm_value* arguments, std::size_t, tdm_rpc_result*) -> tdm_error* {
    hooked = arguments[0].as.integer;
    return nullptr;
  });
  const tdm_value parameter_value = of(w);
  tdm_rref* made = nullptr;
  ASSERT_OK(tdm_rref_create(&parameter_value, &made));
  const RRef rref(made);
  const tdm_option rate = option("lr", of(0.5));
  tdm_distributed_optimizer_options options = TDM_DISTRIBUTED_OPTIMIZER_OPTIONS_INIT;
  options.before_step = "before";
  tdm_distributed_optimizer* optimizer = nullptr;
  ASSERT_OK(tdm_distributed_optimizer_create("SGD", &made, 1, &rate, 1, &options, &optimizer));

  std::int64_t context = -1;
  ASSERT_OK(tdm_dist_autograd_new_context(&context));
  EXPECT_EQ(tdm_dist_autograd_current_context(), -1) << "no thread's until it is given";
  tdm_rpc_call_options inside = TDM_RPC_CALL_OPTIONS_INIT;
  inside.context = context;
  const tdm_value input = of(x);
  Value product;
  ASSERT_OK(tdm_rpc_sync("self", "scaled", &input, 1, &inside, product.out()));
  const Tensor loss = calls::call("aten::sum", "", {of(product.get().as.tensor)});
  tdm_tensor* root = loss.get();
  ASSERT_OK(tdm_dist_autograd_backward(context, &root, 1, 0));
  tdm_tensor *wanted[] = {w.get(), other.get()}, *gradients[] = {nullptr, nullptr};
  ASSERT_OK(tdm_dist_autograd_gradients(context, wanted, 2, gradients));
  const Tensor gradient(gradients[0]);
  EXPECT_THAT(floats(gradients[0]), ElementsAre(3, 4));
  EXPECT_EQ(gradients[1], nullptr);
  EXPECT_EQ(grad(w), nullptr) << "kept with the context alone";
  ASSERT_OK(tdm_distributed_optimizer_step(optimizer, context));
  EXPECT_THAT(floats(w.get()), ElementsAre(-0.5, 0));
  EXPECT_EQ(hooked, context);
  const tdm_option slower = option("lr", of(0.25));
  ASSERT_OK(tdm_distributed_optimizer_set_option(optimizer, &slower));
  ASSERT_OK(tdm_distributed_optimizer_step(optimizer, context));
  EXPECT_THAT(floats(w.get()), ElementsAre(-1.25, -1));
  const tdm_option wrong = option("speed", of(1.0));
  EXPECT_REFUSED(tdm_distributed_optimizer_set_option(optimizer, &wrong), TDM_ERROR_NOT_FOUND, "speed");

  ASSERT_OK(tdm_dist_autograd_release_context(context));
  EXPECT_REFUSED(tdm_dist_autograd_gradients(context, wanted, 2, gradients), TDM_ERROR_NOT_FOUND, "it is over");
  tdm_distributed_optimizer_free(optimizer);
  EXPECT_OK(tdm_rpc_unregister("scaled", nullptr));
  EXPECT_OK(tdm_rpc_unregister("before", nullptr));
}

TEST_F(Rpc, CallsAreCounted) {
  tdm_rpc_statistics before = TDM_RPC_STATISTICS_INIT, after = TDM_RPC_STATISTICS_INIT;
  ASSERT_OK(tdm_rpc_get_statistics("self", &before));
  Value value;
  EXPECT_OK(call("echo", {of(1)}, value.out()));
  tdm_error_free(call("fails", {}, value.out()));
  ASSERT_OK(tdm_rpc_get_statistics("self", &after));
  EXPECT_EQ(after.calls - before.calls, 2);
  EXPECT_EQ(after.failed - before.failed, 1);
  EXPECT_GT(after.bytes_sent, before.bytes_sent);
  EXPECT_REFUSED(tdm_rpc_get_statistics("other", &after), TDM_ERROR_NOT_FOUND, "'self'");
}

TEST(RpcEnds, WithItsSession) {
  const Tensor x = tensor({1}, {1});
  const tdm_value held = of(x);
  tdm_rref* made = nullptr;
  ASSERT_OK(tdm_rref_create(&held, &made));
  const RRef rref(made);
  ASSERT_OK(tdm_rpc_shutdown(1, 0));
  EXPECT_EQ(tdm_rpc_is_initialized(), 0);
  EXPECT_OK(tdm_rpc_shutdown(1, 0));
  Value none;
  EXPECT_REFUSED(call("aten::neg", {of(x)}, none.out()), TDM_ERROR_CLOSED, "shut down");
  EXPECT_REFUSED(tdm_rref_to_here(made, nullptr, none.out()), TDM_ERROR_CLOSED, "shut down");
  std::int64_t context = 0;
  EXPECT_REFUSED(tdm_dist_autograd_new_context(&context), TDM_ERROR_CLOSED, "shut down");
  tdm_rpc_options options = TDM_RPC_OPTIONS_INIT;
  options.rank = 0;
  options.world_size = 1;
  EXPECT_REFUSED(tdm_rpc_init("again", &options, nullptr), TDM_ERROR_UNSUPPORTED, "was a worker before");
}

}  // namespace
}  // namespace rpc_test
