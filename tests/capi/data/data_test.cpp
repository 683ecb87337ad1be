// RecordIO, MNIST import and the loader through the C ABI, as a front end uses them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "cpp/data/temp_dir.h"
#include "tandem/tandem.h"

namespace data_test {
namespace {

using tandem::test::FileBytes;
using tandem::test::TempDir;

void expect_ok(tdm_error* error) {
  if (error) ADD_FAILURE() << tdm_error_operation(error) << ": " << tdm_error_message(error);
  tdm_error_free(error);
}

void expect_error(tdm_error* error, tdm_error_code code, const std::string& operation, const std::string& part) {
  ASSERT_NE(error, nullptr) << "no error about " << part;
  EXPECT_EQ(tdm_error_get_code(error), code) << tdm_error_message(error);
  EXPECT_EQ(tdm_error_operation(error), operation);
  EXPECT_THAT(tdm_error_message(error), testing::HasSubstr(part));
  tdm_error_free(error);
}

// n records: the number as one byte, then two pixels.
void write_records(const std::string& path, int n, const tdm_recordio_writer_options* options = nullptr) {
  tdm_recordio_writer* writer = nullptr;
  expect_ok(tdm_recordio_writer_create(path.c_str(), options, &writer));
  for (int i = 0; i < n; ++i) {
    const unsigned char record[3] = {static_cast<unsigned char>(i), static_cast<unsigned char>(2 * i), 255};
    expect_ok(tdm_recordio_writer_write(writer, record, sizeof record));
  }
  expect_ok(tdm_recordio_writer_close(writer));
  expect_error(tdm_recordio_writer_close(writer), TDM_ERROR_CLOSED, "tdm_recordio_writer_close", "closed");
  tdm_recordio_writer_free(writer);
}

TEST(CapiRecordIO, WritesAndReads) {
  TempDir dir;
  const std::string path = dir / "f";
  for (const tdm_compressor compressor : {TDM_COMPRESSOR_NONE, TDM_COMPRESSOR_SNAPPY, TDM_COMPRESSOR_GZIP}) {
    tdm_recordio_writer_options options = TDM_RECORDIO_WRITER_OPTIONS_INIT;
    options.compressor = compressor;
    options.chunk_bytes = 20;
    write_records(path, 10, &options);
    tdm_recordio_reader* reader = nullptr;
    expect_ok(tdm_recordio_reader_create(path.c_str(), &reader));
    ASSERT_EQ(tdm_recordio_reader_count(reader), 10);
    for (int i = 9; i >= 0; --i) {
      const void* data = nullptr;
      size_t size = 0;
      expect_ok(tdm_recordio_reader_get(reader, i, &data, &size));
      ASSERT_EQ(size, 3u);
      EXPECT_EQ(static_cast<const unsigned char*>(data)[1], 2 * i);
      char copy[4] = "???";
      expect_error(tdm_recordio_reader_copy(reader, i, copy, 2), TDM_ERROR_INVALID_ARGUMENT, "tdm_recordio_reader_copy",
                   "has 3 bytes, but the destination has 2");
      EXPECT_STREQ(copy, "???");
      expect_ok(tdm_recordio_reader_copy(reader, i, copy, 3));
      EXPECT_EQ(std::memcmp(copy, data, 3), 0);
    }
    const void* untouched = &dir;
    size_t size = 77;
    expect_error(tdm_recordio_reader_get(reader, 10, &untouched, &size), TDM_ERROR_OUT_OF_RANGE,
                 "tdm_recordio_reader_get", "no record 10");
    EXPECT_EQ(untouched, &dir);
    EXPECT_EQ(size, 77u);
    tdm_recordio_reader_free(reader);
  }
  EXPECT_EQ(tdm_live_count("recordio_writer"), 0);
  EXPECT_EQ(tdm_live_count("recordio_reader"), 0);
}

TEST(CapiRecordIO, NamesWhatIsWrong) {
  TempDir dir;
  tdm_recordio_reader* reader = nullptr;
  expect_error(tdm_recordio_reader_create((dir / "none").c_str(), &reader), TDM_ERROR_NOT_FOUND,
               "tdm_recordio_reader_create", dir / "none");
  EXPECT_EQ(reader, nullptr);
  expect_error(tdm_recordio_reader_create(nullptr, &reader), TDM_ERROR_INVALID_ARGUMENT, "tdm_recordio_reader_create",
               "path");
  write_records(dir / "f", 10);
  FileBytes bytes = tandem::test::read_file(dir / "f");
  bytes.back() ^= 4;
  tandem::test::write_file(dir / "f", bytes);
  expect_ok(tdm_recordio_reader_create((dir / "f").c_str(), &reader));
  const void* data;
  size_t size;
  expect_error(tdm_recordio_reader_get(reader, 0, &data, &size), TDM_ERROR_DATA_LOSS, "tdm_recordio_reader_get",
               "chunk 0 at byte 0");
  tdm_recordio_reader_free(reader);

  tdm_recordio_writer* writer = nullptr;
  expect_error(tdm_recordio_writer_create((dir / "a/b").c_str(), nullptr, &writer), TDM_ERROR_NOT_FOUND,
               "tdm_recordio_writer_create", dir / "a/b");
  tdm_recordio_writer_options options = TDM_RECORDIO_WRITER_OPTIONS_INIT;
  options.compressor = -1;
  expect_error(tdm_recordio_writer_create((dir / "g").c_str(), &options, &writer), TDM_ERROR_INVALID_ARGUMENT,
               "tdm_recordio_writer_create", "compressor");
  options = TDM_RECORDIO_WRITER_OPTIONS_INIT;
  options.struct_size = 0;
  expect_error(tdm_recordio_writer_create((dir / "g").c_str(), &options, &writer), TDM_ERROR_INVALID_ARGUMENT,
               "tdm_recordio_writer_create", "struct_size");
  // An older header, which has no chunk_bytes: the default holds.
  options.struct_size = offsetof(tdm_recordio_writer_options, chunk_bytes);
  options.chunk_bytes = 0;
  expect_ok(tdm_recordio_writer_create((dir / "g").c_str(), &options, &writer));
  tdm_recordio_writer_free(writer);
  EXPECT_EQ(dir.names(), std::vector<std::string>{"f"});
  tdm_recordio_writer_free(nullptr);
  tdm_recordio_reader_free(nullptr);
  EXPECT_EQ(tdm_recordio_reader_count(nullptr), 0);
}

TEST(CapiLoader, DealsAnEpochOut) {
  TempDir dir;
  write_records(dir / "a", 7);
  const std::string path = dir / "a";
  const char* paths[] = {path.c_str()};
  const int64_t two[] = {2};
  const tdm_field fields[] = {
      {"id", TDM_DTYPE_UINT8, TDM_DTYPE_INT64, nullptr, 0, 0, 0, 0},
      {"pixels", TDM_DTYPE_UINT8, TDM_DTYPE_FLOAT32, two, 1, 0.5, 0.25, 1 / 255.0},
  };
  std::multiset<int64_t> seen;
  for (int rank = 0; rank < 2; ++rank) {
    tdm_loader_options options = TDM_LOADER_OPTIONS_INIT;
    options.batch_size = 2;
    options.rank = rank;
    options.world_size = 2;
    tdm_loader* loader = nullptr;
    expect_ok(tdm_loader_create(paths, 1, fields, 2, &options, &loader));
    EXPECT_EQ(tdm_loader_sample_count(loader), 7);
    ASSERT_EQ(tdm_loader_batch_count(loader), 2);
    expect_ok(tdm_loader_start_epoch(loader, 1, 0));
    int32_t has_batch = 0;
    tdm_tensor* batch[2] = {};
    expect_error(tdm_loader_next(loader, batch, 1, &has_batch), TDM_ERROR_INVALID_ARGUMENT, "tdm_loader_next",
                 "2 fields");
    for (int b = 0; b < 2; ++b) {
      expect_ok(tdm_loader_next(loader, batch, 2, &has_batch));
      ASSERT_EQ(has_batch, 1);
      ASSERT_EQ(tdm_tensor_dim(batch[1]), 2);
      EXPECT_EQ(tdm_tensor_get_dtype(batch[1]), TDM_DTYPE_FLOAT32);
      void *ids, *pixels;
      expect_ok(tdm_tensor_data(batch[0], &ids));
      expect_ok(tdm_tensor_data(batch[1], &pixels));
      for (int64_t i = 0; i < tdm_tensor_numel(batch[0]); ++i) {
        const int64_t id = static_cast<int64_t*>(ids)[i];
        seen.insert(id);
        EXPECT_NEAR(static_cast<float*>(pixels)[2 * i], (2 * static_cast<double>(id) / 255 - 0.5) / 0.25, 1e-5);
        EXPECT_NEAR(static_cast<float*>(pixels)[2 * i + 1], 2, 1e-5);
      }
      for (tdm_tensor* tensor : batch) tdm_tensor_free(tensor);
    }
    batch[0] = nullptr;
    expect_ok(tdm_loader_next(loader, batch, 2, &has_batch));
    EXPECT_EQ(has_batch, 0);
    EXPECT_EQ(batch[0], nullptr);
    tdm_loader_free(loader);
  }
  EXPECT_EQ(seen.size(), 8u);  // one padded
  EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), 7u);
  EXPECT_EQ(tdm_live_count("loader"), 0);
  EXPECT_EQ(tdm_live_count("tensor"), 0);
}

