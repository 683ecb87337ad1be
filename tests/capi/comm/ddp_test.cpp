// Data-parallel training through the C ABI: hooks, join, synchronized layers, shared optimizers; ranks as threads.
#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tandem/tandem.h"

namespace {

using ::testing::HasSubstr;

struct Failure {
  tdm_error_code code = 0;
  std::string message;
};

Failure take(tdm_error* error) {
  Failure failure;
  if (!error) return failure;
  failure = {tdm_error_get_code(error), tdm_error_message(error)};
  tdm_error_free(error);
  return failure;
}

#define EXPECT_OK(call)                            \
  do {                                             \
    const Failure failure = take(call);            \
    EXPECT_EQ(failure.code, 0) << failure.message; \
  } while (false)

template <typename T, void (*kFree)(T*)>
struct Freer {
  void operator()(T* handle) const { kFree(handle); }
};
using Tensor = std::unique_ptr<tdm_tensor, Freer<tdm_tensor, tdm_tensor_free>>;
using Group = std::unique_ptr<tdm_process_group, Freer<tdm_process_group, tdm_process_group_free>>;
using Ddp = std::unique_ptr<tdm_ddp, Freer<tdm_ddp, tdm_ddp_free>>;
using Optimizer = std::unique_ptr<tdm_optimizer, Freer<tdm_optimizer, tdm_optimizer_free>>;
using Averager = std::unique_ptr<tdm_model_averager, Freer<tdm_model_averager, tdm_model_averager_free>>;

void run_ranks(int size, const std::function<void(tdm_process_group*, int)>& body) {
  tdm_store* store = nullptr;
  EXPECT_OK(tdm_store_hash(&store));
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < size; ++rank) {
    ranks.emplace_back([&, rank] {
      tdm_process_group_options options = TDM_PROCESS_GROUP_OPTIONS_INIT;
      options.rank = rank;
      options.world_size = size;
      options.timeout_ms = 20000;
      tdm_process_group* group = nullptr;
      EXPECT_OK(tdm_process_group_create(&options, store, &group));
      const Group owned(group);
      if (group) body(group, rank);
    });
  }
  for (auto& rank : ranks) rank.join();
  tdm_store_free(store);
}

Tensor tensor_of(const std::vector<float>& values, bool requires_grad = false) {
  tdm_tensor* tensor = nullptr;
  const std::int64_t size = static_cast<std::int64_t>(values.size());
  EXPECT_OK(tdm_tensor_from_data(values.data(), values.size() * sizeof(float), TDM_DTYPE_FLOAT32, &size, 1, &tensor));
  if (requires_grad) EXPECT_OK(tdm_tensor_set_requires_grad(tensor, 1));
  return Tensor(tensor);
}

std::vector<float> values_of(const tdm_tensor* tensor) {
  std::vector<float> values(static_cast<std::size_t>(tdm_tensor_numel(tensor)));
  EXPECT_OK(tdm_tensor_copy_to(tensor, values.data(), values.size() * sizeof(float)));
  return values;
}

// An operator's one result, a tensor.
Tensor call(const char* name, const char* overload, const std::vector<tdm_tensor*>& arguments) {
  const tdm_op* op = nullptr;
  EXPECT_OK(tdm_op_find(name, overload, &op));
  std::vector<tdm_value> values(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    values[i].tag = TDM_VALUE_TENSOR;
    values[i].as.tensor = arguments[i];
  }
  tdm_value result{};
  EXPECT_OK(tdm_op_call(op, values.data(), values.size(), &result, 1));
  return Tensor(result.as.tensor);
}

// A name is any text.
constexpr const char* kName = "the\nweight";

Ddp ddp_over(tdm_process_group* group, tdm_tensor* parameter, tdm_ddp_options options = TDM_DDP_OPTIONS_INIT) {
  tdm_ddp* ddp = nullptr;
  EXPECT_OK(tdm_ddp_create(group, &parameter, &kName, 1, nullptr, 0, &options, &ddp));
  return Ddp(ddp);
}

