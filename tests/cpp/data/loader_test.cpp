#include "tandem/loader.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <set>

#include "cpp/data/expect_error.h"
#include "cpp/data/temp_dir.h"
#include "tandem/recordio.h"
#include "tandem/runtime.h"
#include "tandem/sample_order.h"

namespace tandem::loader_test {
namespace {

using test::TempDir;

constexpr int kPixels = 4 * 3;

std::unique_ptr<DataLoader> open(const std::vector<std::string>& paths, const std::vector<RecordField>& fields,
                                 const LoaderOptions& options) {
  return std::make_unique<DataLoader>(record_dataset(paths, fields), options);
}

// Sample i: its number as int32, then pixels.
std::vector<std::uint8_t> make_record(std::int32_t i) {
  std::vector<std::uint8_t> record(4 + kPixels);
  std::memcpy(record.data(), &i, 4);
  for (int p = 0; p < kPixels; ++p) record[4 + static_cast<std::size_t>(p)] = static_cast<std::uint8_t>(i * 31 + p * 7);
  return record;
}

const std::vector<RecordField> kFields = {
    {"id", at::kInt, {}, at::kLong},
    {"image", at::kByte, {1, 4, 3}, at::kFloat, 0.1307, 0.3081, 1 / 255.0},
};

class LoaderTest : public testing::Test {
 protected:
  // Files with samples 0 … n-1 in all, of these sizes.
  std::vector<std::string> write_files(const std::vector<int>& sizes, Compressor compressor = Compressor::kNone) {
    std::vector<std::string> paths;
    int next = 0;
    for (const int size : sizes) {
      paths.push_back(dir_ / ("f" + std::to_string(paths.size())));
      RecordIOWriter writer(paths.back(), {compressor, 200});
      for (int i = 0; i < size; ++i) writer.write(make_record(next++));
      writer.close();
    }
    return paths;
  }

