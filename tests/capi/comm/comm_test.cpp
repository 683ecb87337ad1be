// Stores, process groups and DDP through the C ABI, with ranks as threads.
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
  std::string operation;
  std::string message;
};

// Takes the error; code 0 for none.
Failure take(tdm_error* error) {
  Failure failure;
  if (!error) return failure;
  failure = {tdm_error_get_code(error), tdm_error_operation(error), tdm_error_message(error)};
  tdm_error_free(error);
  return failure;
}

#define EXPECT_OK(call)                                                         \
  do {                                                                          \
    const Failure failure = take(call);                                         \
    EXPECT_EQ(failure.code, 0) << failure.operation << ": " << failure.message; \
  } while (false)

template <typename T, void (*kFree)(T*)>
struct Freer {
  void operator()(T* handle) const { kFree(handle); }
};
using Tensor = std::unique_ptr<tdm_tensor, Freer<tdm_tensor, tdm_tensor_free>>;
using Store = std::unique_ptr<tdm_store, Freer<tdm_store, tdm_store_free>>;
using Group = std::unique_ptr<tdm_process_group, Freer<tdm_process_group, tdm_process_group_free>>;
using Work = std::unique_ptr<tdm_work, Freer<tdm_work, tdm_work_free>>;
using Ddp = std::unique_ptr<tdm_ddp, Freer<tdm_ddp, tdm_ddp_free>>;

Tensor tensor_of(const std::vector<float>& values) {
  tdm_tensor* tensor = nullptr;
  const std::int64_t size = static_cast<std::int64_t>(values.size());
  EXPECT_OK(tdm_tensor_from_data(values.data(), values.size() * sizeof(float), TDM_DTYPE_FLOAT32, &size, 1, &tensor));
  return Tensor(tensor);
}

std::vector<float> values_of(const tdm_tensor* tensor) {
  std::vector<float> values(static_cast<std::size_t>(tdm_tensor_numel(tensor)));
  EXPECT_OK(tdm_tensor_copy_to(tensor, values.data(), values.size() * sizeof(float)));
  return values;
}

Store hash_store() {
  tdm_store* store = nullptr;
  EXPECT_OK(tdm_store_hash(&store));
  return Store(store);
}

// body(group, rank) on a thread a rank.
void run_ranks(int size, const std::function<void(tdm_process_group*, int)>& body) {
  const Store store = hash_store();
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < size; ++rank) {
    ranks.emplace_back([&, rank] {
      tdm_process_group_options options = TDM_PROCESS_GROUP_OPTIONS_INIT;
      options.rank = rank;
      options.world_size = size;
      options.timeout_ms = 20000;
      tdm_process_group* group = nullptr;
      EXPECT_OK(tdm_process_group_create(&options, store.get(), &group));
      const Group owned(group);
      if (group) body(group, rank);
    });
  }
  for (auto& rank : ranks) rank.join();
}

TEST(CapiStore, KeepsBytesAndCounts) {
  const Store store = hash_store();
  EXPECT_OK(tdm_store_set(store.get(), "key", "a\0b", 3));
  tdm_string* text = nullptr;
  EXPECT_OK(tdm_store_get(store.get(), "key", &text));
  EXPECT_EQ(std::string(tdm_string_data(text), tdm_string_size(text)), std::string("a\0b", 3));
  tdm_string_free(text);
  std::int64_t sum = 0;
  EXPECT_OK(tdm_store_add(store.get(), "count", 5, &sum));
  EXPECT_OK(tdm_store_add(store.get(), "count", -2, &sum));
  EXPECT_EQ(sum, 3);
  const char* keys[] = {"key", "count"};
  std::int32_t there = 0;
  EXPECT_OK(tdm_store_check(store.get(), keys, 2, &there));
  EXPECT_EQ(there, 1);
  EXPECT_OK(tdm_store_delete(store.get(), "key", &there));
  EXPECT_EQ(there, 1);
  EXPECT_OK(tdm_store_check(store.get(), keys, 2, &there));
  EXPECT_EQ(there, 0);
  EXPECT_OK(tdm_store_compare_set(store.get(), "count", "3", "4", &text));
  EXPECT_STREQ(tdm_string_data(text), "4");
  tdm_string_free(text);

  tdm_store* prefixed = nullptr;
  EXPECT_OK(tdm_store_prefix("p", store.get(), &prefixed));
  EXPECT_OK(tdm_store_set(prefixed, "x", "", 0));
  const char* full = "p/x";
  EXPECT_OK(tdm_store_check(store.get(), &full, 1, &there));
  EXPECT_EQ(there, 1);
  EXPECT_EQ(tdm_store_port(prefixed), 0);
  tdm_store_free(prefixed);
}