// A step in which `parameter` gets `gradient` on this rank.
Failure step(tdm_ddp* ddp, tdm_tensor* parameter, const std::vector<float>& gradient) {
  EXPECT_OK(tdm_tensor_set_grad(parameter, nullptr));
  EXPECT_OK(tdm_ddp_prepare_forward(ddp, 1, nullptr, 0, nullptr));
  const Tensor factor = tensor_of(gradient);
  const Tensor product = call("aten::mul", "Tensor", {parameter, factor.get()});
  const Tensor loss = call("aten::sum", "", {product.get()});
  tdm_value output{}, prepared{};
  output.tag = TDM_VALUE_TENSOR;
  output.as.tensor = loss.get();
  EXPECT_OK(tdm_ddp_prepare_backward(ddp, &output, 1, &prepared));
  const Tensor root(prepared.as.tensor);
  return take(tdm_autograd_backward(&prepared.as.tensor, nullptr, 1, 0, 0));
}

std::vector<float> gradient_of(tdm_tensor* parameter) {
  tdm_tensor* gradient = nullptr;
  EXPECT_OK(tdm_tensor_grad(parameter, &gradient));
  const Tensor owned(gradient);
  return gradient ? values_of(gradient) : std::vector<float>();
}

const std::vector<float> kOf[2] = {{1, 2, 3}, {3, -2, 5}};
const std::vector<float> kMean = {2, 0, 4};

TEST(CapiDdp, HasTheBuiltInHooks) {
  run_ranks(2, [](tdm_process_group* group, int rank) {
    for (const tdm_comm_hook hook :
         {TDM_COMM_HOOK_ALLREDUCE, TDM_COMM_HOOK_FP16_COMPRESS, TDM_COMM_HOOK_BF16_COMPRESS,
          TDM_COMM_HOOK_QUANTIZATION_PERTENSOR, TDM_COMM_HOOK_QUANTIZATION_PERCHANNEL, TDM_COMM_HOOK_POWER_SGD,
          TDM_COMM_HOOK_BATCHED_POWER_SGD, TDM_COMM_HOOK_POST_LOCAL_SGD, TDM_COMM_HOOK_NOOP}) {
      const Tensor weight = tensor_of({1, 1, 1}, true);
      const Ddp ddp = ddp_over(group, weight.get());
      tdm_comm_hook_options options = TDM_COMM_HOOK_OPTIONS_INIT;
      options.subgroup = group;
      EXPECT_OK(tdm_ddp_set_comm_hook(ddp.get(), hook, &options));
      EXPECT_EQ(step(ddp.get(), weight.get(), kOf[rank]).code, 0) << hook;
      const auto got = gradient_of(weight.get());
      const auto& want = hook == TDM_COMM_HOOK_NOOP ? kOf[rank] : kMean;
      for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 0.03) << hook;
    }
    const Tensor weight = tensor_of({1}, true);
    const Ddp ddp = ddp_over(group, weight.get());
    EXPECT_THAT(take(tdm_ddp_set_comm_hook(ddp.get(), 99, nullptr)).message, HasSubstr("no tdm_comm_hook"));
    tdm_comm_hook_options options = TDM_COMM_HOOK_OPTIONS_INIT;
    options.compress_dtype = TDM_DTYPE_INT32;
    EXPECT_THAT(take(tdm_ddp_set_comm_hook(ddp.get(), 0, &options)).message, HasSubstr("compress_dtype"));
  });
}

struct Own {
  tdm_process_group* group;
  int begun = 0, finished = 0, destroyed = 0;
  bool fails = false, fails_late = false, wrong_shape = false;
  tdm_work* work = nullptr;  // the hook's, which frees it
};

void free_work(Own& own) {
  tdm_work_free(std::exchange(own.work, nullptr));
}

tdm_error* begin_own(void* user_data, const tdm_grad_bucket* bucket, tdm_work** work) {
  Own& own = *static_cast<Own*>(user_data);
  ++own.begun;
  EXPECT_EQ(bucket->index, 0);
  EXPECT_EQ(bucket->is_last, 1);
  EXPECT_EQ(bucket->gradient_count, 1u);
  EXPECT_EQ(bucket->parameter_count, 1u);
  EXPECT_EQ(tdm_tensor_numel(bucket->buffer), 3);
  if (own.fails) return tdm_error_create(TDM_ERROR_IO, "own", "the hook's disk is full", nullptr, nullptr);
  if (tdm_error* error = tdm_all_reduce(own.group, bucket->buffer, TDM_REDUCE_OP_SUM, &own.work)) return error;
  *work = own.work;
  return own.fails_late ? tdm_error_create(TDM_ERROR_IO, "own", "the hook's disk is full", nullptr, nullptr) : nullptr;
}