  TempDir dir_;
};

using Ids = std::vector<std::int64_t>;

Ids ids_of(const at::Tensor& tensor) {
  return Ids(tensor.const_data_ptr<std::int64_t>(), tensor.const_data_ptr<std::int64_t>() + tensor.numel());
}

std::vector<Ids> rest_of_epoch(DataLoader& loader) {
  std::vector<Ids> batches;
  while (auto batch = loader.next()) {
    batches.push_back(ids_of((*batch)[0]));
    EXPECT_EQ(batch->samples, batches.back());
  }
  return batches;
}

std::vector<Ids> epoch_of(DataLoader& loader, int epoch) {
  loader.start_epoch(epoch, 0);
  return rest_of_epoch(loader);
}

LoaderOptions options_of(std::int64_t batch_size, std::int64_t rank, std::int64_t world_size) {
  LoaderOptions options;
  options.batch_size = batch_size;
  options.rank = rank;
  options.world_size = world_size;
  options.seed = 17;
  return options;
}

TEST_F(LoaderTest, BatchesAreWhatDirectComputationGives) {
  const auto paths = write_files({37, 0, 63}, Compressor::kSnappy);
  for (const bool shuffle : {false, true}) {
    LoaderOptions options = options_of(16, 0, 1);
    options.shuffle = shuffle;
    const auto loader = open(paths, kFields, options);
    ASSERT_EQ(loader->sample_count(), 100);
    ASSERT_EQ(loader->batch_count(), 7);
    loader->start_epoch(3);
    const Permutation order(100, 17, 3);
    std::int64_t position = 0;
    while (auto batch = loader->next()) {
      const at::Tensor& image = (*batch)[1];
      ASSERT_EQ(image.sizes(), at::IntArrayRef({position < 96 ? 16 : 4, 1, 4, 3}));
      ASSERT_EQ(image.scalar_type(), at::kFloat);
      const Ids ids = ids_of((*batch)[0]);
      const float* pixel = image.const_data_ptr<float>();
      for (const std::int64_t id : ids) {
        ASSERT_EQ(id, shuffle ? order(position) : position);
        const auto record = make_record(static_cast<std::int32_t>(id));
        for (int p = 0; p < kPixels; ++p) {
          ASSERT_NEAR(*pixel++, (record[4 + static_cast<std::size_t>(p)] / 255.0 - 0.1307) / 0.3081, 1e-6);
        }
        ++position;
      }
    }
    EXPECT_EQ(position, 100);
    EXPECT_FALSE(loader->next().has_value());  // and stays at its end
  }
}

TEST_F(LoaderTest, BatchesSayWhatTheyAre) {
  const auto paths = write_files({10});
  LoaderOptions options = options_of(4, 1, 3);
  options.tail = Tail::kPad;
  const auto loader = open(paths, kFields, options);
  loader->start_epoch(2, 1);
  const auto middle = loader->next();
  EXPECT_EQ(middle->epoch, 2);
  EXPECT_EQ(middle->number, 1);
  EXPECT_EQ(middle->rows, 1);
  EXPECT_EQ(middle->local_count, 1);
  EXPECT_EQ(middle->global_count, 4);
  EXPECT_EQ(middle->samples, Ids{Permutation(10, 17, 2)(6)});
  EXPECT_EQ(middle->randomness, std::vector<std::uint64_t>{sample_randomness(17, 2, middle->samples[0])});
  EXPECT_TRUE(middle->mask().equal(at::ones({1}, at::kBool)));
  EXPECT_EQ(&(*middle)["image"], &(*middle)[1]);
  EXPECT_ERROR((*middle)["picture"], ErrorCode::kNotFound, "'picture'");
}

TEST_F(LoaderTest, PaddingIsZerosAndMasked) {
  LoaderOptions options = options_of(8, 0, 1);
  options.tail = Tail::kPad;
  options.shuffle = false;
  const auto loader = open(write_files({13}), kFields, options);
  loader->start_epoch(0, 1);
  const auto last = loader->next();
  EXPECT_EQ(last->rows, 8);
  EXPECT_EQ(last->local_count, 5);
  EXPECT_EQ(ids_of((*last)[0]), (Ids{8, 9, 10, 11, 12, 0, 0, 0}));
  EXPECT_EQ((*last)[1].slice(0, 5).abs().max().item<float>(), 0);
  EXPECT_TRUE(last->mask().equal(at::arange(8).lt(5)));
}

TEST_F(LoaderTest, BatchSizeIsOfAllRanksOrOfEach) {
  const auto paths = write_files({64});
  LoaderOptions options = options_of(8, 0, 2);
  EXPECT_EQ(open(paths, kFields, options)->next()->rows, 4);
  options.per_rank = true;
  const auto loader = open(paths, kFields, options);
  EXPECT_EQ(loader->batch_count(), 4);
  EXPECT_EQ(loader->next()->rows, 8);
  options.batch_size = std::int64_t{1} << 62;
  options.world_size = 4;
  EXPECT_ERROR(open(paths, kFields, options), ErrorCode::kInvalidArgument, "too large");
}

TEST_F(LoaderTest, RanksMayHaveNoSamplesOfABatch) {
  const auto paths = write_files({5});
  const auto loader = open(paths, kFields, options_of(4, 3, 4));
  const auto first = loader->next();
  EXPECT_EQ(first->rows, 1);
  const auto tail = loader->next();
  EXPECT_EQ((*tail)[1].sizes(), at::IntArrayRef({0, 1, 4, 3}));
  EXPECT_EQ(tail->local_count, 0);
  EXPECT_EQ(tail->global_count, 1);
  EXPECT_FALSE(loader->next().has_value());
}

TEST_F(LoaderTest, AnEpochIsARange) {
  const auto loader = open(write_files({20}), kFields, options_of(6, 0, 1));
  const auto expected = epoch_of(*loader, 1);
  std::vector<Ids> got;
  for (LoadedBatch& batch : loader->epoch(1)) got.push_back(ids_of(batch["id"]));
  EXPECT_EQ(got, expected);
}

TEST_F(LoaderTest, BlocksOfFilesStayTogether) {
  LoaderOptions options = options_of(10, 0, 1);
  options.shuffle_block = 10;
  options.shuffle_window = 1;
  const auto loader = open(write_files({100}), kFields, options);
  std::vector<Ids> batches = epoch_of(*loader, 0);
  EXPECT_EQ(batches.size(), 10u);
  for (Ids& batch : batches) {
    std::sort(batch.begin(), batch.end());
    EXPECT_EQ(batch.front() % 10, 0);
    EXPECT_EQ(batch.back(), batch.front() + 9);
  }
}

TEST_F(LoaderTest, NoSamplesGiveNoBatches) {
  const auto loader = open(write_files({0}), kFields, options_of(2, 0, 1));
  EXPECT_EQ(loader->batch_count(), 0);
  EXPECT_FALSE(loader->next().has_value());
}

TEST_F(LoaderTest, OrderDoesNotDependOnThreadsOrPrefetch) {
  const auto paths = write_files({333});
  const auto plain = open(paths, kFields, options_of(7, 0, 1));
  const auto expected = epoch_of(*plain, 2);
  for (const int threads : {0, 1, 2, 8}) {
    for (const int prefetch : {0, 1, 5, 1000}) {
      LoaderOptions options = options_of(7, 0, 1);
      options.threads = threads;
      options.prefetch = prefetch;
      const auto loader = open(paths, kFields, options);
      EXPECT_EQ(epoch_of(*loader, 2), expected) << threads << " threads, prefetch " << prefetch;
    }
  }
}

TEST_F(LoaderTest, EpochsDifferAndCanBeEnteredAnywhere) {
  const auto paths = write_files({100});
  LoaderOptions options = options_of(8, 0, 1);
  options.threads = 3;
  const auto loader = open(paths, kFields, options);
  const auto first = rest_of_epoch(*loader);  // epoch 0, without start_epoch()
  const auto second = epoch_of(*loader, 1);
  EXPECT_NE(first, second);
  EXPECT_EQ(epoch_of(*loader, 0), first);
  for (std::int64_t batch = 0; batch <= loader->batch_count(); ++batch) {
    loader->start_epoch(0, 0);
    for (int i = 0; i < batch % 3; ++i) loader->next();  // left in the middle
    loader->start_epoch(1, batch);
    EXPECT_EQ(rest_of_epoch(*loader), std::vector<Ids>(second.begin() + batch, second.end()));
  }
  EXPECT_ERROR(loader->start_epoch(0, loader->batch_count() + 1), ErrorCode::kOutOfRange, "no batch 14");
  EXPECT_ERROR(loader->start_epoch(-1), ErrorCode::kInvalidArgument, "epoch");
}

TEST_F(LoaderTest, DamagedShardSurfacesAtItsBatch) {
  const auto paths = write_files({40, 40});
  auto bytes = test::read_file(paths[1]);
  bytes.back() ^= 1;
  test::write_file(paths[1], bytes);
  for (const int threads : {0, 3}) {
    LoaderOptions options = options_of(10, 0, 1);
    options.shuffle = false;
    options.threads = threads;
    options.prefetch = 100;
    const auto loader = open(paths, kFields, options);
    for (int epoch = 0; epoch < 2; ++epoch) {
      loader->start_epoch(epoch);
      for (int i = 0; i < 7; ++i) ASSERT_TRUE(loader->next().has_value());
      for (int attempt = 0; attempt < 2; ++attempt) {
        EXPECT_ERROR(loader->next(), ErrorCode::kDataLoss, "cannot load " + paths[1] + ", chunk 3, record 0: ", "byte 660", "checksum");
      }
    }
  }
}

TEST_F(LoaderTest, RecordsOfAnotherSizeAreNamed) {
  const auto paths = write_files({5});
  auto fields = kFields;
  fields[1].sizes = {1, 28, 28};
  const auto loader = open(paths, fields, options_of(1, 0, 1));
  EXPECT_ERROR(loader->next(), ErrorCode::kInvalidArgument, paths[0], "has 16 bytes", "788");
}

TEST_F(LoaderTest, AllConversions) {
  // A record of one value of each type, at odd offsets.
  const std::vector<std::pair<at::ScalarType, double>> values = {
      {at::kByte, 200},  {at::kChar, -100},   {at::kShort, -30000}, {at::kInt, -2000000}, {at::kLong, 1LL << 40},
      {at::kFloat, 0.5}, {at::kDouble, -1e9}, {at::kBool, 1},       {at::kUInt16, 60000}, {at::kUInt32, 4000000000.0},
  };
  std::vector<std::uint8_t> record = {7};
  std::vector<RecordField> same = {{"pad", at::kByte, {}, at::kByte}};
  std::vector<RecordField> floats = same;
  std::vector<RecordField> longs = same;
  for (const auto& [type, value] : values) {
    const at::Tensor one = at::full({1}, value, at::kDouble).to(type);
    const auto* bytes = static_cast<const std::uint8_t*>(one.const_data_ptr());
    record.insert(record.end(), bytes, bytes + one.element_size());
    const std::string name = c10::toString(type);
    same.push_back({name, type, {}, type});
    floats.push_back({name, type, {1}, at::kFloat, 1, 4, 2});
    longs.push_back({name, type, {}, at::isFloatingType(type) ? type : at::kLong});
  }
  const std::string path = dir_ / "f";
  {
    RecordIOWriter writer(path);
    writer.write(record);
    writer.close();
  }
  const auto load = [&](const std::vector<RecordField>& fields) {
    return *open({path}, fields, options_of(1, 0, 1))->next();
  };
  const auto kept = load(same);
  const auto as_float = load(floats);
  const auto as_long = load(longs);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [type, value] = values[i];
    EXPECT_EQ(kept[i + 1].scalar_type(), type);
    EXPECT_EQ(kept[i + 1].to(at::kDouble).item<double>(), value) << type;
    EXPECT_EQ(as_float[i + 1].scalar_type(), at::kFloat);
    EXPECT_FLOAT_EQ(as_float[i + 1].item<float>(), static_cast<float>((value * 2 - 1) / 4)) << type;
    EXPECT_EQ(as_long[i + 1].to(at::kDouble).item<double>(), value) << type;
  }
}

TEST_F(LoaderTest, RefusesWhatCannotBe) {
  const auto paths = write_files({5});
  const auto make = [&](const std::vector<RecordField>& fields, const LoaderOptions& options) {
    open(paths, fields, options);
  };
  const auto with_field = [](RecordField field) { return std::vector<RecordField>{std::move(field)}; };
  constexpr auto kInvalid = ErrorCode::kInvalidArgument;
  EXPECT_ERROR(make(kFields, options_of(0, 0, 1)), kInvalid, "batch_size");
  EXPECT_ERROR(make(kFields, options_of(1, 2, 2)), kInvalid, "rank 2", "world of 2");
  EXPECT_ERROR(make(kFields, options_of(1, 0, 0)), kInvalid, "world_size");
  EXPECT_ERROR(make({}, options_of(1, 0, 1)), kInvalid, "field");
  EXPECT_ERROR(open({}, kFields, {}), kInvalid, "file");
  EXPECT_ERROR(open({dir_ / "none"}, kFields, {}), ErrorCode::kNotFound, dir_ / "none");
  EXPECT_ERROR(make(with_field({"x", at::kByte, {-1}, at::kByte}), {}), kInvalid, "'x'", "-1");
  EXPECT_ERROR(make(with_field({"x", at::kByte, {1LL << 40, 1LL << 40}, at::kByte}), {}), kInvalid, "'x'");
  EXPECT_ERROR(make(with_field({"x", at::kByte, {1LL << 40}, at::kByte}), {}), kInvalid, "4 GiB");
  EXPECT_ERROR(make(with_field({"x", at::kByte, {}, at::kInt}), {}), kInvalid, "'x'");
  EXPECT_ERROR(make(with_field({"x", at::kFloat, {}, at::kLong}), {}), kInvalid, "'x'");
  EXPECT_ERROR(make(with_field({"x", at::kByte, {}, at::kFloat, 0, 0, 1}), {}), kInvalid, "std");
  EXPECT_ERROR(make(with_field({"x", at::kByte, {}, at::kFloat, 0, 1, 0}), {}), kInvalid, "scale");
  LoaderOptions options;
  options.threads = -1;
  EXPECT_ERROR(make(kFields, options), kInvalid, "threads");
  options = {};
  options.prefetch_bytes = -1;
  EXPECT_ERROR(make(kFields, options), kInvalid, "prefetch_bytes");
  options = {};
  options.shuffle_block = -1;
  EXPECT_ERROR(make(kFields, options), kInvalid, "shuffle_block");
  EXPECT_ERROR(DataLoader(std::shared_ptr<Dataset>(), {}), kInvalid, "data set");
}

// Samples that nobody gets before `open` is ready.
struct Gated : Dataset {
  explicit Gated(std::shared_future<void> gate) : open(std::move(gate)) {}
  std::int64_t size() const override { return 4; }
  std::vector<std::string> names() const override { return {"x"}; }
  std::vector<at::Tensor> get(std::int64_t i) override {
    if (!waits.exchange(true)) entered.set_value();
    open.wait();
    return {at::scalar_tensor(i, at::kLong)};
  }
  std::atomic<bool> waits{false};
  std::promise<void> entered;
  const std::shared_future<void> open;
};

TEST_F(LoaderTest, AbortEndsANextThatWaits) {
  std::promise<void> gate;
  const auto gated = std::make_shared<Gated>(gate.get_future().share());
  DataLoader loader(gated, options_of(2, 0, 1));
  auto waiting =
      std::async(std::launch::async, [&] { EXPECT_ERROR(loader.next(), ErrorCode::kAborted, "was aborted"); });
  gated->entered.get_future().wait();
  loader.abort();
  waiting.get();  // while the loader's thread is still in get()
  EXPECT_ERROR(loader.next(), ErrorCode::kAborted, "was aborted");
  const std::string before = loader.state();
  EXPECT_ERROR(loader.start_epoch(5), ErrorCode::kAborted, "was aborted");
  loader.commit();
  EXPECT_EQ(loader.state(), before);  // of epoch 0, of which nothing was taken
  gate.set_value();
}

// Last: nothing else of this process may use the core after it.
TEST_F(LoaderTest, ZShutdownWakesAndStops) {
  const auto paths = write_files({10});
  LoaderOptions options = options_of(5, 0, 1);
  options.threads = 2;
  const auto loader = open(paths, kFields, options);
  loader->next();
  shutdown(std::chrono::seconds(20));
  EXPECT_ERROR(loader->next(), ErrorCode::kAborted, "shutdown");
  EXPECT_ERROR(loader->start_epoch(1), ErrorCode::kAborted, "shutdown");
}

}  // namespace
}  // namespace tandem::loader_test
