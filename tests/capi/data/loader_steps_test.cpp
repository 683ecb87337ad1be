// Schemas, steps on batches and statistics of a loader, through the C ABI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <filesystem>

#include "capi/calls.h"
#include "cpp/data/temp_dir.h"
#include "tandem/tandem.h"

namespace loader_steps_test {
namespace {

using tandem::test::TempDir;

void expect_error(tdm_error* error, tdm_error_code code, const std::string& part) {
  ASSERT_NE(error, nullptr) << "no error about " << part;
  EXPECT_EQ(tdm_error_get_code(error), code) << tdm_error_message(error);
  EXPECT_THAT(tdm_error_message(error), testing::HasSubstr(part));
  tdm_error_free(error);
}

template <typename T>
const T* data_of(const tdm_tensor* tensor) {
  void* data = nullptr;
  EXPECT_OK(tdm_tensor_data(tensor, &data));
  return static_cast<const T*>(data);
}

constexpr const char* kSchema = R"({"fields": [{"name": "id", "dtype": "uint8"}, {"name": "text", "kind": "bytes"}]})";

class CapiLoaderSteps : public testing::Test {
 protected:
  CapiLoaderSteps() {
    tdm_recordio_writer_options options = TDM_RECORDIO_WRITER_OPTIONS_INIT;
    options.version = 2;
    options.schema = kSchema;
    tdm_recordio_writer* writer = nullptr;
    EXPECT_OK(tdm_recordio_writer_create(path_.c_str(), &options, &writer));
    for (const char* record : {"\x01xyz", "\x02v", "\x03uw"}) {
      EXPECT_OK(tdm_recordio_writer_write(writer, record, std::strlen(record)));
    }
    EXPECT_OK(tdm_recordio_writer_close(writer));
    tdm_recordio_writer_free(writer);
  }
  ~CapiLoaderSteps() override { tdm_loader_free(loader_); }

  tdm_dataset* open(const tdm_schema_options* options) {
    const char* paths[] = {path_.c_str()};
    tdm_dataset* dataset = nullptr;
    EXPECT_OK(tdm_dataset_from_schema(paths, 1, options, &dataset));
    return dataset;
  }
  void load(const tdm_schema_options* schema = nullptr) {
    tdm_dataset* dataset = open(schema);
    tdm_loader_options options = TDM_LOADER_OPTIONS_INIT;
    options.batch_size = 3;
    options.shuffle = 0;
    EXPECT_OK(tdm_loader_create_from(dataset, &options, &loader_));
    tdm_dataset_free(dataset);
  }
  // The tensors of the one batch.
  std::vector<tdm_tensor*> next(std::size_t count) {
    std::vector<tdm_tensor*> batch(count);
    int32_t has_batch = 0;
    EXPECT_OK(tdm_loader_next(loader_, batch.data(), count, &has_batch));
    EXPECT_EQ(has_batch, 1);
    return batch;
  }
  static void free(const std::vector<tdm_tensor*>& batch) {
    for (tdm_tensor* tensor : batch) tdm_tensor_free(tensor);
  }