tdm_error* finish_own(void* user_data, const tdm_grad_bucket* bucket, tdm_tensor** result) {
  Own& own = *static_cast<Own*>(user_data);
  ++own.finished;
  free_work(own);
  std::vector<float> values = values_of(bucket->buffer);
  for (float& value : values) value *= 0.5f;
  if (own.wrong_shape) values.push_back(0);
  *result = tensor_of(values).release();  // of the callback's scope, which frees it
  return nullptr;
}

void destroy_own(void* user_data) {
  ++static_cast<Own*>(user_data)->destroyed;
}

TEST(CapiDdp, CallsAHookOfTheCallers) {
  run_ranks(2, [](tdm_process_group* group, int rank) {
    Own own{group};
    {
      const Tensor weight = tensor_of({1, 1, 1}, true);
      const Ddp ddp = ddp_over(group, weight.get());
      EXPECT_OK(tdm_ddp_register_comm_hook(ddp.get(), begin_own, finish_own, &own, destroy_own));
      for (int i = 0; i < 3; ++i) EXPECT_EQ(step(ddp.get(), weight.get(), kOf[rank]).code, 0);
      EXPECT_EQ(gradient_of(weight.get()), kMean);
      EXPECT_EQ(own.destroyed, 0);
    }
    EXPECT_EQ(own.begun, 3);
    EXPECT_EQ(own.finished, 3);
    EXPECT_EQ(own.destroyed, 1);
    {  // without a second half the buffer is the result
      const Tensor weight = tensor_of({1, 1, 1}, true);
      const Ddp ddp = ddp_over(group, weight.get());
      EXPECT_OK(tdm_ddp_register_comm_hook(ddp.get(), begin_own, nullptr, &own, nullptr));
      EXPECT_EQ(step(ddp.get(), weight.get(), kOf[rank]).code, 0);
      EXPECT_EQ(gradient_of(weight.get()), (std::vector<float>{4, 0, 8}));
      free_work(own);
    }
  });
}

TEST(CapiDdp, AWorkStaysItsHooks) {
  const std::int64_t works = tdm_live_count("work");
  run_ranks(2, [](tdm_process_group* group, int rank) {
    Own own{group};
    own.fails_late = true;
    const Tensor weight = tensor_of({1, 1, 1}, true);
    const Ddp ddp = ddp_over(group, weight.get());
    EXPECT_OK(tdm_ddp_register_comm_hook(ddp.get(), begin_own, finish_own, &own, nullptr));
    EXPECT_EQ(step(ddp.get(), weight.get(), kOf[rank]).code, TDM_ERROR_CALLBACK);
    EXPECT_EQ(own.finished, 0);
    EXPECT_OK(tdm_work_wait(own.work, -1));
    free_work(own);
  });
  EXPECT_EQ(tdm_live_count("work"), works);
}

TEST(CapiDdp, AHooksErrorIsBackwards) {
  run_ranks(2, [](tdm_process_group* group, int rank) {
    for (const bool fails : {true, false}) {
      Own own{group};
      own.fails = fails;
      own.wrong_shape = true;
      const Tensor weight = tensor_of({1, 1, 1}, true);
      const Ddp ddp = ddp_over(group, weight.get());
      EXPECT_OK(tdm_ddp_register_comm_hook(ddp.get(), begin_own, finish_own, &own, nullptr));
      const Failure failure = step(ddp.get(), weight.get(), kOf[rank]);
      EXPECT_EQ(failure.code, fails ? TDM_ERROR_CALLBACK : TDM_ERROR_INVALID_ARGUMENT);
      EXPECT_THAT(failure.message, HasSubstr(fails ? "disk is full" : "gave a tensor of"));
    }
  });
}

