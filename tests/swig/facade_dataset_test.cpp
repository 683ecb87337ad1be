// Data sets of the facade, as a C++17 program would use them.
#include "tandem/abi.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

namespace tandem::abi {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Ids = std::vector<int64_t>;

Tensor number(int64_t value) {
  return Tensor::from_data(&value, sizeof value, TDM_DTYPE_INT64, {});
}

struct Gone : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What the program's data met.
struct Ledger {
  std::atomic<int> asked{0}, open{0}, alive{0};
};

class Numbers : public Samples {
 public:
  Numbers(Ledger& ledger, int64_t size) : ledger_(ledger), size_(size) { ++ledger_.alive; }
  ~Numbers() override { --ledger_.alive; }
  int64_t size() const override { return size_; }
  std::vector<Tensor> get(int64_t index) override {
    ++ledger_.asked;
    if (index == 7) throw Gone("the disk is gone");
    if (index == 9) throw std::bad_alloc();
    if (index == 8) return {number(1)};
    std::vector<Tensor> sample;
    sample.push_back(number(index));
    sample.push_back(number(index * index));
    return sample;
  }

 private:
  Ledger& ledger_;
  int64_t size_;
};

class Counting : public IterableSamples {
 public:
  Counting(Ledger& ledger, int64_t length) : ledger_(ledger), length_(length) {}
  std::unique_ptr<SampleStream> open(uint64_t seed, int64_t epoch) override {
    class Stream : public SampleStream {
     public:
      Stream(Ledger& ledger, int64_t at, int64_t end) : ledger_(ledger), at_(at), end_(end) { ++ledger_.open; }
      ~Stream() override { --ledger_.open; }
      std::optional<std::vector<Tensor>> next() override {
        if (at_ == end_) return std::nullopt;
        return std::vector<Tensor>{number(at_++)};
      }

     private:
      Ledger& ledger_;
      int64_t at_, end_;
    };
    const auto first = static_cast<int64_t>(seed) + 1000 * epoch;
    return std::make_unique<Stream>(ledger_, first, first + length_);
  }

 private:
  Ledger& ledger_;
  int64_t length_;
};

LoaderOptions in_sequence(int64_t batch_size) {
  LoaderOptions options;
  options.batch_size = batch_size;
  options.shuffle = false;
  options.tail = TDM_TAIL_SHORT;
  options.threads = 2;
  return options;
}

Ids epoch_of(Loader& loader, int64_t epoch) {
  Ids ids;
  loader.start_epoch(epoch);
  for (auto batch = loader.next(); !batch.empty(); batch = loader.next()) {
    const Ids found = batch[0].to_vector<int64_t>();
    ids.insert(ids.end(), found.begin(), found.end());
  }
  return ids;
}

Ids counted(int64_t first, size_t count) {
  Ids ids(count);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

template <typename Body>
Error error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return Error(0, "nothing", "was thrown");
}

class FacadeDataset : public testing::Test {
 protected:
  ~FacadeDataset() override {
    for (const char* kind : {"tensor", "dataset", "loader", "callback", "scope", "error"}) {
      EXPECT_EQ(live_count(kind), 0) << kind;
    }
    EXPECT_EQ(ledger_.open, 0);
    EXPECT_EQ(ledger_.alive, 0);
  }
  Dataset numbers(int64_t size) { return from_samples(std::make_unique<Numbers>(ledger_, size), {"i", "square"}); }

