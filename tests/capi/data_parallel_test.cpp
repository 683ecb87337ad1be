// Replicas of a module of LibTorch's, whose forward is a callback.
#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "capi/calls.h"

namespace data_parallel_test {
namespace {

using namespace calls;
using testing::ElementsAre;
using testing::HasSubstr;

struct FreeDataParallel {
  void operator()(tdm_data_parallel* one) const { tdm_data_parallel_free(one); }
};
using DataParallel = std::unique_ptr<tdm_data_parallel, FreeDataParallel>;

DataParallel data_parallel(int replicas) {
  tdm_data_parallel_options options = TDM_DATA_PARALLEL_OPTIONS_INIT;
  options.replicas = replicas;
  tdm_data_parallel* made = nullptr;
  EXPECT_OK(tdm_data_parallel_create(&options, &made));
  return DataParallel(made);
}

Module clone(const Module& module) {
  tdm_module* copied = nullptr;
  EXPECT_OK(tdm_module_clone(module.get(), &copied));
  return Module(copied);
}

Module linear() {
  return module("Linear", {option("in_features", of(3)), option("out_features", of(2))});
}

// A module, as many copies, and their forward.
struct Replicas {
  Replicas(const Module& original, int count) : parameters(calls::parameters(original)) {
    for (int i = 0; i < count; ++i) {
      modules.push_back(clone(original));
      for (Tensor& one : calls::parameters(modules.back())) own.push_back(std::move(one));
    }
    body = [this](const tdm_replica_call& call) -> tdm_error* {
      tdm_value result{};
      std::size_t results = 1;
      const tdm_value argument = of(call.inputs[0]);
      if (tdm_error* error = tdm_module_forward(modules[call.replica].get(), &argument, 1, &result, &results))
        return error;
      call.outputs[0] = result.as.tensor;
      *call.output_count = 1;
      return nullptr;
    };
  }

  tdm_error* forward(const DataParallel& parallel, const std::vector<tdm_tensor*>& inputs, std::vector<Tensor>* results,
                     std::size_t room = 4) {
    const auto originals = borrowed(parameters), copies = borrowed(own);
    tdm_replicas replicas = TDM_REPLICAS_INIT;
    replicas.parameters = originals.data();
    replicas.parameter_count = originals.size();
    replicas.replica_parameters = copies.data();
    replicas.forward = [](void* self, const tdm_replica_call* call) {
      return static_cast<Replicas*>(self)->body(*call);
    };
    replicas.user_data = this;
    replicas.destroy = [](void* self) { ++static_cast<Replicas*>(self)->freed; };
    std::vector<tdm_tensor*> made(room);
    tdm_error* error =
        tdm_data_parallel_forward(parallel.get(), &replicas, inputs.data(), inputs.size(), made.data(), &room);
    if (error) return error;
    for (std::size_t i = 0; i < room; ++i) results->emplace_back(made[i]);
    return nullptr;
  }

  std::vector<Module> modules;
  std::vector<Tensor> parameters, own;
  std::function<tdm_error*(const tdm_replica_call&)> body;
  std::atomic<int> freed{0};
};

void run_backward(const Tensor& output) {
  const Tensor sum =
      call("aten::sum", "", {of(call("aten::mul", "Tensor", {of(output), of(output)})), tagged(TDM_VALUE_NONE)});
  tdm_tensor* const roots[] = {sum.get()};
  EXPECT_OK(tdm_autograd_backward(roots, nullptr, 1, 0, 0));
}

std::vector<float> take_gradient(const Tensor& parameter) {
  tdm_tensor* gradient = nullptr;
  EXPECT_OK(tdm_tensor_grad(parameter.get(), &gradient));
  const Tensor owned(gradient);
  EXPECT_OK(tdm_tensor_set_grad(parameter.get(), nullptr));
  return owned ? floats(owned.get()) : std::vector<float>();
}

Tensor rows() {
  return tensor({1, 2, 3, 4, 5, 6, -1, 0, 2, 3, 1, 1}, {4, 3});
}

TEST(ModuleClone, HasTensorsOfItsOwn) {
  const LeakCheck leaks;
  const Module module = linear();
  EXPECT_OK(tdm_module_train(module.get(), 0));
  tdm_generator* generator = nullptr;
  ASSERT_OK(tdm_generator_default({TDM_DEVICE_CPU, -1}, &generator));
  const Generator owned(generator);
  const auto state = [&] {
    tdm_tensor* bytes = nullptr;
    EXPECT_OK(tdm_generator_get_state(generator, &bytes));
    const Tensor kept(bytes);
    std::vector<std::uint8_t> values(tdm_tensor_numel(bytes));
    EXPECT_OK(tdm_tensor_copy_to(bytes, values.data(), values.size()));
    return values;
  };
  const auto before = state();
  const Module copied = clone(module);
  EXPECT_EQ(state(), before);
  const auto originals = parameters(module), copies = parameters(copied);
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(floats(copies[0].get()), floats(originals[0].get()));
  EXPECT_OK(tdm_tensor_set_requires_grad(copies[0].get(), 0));
  call("aten::zero_", "", {of(copies[0])});
  EXPECT_NE(floats(copies[0].get()), floats(originals[0].get()));
}

TEST(DataParallel, GivesWhatTheModuleGives) {
  const LeakCheck leaks;
  const Tensor x = rows();
  const Module module = linear();
  const DataParallel parallel = data_parallel(2);
  EXPECT_EQ(tdm_data_parallel_replicas(parallel.get()), 2);
  EXPECT_EQ(tdm_data_parallel_replicas(nullptr), 0);
  Replicas replicas(module, 2);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  const auto compute = replicas.body;
  replicas.body = [&](const tdm_replica_call& call) {
    const std::lock_guard<std::mutex> lock(mutex);
    threads.insert(std::this_thread::get_id());
    EXPECT_THAT(sizes(call.inputs[0]), ElementsAre(2, 3));
    return compute(call);
  };
  const Tensor alone = forward(module, {of(x)});
  run_backward(alone);
  const auto expected = take_gradient(replicas.parameters[0]);
  for (int step = 0; step < 2; ++step) {
    std::vector<Tensor> results;
    ASSERT_OK(replicas.forward(parallel, {x.get()}, &results));
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(floats(results[0].get()), floats(alone.get()));
    EXPECT_EQ(replicas.freed, step);
    run_backward(results[0]);
    const auto gradient = take_gradient(replicas.parameters[0]);
    ASSERT_EQ(gradient.size(), expected.size());
    for (std::size_t i = 0; i < gradient.size(); ++i) EXPECT_NEAR(gradient[i], expected[i], 1e-4);
    EXPECT_EQ(replicas.freed, step + 1);  // with the graph
    EXPECT_TRUE(take_gradient(replicas.own[0]).empty());
  }
  EXPECT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads.count(std::this_thread::get_id()), 0u);
}

TEST(DataParallel, LeavesWhatIsNotThere) {
  const LeakCheck leaks;
  const Tensor x = rows();
  const DataParallel parallel = data_parallel(2);
  Replicas replicas(linear(), 2);
  replicas.body = [](const tdm_replica_call& call) -> tdm_error* {
    EXPECT_EQ(call.input_count, 2u);
    EXPECT_EQ(call.inputs[1], nullptr);
    call.outputs[1] = call.inputs[0];
    *call.output_count = 2;
    return nullptr;
  };
  std::vector<Tensor> results;
  ASSERT_OK(replicas.forward(parallel, {x.get(), nullptr}, &results));
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0], nullptr);
  EXPECT_EQ(floats(results[1].get()), floats(x.get()));
}