TEST(CapiStore, TcpServerTellsItsPort) {
  tdm_tcp_store_options options = TDM_TCP_STORE_OPTIONS_INIT;
  options.is_server = 1;
  tdm_store* server = nullptr;
  EXPECT_OK(tdm_store_tcp("127.0.0.1", 0, &options, &server));
  const Store owned(server);
  const std::uint16_t port = tdm_store_port(server);
  EXPECT_GT(port, 0);
  tdm_store* client = nullptr;
  EXPECT_OK(tdm_store_tcp("127.0.0.1", port, nullptr, &client));
  const Store owned_client(client);
  EXPECT_OK(tdm_store_set(client, "key", "value", 5));
  const char* key = "key";
  EXPECT_OK(tdm_store_wait(server, &key, 1, 20000));

  tdm_store* second = nullptr;
  const Failure in_use = take(tdm_store_tcp("127.0.0.1", port, &options, &second));
  EXPECT_EQ(in_use.code, TDM_ERROR_IO);
  EXPECT_THAT(in_use.message, HasSubstr("port in use"));
  EXPECT_EQ(second, nullptr);
}

TEST(CapiStore, ErrorsNameTheKey) {
  const Store store = hash_store();
  EXPECT_OK(tdm_store_set_timeout(store.get(), 50));
  tdm_string* text = nullptr;
  const Failure late = take(tdm_store_get(store.get(), "never", &text));
  EXPECT_EQ(late.code, TDM_ERROR_TIMEOUT);
  EXPECT_EQ(late.operation, "tdm_store_get");
  EXPECT_THAT(late.message, HasSubstr("'never'"));
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(take(tdm_store_set(nullptr, "key", "x", 1)).code, TDM_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take(tdm_store_set(store.get(), nullptr, "x", 1)).code, TDM_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take(tdm_store_set_timeout(store.get(), 0)).code, TDM_ERROR_INVALID_ARGUMENT);
  tdm_store_free(nullptr);
}

TEST(CapiProcessGroup, CollectivesWithAndWithoutWork) {
  run_ranks(2, [](tdm_process_group* group, int rank) {
    EXPECT_EQ(tdm_process_group_rank(group), rank);
    EXPECT_EQ(tdm_process_group_size(group), 2);
    EXPECT_STREQ(tdm_process_group_backend(group), "gloo");

    const Tensor sum = tensor_of({1.0f + rank, 10});
    EXPECT_OK(tdm_all_reduce(group, sum.get(), TDM_REDUCE_OP_SUM, nullptr));
    EXPECT_THAT(values_of(sum.get()), ::testing::ElementsAre(3, 20));
    const Tensor mean = tensor_of({1.0f + rank});
    EXPECT_OK(tdm_all_reduce(group, mean.get(), TDM_REDUCE_OP_AVG, nullptr));
    EXPECT_THAT(values_of(mean.get()), ::testing::ElementsAre(1.5));

    const Tensor root = tensor_of({static_cast<float>(rank)});
    EXPECT_OK(tdm_broadcast(group, root.get(), 1, nullptr));
    EXPECT_THAT(values_of(root.get()), ::testing::ElementsAre(1));
    const Tensor largest = tensor_of({static_cast<float>(rank)});
    EXPECT_OK(tdm_reduce(group, largest.get(), 0, TDM_REDUCE_OP_MAX, nullptr));
    if (rank == 0) {
      EXPECT_THAT(values_of(largest.get()), ::testing::ElementsAre(1));
    }

    const Tensor input = tensor_of({static_cast<float>(rank), 7});
    const Tensor first = tensor_of({0, 0}), second = tensor_of({0, 0});
    tdm_tensor* outputs[] = {first.get(), second.get()};
    EXPECT_OK(tdm_all_gather(group, outputs, 2, input.get(), nullptr));
    EXPECT_THAT(values_of(second.get()), ::testing::ElementsAre(1, 7));

    std::vector<Tensor> tensors;
    std::vector<Work> works;
    for (int i = 0; i < 10; ++i) {
      tensors.push_back(tensor_of({static_cast<float>(i)}));
      tdm_work* work = nullptr;
      EXPECT_OK(tdm_all_reduce(group, tensors.back().get(), TDM_REDUCE_OP_SUM, &work));
      works.emplace_back(work);
    }
    for (int i = 0; i < 10; ++i) {
      EXPECT_OK(tdm_work_wait(works[i].get(), -1));
      EXPECT_EQ(tdm_work_is_completed(works[i].get()), 1);
      EXPECT_THAT(values_of(tensors[i].get()), ::testing::ElementsAre(2.0f * i));
    }
    tdm_work* barrier = nullptr;
    EXPECT_OK(tdm_barrier(group, &barrier));
    tdm_work_free(barrier);  // waits
  });
}