// Records of one byte, its number, as a field "id".
class CapiLoaderState : public testing::Test {
 protected:
  CapiLoaderState() {
    tdm_recordio_writer* writer = nullptr;
    expect_ok(tdm_recordio_writer_create(path_.c_str(), nullptr, &writer));
    for (unsigned char i = 0; i < 11; ++i) expect_ok(tdm_recordio_writer_write(writer, &i, 1));
    expect_ok(tdm_recordio_writer_close(writer));
    tdm_recordio_writer_free(writer);
  }

  tdm_loader* open(const tdm_loader_options& options) const {
    const char* paths[] = {path_.c_str()};
    const tdm_field field = {"id", TDM_DTYPE_UINT8, TDM_DTYPE_UINT8, nullptr, 0, 0, 0, 0};
    tdm_loader* loader = nullptr;
    expect_ok(tdm_loader_create(paths, 1, &field, 1, &options, &loader));
    return loader;
  }

  // The next batch's samples, checked against its tensor; empty at the end.
  static std::vector<int64_t> next(tdm_loader* loader, tdm_loader_batch* about) {
    tdm_tensor* batch = nullptr;
    int32_t has_batch = 0;
    expect_ok(tdm_loader_next(loader, &batch, 1, &has_batch));
    if (!has_batch) return {};
    expect_ok(tdm_loader_get_batch(loader, about));
    EXPECT_EQ(tdm_tensor_numel(batch), about->rows);
    void* ids = nullptr;
    expect_ok(tdm_tensor_data(batch, &ids));
    std::vector<int64_t> samples(about->samples, about->samples + about->local_count);
    for (std::size_t i = 0; i < samples.size(); ++i) EXPECT_EQ(static_cast<unsigned char*>(ids)[i], samples[i]);
    tdm_tensor_free(batch);
    return samples;
  }

