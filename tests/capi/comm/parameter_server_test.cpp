// Parameter servers through the C ABI: one worker that is server and trainer.
#include <atomic>
#include <thread>

#include "capi/autograd_values.h"
#include "capi/rpc_alone.h"
#include "cpp/data/temp_dir.h"

namespace parameter_server_test {
namespace {

using namespace calls;
using testing::ElementsAre;
using testing::IsNull;

struct FreeHandles {
  void operator()(tdm_parameter_server* server) const { tdm_parameter_server_free(server); }
  void operator()(tdm_parameter_client* client) const { tdm_parameter_client_free(client); }
  void operator()(tdm_own_tensors* list) const { tdm_own_tensors_free(list); }
  void operator()(tdm_checkpoint_folder* folder) const { tdm_checkpoint_folder_free(folder); }
  void operator()(tdm_checkpoint* checkpoint) const { tdm_checkpoint_free(checkpoint); }
};
using Server = std::unique_ptr<tdm_parameter_server, FreeHandles>;
using Client = std::unique_ptr<tdm_parameter_client, FreeHandles>;
using OwnTensors = std::unique_ptr<tdm_own_tensors, FreeHandles>;
using Folder = std::unique_ptr<tdm_checkpoint_folder, FreeHandles>;
using Checkpoint = std::unique_ptr<tdm_checkpoint, FreeHandles>;

Tensor indices(const std::vector<std::int64_t>& values) {
  const std::int64_t count = static_cast<std::int64_t>(values.size());
  tdm_tensor* made = nullptr;
  EXPECT_OK(tdm_tensor_from_data(values.data(), values.size() * sizeof(std::int64_t), TDM_DTYPE_INT64, &count, 1, &made));
  return Tensor(made);
}

const char* const kSelf = "self";

// What two trainers would declare alike.
struct Declared {
  Declared() {
    options.servers = &kSelf;
    options.server_count = 1;
    options.timeout_ms = 20000;
    options.dense_optimizer = "SGD";
    options.dense_options = &rate;
    options.dense_option_count = 1;
    table.name = "words";
    table.rows = 4;
    table.width = 2;
    table.dtype = TDM_DTYPE_FLOAT32;
    table.placement = TDM_ROW_PLACEMENT_RANGE;
    table.optimizer = "Adagrad";
    table.optimizer_options = &rate;
    table.optimizer_option_count = 1;
    table.initial = initial.get();
  }

  tdm_error* join(tdm_parameter_client** out) {
    const char* const names[] = {"bias"};
    tdm_tensor* const parameters[] = {bias.get()};
    return tdm_parameter_client_create(&options, names, parameters, 1, &table, 1, out);
  }

  const Tensor initial = tensor({0, 1, 10, 11, 20, 21, 30, 31}, {4, 2});
  const Tensor bias = parameter({5}, {1});
  const tdm_option rate = option("lr", of(0.5));
  tdm_parameter_client_options options = TDM_PARAMETER_CLIENT_OPTIONS_INIT;
  tdm_embedding_table table{};
};

class ParameterServer : public testing::Test {
 protected:
  ParameterServer() {
    join_alone();
    tdm_parameter_server* made = nullptr;
    EXPECT_OK(tdm_parameter_server_create(nullptr, &made));
    server.reset(made);
  }

  std::vector<float> rows(tdm_parameter_client* client, const std::vector<std::int64_t>& which) {
    tdm_mode* no_grad = nullptr;
    EXPECT_OK(tdm_mode_enter_grad(0, &no_grad));
    tdm_tensor* found = nullptr;
    EXPECT_OK(tdm_parameter_client_embedding(client, "words", indices(which).get(), &found));
    EXPECT_OK(tdm_mode_exit(no_grad));
    const Tensor owned(found);
    return found ? floats(found) : std::vector<float>();
  }

  // A step whose loss is the sum of these rows and of the bias.
  void step(tdm_parameter_client* client, const Declared& declared, const std::vector<std::int64_t>& which) {
    tdm_tensor* found = nullptr;
    ASSERT_OK(tdm_parameter_client_embedding(client, "words", indices(which).get(), &found));
    const Tensor x(found);
    const Tensor loss = calls::call("aten::sum", "", {of(calls::call("aten::add", "Tensor", {of(x), of(declared.bias), of(1)}))});
    ASSERT_OK(backward(loss));
    ASSERT_OK(tdm_parameter_client_step(client));
  }

