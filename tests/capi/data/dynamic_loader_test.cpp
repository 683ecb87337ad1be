// The dynamic partition through the C ABI: two ranks of one process, one after the other.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "capi/calls.h"
#include "cpp/data/temp_dir.h"

namespace dynamic_loader_test {
namespace {

using tandem::test::TempDir;
using testing::ElementsAre;
using testing::HasSubstr;

using Ids = std::vector<std::int64_t>;

struct Free {
  void operator()(tdm_loader* loader) const { tdm_loader_free(loader); }
  void operator()(tdm_dataset* dataset) const { tdm_dataset_free(dataset); }
  void operator()(tdm_store* store) const { tdm_store_free(store); }
};
using Loader = std::unique_ptr<tdm_loader, Free>;

std::string take(tdm_string* string) {
  const std::string text(tdm_string_data(string), tdm_string_size(string));
  tdm_string_free(string);
  return text;
}

class DynamicLoader : public testing::Test {
 protected:
  DynamicLoader() {
    const std::string path = dir_ / "records";
    tdm_recordio_writer* writer = nullptr;
    EXPECT_OK(tdm_recordio_writer_create(path.c_str(), nullptr, &writer));
    for (std::int64_t i = 0; i < 10; ++i) EXPECT_OK(tdm_recordio_writer_write(writer, &i, sizeof i));
    EXPECT_OK(tdm_recordio_writer_close(writer));
    tdm_recordio_writer_free(writer);
    tdm_field field{};
    field.dtype = field.out_dtype = TDM_DTYPE_INT64;
    field.std = field.scale = 1;
    const char* const paths[] = {path.c_str()};
    tdm_dataset* dataset = nullptr;
    EXPECT_OK(tdm_dataset_from_records(paths, 1, &field, 1, nullptr, &dataset));
    dataset_.reset(dataset);
    tdm_store* store = nullptr;
    EXPECT_OK(tdm_store_hash(&store));
    store_.reset(store);
    options_.batch_size = 6;
    options_.micro_batch = 4;
    options_.shuffle = 0;
    options_.prefetch = 0;
    options_.world_size = 2;
  }

  Loader create(std::int32_t rank, const std::string& state = "", const char* quarantine = nullptr) {
    options_.rank = rank;
    tdm_loader* loader = nullptr;
    EXPECT_OK(tdm_loader_create_dynamic(dataset_.get(), store_.get(), &options_, state.data(), state.size(), quarantine,
                                        &loader));
    return Loader(loader);
  }

  // The samples of the next part; none at the step's end.
  static Ids next(const Loader& loader) {
    tdm_tensor* tensor = nullptr;
    std::int32_t has_part = -1;
    EXPECT_OK(tdm_loader_next(loader.get(), &tensor, 1, &has_part));
    if (!has_part) return {};
    tdm_loader_batch part = TDM_LOADER_BATCH_INIT;
    EXPECT_OK(tdm_loader_get_batch(loader.get(), &part));
    const Ids samples(part.samples, part.samples + part.local_count);
    EXPECT_EQ(tdm_tensor_numel(tensor), part.local_count);
    tdm_tensor_free(tensor);
    return samples;
  }
  static bool next_step(const Loader& loader) {
    std::int32_t has_step = -1;
    EXPECT_OK(tdm_loader_next_step(loader.get(), &has_step));
    return has_step == 1;
  }
  static std::string commit(const Loader& loader) {
    tdm_string* record = nullptr;
    EXPECT_OK(tdm_loader_commit(loader.get(), &record));
    return take(record);
  }
  static std::string state(const Loader& loader) {
    tdm_string* state = nullptr;
    EXPECT_OK(tdm_loader_get_state(loader.get(), &state));
    return take(state);
  }
  static std::string quarantine(const Loader& loader) {
    tdm_string* json = nullptr;
    EXPECT_OK(tdm_loader_get_quarantine(loader.get(), &json));
    return take(json);
  }