  static std::string state_of(tdm_loader* loader) {
    tdm_string* state = nullptr;
    expect_ok(tdm_loader_get_state(loader, &state));
    std::string bytes(tdm_string_data(state), tdm_string_size(state));
    tdm_string_free(state);
    return bytes;
  }

  TempDir dir_;
  const std::string path_ = dir_ / "a";
};

TEST_F(CapiLoaderState, GlobalBatchesAndTails) {
  tdm_loader_options options = TDM_LOADER_OPTIONS_INIT;
  options.global_batch = 1;
  options.batch_size = 4;
  options.rank = 2;
  options.world_size = 3;
  options.shuffle = 0;
  options.tail = TDM_TAIL_PAD;
  tdm_loader* loader = open(options);
  tdm_loader_batch about = TDM_LOADER_BATCH_INIT;
  expect_error(tdm_loader_get_batch(loader, &about), TDM_ERROR_OUT_OF_RANGE, "tdm_loader_get_batch", "no batch");
  EXPECT_EQ(next(loader, &about), std::vector<int64_t>{3});
  EXPECT_EQ(about.global_count, 4);
  EXPECT_NE(about.randomness[0], 0u);
  EXPECT_EQ(next(loader, &about), std::vector<int64_t>{7});
  EXPECT_EQ(next(loader, &about), std::vector<int64_t>{10});
  EXPECT_EQ(about.number, 2);
  EXPECT_EQ(about.global_count, 3);
  tdm_tensor* mask = nullptr;
  expect_ok(tdm_loader_get_batch_mask(loader, &mask));
  EXPECT_EQ(tdm_tensor_numel(mask), 1);
  EXPECT_EQ(tdm_tensor_get_dtype(mask), TDM_DTYPE_BOOL);
  tdm_tensor_free(mask);
  EXPECT_TRUE(next(loader, &about).empty());
  expect_error(tdm_loader_get_batch_mask(loader, &mask), TDM_ERROR_OUT_OF_RANGE, "tdm_loader_get_batch_mask", "end");
  tdm_loader_free(loader);

  for (const auto& [tail, batches, last] : std::vector<std::tuple<tdm_tail, int64_t, int64_t>>{{TDM_TAIL_UNSET, 3, 3},
                                                                                               {TDM_TAIL_SHORT, 3, 3},
                                                                                               {TDM_TAIL_DROP, 2, 4},
                                                                                               {TDM_TAIL_PAD, 3, 4},
                                                                                               {TDM_TAIL_REPEAT, 3, 4},
                                                                                               {TDM_TAIL_EVEN, 3, 3}}) {
    options.rank = 0;
    options.world_size = 1;
    options.tail = tail;
    loader = open(options);
    EXPECT_EQ(tdm_loader_batch_count(loader), batches) << tail;
    while (!next(loader, &about).empty()) {
    }
    EXPECT_EQ(about.rows, last) << tail;
    tdm_loader_free(loader);
  }
}