TEST(CapiDdp, AForwardThatIsCancelledLeavesParametersAsTheyWere) {
  run_ranks(1, [](tdm_process_group* group, int) {
    const Tensor weight = tensor_of({1, 1, 1}, true);
    tdm_ddp_options options = TDM_DDP_OPTIONS_INIT;
    options.param_dtype = TDM_DTYPE_BFLOAT16;
    const Ddp ddp = ddp_over(group, weight.get(), options);
    const auto dtype = [&] { return tdm_tensor_get_dtype(weight.get()); };
    EXPECT_OK(tdm_ddp_prepare_forward(ddp.get(), 1, nullptr, 0, nullptr));
    EXPECT_EQ(dtype(), TDM_DTYPE_BFLOAT16);
    EXPECT_OK(tdm_ddp_cancel_forward(ddp.get()));
    EXPECT_EQ(dtype(), TDM_DTYPE_FLOAT32);
    EXPECT_EQ(step(ddp.get(), weight.get(), kOf[0]).code, 0);
    EXPECT_EQ(gradient_of(weight.get()), kOf[0]);
  });
}

TEST(CapiDdp, WeighsBySamplesAndSpeaksOfItsBuckets) {
  run_ranks(2, [](tdm_process_group* group, int rank) {
    const Tensor weight = tensor_of({1, 1, 1}, true);
    tdm_ddp_options options = TDM_DDP_OPTIONS_INIT;
    options.average_by_samples = 1;
    options.gradient_as_bucket_view = 1;
    const Ddp ddp = ddp_over(group, weight.get(), options);
    EXPECT_OK(tdm_ddp_set_batch_samples(ddp.get(), rank == 0 ? 1 : 3));
    for (int i = 0; i < 2; ++i) EXPECT_EQ(step(ddp.get(), weight.get(), kOf[rank]).code, 0);
    EXPECT_EQ(gradient_of(weight.get()), (std::vector<float>{2.5, -1, 4.5}));
    EXPECT_EQ(take(tdm_ddp_set_batch_samples(ddp.get(), -2)).code, TDM_ERROR_INVALID_ARGUMENT);
    // As many as the arguments have again: none of them is a batch.
    EXPECT_OK(tdm_ddp_set_batch_samples(ddp.get(), -1));
    EXPECT_EQ(step(ddp.get(), weight.get(), kOf[rank]).code, 0);
    EXPECT_EQ(gradient_of(weight.get()), kMean);

    EXPECT_OK(tdm_ddp_set_statistics_sample_rate(ddp.get(), 1));
    tdm_ddp_statistics statistics = TDM_DDP_STATISTICS_INIT;
    EXPECT_OK(tdm_ddp_get_statistics(ddp.get(), &statistics));
    EXPECT_EQ(statistics.iterations, 3);
    EXPECT_EQ(statistics.bucket_count, 1);
    std::int64_t bytes = 0;
    tdm_strings* names = nullptr;
    EXPECT_OK(tdm_ddp_get_bucket(ddp.get(), 0, &bytes, &names));
    EXPECT_EQ(bytes, 12);
    ASSERT_EQ(tdm_strings_count(names), 1u);
    EXPECT_STREQ(tdm_strings_data(names, 0), kName);
    tdm_strings_free(names);
    EXPECT_EQ(take(tdm_ddp_get_bucket(ddp.get(), 1, &bytes, nullptr)).code, TDM_ERROR_OUT_OF_RANGE);
  });
}