  const LeakCheck leaks;
  Server server;
};

TEST_F(ParameterServer, StepsItsRowsAndDenseParameters) {
  Declared declared;
  tdm_parameter_client* made = nullptr;
  ASSERT_OK(declared.join(&made));
  const Client client(made);
  EXPECT_THAT(rows(made, {2, 0}), ElementsAre(20, 21, 0, 1));
  step(made, declared, {2, 2, 1});
  EXPECT_EQ(tdm_parameter_client_steps(made), 1);
  // Adagrad's first step is of the rate's size; bias' gradient is that of six elements.
  EXPECT_THAT(rows(made, {0, 1, 2}), ElementsAre(0, 1, 9.5, 10.5, 19.5, 20.5));
  EXPECT_THAT(floats(declared.bias.get()), ElementsAre(2));
  const tdm_option slower = option("lr", of(0.25));
  EXPECT_OK(tdm_parameter_client_set_option(made, "", &slower));
  step(made, declared, {0});
  EXPECT_THAT(floats(declared.bias.get()), ElementsAre(1.5));

  tdm_parameter_server_statistics counted = TDM_PARAMETER_SERVER_STATISTICS_INIT;
  ASSERT_OK(tdm_parameter_server_get_statistics(server.get(), &counted));
  EXPECT_EQ(counted.pushes, 2);
  EXPECT_EQ(counted.rows_pushed, 3);
  tdm_strings* list = nullptr;
  ASSERT_OK(tdm_parameter_server_trainers(server.get(), &list));
  const Strings trainers(list);
  ASSERT_EQ(tdm_strings_count(list), 1u);
  EXPECT_STREQ(tdm_strings_data(list, 0), "self");
  ASSERT_OK(tdm_parameter_server_tables(server.get(), &list));
  const Strings tables(list);
  ASSERT_EQ(tdm_strings_count(list), 2u);
  EXPECT_STREQ(tdm_strings_data(list, 0), "words");
  EXPECT_STREQ(tdm_strings_data(list, 1), "bias");
  std::int32_t done = 7;
  EXPECT_OK(tdm_parameter_server_wait(server.get(), 20, &done));
  EXPECT_EQ(done, 0);
  EXPECT_OK(tdm_parameter_client_leave(made));
  EXPECT_OK(tdm_parameter_client_leave(made));
  EXPECT_OK(tdm_parameter_server_wait(server.get(), 20000, &done));
  EXPECT_EQ(done, 1);
}

TEST_F(ParameterServer, SavesAndLoadsParts) {
  const tandem::test::TempDir files;
  tdm_checkpoint_folder* made_folder = nullptr;
  ASSERT_OK(tdm_checkpoint_folder_create((files / "saved").c_str(), nullptr, nullptr, &made_folder));
  const Folder folder(made_folder);
  Declared declared;
  tdm_parameter_client* made = nullptr;
  ASSERT_OK(declared.join(&made));
  Client client(made);
  step(made, declared, {3});
  tdm_own_tensors* listed = nullptr;
  ASSERT_OK(tdm_parameter_client_state(made, 0, 2, &listed));
  const OwnTensors half(listed);
  bool has_rows = false;
  for (std::size_t i = 0; i < tdm_own_tensors_size(listed); ++i) {
    if (std::string(tdm_own_tensors_name(listed, i)) != "words") continue;
    has_rows = true;
    EXPECT_STREQ(tdm_own_tensors_section(listed, i), "tables");
    EXPECT_EQ(std::vector(tdm_own_tensors_whole(listed, i), tdm_own_tensors_whole(listed, i) + 2), (std::vector<std::int64_t>{4, 2}));
    EXPECT_EQ(std::vector(tdm_own_tensors_begin(listed, i), tdm_own_tensors_begin(listed, i) + 2), (std::vector<std::int64_t>{0, 0}));
    tdm_tensor* rows_of_it = nullptr;
    ASSERT_OK(tdm_own_tensors_get(listed, i, &rows_of_it));
    EXPECT_THAT(floats(Tensor(rows_of_it).get()), ElementsAre(0, 1, 10, 11));
  }
  EXPECT_TRUE(has_rows);
  EXPECT_THAT(tdm_own_tensors_name(listed, 99), IsNull());
  tdm_tensor* none = nullptr;
  EXPECT_REFUSED(tdm_own_tensors_get(listed, 99, &none), TDM_ERROR_OUT_OF_RANGE, "99");

  tdm_own_tensors* all = nullptr;
  ASSERT_OK(tdm_parameter_client_state(made, 0, 1, &all));
  const OwnTensors whole(all);
  std::vector<tdm_checkpoint_tensor> saved;
  std::vector<Tensor> held;
  for (std::size_t i = 0; i < tdm_own_tensors_size(all); ++i) {
    tdm_tensor* one = nullptr;
    ASSERT_OK(tdm_own_tensors_get(all, i, &one));
    held.emplace_back(one);
    EXPECT_THAT(tdm_own_tensors_whole(all, i), IsNull());  // it is no part
    saved.push_back({tdm_own_tensors_section(all, i), tdm_own_tensors_name(all, i), one, 1, 0, nullptr, nullptr});
  }
  ASSERT_OK(tdm_checkpoint_folder_save(folder.get(), 1, saved.data(), saved.size(), nullptr));
  step(made, declared, {3, 0});
  EXPECT_NE(rows(made, {0}), (std::vector<float>{0, 1}));

  tdm_checkpoint* read = nullptr;
  ASSERT_OK(tdm_parameter_client_read(made, folder.get(), nullptr, 0, 1, &read));
  const Checkpoint checkpoint(read);
  ASSERT_OK(tdm_parameter_client_load(made, read, 0, 1));
  EXPECT_THAT(rows(made, {0, 3}), ElementsAre(0, 1, 29.5, 30.5));
  EXPECT_THAT(floats(declared.bias.get()), ElementsAre(4));
  tdm_checkpoint_selection selection = TDM_CHECKPOINT_SELECTION_INIT;
  selection.step = 7;
  EXPECT_REFUSED(tdm_parameter_client_read(made, folder.get(), &selection, 0, 1, &read), TDM_ERROR_NOT_FOUND, "7");
  EXPECT_REFUSED(tdm_parameter_client_load(made, read, 2, 2), TDM_ERROR_INVALID_ARGUMENT, "part 2 of 2");
  EXPECT_OK(tdm_parameter_client_leave(made));
}

TEST_F(ParameterServer, SaysWhatIsWrong) {
  Declared declared;
  tdm_parameter_client* made = nullptr;
  const auto refused = [&](auto change, tdm_error_code code, const char* text) {
    Declared other;
    change(other);
    EXPECT_REFUSED(other.join(&made), code, text);
  };
  refused([](Declared& d) { d.table.placement = 7; }, TDM_ERROR_INVALID_ARGUMENT, "placement 7");
  refused([](Declared& d) { d.options.lost_trainers = 7; }, TDM_ERROR_INVALID_ARGUMENT, "lost_trainers is 7");
  refused([](Declared& d) { d.options.trainers = -1; }, TDM_ERROR_INVALID_ARGUMENT, "trainers is -1");
  refused([](Declared& d) { d.table.optimizer = "Adam"; }, TDM_ERROR_UNSUPPORTED, "Adam");
  refused([](Declared& d) { d.table.name = "bias"; }, TDM_ERROR_INVALID_ARGUMENT, "bias");
  refused([](Declared& d) { d.table.dtype = TDM_DTYPE_INT64; }, TDM_ERROR_INVALID_ARGUMENT, "words");
  EXPECT_REFUSED(tdm_parameter_client_create(&declared.options, nullptr, nullptr, 0, nullptr, 0, &made),
                 TDM_ERROR_INVALID_ARGUMENT, "give either");
  ASSERT_OK(declared.join(&made));
  const Client client(made);
  tdm_tensor* rows_of_it = nullptr;
  EXPECT_REFUSED(tdm_parameter_client_embedding(made, "users", indices({0}).get(), &rows_of_it), TDM_ERROR_NOT_FOUND, "users");
  EXPECT_REFUSED(tdm_parameter_client_embedding(made, "words", indices({4}).get(), &rows_of_it), TDM_ERROR_OUT_OF_RANGE, "words");
  tdm_parameter_server* second = nullptr;
  EXPECT_REFUSED(tdm_parameter_server_create(nullptr, &second), TDM_ERROR_INVALID_ARGUMENT, "already");
  EXPECT_OK(tdm_parameter_client_leave(made));
}

// With as many functions waiting as may run at a time, whom they wait for runs all the same.
TEST_F(ParameterServer, AWaitOfTheProgramsOwnMakesRoom) {
  static std::atomic<int> waiting{0}, answers{0};
  EXPECT_EQ(tdm_rpc_wait_begin(), 0);
  ASSERT_OK(tdm_rpc_register_function(
      "waits by itself",
      [](void*, tdm_value*, std::size_t, tdm_rpc_result*) -> tdm_error* {
        ++waiting;
        while (waiting < 2) std::this_thread::yield();  // both threads of the session's run this
        EXPECT_EQ(tdm_rpc_wait_begin(), 1);
        EXPECT_EQ(tdm_rpc_wait_begin(), 0);
        tdm_rpc_future* future = nullptr;
        EXPECT_OK(tdm_rpc_async("self", "answers", nullptr, 0, nullptr, &future));
        while (!tdm_rpc_future_is_done(future)) std::this_thread::yield();
        tdm_rpc_wait_end();
        tdm_rpc_future_free(future);
        return nullptr;
      },
      nullptr, nullptr));
  ASSERT_OK(tdm_rpc_register_function(
      "answers",
      [](void*, tdm_value*, std::size_t, tdm_rpc_result*) -> tdm_error* {
        ++answers;
        return nullptr;
      },
      nullptr, nullptr));
  tdm_rpc_call_options options = TDM_RPC_CALL_OPTIONS_INIT;
  options.timeout_ms = 20000;
  tdm_rpc_future* calls_made[2] = {};
  for (auto& future : calls_made) ASSERT_OK(tdm_rpc_async("self", "waits by itself", nullptr, 0, &options, &future));
  for (auto* future : calls_made) {
    tdm_value none{};
    EXPECT_OK(tdm_rpc_future_wait(future, 0, &none));
    tdm_rpc_future_free(future);
  }
  EXPECT_EQ(answers, 2);
  for (const char* name : {"waits by itself", "answers"}) EXPECT_OK(tdm_rpc_unregister(name, nullptr));
}

}  // namespace
}  // namespace parameter_server_test