TEST_F(CapiLoaderState, GoesOnWhereItWasSaved) {
  tdm_loader_options options = TDM_LOADER_OPTIONS_INIT;
  options.batch_size = 3;
  options.shuffle_block = 2;
  options.shuffle_window = 2;
  tdm_loader* loader = open(options);
  tdm_loader_batch about = TDM_LOADER_BATCH_INIT;
  expect_ok(tdm_loader_start_epoch(loader, 4, -1));
  next(loader, &about);
  expect_ok(tdm_loader_commit(loader, nullptr));
  const std::string state = state_of(loader);
  EXPECT_LT(state.size(), 256u);
  const auto second = next(loader, &about);
  EXPECT_EQ(state_of(loader), state);
  expect_error(tdm_loader_restore(loader, state.data(), state.size()), TDM_ERROR_INVALID_ARGUMENT, "tdm_loader_restore",
               "begun");
  tdm_loader_free(loader);

  options.seed = 77;  // the state's counts
  loader = open(options);
  EXPECT_EQ(tdm_loader_current_epoch(loader), 0);
  expect_error(tdm_loader_restore(loader, "no state", 8), TDM_ERROR_DATA_LOSS, "tdm_loader_restore", "no state");
  expect_error(tdm_loader_restore(loader, nullptr, 8), TDM_ERROR_INVALID_ARGUMENT, "tdm_loader_restore", "data");
  expect_ok(tdm_loader_restore(loader, state.data(), state.size()));
  EXPECT_EQ(tdm_loader_current_epoch(loader), 4);
  expect_ok(tdm_loader_start_epoch(loader, 4, -1));
  EXPECT_EQ(next(loader, &about), second);
  EXPECT_EQ(about.epoch, 4);
  EXPECT_EQ(about.number, 1);
  tdm_loader_free(loader);
  EXPECT_EQ(tdm_loader_current_epoch(nullptr), 0);
  EXPECT_EQ(tdm_live_count("loader"), 0);
  EXPECT_EQ(tdm_live_count("string"), 0);
}