TEST(CapiDdp, TellsItsIterations) {
  run_ranks(2, [](tdm_process_group* group, int rank) {
    const Tensor weight = tensor_of({1, 1, 1}, true);
    const Ddp ddp = ddp_over(group, weight.get());
    EXPECT_OK(tdm_ddp_set_separate_exchanges(ddp.get(), 2));
    for (int i = 0; i < 4; ++i) EXPECT_EQ(step(ddp.get(), weight.get(), kOf[rank]).code, 0);
    EXPECT_EQ(gradient_of(weight.get()), kMean);
    std::int64_t count = 0;
    EXPECT_OK(tdm_ddp_get_iteration_count(ddp.get(), &count));
    ASSERT_EQ(count, 4);
    for (std::int64_t i = 0; i < count; ++i) {
      tdm_ddp_iteration one = TDM_DDP_ITERATION_INIT;
      EXPECT_OK(tdm_ddp_get_iteration(ddp.get(), i, &one));
      EXPECT_EQ(one.number, i);
      EXPECT_EQ(one.separate, i % 2);
      EXPECT_EQ(one.total, one.backward_begun + one.backward + one.wait);
      EXPECT_GE(one.backward_begun, one.forward_exchange + one.forward);
      ASSERT_EQ(one.bucket_count, 1);
      std::int64_t bytes = 0, begun = 0, done = 0;
      EXPECT_OK(tdm_ddp_get_iteration_bucket(ddp.get(), i, 0, &bytes, &begun, &done));
      EXPECT_EQ(bytes, 12);
      EXPECT_GE(begun, one.backward_begun + (one.separate ? one.backward : 0));
      EXPECT_EQ(done - begun, one.communication);
      EXPECT_LE(done, one.total);
    }
    tdm_ddp_statistics statistics = TDM_DDP_STATISTICS_INIT;
    EXPECT_OK(tdm_ddp_get_statistics(ddp.get(), &statistics));
    EXPECT_GT(statistics.step, 0);
    EXPECT_GT(statistics.step_without_exchange, 0);
    EXPECT_GT(statistics.communication_alone, 0);
    tdm_string* table = nullptr;
    EXPECT_OK(tdm_ddp_statistics_table(ddp.get(), &table));
    EXPECT_THAT(tdm_string_data(table), HasSubstr("weight"));
    tdm_string_free(table);
    tdm_ddp_iteration one = TDM_DDP_ITERATION_INIT;
    EXPECT_EQ(take(tdm_ddp_get_iteration(ddp.get(), 4, &one)).code, TDM_ERROR_OUT_OF_RANGE);
    std::int64_t number = 0;
    EXPECT_EQ(take(tdm_ddp_get_iteration_bucket(ddp.get(), 0, 1, &number, &number, &number)).code,
              TDM_ERROR_OUT_OF_RANGE);
    EXPECT_EQ(take(tdm_ddp_set_separate_exchanges(ddp.get(), -1)).code, TDM_ERROR_INVALID_ARGUMENT);
  });
}

tdm_option rate(double value) {
  tdm_option option{};
  option.name = "lr";
  option.value.tag = TDM_VALUE_DOUBLE;
  option.value.as.real = value;
  return option;
}

TEST(CapiDdp, JoinsRanksOfDifferentLengths) {
  run_ranks(2, [](tdm_process_group* group, int rank) {
    const Tensor weight = tensor_of({0, 0, 0}, true);
    const Ddp ddp = ddp_over(group, weight.get());
    tdm_tensor* parameter = weight.get();
    const tdm_option lr = rate(1);
    tdm_optimizer* made = nullptr;
    EXPECT_OK(tdm_zero_redundancy_optimizer_create(group, "SGD", &parameter, 1, &lr, 1, &made));
    const Optimizer zero(made);
    tdm_ddp_join_options options = TDM_DDP_JOIN_OPTIONS_INIT;
    options.divide_by_initial_world_size = 0;
    options.optimizer = zero.get();
    EXPECT_OK(tdm_ddp_begin_join(ddp.get(), &options));
    for (int i = 0; i < 1 + 2 * rank; ++i) {
      EXPECT_EQ(step(ddp.get(), weight.get(), kOf[rank]).code, 0);
      EXPECT_OK(tdm_optimizer_step(zero.get()));
    }
    EXPECT_OK(tdm_ddp_end_join(ddp.get()));
    // Once the mean, twice rank 1's own.
    EXPECT_EQ(values_of(weight.get()), (std::vector<float>{-8, 4, -14}));
    EXPECT_THAT(take(tdm_ddp_end_join(ddp.get())).message, HasSubstr("has not begun"));
    EXPECT_OK(tdm_ddp_begin_join(ddp.get(), nullptr));
    EXPECT_OK(tdm_ddp_cancel_join(ddp.get()));
    EXPECT_OK(tdm_zero_redundancy_optimizer_consolidate(zero.get(), 0));
  });
}

TEST(CapiDdp, StepsAnOptimizerInBackward) {
  run_ranks(2, [](tdm_process_group* group, int rank) {
    const Tensor weight = tensor_of({0, 0, 0}, true);
    const Ddp ddp = ddp_over(group, weight.get());
    tdm_tensor* parameter = weight.get();
    const tdm_option lr = rate(0.5);
    tdm_optimizer* sgd = nullptr;
    EXPECT_OK(tdm_optimizer_create("SGD", &parameter, 1, &lr, 1, &sgd));
    EXPECT_OK(tdm_ddp_set_optimizer_in_backward(ddp.get(), sgd));
    tdm_optimizer_free(sgd);  // DDP holds it
    EXPECT_EQ(step(ddp.get(), weight.get(), kOf[rank]).code, 0);
    EXPECT_EQ(values_of(weight.get()), (std::vector<float>{-1, 0, -2}));
    EXPECT_TRUE(gradient_of(weight.get()).empty());
  });
}

