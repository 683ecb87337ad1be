// Stores, process groups and DDP through the C ABI, with ranks as threads.
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "capi/comm/ranks.h"

namespace comm_test {
namespace {

using namespace capi_comm;
using ::testing::HasSubstr;

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
  EXPECT_OK(tdm_store_compare_set(store.get(), "count", "3", 1, "4", 1, &text));
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

TEST(CapiLaunch, TellsThePlaceOfThisProcess) {
  const std::vector<const char*> names = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK"};
  int32_t rank = -2, size = -2, local_rank = -2, local_size = -2, node = -2;
  tdm_string* launcher = nullptr;
  EXPECT_OK(tdm_launch_place(&rank, &size, &local_rank, &local_size, &node, &launcher));
  EXPECT_STREQ(tdm_string_data(launcher), "");
  tdm_string_free(launcher);
  EXPECT_EQ(std::vector<int32_t>({rank, size, local_rank, local_size, node}), std::vector<int32_t>({0, 1, 0, 1, 0}));
  for (const char* name : {"RANK", "LOCAL_RANK"}) setenv(name, "3", 1);
  const auto failure = take(tdm_launch_place(&rank, nullptr, nullptr, nullptr, nullptr, nullptr));
  EXPECT_THAT(failure.message, HasSubstr("WORLD_SIZE"));
  EXPECT_EQ(rank, 0);
  setenv("WORLD_SIZE", "4", 1);
  EXPECT_OK(tdm_launch_place(&rank, &size, &local_rank, &local_size, &node, nullptr));
  EXPECT_EQ(std::vector<int32_t>({rank, size, local_rank, local_size, node}), std::vector<int32_t>({3, 4, 3, -1, -1}));
  for (const char* name : names) unsetenv(name);
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
    EXPECT_THAT(aborted.message, HasSubstr("reduce #1 of float[1] on group 'default'"));
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
  options.backend = "cpu:shm,cpu:gloo";
  const Failure twice = take(tdm_process_group_create(&options, nullptr, &none));
  EXPECT_EQ(twice.code, TDM_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(twice.message, HasSubstr("'cpu:shm,cpu:gloo': it names cpu twice"));
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

Tensor tensor_of_size(std::size_t size, float value) {
  return tensor_of(std::vector<float>(size, value));
}

std::string take_string(tdm_string* string) {
  std::string text(tdm_string_data(string), tdm_string_size(string));
  tdm_string_free(string);
  return text;
}

TEST(CapiProcessGroup, GathersScattersAndExchanges) {
  run_ranks(2, [](tdm_process_group* group, int rank) {
    const float own = 1.0f + rank;
    const Tensor one = tensor_of({own}), a = tensor_of({0}), b = tensor_of({0}), both = tensor_of({0, 0});
    tdm_tensor* parts[] = {a.get(), b.get()};
    EXPECT_OK(tdm_gather(group, parts, rank == 1 ? 2 : 0, one.get(), 1, nullptr));
    EXPECT_THAT(values_of(a.get()), ::testing::ElementsAre(rank == 1 ? 1 : 0));
    EXPECT_OK(tdm_scatter(group, one.get(), parts, rank == 1 ? 2 : 0, 1, nullptr));
    EXPECT_THAT(values_of(one.get()), ::testing::ElementsAre(own));
    EXPECT_OK(tdm_all_gather_into_tensor(group, both.get(), one.get(), nullptr));
    EXPECT_THAT(values_of(both.get()), ::testing::ElementsAre(1, 2));
    const Tensor sum = tensor_of({0});
    EXPECT_OK(tdm_reduce_scatter_tensor(group, sum.get(), both.get(), TDM_REDUCE_OP_SUM, nullptr));
    EXPECT_THAT(values_of(sum.get()), ::testing::ElementsAre(2 * own));
    tdm_tensor* given[] = {one.get(), one.get()};
    EXPECT_OK(tdm_reduce_scatter(group, sum.get(), given, 2, TDM_REDUCE_OP_MAX, nullptr));
    EXPECT_THAT(values_of(sum.get()), ::testing::ElementsAre(2));
    EXPECT_OK(tdm_all_to_all(group, parts, 2, given, 2, nullptr));
    EXPECT_THAT(values_of(b.get()), ::testing::ElementsAre(2));
    EXPECT_OK(tdm_all_reduce_premul_sum(group, one.get(), 2, nullptr));
    EXPECT_THAT(values_of(one.get()), ::testing::ElementsAre(6));
    tdm_tensor* many[] = {a.get(), both.get()};
    tdm_work* work = nullptr;
    EXPECT_OK(tdm_all_reduce_coalesced(group, many, 2, TDM_REDUCE_OP_SUM, &work));
    const Work owned(work);
    EXPECT_OK(tdm_work_wait(work, -1));
    tdm_error* reason = nullptr;
    EXPECT_OK(tdm_work_error(work, &reason));
    EXPECT_EQ(reason, nullptr);
    EXPECT_EQ(take(tdm_work_error(work, nullptr)).code, TDM_ERROR_INVALID_ARGUMENT);
    ASSERT_EQ(tdm_work_result_count(work), 2u);
    tdm_tensor* result = nullptr;
    EXPECT_OK(tdm_work_result(work, 1, &result));
    EXPECT_EQ(tdm_tensor_is_same(result, both.get()), 1);
    tdm_tensor_free(result);
    EXPECT_EQ(take(tdm_work_result(work, 2, &result)).code, TDM_ERROR_OUT_OF_RANGE);
    EXPECT_OK(tdm_monitored_barrier(group, -1));
  });
}

TEST(CapiStore, ComparesAndSetsBytes) {
  const Store store = hash_store();
  const std::string first("a\0b", 3), second("a\0c", 3);
  const auto compare_set = [&](const std::string& expected, const std::string& desired) {
    tdm_string* now = nullptr;
    EXPECT_OK(tdm_store_compare_set(store.get(), "key", expected.data(), expected.size(), desired.data(),
                                    desired.size(), &now));
    return take_string(now);
  };
  EXPECT_EQ(compare_set("", first), first) << "it was not there";
  EXPECT_EQ(compare_set(second, "other"), first) << "they differ behind a NUL";
  EXPECT_EQ(compare_set(first, second), second);
  EXPECT_EQ(take(tdm_store_compare_set(store.get(), "key", nullptr, 1, "x", 1, nullptr)).code,
            TDM_ERROR_INVALID_ARGUMENT);
}

TEST(CapiProcessGroup, UnevenRowsGoBothWays) {
  run_ranks(2, [](tdm_process_group* group, int rank) {
    // To rank r go r + 1 rows from each.
    const std::int64_t sent[] = {1, 2}, received[] = {rank + 1, rank + 1};
    const Tensor input = tensor_of({rank * 10.0f, rank * 10.0f + 1, rank * 10.0f + 2});
    const Tensor output = tensor_of_size(2 * (rank + 1), 0);
    EXPECT_OK(tdm_all_to_all_single(group, output.get(), input.get(), received, 2, sent, 2, nullptr));
    if (rank == 0) {
      EXPECT_THAT(values_of(output.get()), ::testing::ElementsAre(0, 10));
    } else {
      EXPECT_THAT(values_of(output.get()), ::testing::ElementsAre(1, 2, 11, 12));
    }
  });
}

TEST(CapiProcessGroup, MessagesAndBytes) {
  run_ranks(2, [](tdm_process_group* group, int rank) {
    const Tensor tensor = tensor_of({1.0f + rank});
    if (rank == 0) {
      EXPECT_OK(tdm_send(group, tensor.get(), 1, 5, nullptr));
      tdm_work* work = nullptr;
      EXPECT_OK(tdm_recv(group, tensor.get(), -1, 6, nullptr, &work));
      const Work owned(work);
      EXPECT_OK(tdm_work_wait(work, 20000));
      EXPECT_EQ(tdm_work_source_rank(work), 1);
    } else {
      std::int32_t source = -1;
      EXPECT_OK(tdm_recv(group, tensor.get(), -1, 5, &source, nullptr));
      EXPECT_EQ(source, 0);
      EXPECT_OK(tdm_send(group, tensor.get(), 0, 6, nullptr));
    }
    EXPECT_THAT(values_of(tensor.get()), ::testing::ElementsAre(1));
    const Tensor out = tensor_of({10.0f + rank}), in = tensor_of({0});
    const tdm_message messages[] = {{out.get(), 1, 1 - rank, 0}, {in.get(), 0, 1 - rank, 0}};
    EXPECT_OK(tdm_batch_send_recv(group, messages, 2, nullptr));
    EXPECT_THAT(values_of(in.get()), ::testing::ElementsAre(11.0f - rank));

    const std::string own(rank * 3, 'b');
    tdm_string* strings[2] = {};
    EXPECT_OK(tdm_all_gather_bytes(group, own.data(), own.size(), strings, 2));
    EXPECT_EQ(take_string(strings[0]), "");
    EXPECT_EQ(take_string(strings[1]), "bbb");
    EXPECT_OK(tdm_gather_bytes(group, own.data(), own.size(), 0, strings, rank == 0 ? 2 : 0));
    if (rank == 0) {
      EXPECT_EQ(take_string(strings[0]) + take_string(strings[1]), "bbb");
    }
    tdm_string* text = nullptr;
    EXPECT_OK(tdm_broadcast_bytes(group, rank == 1 ? "x\0y" : nullptr, rank == 1 ? 3 : 0, 1, &text));
    EXPECT_EQ(take_string(text), std::string("x\0y", 3));
    const void* data[] = {"first", "second"};
    const std::size_t sizes[] = {5, 6};
    EXPECT_OK(tdm_scatter_bytes(group, data, sizes, rank == 0 ? 2 : 0, 0, &text));
    EXPECT_EQ(take_string(text), rank == 0 ? "first" : "second");
    EXPECT_EQ(take(tdm_all_gather_bytes(group, nullptr, 0, strings, 3)).code, TDM_ERROR_INVALID_ARGUMENT);
    EXPECT_OK(tdm_flight_record(&text));
    EXPECT_THAT(take_string(text), HasSubstr("\"collective\": \"batch_isend_irecv\""));
  });
}

TEST(CapiProcessGroup, Subgroups) {
  run_ranks(3, [](tdm_process_group* group, int rank) {
    const std::int32_t ends[] = {2, 0};
    tdm_process_group* made = nullptr;
    EXPECT_OK(tdm_process_group_new_group(group, ends, 2, nullptr, &made));
    const Group pair(made);
    EXPECT_EQ(made == nullptr, rank == 1);
    if (made) {
      EXPECT_EQ(tdm_process_group_rank(made), rank == 2 ? 0 : 1);
      EXPECT_EQ(tdm_process_group_global_rank(made, 0), 2);
      EXPECT_EQ(tdm_process_group_rank_of(made, 0), 1);
      EXPECT_EQ(tdm_process_group_rank_of(made, 1), -1);
      EXPECT_STREQ(tdm_process_group_name(made), "default/0");
      const Tensor tensor = tensor_of({1});
      EXPECT_OK(tdm_all_reduce(made, tensor.get(), TDM_REDUCE_OP_SUM, nullptr));
      EXPECT_THAT(values_of(tensor.get()), ::testing::ElementsAre(2));
    }
    const std::int32_t ranks[] = {1, 0, 2};
    const std::size_t sizes[] = {2, 1};
    EXPECT_OK(tdm_process_group_split(group, ranks, 3, sizes, 2, "part", &made));
    const Group part(made);
    EXPECT_EQ(tdm_process_group_size(made), rank == 2 ? 1 : 2);
    EXPECT_STREQ(tdm_process_group_name(made), rank == 2 ? "part.1" : "part.0");
    EXPECT_OK(tdm_process_group_new_subgroups(group, 1, nullptr, &made));
    const Group alone(made);
    EXPECT_EQ(tdm_process_group_size(made), 1);
    tdm_process_group* none = nullptr;
    const std::size_t too_many[] = {2, 2};
    EXPECT_EQ(take(tdm_process_group_split(group, ranks, 3, too_many, 2, nullptr, &none)).code,
              TDM_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(take(tdm_process_group_new_subgroups(group, 2, nullptr, &none)).code, TDM_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(none, nullptr);
    EXPECT_OK(tdm_barrier(group, nullptr));
  });
}

TEST(CapiDeviceMesh, HasGroupsAndSubmeshes) {
  run_ranks(4, [](tdm_process_group* world, int rank) {
    const std::int64_t shape[] = {2, 2};
    const char* names[] = {"dp", "pp"};
    tdm_device_mesh *mesh = nullptr, *part = nullptr, *flat = nullptr;
    EXPECT_OK(tdm_device_mesh_create(world, shape, names, 2, &mesh));
    EXPECT_EQ(tdm_device_mesh_dimensions(mesh), 2);
    EXPECT_STREQ(tdm_device_mesh_name(mesh, 1), "pp");
    EXPECT_EQ(tdm_device_mesh_name(mesh, 2), nullptr);
    EXPECT_EQ(tdm_device_mesh_size(mesh, 0), 2);
    EXPECT_EQ(tdm_device_mesh_size(mesh, -1), 0);
    EXPECT_EQ(tdm_device_mesh_coordinate(mesh, 0), rank / 2);
    EXPECT_EQ(tdm_device_mesh_coordinate(mesh, 2), -1);
    tdm_process_group* column = nullptr;
    EXPECT_OK(tdm_device_mesh_group(mesh, "dp", &column));
    EXPECT_EQ(tdm_process_group_global_rank(column, 1), 2 + rank % 2);
    const Failure unknown = take(tdm_device_mesh_group(mesh, "tp", &column));
    EXPECT_EQ(unknown.code, TDM_ERROR_NOT_FOUND);
    EXPECT_THAT(unknown.message, HasSubstr("it has 'dp', 'pp'"));
    EXPECT_OK(tdm_device_mesh_submesh(mesh, names, 1, &part));
    EXPECT_OK(tdm_device_mesh_flatten(part, "column", &flat));
    EXPECT_STREQ(tdm_device_mesh_name(flat, 0), "column");
    EXPECT_EQ(tdm_device_mesh_coordinate(flat, 0), rank / 2);
    // The handle of a group goes, and the group stays; a mesh that goes leaves what others have.
    tdm_process_group_free(column);
    tdm_device_mesh_free(mesh);
    EXPECT_OK(tdm_device_mesh_group(part, "dp", &column));
    EXPECT_OK(tdm_barrier(column, nullptr));
    tdm_process_group_free(column);
    tdm_device_mesh_free(part);
    tdm_device_mesh_free(flat);
    tdm_device_mesh_free(nullptr);
    EXPECT_EQ(tdm_device_mesh_dimensions(nullptr), 0);
    const std::int64_t wrong[] = {2, rank == 3 ? 1 : 2};
    const Failure refused = take(tdm_device_mesh_create(world, wrong, names, 2, &mesh));
    EXPECT_EQ(refused.code, TDM_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(refused.message, HasSubstr("rank 3 makes a device mesh of 2 x 1"));
    EXPECT_OK(tdm_barrier(world, nullptr));
  });
}

TEST(CapiProcessGroup, GradientsCrossRanks) {
  run_ranks(2, [](tdm_process_group* group, int rank) {
    const Tensor x = tensor_of({1.0f + rank});
    EXPECT_OK(tdm_tensor_set_requires_grad(x.get(), 1));
    std::vector<Tensor> results;
    const auto add = [&](auto&& call) {
      tdm_tensor* out = nullptr;
      EXPECT_OK(call(&out));
      results.emplace_back(out);
    };
    const auto add_two = [&](auto&& call) {
      tdm_tensor* out[2] = {};
      EXPECT_OK(call(out));
      results.emplace_back(out[0]);
      results.emplace_back(out[1]);
    };
    tdm_tensor* two[] = {x.get(), x.get()};
    add([&](auto out) { return tdm_differentiable_broadcast(group, x.get(), 1, out); });
    add([&](auto out) { return tdm_differentiable_all_reduce(group, x.get(), TDM_REDUCE_OP_SUM, out); });
    add([&](auto out) { return tdm_differentiable_reduce(group, x.get(), 0, TDM_REDUCE_OP_SUM, out); });
    add([&](auto out) { return tdm_differentiable_scatter(group, two, 2, 0, out); });
    add([&](auto out) { return tdm_differentiable_reduce_scatter(group, two, 2, TDM_REDUCE_OP_SUM, out); });
    // Rank 0's row goes to rank 1 and rank 1's to rank 0.
    const std::int64_t rows[] = {rank == 0 ? 0 : 1, rank == 0 ? 1 : 0};
    add([&](auto out) { return tdm_differentiable_all_to_all_single(group, x.get(), rows, 2, rows, 2, out); });
    add_two([&](auto out) { return tdm_differentiable_gather(group, x.get(), 0, out, 2); });
    add_two([&](auto out) { return tdm_differentiable_all_gather(group, x.get(), out, 2); });
    add_two([&](auto out) { return tdm_differentiable_all_to_all(group, two, 2, out, 2); });
    std::vector<tdm_tensor*> roots;
    for (const Tensor& result : results) roots.push_back(result.get());
    EXPECT_OK(tdm_autograd_backward(roots.data(), nullptr, roots.size(), 0, 0));
    tdm_tensor* gradient = nullptr;
    EXPECT_OK(tdm_tensor_grad(x.get(), &gradient));
    // Of the sum of all ranks' results: broadcast 2 (root 1), all_reduce 2, reduce 1, scatter 2 (root 0),
    // reduce_scatter 2, all_to_all_single 1, gather 1, all_gather 2, all_to_all 2.
    const float broadcast = rank == 1 ? 2 : 0, scatter = rank == 0 ? 2 : 0;
    EXPECT_THAT(values_of(gradient), ::testing::ElementsAre(broadcast + 2 + 1 + scatter + 2 + 1 + 2 + 2 + 1));
    tdm_tensor_free(gradient);
    tdm_tensor* out[1] = {};
    EXPECT_EQ(take(tdm_differentiable_gather(group, x.get(), 0, out, 1)).code, TDM_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(take(tdm_differentiable_all_reduce(group, x.get(), TDM_REDUCE_OP_MIN, out)).code,
              TDM_ERROR_INVALID_ARGUMENT);
  });
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
      EXPECT_OK(tdm_ddp_prepare_forward(ddp, 1, nullptr, 0, nullptr));
      const Tensor input = tensor_of({1.0f + rank, 10.0f * rank});
      const Tensor product(call("aten::mul", "Tensor", {parameter.get(), input.get()}));
      tdm_value output{}, prepared{};
      output.tag = TDM_VALUE_TENSOR;
      output.as.tensor = product.get();
      EXPECT_OK(tdm_ddp_prepare_backward(ddp, &output, 1, &prepared));
      const Tensor averaged(prepared.as.tensor);
      const Tensor loss(call("aten::sum", "", {averaged.get()}));
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
  for (const char* type : {"store", "process_group", "work", "ddp", "tensor", "string", "device_mesh"}) {
    EXPECT_EQ(tdm_live_count(type), 0) << type;
  }
}

}  // namespace
}  // namespace comm_test