TEST(CapiLoader, BatchesBelongToTheScopeThatIsOpen) {
  TempDir dir;
  write_records(dir / "a", 4);
  const std::string path = dir / "a";
  const char* paths[] = {path.c_str()};
  const int64_t three[] = {3};
  const tdm_field field = {nullptr, TDM_DTYPE_UINT8, TDM_DTYPE_UINT8, three, 1, 0, 0, 0};
  tdm_loader* loader = nullptr;
  expect_ok(tdm_loader_create(paths, 1, &field, 1, nullptr, &loader));
  tdm_scope* scope = nullptr;
  expect_ok(tdm_scope_enter(&scope));
  tdm_tensor* batch = nullptr;
  int32_t has_batch = 0;
  for (int i = 0; i < 4; ++i) expect_ok(tdm_loader_next(loader, &batch, 1, &has_batch));
  EXPECT_EQ(has_batch, 1);
  EXPECT_EQ(tdm_live_count("tensor"), 4);
  tdm_scope_exit(scope);
  EXPECT_EQ(tdm_live_count("tensor"), 0);
  tdm_loader_free(loader);
}

TEST(CapiLoader, NamesWhatIsWrong) {
  TempDir dir;
  write_records(dir / "a", 4);
  const std::string path = dir / "a";
  const char* paths[] = {path.c_str()};
  const tdm_field field = {"x", TDM_DTYPE_UINT8, TDM_DTYPE_UINT8, nullptr, 0, 0, 0, 0};
  tdm_loader* loader = nullptr;
  const auto create = [&](const tdm_field& f, const tdm_loader_options& options) {
    return tdm_loader_create(paths, 1, &f, 1, &options, &loader);
  };
  tdm_loader_options options = TDM_LOADER_OPTIONS_INIT;
  options.batch_size = 0;
  expect_error(create(field, options), TDM_ERROR_INVALID_ARGUMENT, "tdm_loader_create", "batch_size");
  options = TDM_LOADER_OPTIONS_INIT;
  options.tail = 6;
  expect_error(create(field, options), TDM_ERROR_INVALID_ARGUMENT, "tdm_loader_create", "tail");
  options = TDM_LOADER_OPTIONS_INIT;
  options.on_io_error = 3;
  expect_error(create(field, options), TDM_ERROR_INVALID_ARGUMENT, "tdm_loader_create", "on_io_error is 3");
  options = TDM_LOADER_OPTIONS_INIT;
  options.io_retry_ms = -2;
  expect_error(create(field, options), TDM_ERROR_INVALID_ARGUMENT, "tdm_loader_create", "io_retry_ms is -2");
  options = TDM_LOADER_OPTIONS_INIT;
  options.timeout_ms = -2;
  expect_error(create(field, options), TDM_ERROR_INVALID_ARGUMENT, "tdm_loader_create", "timeout_ms is -2");
  options = TDM_LOADER_OPTIONS_INIT;
  tdm_field wrong = field;
  wrong.dtype = 99;
  expect_error(create(wrong, options), TDM_ERROR_INVALID_ARGUMENT, "tdm_loader_create", "dtype");
  wrong = field;
  wrong.out_dtype = TDM_DTYPE_FLOAT32;  // std and scale are left at 0
  expect_error(create(wrong, options), TDM_ERROR_INVALID_ARGUMENT, "tdm_loader_create", "'x'");
  expect_error(tdm_loader_create(nullptr, 1, &field, 1, &options, &loader), TDM_ERROR_INVALID_ARGUMENT,
               "tdm_loader_create", "paths");
  EXPECT_EQ(loader, nullptr);
  expect_ok(create(field, options));
  tdm_tensor* batch = nullptr;
  int32_t has_batch = 7;
  expect_error(tdm_loader_next(loader, &batch, 1, &has_batch), TDM_ERROR_INVALID_ARGUMENT, "tdm_loader_next",
               "has 3 bytes");
  EXPECT_EQ(has_batch, 7);
  expect_error(tdm_loader_start_epoch(loader, 0, 5), TDM_ERROR_OUT_OF_RANGE, "tdm_loader_start_epoch", "no batch 5");
  tdm_loader_free(loader);
  tdm_loader_free(nullptr);
  EXPECT_EQ(tdm_loader_batch_count(nullptr), 0);
}

}  // namespace
}  // namespace data_test