TEST(CapiDdp, AveragesModels) {
  run_ranks(2, [](tdm_process_group* group, int rank) {
    const Tensor weight = tensor_of(kOf[rank], true);
    tdm_tensor* parameter = weight.get();
    tdm_model_averager* made = nullptr;
    EXPECT_OK(tdm_periodic_model_averager_create(group, 2, 1, &made));
    const Averager periodic(made);
    EXPECT_GE(tdm_live_count("model_averager"), 1);
    std::int32_t averaged = -1;
    EXPECT_OK(tdm_model_averager_average(periodic.get(), &parameter, 1, &averaged));
    EXPECT_EQ(averaged, 0);
    EXPECT_OK(tdm_model_averager_average(periodic.get(), &parameter, 1, &averaged));
    EXPECT_EQ(averaged, 1);
    EXPECT_EQ(values_of(weight.get()), kMean);

    const std::int64_t period = 1;
    EXPECT_OK(tdm_hierarchical_model_averager_create(&period, &group, 1, 0, &made));
    const Averager hierarchical(made);
    const Tensor other = tensor_of(kOf[rank], true);
    parameter = other.get();
    const tdm_option lr = rate(1);
    tdm_optimizer* sgd = nullptr;
    EXPECT_OK(tdm_optimizer_create("SGD", &parameter, 1, &lr, 1, &sgd));
    tdm_optimizer* local = nullptr;
    EXPECT_OK(tdm_post_local_sgd_optimizer_create(sgd, hierarchical.get(), &local));
    tdm_optimizer_free(sgd);
    const Optimizer owned(local);
    const Tensor gradient = tensor_of({1, 1, 1});
    EXPECT_OK(tdm_tensor_set_grad(other.get(), gradient.get()));
    EXPECT_OK(tdm_optimizer_step(local));
    EXPECT_EQ(values_of(other.get()), (std::vector<float>{1, -1, 3}));
    EXPECT_THAT(take(tdm_zero_redundancy_optimizer_consolidate(local, 0)).message, HasSubstr("PostLocalSGD"));
    EXPECT_EQ(take(tdm_hierarchical_model_averager_create(nullptr, nullptr, 0, 0, &made)).code,
              TDM_ERROR_INVALID_ARGUMENT);
  });
}

TEST(CapiDdp, SynchronizesBatchNorm) {
  run_ranks(2, [](tdm_process_group* group, int rank) {
    tdm_option features{};
    features.name = "num_features";
    features.value.tag = TDM_VALUE_INT;
    features.value.as.integer = 1;
    tdm_module* norm = nullptr;
    EXPECT_OK(tdm_module_create("BatchNorm1d", &features, 1, &norm));
    EXPECT_OK(tdm_module_synchronize_batch_norm(norm, group));
    tdm_tensor* made = nullptr;
    const std::int64_t sizes[] = {1, 1};
    const float x = rank == 0 ? -3.f : 3.f;
    EXPECT_OK(tdm_tensor_from_data(&x, sizeof x, TDM_DTYPE_FLOAT32, sizes, 2, &made));
    const Tensor input(made);
    tdm_value argument{}, result{};
    argument.tag = TDM_VALUE_TENSOR;
    argument.as.tensor = input.get();
    std::size_t count = 1;
    EXPECT_OK(tdm_module_forward(norm, &argument, 1, &result, &count));
    EXPECT_NEAR(values_of(result.as.tensor)[0], rank == 0 ? -1 : 1, 1e-4);
    tdm_value_clear(&result);
    tdm_module_free(norm);

    tdm_module* tanh = nullptr;
    EXPECT_OK(tdm_module_create("Tanh", nullptr, 0, &tanh));
    EXPECT_THAT(take(tdm_module_synchronize_batch_norm(tanh, group)).message, HasSubstr("Tanh"));
    tdm_module_free(tanh);
  });
}

}  // namespace