TEST(DataParallel, SaysWhichReplicaFailed) {
  const LeakCheck leaks;
  const Tensor x = rows();
  const DataParallel parallel = data_parallel(2);
  Replicas replicas(linear(), 2);
  const auto compute = replicas.body;
  std::vector<Tensor> results;
  const Tensor wrong = tensor({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2});
  EXPECT_REFUSED(replicas.forward(parallel, {wrong.get()}, &results), TDM_ERROR_CALLBACK,
                 "the forward of replica 0 of 2, which was given Float[2, 2], failed: tdm_module_forward");
  replicas.body = [&](const tdm_replica_call& call) {
    return call.replica == 1 ? tdm_error_create(TDM_ERROR_DATA_LOSS, nullptr, "it broke", nullptr, nullptr)
                             : compute(call);
  };
  EXPECT_REFUSED(replicas.forward(parallel, {x.get()}, &results), TDM_ERROR_CALLBACK,
                 "the forward of replica 1 of 2, which was given Float[2, 3], failed: it broke");
  replicas.body = [&](const tdm_replica_call& call) -> tdm_error* {
    *call.output_count = call.output_room + 1;
    return nullptr;
  };
  EXPECT_REFUSED(replicas.forward(parallel, {x.get()}, &results), TDM_ERROR_INVALID_ARGUMENT,
                 "gave 5 outputs, but there is room for 4");
  replicas.body = compute;
  EXPECT_OK(replicas.forward(parallel, {x.get()}, &results));
  EXPECT_EQ(replicas.freed, 0);  // those that failed left it to the caller; the last one's graph is there
}

TEST(DataParallel, RefusesReplicasThatAreNoCopies) {
  const LeakCheck leaks;
  const Tensor x = rows();
  const DataParallel parallel = data_parallel(2);
  const Module module = linear();
  Replicas replicas(module, 2);
  std::vector<Tensor> results;
  replicas.own[3] = std::move(calls::parameters(module)[1]);
  EXPECT_REFUSED(replicas.forward(parallel, {x.get()}, &results), TDM_ERROR_INVALID_ARGUMENT,
                 "replica 1 has a tensor that is the module's own");
  const Tensor other = tensor({1, 2}, {2});
  EXPECT_REFUSED(replicas.forward(parallel, {x.get(), other.get()}, &results), TDM_ERROR_INVALID_ARGUMENT,
                 "inputs of sizes [4, 3] and [2] differ in dimension 0");
}

TEST(DataParallel, RefusesOptions) {
  const auto refused = [](const tdm_data_parallel_options& options, tdm_error_code code) {
    tdm_data_parallel* made = nullptr;
    return message(tdm_data_parallel_create(&options, &made), code);
  };
  tdm_data_parallel_options options = TDM_DATA_PARALLEL_OPTIONS_INIT;
  options.replicas = -2;
  EXPECT_THAT(refused(options, TDM_ERROR_INVALID_ARGUMENT), HasSubstr("-2 replicas were asked for"));
  options = TDM_DATA_PARALLEL_OPTIONS_INIT;
  options.device_count = 1;
  EXPECT_THAT(refused(options, TDM_ERROR_INVALID_ARGUMENT), HasSubstr("options->devices"));
}

}  // namespace
}  // namespace data_parallel_test