  Ledger ledger_;
};

TEST_F(FacadeDataset, OfTheProgram) {
  std::optional<Dataset> own = numbers(7);
  EXPECT_EQ(own->size(), 7);
  EXPECT_THAT(own->field_names(), ElementsAre("i", "square"));
  EXPECT_EQ(own->get(5).at(1).item_int64(), 25);
  Loader loader(*own, in_sequence(3));
  own.reset();
  EXPECT_EQ(ledger_.alive, 1) << "the loader keeps what it needs";
  EXPECT_EQ(epoch_of(loader, 0), counted(0, 7));
  EXPECT_EQ(ledger_.asked, 8);
  loader.start_epoch(1);
  loader.next();
  EXPECT_EQ(loader.number(), 0);
  EXPECT_THAT(loader.samples(), ElementsAre(0, 1, 2));
}

TEST_F(FacadeDataset, WhatAProgramThrowsIsTheCause) {
  const Dataset own = numbers(10);
  for (const int32_t threads : {0, 1}) {
    LoaderOptions options = in_sequence(10);
    options.threads = threads;
    Loader loader(own, options);
    const Error error = error_of([&] { loader.next(); });
    EXPECT_EQ(error.code(), TDM_ERROR_CALLBACK);
    EXPECT_THAT(error.message(), HasSubstr("cannot load sample 7: a data set's get failed: the disk is gone"));
    EXPECT_THROW(std::rethrow_exception(error.cause()), Gone);
  }
  const Error error = error_of([&] { own.get(8); });
  EXPECT_THAT(error.message(), HasSubstr("it gave 1 tensors, but the data set has names for 2"));
  EXPECT_EQ(error_of([&] { own.get(9); }).code(), TDM_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(error_of([&] { own.get(10); }).code(), TDM_ERROR_OUT_OF_RANGE);
  EXPECT_FALSE(error_of([&] { own.get(10); }).cause());
  EXPECT_EQ(error_of([&] { from_samples(std::make_unique<Numbers>(ledger_, 3), {}); }).code(),
            TDM_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ledger_.alive, 1) << "what was refused is gone";
}

TEST_F(FacadeDataset, MadeOfOthers) {
  const Dataset own = numbers(6);
  const Dataset squares =
      map_samples(own, [](std::vector<Tensor> sample) { return std::vector<Tensor>{sample.at(1)}; }, {"i"});
  const Tensor rows = Tensor::from_vector<int64_t>({100, 101}, TDM_DTYPE_INT64, {2});
  const Dataset hundreds = Dataset::from_tensors({&rows}, {"i"});
  const Dataset both = Dataset::concat({&squares, &hundreds});
  Loader some(both.subset({7, 3, 3}), in_sequence(2));
  EXPECT_THAT(epoch_of(some, 0), ElementsAre(101, 9, 9));
  const Ids sizes = both.split_sizes({0.5, 0.5});
  EXPECT_THAT(sizes, ElementsAre(4, 4));
  Ids all;
  for (const Dataset& half : both.random_split(sizes, 3)) {
    Loader loader(half, in_sequence(3));
    const Ids found = epoch_of(loader, 0);
    all.insert(all.end(), found.begin(), found.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_THAT(all, ElementsAre(0, 1, 4, 9, 16, 25, 100, 101));
  EXPECT_THAT(error_of([&] { Dataset::from_tensors({&rows}, {"a", "b"}); }).message(), HasSubstr("2 names for 1"));
  EXPECT_EQ(error_of([&] { own.subset({6}); }).code(), TDM_ERROR_OUT_OF_RANGE);
}

TEST_F(FacadeDataset, OneAfterTheOther) {
  const Dataset stream = from_iterable(std::make_unique<Counting>(ledger_, 11), {"i"});
  EXPECT_EQ(stream.size(), -1);
  LoaderOptions options = in_sequence(4);
  options.seed = 100;
  Loader whole(stream, options);
  EXPECT_EQ(whole.batch_count(), -1);
  EXPECT_EQ(epoch_of(whole, 2), counted(2100, 11));
  options.world_size = 2;
  options.global_batch = true;
  Ids all;
  for (options.rank = 0; options.rank < 2; ++options.rank) {
    Loader part(stream, options);
    const Ids found = epoch_of(part, 0);
    all.insert(all.end(), found.begin(), found.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, counted(100, 11));
}

TEST_F(FacadeDataset, OfFiles) {
  const std::string path = std::filesystem::temp_directory_path() / ("facade_lines_" + std::to_string(getpid()));
  std::ofstream(path) << "no\nab\ncd\n";
  Fields fields;
  fields.add("letters", TDM_DTYPE_UINT8, {2}, TDM_DTYPE_INT64);
  FileOptions files;
  files.format = "lines";
  files.skip = 1;
  const Dataset records = Dataset::from_records({path}, fields, files);
  EXPECT_EQ(records.size(), 2);
  EXPECT_THAT(records.get(1).at(0).to_vector<int64_t>(), ElementsAre('c', 'd'));
  SchemaOptions options;
  options.schema = R"({"fields": [{"name": "letters", "dtype": "uint8", "shape": [2]}]})";
  const Dataset schema = Dataset::from_schema({path}, options, files);
  EXPECT_THAT(schema.field_names(), ElementsAre("letters"));
  EXPECT_THAT(schema.get(0).at(0).to_vector<uint8_t>(), ElementsAre('a', 'b'));
  std::filesystem::remove(path);
}

TEST_F(FacadeDataset, DealtOutDynamically) {
  const Dataset own = numbers(7);
  const Store store = Store::hash();
  Ids seen[2];
  std::vector<std::string> log[2];
  // As the exchange of gradients would.
  std::atomic<int> met{0};
  const auto meet = [&] {
    const int last = met++ / 2 * 2 + 2;
    while (met < last) std::this_thread::yield();
  };
  const auto rank = [&](int32_t number) {
    DynamicLoaderOptions options;
    options.batch_size = 4;
    options.micro_batch = 1;
    options.rank = number;
    options.world_size = 2;
    DynamicLoader loader(own, store, options);
    while (loader.next_step()) {
      for (auto part = loader.next(); !part.empty(); part = loader.next()) {
        EXPECT_EQ(part.at(0).to_vector<int64_t>(), loader.samples());
        EXPECT_EQ(loader.step_size(), loader.step() == 0 ? 4 : 3);
        seen[number].push_back(loader.samples().at(0));
      }
      EXPECT_EQ(loader.global_count(), loader.step() == 0 ? 4 : 3);
      meet();
      log[number].push_back(loader.commit());
    }
    EXPECT_EQ(loader.epoch(), 1);
    EXPECT_EQ(loader.quarantine(), "[]");
    EXPECT_THAT(loader.statistics(), HasSubstr("batches"));
    EXPECT_LT(loader.state().size(), 256u);
  };
  std::thread other(rank, 1);
  rank(0);
  other.join();
  Ids all = seen[0];
  all.insert(all.end(), seen[1].begin(), seen[1].end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, counted(0, 7));
  EXPECT_EQ(log[0], log[1]);

  DynamicLoaderOptions options;
  options.batch_size = 4;
  options.rank = 1;
  options.world_size = 2;
  DynamicLoader again = DynamicLoader::replay(own, log[0], options);
  Ids replayed;
  while (again.next_step()) {
    while (!again.next().empty()) replayed.push_back(again.samples().at(0));
    again.commit();
  }
  EXPECT_EQ(replayed, seen[1]);
}

}  // namespace
}  // namespace tandem::abi