  const calls::LeakCheck leaks_;
  TempDir dir_;
  std::unique_ptr<tdm_dataset, Free> dataset_;
  std::unique_ptr<tdm_store, Free> store_;
  tdm_dynamic_loader_options options_ = TDM_DYNAMIC_LOADER_OPTIONS_INIT;
};

tdm_error* double_it(void* user_data, const tdm_step_batch* batch) {
  static_cast<std::atomic<std::int64_t>*>(user_data)->fetch_add(batch->rows);
  EXPECT_STREQ(batch->names[0], "0");
  batch->outputs[1] = batch->tensors[0];
  return nullptr;
}

TEST_F(DynamicLoader, StepsAndStatisticsAreThoseOfALoader) {
  options_.world_size = 1;
  options_.prefetch_bytes = 1;
  const Loader loader = create(0);
  std::atomic<std::int64_t> rows{0};
  const char* const adds[] = {"twice"};
  EXPECT_OK(tdm_loader_add_step(loader.get(), double_it, adds, 1, &rows, nullptr));
  EXPECT_OK(tdm_loader_add_transforms(loader.get(), R"([{"step": "to_float", "fields": ["twice"], "scale": 2}])"));
  EXPECT_REFUSED(tdm_loader_add_transforms(loader.get(), "{}"), TDM_ERROR_INVALID_ARGUMENT, "list");
  ASSERT_TRUE(next_step(loader));
  EXPECT_REFUSED(tdm_loader_add_step(loader.get(), double_it, nullptr, 0, nullptr, nullptr), TDM_ERROR_INVALID_ARGUMENT,
                 "begun");
  int parts = 0;
  for (;; ++parts) {
    tdm_tensor* tensors[2] = {};
    std::int32_t has_part = -1;
    ASSERT_OK(tdm_loader_next(loader.get(), tensors, 2, &has_part));
    if (!has_part) break;
    void *ids = nullptr, *twice = nullptr;
    EXPECT_OK(tdm_tensor_data(tensors[0], &ids));
    EXPECT_OK(tdm_tensor_data(tensors[1], &twice));
    EXPECT_EQ(static_cast<float*>(twice)[0], 2 * static_cast<std::int64_t*>(ids)[0]);
    for (tdm_tensor* tensor : tensors) tdm_tensor_free(tensor);
  }
  EXPECT_EQ(parts, 2);
  EXPECT_EQ(rows, 6);
  commit(loader);
  tdm_loader_statistics statistics = TDM_LOADER_STATISTICS_INIT;
  EXPECT_OK(tdm_loader_get_statistics(loader.get(), &statistics));
  EXPECT_EQ(statistics.delivered, 2);
  EXPECT_GT(statistics.transforming, 0);
  tdm_string* text = nullptr;
  EXPECT_OK(tdm_loader_statistics_text(loader.get(), &text));
  EXPECT_THAT(take(text), testing::EndsWith("is the bottleneck"));
}

TEST_F(DynamicLoader, OptionsOfMemoryAreChecked) {
  tdm_loader* loader = nullptr;
  options_.prefetch_bytes = -1;
  EXPECT_REFUSED(tdm_loader_create_dynamic(dataset_.get(), store_.get(), &options_, nullptr, 0, nullptr, &loader),
                 TDM_ERROR_INVALID_ARGUMENT, "prefetch_bytes");
  options_.prefetch_bytes = 0;
  options_.on_io_error = 3;
  EXPECT_REFUSED(tdm_loader_create_dynamic(dataset_.get(), store_.get(), &options_, nullptr, 0, nullptr, &loader),
                 TDM_ERROR_INVALID_ARGUMENT, "on_io_error is 3");
  options_.on_io_error = TDM_ON_IO_ERROR_SKIP;
  options_.io_retry_ms = -2;
  EXPECT_REFUSED(tdm_loader_create_dynamic(dataset_.get(), store_.get(), &options_, nullptr, 0, nullptr, &loader),
                 TDM_ERROR_INVALID_ARGUMENT, "io_retry_ms is -2");
  options_.io_retry_ms = -1;
  options_.pin_memory = 1;
  std::int32_t devices = 0;
  EXPECT_OK(tdm_cuda_device_count(&devices));
  if (devices == 0) {
    EXPECT_REFUSED(tdm_loader_create_dynamic(dataset_.get(), store_.get(), &options_, nullptr, 0, nullptr, &loader),
                   TDM_ERROR_UNSUPPORTED, "CUDA");
  }
  options_.pin_memory = 0;
  options_.device = {TDM_DEVICE_CUDA, devices};
  EXPECT_REFUSED(tdm_loader_create_dynamic(dataset_.get(), store_.get(), &options_, nullptr, 0, nullptr, &loader),
                 devices == 0 ? TDM_ERROR_UNSUPPORTED : TDM_ERROR_OUT_OF_RANGE,
                 ("device cuda:" + std::to_string(devices)).c_str());
  options_.device = {TDM_DEVICE_META, 0};
  EXPECT_REFUSED(tdm_loader_create_replay(dataset_.get(), nullptr, 0, &options_, nullptr, 0, nullptr, &loader),
                 TDM_ERROR_INVALID_ARGUMENT, "options->device has type 14");
}

TEST_F(DynamicLoader, DealsStepsOutAndRunsThemAgain) {
  std::vector<std::string> log;
  std::string end;
  {
    const Loader first = create(0), second = create(1);
    ASSERT_TRUE(next_step(first) && next_step(second));
    EXPECT_EQ(next(second), (Ids{0, 1, 2, 3}));
    EXPECT_EQ(next(first), (Ids{4, 5}));
    EXPECT_EQ(tdm_loader_step_global_count(first.get()), 0);
    // Asking for more says that a part is computed; the last to ask sees the step whole.
    std::thread waits([&] { EXPECT_EQ(next(first), Ids()); });
    EXPECT_EQ(next(second), Ids());
    waits.join();
    EXPECT_EQ(tdm_loader_step_local_count(first.get()), 2);
    EXPECT_EQ(tdm_loader_step_global_count(first.get()), 6);
    const std::string record = commit(first);
    EXPECT_EQ(record, R"({"generation":1,"epoch":0,"step":0,"parts":[[0,1,4],[1,0,2]],"left_out":[]})");
    EXPECT_EQ(commit(second), record);
    EXPECT_EQ(state(first), state(second));
    log.push_back(record);
    // The tail is one part: the other rank has none.
    ASSERT_TRUE(next_step(first) && next_step(second));
    EXPECT_EQ(tdm_loader_current_step(first.get()), 1);
    EXPECT_EQ(next(first), (Ids{6, 7, 8, 9}));
    EXPECT_EQ(next(first), Ids());
    EXPECT_EQ(next(second), Ids());
    EXPECT_EQ(tdm_loader_step_local_count(second.get()), 0);
    log.push_back(commit(second));
    EXPECT_OK(tdm_loader_commit(first.get(), nullptr));
    EXPECT_FALSE(next_step(first));
    EXPECT_EQ(tdm_loader_current_epoch(first.get()), 1);
    end = state(first);
    EXPECT_LT(end.size(), 256u);
    EXPECT_EQ(quarantine(first), "[]");
  }
  options_.rank = 1;
  tdm_loader* raw = nullptr;
  std::vector<const char*> records;
  for (const std::string& record : log) records.push_back(record.c_str());
  EXPECT_OK(
      tdm_loader_create_replay(dataset_.get(), records.data(), records.size(), &options_, nullptr, 0, nullptr, &raw));
  const Loader again(raw);
  ASSERT_TRUE(next_step(again));
  EXPECT_EQ(next(again), (Ids{0, 1, 2, 3}));
  EXPECT_EQ(next(again), Ids());
  commit(again);
  ASSERT_TRUE(next_step(again));
  EXPECT_EQ(next(again), Ids());
  commit(again);
  EXPECT_FALSE(next_step(again));
  EXPECT_EQ(state(again), end);
  ASSERT_TRUE(next_step(again));
  tdm_tensor* tensor = nullptr;
  std::int32_t has_part = 0;
  EXPECT_REFUSED(tdm_loader_next(again.get(), &tensor, 1, &has_part), TDM_ERROR_OUT_OF_RANGE,
                 "the log has no step 0 of epoch 1");
}

TEST_F(DynamicLoader, LeavesSamplesOutAndGoesOn) {
  options_.world_size = 1;
  options_.most_failures = 1;
  std::string saved, left_out;
  {
    const Loader loader = create(0);
    ASSERT_TRUE(next_step(loader));
    EXPECT_EQ(next(loader), (Ids{0, 1, 2, 3}));
    EXPECT_REFUSED(tdm_loader_fail(loader.get(), 7, "?"), TDM_ERROR_INVALID_ARGUMENT, "sample 7");
    EXPECT_OK(tdm_loader_fail(loader.get(), 2, "the loss is NaN"));
    EXPECT_EQ(next(loader), (Ids{0, 1, 3}));
    EXPECT_EQ(next(loader), (Ids{4, 5}));
    EXPECT_EQ(next(loader), Ids());
    EXPECT_EQ(tdm_loader_step_global_count(loader.get()), 5);
    EXPECT_THAT(commit(loader), HasSubstr("the loss is NaN"));
    saved = state(loader);
    left_out = quarantine(loader);
    EXPECT_EQ(left_out, R"([{"sample":2,"epoch":0,"step":0,"failures":1,"reason":"the loss is NaN"}])");
  }
  options_.generation = 2;
  const Loader loader = create(0, saved, left_out.c_str());
  EXPECT_EQ(tdm_loader_current_step(loader.get()), 1);
  EXPECT_EQ(quarantine(loader), left_out);
  // The generation before is over.
  options_.generation = 1;
  tdm_loader* old = nullptr;
  EXPECT_REFUSED(
      tdm_loader_create_dynamic(dataset_.get(), store_.get(), &options_, saved.data(), saved.size(), nullptr, &old),
      TDM_ERROR_ABORTED, "generation 2 has begun");
}

TEST_F(DynamicLoader, WaitsEnd) {
  const Loader slow = create(0);
  ASSERT_TRUE(next_step(slow));
  EXPECT_EQ(next(slow).size(), 4u);
  options_.timeout_ms = 20;
  const Loader waits = create(1);
  ASSERT_TRUE(next_step(waits));
  tdm_tensor* tensor = nullptr;
  std::int32_t has_part = 0;
  EXPECT_EQ(next(waits).size(), 2u);
  EXPECT_REFUSED(tdm_loader_next(waits.get(), &tensor, 1, &has_part), TDM_ERROR_TIMEOUT, "rank 0 holds 1 part of it");
  EXPECT_OK(tdm_loader_abort(waits.get()));
  EXPECT_REFUSED(tdm_loader_next(waits.get(), &tensor, 1, &has_part), TDM_ERROR_ABORTED, "stopped");
}

TEST_F(DynamicLoader, WhatOtherLoadersHaveNamesWhatToCall) {
  const Loader dynamic = create(0);
  EXPECT_REFUSED(tdm_loader_start_epoch(dynamic.get(), 0, 0), TDM_ERROR_INVALID_ARGUMENT, "tdm_loader_next_step()");
  EXPECT_REFUSED(tdm_loader_restore(dynamic.get(), "x", 1), TDM_ERROR_INVALID_ARGUMENT, "tdm_loader_create_dynamic()");
  EXPECT_EQ(tdm_loader_batch_count(dynamic.get()), -1);
  EXPECT_EQ(tdm_loader_sample_count(dynamic.get()), 10);

  tdm_loader* made = nullptr;
  ASSERT_OK(tdm_loader_create_from(dataset_.get(), nullptr, &made));
  const Loader plain(made);
  std::int32_t has_step = 7;
  EXPECT_REFUSED(tdm_loader_next_step(made, &has_step), TDM_ERROR_INVALID_ARGUMENT, "tdm_loader_start_epoch()");
  EXPECT_EQ(has_step, 7);
  EXPECT_REFUSED(tdm_loader_fail(made, 0, "?"), TDM_ERROR_INVALID_ARGUMENT, "tdm_loader_create_dynamic()");
  tdm_string* text = nullptr;
  EXPECT_REFUSED(tdm_loader_get_quarantine(made, &text), TDM_ERROR_INVALID_ARGUMENT, "tdm_loader_create_dynamic()");
  EXPECT_REFUSED(tdm_loader_commit(made, &text), TDM_ERROR_INVALID_ARGUMENT, "NULL for 'record'");
  EXPECT_EQ(text, nullptr);
  EXPECT_OK(tdm_loader_commit(made, nullptr));
  EXPECT_EQ(tdm_loader_current_step(made), -1);
  EXPECT_EQ(tdm_loader_step_local_count(made), -1);
  EXPECT_EQ(tdm_loader_step_global_count(made), -1);
  EXPECT_EQ(tdm_loader_current_step(nullptr), 0);
}

TEST_F(DynamicLoader, RefusesWhatCannotBe) {
  tdm_loader* loader = nullptr;
  const auto create = [&](const void* state, std::size_t size, const char* quarantine) {
    return tdm_loader_create_dynamic(dataset_.get(), store_.get(), &options_, state, size, quarantine, &loader);
  };
  EXPECT_REFUSED(create("x", 1 << 20, nullptr), TDM_ERROR_INVALID_ARGUMENT, "state_size");
  EXPECT_REFUSED(create("x", 1, nullptr), TDM_ERROR_DATA_LOSS, "state");
  EXPECT_REFUSED(create(nullptr, 0, "[{}]"), TDM_ERROR_INVALID_ARGUMENT, "quarantine[0]");
  const char* const nothing = "{}";
  EXPECT_REFUSED(tdm_loader_create_replay(dataset_.get(), &nothing, 1, &options_, nullptr, 0, nullptr, &loader),
                 TDM_ERROR_INVALID_ARGUMENT, "'records'[0]");
  for (const tdm_tail tail : {tdm_tail{TDM_TAIL_PAD}, tdm_tail{TDM_TAIL_EVEN}, tdm_tail{77}}) {
    options_.tail = tail;
    EXPECT_REFUSED(create(nullptr, 0, nullptr), TDM_ERROR_INVALID_ARGUMENT, "tail");
  }
  EXPECT_EQ(loader, nullptr);
}

}  // namespace
}  // namespace dynamic_loader_test