TEST(CapiProcessGroup, TensorsMayBeFreedWhileTheirCollectiveRuns) {
  run_ranks(2, [](tdm_process_group* group, int) {
    std::vector<Work> works;
    for (int i = 0; i < 20; ++i) {
      const Tensor tensor = tensor_of(std::vector<float>(10000, 1));
      tdm_work* work = nullptr;
      EXPECT_OK(tdm_all_reduce(group, tensor.get(), TDM_REDUCE_OP_SUM, &work));
      works.emplace_back(work);
    }
    for (const Work& work : works) EXPECT_OK(tdm_work_wait(work.get(), 20000));
  });
}

TEST(CapiProcessGroup, AbortWakesTheWaiterAndTheGroupIsDone) {
  run_ranks(2, [](tdm_process_group* group, int rank) {
    EXPECT_OK(tdm_barrier(group, nullptr));
    if (rank == 1) {  // never joins the next collective
      const Tensor tensor = tensor_of({1});
      EXPECT_EQ(take(tdm_broadcast(group, tensor.get(), 0, nullptr)).code, TDM_ERROR_PEER_LOST);
      return;
    }
    const Tensor tensor = tensor_of({1});
    tdm_work* work = nullptr;
    EXPECT_OK(tdm_reduce(group, tensor.get(), 0, TDM_REDUCE_OP_SUM, &work));
    const Work owned(work);
    const Failure late = take(tdm_work_wait(work, 50));
    EXPECT_EQ(late.code, TDM_ERROR_TIMEOUT);
    EXPECT_OK(tdm_process_group_abort(group));
    const Failure aborted = take(tdm_work_wait(work, -1));
    EXPECT_EQ(aborted.code, TDM_ERROR_ABORTED);
    EXPECT_THAT(aborted.message, HasSubstr("reduce on group 'default'"));
    EXPECT_EQ(take(tdm_barrier(group, nullptr)).code, TDM_ERROR_ABORTED);
  });
}

TEST(CapiProcessGroup, RefusesBadArguments) {
  tdm_process_group* group = nullptr;
  EXPECT_EQ(take(tdm_process_group_create(nullptr, nullptr, nullptr)).code, TDM_ERROR_INVALID_ARGUMENT);
  tdm_process_group_options options = TDM_PROCESS_GROUP_OPTIONS_INIT;
  options.backend = "none";
  options.rank = 0;
  options.world_size = 2;
  EXPECT_OK(tdm_process_group_create(&options, nullptr, &group));
  const Group owned(group);
  const Tensor tensor = tensor_of({1});
  EXPECT_EQ(take(tdm_all_reduce(group, tensor.get(), 99, nullptr)).code, TDM_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take(tdm_all_reduce(group, nullptr, TDM_REDUCE_OP_SUM, nullptr)).code, TDM_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take(tdm_all_reduce(nullptr, tensor.get(), TDM_REDUCE_OP_SUM, nullptr)).code, TDM_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take(tdm_broadcast(group, tensor.get(), 2, nullptr)).code, TDM_ERROR_INVALID_ARGUMENT);
  tdm_tensor* outputs[] = {tensor.get()};
  EXPECT_EQ(take(tdm_all_gather(group, outputs, 1, tensor.get(), nullptr)).code, TDM_ERROR_INVALID_ARGUMENT);
  options.backend = "smoke signals";
  tdm_process_group* none = nullptr;
  const Failure unknown = take(tdm_process_group_create(&options, nullptr, &none));
  EXPECT_EQ(unknown.code, TDM_ERROR_UNSUPPORTED);
  EXPECT_THAT(unknown.message, HasSubstr("'smoke signals'"));
  EXPECT_EQ(none, nullptr);
  tdm_process_group_free(nullptr);
  tdm_work_free(nullptr);
  EXPECT_EQ(tdm_process_group_rank(nullptr), -1);
}