  const calls::LeakCheck leaks_;
  TempDir dir_;
  const std::string path_ = dir_ / "texts";
  tdm_loader* loader_ = nullptr;
};

TEST_F(CapiLoaderSteps, ASchemaIsDecodedAndCollated) {
  tdm_schema_options options = TDM_SCHEMA_OPTIONS_INIT;
  options.collating = R"({"pad": {"text": {"value": 46, "multiple_of": 4}}})";
  tdm_dataset* dataset = open(&options);
  ASSERT_EQ(tdm_dataset_field_count(dataset), 3u);
  EXPECT_STREQ(tdm_dataset_field_name(dataset, 2), "text_lengths");
  tdm_dataset_free(dataset);
  load(&options);
  const auto batch = next(3);
  EXPECT_EQ(std::string(data_of<char>(batch[1]), 12), "xyz.v...uw..");
  EXPECT_EQ(data_of<int64_t>(batch[2])[2], 2);
  free(batch);

  const char* paths[] = {path_.c_str()};
  options.collating = "{\"pad\": {\"id\": {}}}";
  expect_error(tdm_dataset_from_schema(paths, 1, &options, &dataset), TDM_ERROR_INVALID_ARGUMENT, "'id' has one size");
  options.collating = nullptr;
  options.decoding = "[]";
  expect_error(tdm_dataset_from_schema(paths, 1, &options, &dataset), TDM_ERROR_INVALID_ARGUMENT, "decoding");
  options.decoding = nullptr;
  options.schema = "{}";
  expect_error(tdm_dataset_from_schema(paths, 1, &options, &dataset), TDM_ERROR_INVALID_ARGUMENT, "fields");
}

TEST_F(CapiLoaderSteps, FilesAreOpenedAsOptionsSay) {
  const char* paths[] = {path_.c_str()};
  const std::int64_t three = 3;
  tdm_field field{};
  field.dtype = field.out_dtype = TDM_DTYPE_UINT8;
  field.std = field.scale = 1;
  tdm_open_records_options files = TDM_OPEN_RECORDS_OPTIONS_INIT;
  files.skip = 2;
  tdm_schema_options options = TDM_SCHEMA_OPTIONS_INIT;
  options.files = &files;
  tdm_dataset* dataset = open(&options);
  EXPECT_EQ(tdm_dataset_size(dataset), 1);
  tdm_tensor* sample[3] = {};
  EXPECT_OK(tdm_dataset_get(dataset, 0, sample, 3));
  EXPECT_EQ(data_of<std::uint8_t>(sample[0])[0], 3);
  free({sample[0], sample[1], sample[2]});
  tdm_dataset_free(dataset);

  field.sizes = &three;
  field.ndim = 1;
  EXPECT_OK(tdm_dataset_from_records(paths, 1, &field, 1, &files, &dataset));
  EXPECT_EQ(tdm_dataset_size(dataset), 1);
  tdm_dataset_free(dataset);
  files.format = "tfrecord";
  expect_error(tdm_dataset_from_records(paths, 1, &field, 1, &files, &dataset), TDM_ERROR_DATA_LOSS, path_);
  files.format = "no such";
  expect_error(tdm_dataset_from_records(paths, 1, &field, 1, &files, &dataset), TDM_ERROR_INVALID_ARGUMENT, "ndjson");
  files.format = nullptr;
  files.skip = -1;
  expect_error(tdm_dataset_from_records(paths, 1, &field, 1, &files, &dataset), TDM_ERROR_INVALID_ARGUMENT, "skip");
  files.skip = 0;
  files.cache_folder_bytes = -2;
  expect_error(tdm_dataset_from_records(paths, 1, &field, 1, &files, &dataset), TDM_ERROR_INVALID_ARGUMENT,
               "cache_folder_bytes");
}

// Nobody listens on port 1.
TEST_F(CapiLoaderSteps, RemoteFilesAreAskedForAsOptionsSay) {
  const char* paths[] = {"http://127.0.0.1:1/records"};
  tdm_open_records_options files = TDM_OPEN_RECORDS_OPTIONS_INIT;
  const std::string folder = dir_ / "cache";
  files.cache_folder = folder.c_str();
  files.attempts = 2;
  tdm_schema_options options = TDM_SCHEMA_OPTIONS_INIT;
  options.files = &files;
  tdm_dataset* dataset = nullptr;
  expect_error(tdm_dataset_from_schema(paths, 1, &options, &dataset), TDM_ERROR_IO, "2 attempts");
  EXPECT_TRUE(std::filesystem::exists(folder));
  files.connect_timeout_ms = 0;
  expect_error(tdm_dataset_from_schema(paths, 1, &options, &dataset), TDM_ERROR_INVALID_ARGUMENT, "connect_timeout");
  files.connect_timeout_ms = 1;
  files.least_speed = -1;
  expect_error(tdm_dataset_from_schema(paths, 1, &options, &dataset), TDM_ERROR_INVALID_ARGUMENT, "least_speed");
  files.least_speed = 0;
  files.request_timeout_ms = -1;
  expect_error(tdm_dataset_from_schema(paths, 1, &options, &dataset), TDM_ERROR_INVALID_ARGUMENT, "request_timeout");
  files.request_timeout_ms = 1;
  files.attempts = 1000;
  expect_error(tdm_dataset_from_schema(paths, 1, &options, &dataset), TDM_ERROR_IO, "within request_timeout, 1 ms");
  files.attempts = 0;
  expect_error(tdm_dataset_from_schema(paths, 1, &options, &dataset), TDM_ERROR_INVALID_ARGUMENT, "attempts");
  const char* bucket[] = {"s3://bucket/records"};
  files.attempts = 1;
  files.s3_endpoint = "http://127.0.0.1:1";
  expect_error(tdm_dataset_from_schema(bucket, 1, &options, &dataset), TDM_ERROR_IO, "s3://bucket/records");
}

std::atomic<int> destroyed{0};
void destroy(void*) {
  ++destroyed;
}

// Replaces the text by the numbers, and adds them once more.
tdm_error* replace(void* user_data, const tdm_step_batch* batch) {
  EXPECT_EQ(batch->tensor_count, 3u);
  EXPECT_EQ(batch->output_count, 4u);
  EXPECT_STREQ(batch->names[1], "text");
  EXPECT_EQ(batch->rows, 3);
  EXPECT_NE(batch->randomness[0], batch->randomness[1]);
  ++*static_cast<int*>(user_data);
  batch->outputs[1] = batch->tensors[0];
  batch->outputs[3] = batch->tensors[0];
  return nullptr;
}

tdm_error* fail(void*, const tdm_step_batch*) {
  return tdm_error_create(TDM_ERROR_CALLBACK, "step", "no luck", nullptr, nullptr);
}

TEST_F(CapiLoaderSteps, StepsFollowOneAnother) {
  load();
  int called = 0;
  destroyed = 0;
  const char* adds[] = {"again"};
  EXPECT_OK(tdm_loader_add_transforms(loader_, R"([{"step": "one_hot", "fields": ["id"], "classes": 4}])"));
  EXPECT_OK(tdm_loader_add_step(loader_, replace, adds, 1, &called, destroy));
  EXPECT_OK(tdm_loader_add_transforms(loader_, R"([{"step": "to_float", "fields": ["again"], "scale": 2}])"));
  expect_error(tdm_loader_add_transforms(loader_, R"([{"step": "no_such"}])"), TDM_ERROR_INVALID_ARGUMENT, "step 0");
  expect_error(tdm_loader_add_step(loader_, replace, adds, 1, &called, destroy), TDM_ERROR_INVALID_ARGUMENT, "'again'");
  EXPECT_EQ(destroyed, 0);
  const auto batch = next(4);
  EXPECT_EQ(called, 1);
  for (const std::size_t field : {0u, 1u, 3u}) {
    const auto* hot = data_of<float>(batch[field]);
    EXPECT_EQ(hot[4 * 1 + 2], field == 3 ? 2 : 1) << field;
    EXPECT_EQ(hot[4 * 1 + 1], 0) << field;
  }
  free(batch);
  expect_error(tdm_loader_add_step(loader_, replace, nullptr, 0, nullptr, nullptr), TDM_ERROR_INVALID_ARGUMENT,
               "begun");
  tdm_loader_free(loader_);
  loader_ = nullptr;
  EXPECT_EQ(destroyed, 1);
}

TEST_F(CapiLoaderSteps, AStepThatFailsFailsItsBatch) {
  load();
  EXPECT_OK(tdm_loader_add_step(loader_, fail, nullptr, 0, nullptr, nullptr));
  std::vector<tdm_tensor*> batch(3);
  int32_t has_batch = 0;
  expect_error(tdm_loader_next(loader_, batch.data(), 3, &has_batch), TDM_ERROR_CALLBACK, "no luck");
}

TEST_F(CapiLoaderSteps, StatisticsNameTheBottleneck) {
  load();
  free(next(3));
  tdm_loader_statistics statistics = TDM_LOADER_STATISTICS_INIT;
  EXPECT_OK(tdm_loader_get_statistics(loader_, &statistics));
  EXPECT_EQ(statistics.batches, 1);
  EXPECT_EQ(statistics.samples, 3);
  EXPECT_EQ(statistics.delivered, 1);
  EXPECT_EQ(statistics.threads, 1);
  EXPECT_EQ(statistics.bytes, 3 + 9 + 24);
  EXPECT_GT(statistics.reading, 0);
  EXPECT_GT(statistics.decoding, 0);
  EXPECT_EQ(statistics.transforming, 0);
  EXPECT_NE(statistics.bottleneck, TDM_LOADER_BOTTLENECK_UNKNOWN);
  tdm_string* text = nullptr;
  EXPECT_OK(tdm_loader_statistics_text(loader_, &text));
  EXPECT_THAT(tdm_string_data(text), testing::EndsWith("is the bottleneck"));
  tdm_string_free(text);
}

TEST_F(CapiLoaderSteps, PinnedMemoryNeedsCuda) {
  tdm_dataset* dataset = open(nullptr);
  tdm_loader_options options = TDM_LOADER_OPTIONS_INIT;
  options.pin_memory = 1;
  int32_t devices = 0;
  EXPECT_OK(tdm_cuda_device_count(&devices));
  if (devices == 0) {
    expect_error(tdm_loader_create_from(dataset, &options, &loader_), TDM_ERROR_UNSUPPORTED, "CUDA");
  } else {
    EXPECT_OK(tdm_loader_create_from(dataset, &options, &loader_));
  }
  tdm_dataset_free(dataset);
}

TEST_F(CapiLoaderSteps, BatchesAreOnTheDevice) {
  tdm_dataset* dataset = open(nullptr);
  tdm_loader_options options = TDM_LOADER_OPTIONS_INIT;
  options.batch_size = 3;
  options.shuffle = 0;
  const auto refused = [&](tdm_device device, tdm_error_code code, const std::string& part) {
    options.device = device;
    expect_error(tdm_loader_create_from(dataset, &options, &loader_), code, part);
  };
  int32_t devices = 0;
  EXPECT_OK(tdm_cuda_device_count(&devices));
  if (devices == 0) refused({TDM_DEVICE_CUDA, 1}, TDM_ERROR_UNSUPPORTED, "device cuda:1 needs a GPU");
  if (devices > 0) refused({TDM_DEVICE_CUDA, devices}, TDM_ERROR_OUT_OF_RANGE, "cuda:" + std::to_string(devices));
  refused({TDM_DEVICE_META, 0}, TDM_ERROR_INVALID_ARGUMENT, "options->device has type 14");
  refused({TDM_DEVICE_CUDA, 1 << 20}, TDM_ERROR_INVALID_ARGUMENT, "options->device");
  options.device = {devices > 0 ? TDM_DEVICE_CUDA : TDM_DEVICE_CPU, -1};
  EXPECT_OK(tdm_loader_create_from(dataset, &options, &loader_));
  const auto batch = next(3);
  for (const tdm_tensor* tensor : batch) EXPECT_EQ(tdm_tensor_get_device(tensor).type, options.device.type);
  tdm_tensor* mask = nullptr;
  EXPECT_OK(tdm_loader_get_batch_mask(loader_, &mask));
  EXPECT_EQ(tdm_tensor_get_device(mask).type, TDM_DEVICE_CPU);
  tdm_tensor_free(mask);
  free(batch);
  tdm_loader_statistics statistics = TDM_LOADER_STATISTICS_INIT;
  EXPECT_OK(tdm_loader_get_statistics(loader_, &statistics));
  EXPECT_EQ(statistics.copying > 0, devices > 0);
  tdm_dataset_free(dataset);
}

}  // namespace
}  // namespace loader_steps_test