tdm_tensor* call(const char* name, const char* overload, std::vector<tdm_tensor*> tensors) {
  const tdm_op* op = nullptr;
  EXPECT_OK(tdm_op_find(name, overload, &op));
  std::vector<tdm_value> arguments;
  for (tdm_tensor* tensor : tensors) {
    tdm_value value = {};
    value.tag = TDM_VALUE_TENSOR;
    value.as.tensor = tensor;
    arguments.push_back(value);
  }
  tdm_value result = {};
  EXPECT_OK(tdm_op_call(op, arguments.data(), arguments.size(), &result, 1));
  return result.as.tensor;
}

TEST(CapiDdp, AveragesGradients) {
  run_ranks(2, [](tdm_process_group* group, int rank) {
    const Tensor parameter = tensor_of({1.0f + rank, 2});  // rank 0's is taken
    EXPECT_OK(tdm_tensor_set_requires_grad(parameter.get(), 1));
    tdm_tensor* parameters[] = {parameter.get()};
    const char* names[] = {"weight"};
    tdm_ddp* ddp = nullptr;
    EXPECT_OK(tdm_ddp_create(group, parameters, names, 1, nullptr, 0, nullptr, &ddp));
    const Ddp owned(ddp);
    EXPECT_THAT(values_of(parameter.get()), ::testing::ElementsAre(1, 2));
    for (int i = 0; i < 3; ++i) {
      EXPECT_OK(tdm_tensor_set_grad(parameter.get(), nullptr));
      EXPECT_OK(tdm_ddp_prepare_forward(ddp, 1));
      const Tensor input = tensor_of({1.0f + rank, 10.0f * rank});
      const Tensor product(call("aten::mul", "Tensor", {parameter.get(), input.get()}));
      tdm_tensor* outputs[] = {product.get()};
      EXPECT_OK(tdm_ddp_prepare_backward(ddp, outputs, 1));
      const Tensor loss(call("aten::sum", "", {product.get()}));
      tdm_tensor* losses[] = {loss.get()};
      EXPECT_OK(tdm_autograd_backward(losses, nullptr, 1, 0, 0));
      tdm_tensor* gradient = nullptr;
      EXPECT_OK(tdm_tensor_grad(parameter.get(), &gradient));
      EXPECT_THAT(values_of(gradient), ::testing::ElementsAre(1.5, 5));
      tdm_tensor_free(gradient);
    }
  });
}

TEST(CapiDdp, NamesTheParameterThatDiffers) {
  run_ranks(2, [](tdm_process_group* group, int rank) {
    const Tensor parameter = tensor_of(std::vector<float>(2 + rank));
    EXPECT_OK(tdm_tensor_set_requires_grad(parameter.get(), 1));
    tdm_tensor* parameters[] = {parameter.get()};
    const char* names[] = {"layer.weight"};
    tdm_ddp* ddp = nullptr;
    const Failure failure = take(tdm_ddp_create(group, parameters, names, 1, nullptr, 0, nullptr, &ddp));
    EXPECT_EQ(failure.code, TDM_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(failure.message, HasSubstr("'layer.weight'"));
    EXPECT_EQ(ddp, nullptr);
  });
}

TEST(CapiLeaks, HandlesAreAllGone) {
  for (const char* type : {"store", "process_group", "work", "ddp", "tensor", "string"}) {
    EXPECT_EQ(tdm_live_count(type), 0) << type;
  }
}

}  // namespace
