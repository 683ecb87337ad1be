// Loaders whose files cannot be read for a while: a server that is away, refuses or is slow, a file that is cut off.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <future>
#include <set>
#include <thread>

#include "cpp/data/expect_error.h"
#include "cpp/data/outage.h"
#include "tandem/batch_transform.h"
#include "tandem/derived_datasets.h"
#include "tandem/dynamic_loader.h"
#include "tandem/loader.h"
#include "tandem/open_records.h"
#include "tandem/recordio.h"
#include "tandem/samplers.h"

namespace tandem::outage_test {
namespace {

using namespace outage;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

TEST_F(Outage, OfTheServerOrItsTokenIsWaitedFor) {
  for (const int threads : {0, 2}) {
    for (const int status : {0, 403, 503}) {
      DataLoader loader(dataset(), options_of(4, threads));
      std::multiset<std::int64_t> seen;
      std::jthread back;
      for (LoadedBatch& batch : loader.epoch(0)) {
        seen.merge(ids_of(loader, batch));
        if (batch.number != 2) continue;
        if (status == 0) {
          back = away(1500ms);
        } else {
          server_.status = status;
          back = std::jthread([this] {
            std::this_thread::sleep_for(1500ms);
            server_.status = 0;
          });
        }
      }
      back.join();
      EXPECT_EQ(seen, all_ids()) << threads << " threads, " << status;
    }
  }
}

TEST_F(Outage, CountsAgainstNoSampleOfTheDynamicPartition) {
  constexpr int kPage = 200;  // of a proxy's, instead of the file
  for (const int status : {0, 403, 404, kPage}) {
    DynamicLoaderOptions options;
    options.batch_size = 8;
    options.micro_batch = 4;
    options.most_failures = 1;
    options.timeout = 60s;
    DynamicLoader loader(dataset(), options, {hash_store(), 1, 0, 1, "outage" + std::to_string(status)});
    std::multiset<std::int64_t> seen;
    std::jthread back;
    while (loader.next_step()) {
      while (auto part = loader.next()) seen.merge(ids_of(loader, *part));
      EXPECT_TRUE(loader.commit().left_out.empty());
      if (loader.step() != 1) continue;
      if (status == 0) {
        back = away(1500ms);
      } else {
        status == kPage ? void(server_.page = true) : void(server_.status = status);
        back = std::jthread([this] {
          std::this_thread::sleep_for(1500ms);
          server_.page = false;
          server_.status = 0;
        });
      }
    }
    back.join();
    EXPECT_TRUE(loader.quarantine().empty());
    EXPECT_EQ(seen, all_ids()) << status;
  }
}

// Whatever is answered instead of a file that was open: that alone does not damage it.
TEST_F(Outage, IsWhateverIsAnsweredInsteadOfAnOpenFile) {
  const auto source = open_records({server_.url()}, remote());
  for (const std::int64_t sample : {1, 12}) {  // of the first block, and of another
    ASSERT_EQ(source->read(23).bytes.size(), static_cast<std::size_t>(kBytes));
    for (const int status : {404, 410}) {
      server_.status = status;
      EXPECT_ERROR(source->read(sample), ErrorCode::kIo, server_.url(), "no such file", "when it was opened");
    }
    server_.status = 0;
    server_.page = true;
    EXPECT_ERROR(source->read(sample), ErrorCode::kIo, server_.url(), "when it was opened");
    server_.page = false;
    EXPECT_EQ(source->read(sample).bytes.size(), static_cast<std::size_t>(kBytes));
  }
  server_.version = 2;
  EXPECT_ERROR(source->read(20), ErrorCode::kDataLoss, server_.url(), "another file");
  server_.status = 404;
  EXPECT_ERROR(open_records({server_.url()}, remote()), ErrorCode::kNotFound, server_.url());
}

TEST_F(Outage, ThatDoesNotEndIsAnErrorInTime) {
  LoaderOptions options = options_of(4);
  options.io_retry = 500ms;
  DataLoader loader(dataset(), options);
  server_.go_down();
  EXPECT_ERROR(while (loader.next()) {}, ErrorCode::kIo, "cannot load", server_.url(), "tried again for",
               "io_retry is 500");

  options.on_io_error = OnIoError::kFail;
  options.io_retry = 60s;
  server_.come_back();
  DataLoader strict(dataset(), options);
  server_.go_down();
  const auto since = Clock::now();
  EXPECT_ERROR(while (strict.next()) {}, ErrorCode::kIo, server_.url());
  EXPECT_LT(Clock::now() - since, 30s);

  DynamicLoaderOptions dynamic;
  dynamic.batch_size = 8;
  dynamic.micro_batch = 4;
  dynamic.io_retry = 500ms;
  server_.come_back();
  DynamicLoader leased(dataset(), dynamic, {hash_store(), 1, 0, 1, "ends"});
  server_.go_down();
  leased.next_step();
  EXPECT_ERROR(leased.next(), ErrorCode::kIo, "io_retry is 500");
  EXPECT_TRUE(leased.quarantine().empty());

  dynamic.on_io_error = OnIoError::kFail;
  dynamic.io_retry = 60s;
  dynamic.most_failures = 1;
  server_.come_back();
  DynamicLoader at_once(dataset(), dynamic, {hash_store(), 1, 0, 1, "fails"});
  server_.go_down();
  at_once.next_step();
  EXPECT_ERROR(at_once.next(), ErrorCode::kIo, server_.url());
  EXPECT_TRUE(at_once.quarantine().empty());
}

// Half of the samples are on this host, and half on the server, which is gone.
TEST_F(Outage, MayBeSkipped) {
  write_numbered(dir_ / "local", kCount);
  for (const Tail tail : {Tail::kShort, Tail::kPad}) {
    LoaderOptions options = options_of(9);
    options.on_io_error = OnIoError::kSkip;
    options.io_retry = 100ms;
    options.tail = tail;
    const auto local = record_dataset({dir_ / "local"}, kFields);
    DataLoader loader(concat_dataset({local, dataset()}), options);
    server_.go_down();
    std::multiset<std::int64_t> seen;
    std::int64_t skipped = 0;
    for (LoadedBatch& batch : loader.epoch(0)) {
      const bool whole = batch.number < 2 * kCount / 9;
      EXPECT_EQ(batch.local_count + batch.skipped, whole ? 9 : 2 * kCount % 9);
      EXPECT_EQ(batch.rows, tail == Tail::kPad && !whole ? 9 : batch.local_count);
      EXPECT_EQ(batch.global_count, batch.local_count + batch.skipped);
      EXPECT_EQ(batch["id"].size(0), batch.rows);
      const at::Tensor ids = batch["id"].narrow(0, 0, batch.local_count).contiguous();
      seen.insert(ids.const_data_ptr<std::int64_t>(), ids.const_data_ptr<std::int64_t>() + ids.numel());
      skipped += batch.skipped;
    }
    std::multiset<std::int64_t> expected;
    for (std::int64_t i = kCount; i < 2 * kCount; ++i) expected.insert(i);
    EXPECT_EQ(seen, expected);
    EXPECT_EQ(skipped, kCount);
    EXPECT_EQ(loader.statistics().skipped, kCount);
    EXPECT_THAT(loader.statistics().text(), HasSubstr("24 samples could not be read and were left out"));
    server_.come_back();
  }
  DynamicLoaderOptions dynamic;
  dynamic.batch_size = 16;
  dynamic.micro_batch = 4;
  dynamic.on_io_error = OnIoError::kSkip;
  dynamic.io_retry = 100ms;
  dynamic.timeout = 60s;
  // Sample 0 is one of those.
  const auto both = concat_dataset({dataset(), record_dataset({dir_ / "local"}, kFields)});
  DynamicLoader leased(both, dynamic, {hash_store(), 1, 0, 1, "skips"});
  server_.go_down();
  std::multiset<std::int64_t> seen;
  std::int64_t counted = 0, skipped = 0;
  std::vector<CommittedStep> log;
  while (leased.next_step()) {
    while (auto part = leased.next()) {
      seen.merge(ids_of(leased, *part));
      EXPECT_EQ(part->rows, part->local_count);
    }
    counted += leased.global_count();
    log.push_back(CommittedStep::parse(leased.commit().json()));
    EXPECT_TRUE(log.back().left_out.empty());
    for (const CommittedStep::Skipped& run : log.back().skipped) skipped += run.count;
  }
  std::multiset<std::int64_t> local;
  for (std::int64_t i = kCount; i < 2 * kCount; ++i) local.insert(i);
  EXPECT_EQ(seen, local);
  EXPECT_EQ(counted, kCount);
  EXPECT_EQ(skipped, kCount);
  EXPECT_TRUE(leased.quarantine().empty());

  // Run again while all can be read, it is the same run.
  server_.come_back();
  DynamicLoader again(both, dynamic, 0, log);
  std::multiset<std::int64_t> seen_again;
  std::int64_t skipped_again = 0;
  for (std::size_t step = 0; again.next_step(); ++step) {
    while (auto part = again.next()) {
      seen_again.merge(ids_of(again, *part));
      skipped_again += part->skipped;
    }
    EXPECT_EQ(again.commit(), log.at(step));
  }
  EXPECT_EQ(seen_again, local);
  EXPECT_LE(skipped_again, kCount);
}

// Where nothing is left of a batch, its shapes are those of what was read before, rather than of sample 0.
TEST_F(Outage, MaySkipAllOfABatch) {
  write_numbered(dir_ / "local", kCount);
  const auto records = concat_dataset({dataset(), record_dataset({dir_ / "local"}, kFields)});
  // Whose samples alone tell their shapes.
  const auto both = map_dataset(records, [](std::vector<at::Tensor> sample) { return sample; }, {"id", "rest"});
  std::vector<std::int64_t> local_first(2 * kCount);
  for (std::int64_t i = 0; i < 2 * kCount; ++i) local_first[static_cast<std::size_t>(i)] = (i + kCount) % (2 * kCount);
  server_.go_down();
  for (const bool transformed : {false, true}) {
    LoaderOptions options = options_of(4, 1);
    options.order = subset_order(local_first, false);
    options.on_io_error = OnIoError::kSkip;
    options.io_retry = 100ms;
    if (transformed) options.transforms.push_back(to_float({"rest"}));
    DataLoader loader(both, options);
    for (LoadedBatch& batch : loader.epoch(0)) {
      const std::int64_t rows = batch.number < kCount / 4 ? 4 : 0;
      EXPECT_EQ(batch.local_count, rows);
      EXPECT_EQ(batch.skipped, 4 - rows);
      EXPECT_EQ(batch["id"].sizes(), at::IntArrayRef({rows}));
      EXPECT_EQ(batch["id"].scalar_type(), at::kLong);
      EXPECT_EQ(batch["rest"].sizes(), at::IntArrayRef({rows, kBytes - 4}));
      EXPECT_EQ(batch["rest"].scalar_type(), transformed ? at::kFloat : at::kByte);
    }
  }
  LoaderOptions options = options_of(4, 1);
  options.shuffle = false;
  options.on_io_error = OnIoError::kSkip;
  options.io_retry = 100ms;
  DataLoader loader(both, options);
  EXPECT_ERROR(loader.next(), ErrorCode::kIo, "no samples in batch 0", "none was read before", server_.url());
}

// Each look at a sample takes as long as a disk or a server likes.
TEST(LoaderSkip, LooksForWhatCannotBeReadOnlySoLong) {
  class Gone : public Dataset {
   public:
    std::int64_t size() const override { return 1001; }
    std::vector<at::Tensor> get(std::int64_t index) override {
      if (index == 1000) return {at::scalar_tensor(index)};
      ++asked;
      std::this_thread::sleep_for(20ms);
      throw Error(ErrorCode::kIo, "gone");
    }
    std::atomic<int> asked = 0;
  };
  const auto gone = std::make_shared<Gone>();
  LoaderOptions options = options_of(1000, 1);
  std::vector<std::int64_t> order{1000};
  for (std::int64_t i = 0; i < 1000; ++i) order.push_back(i);
  options.order = subset_order(std::move(order), false);
  options.on_io_error = OnIoError::kSkip;
  options.io_retry = 300ms;
  options.prefetch = 1;
  DataLoader loader(gone, options);
  const auto batch = loader.next();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->local_count, 1);
  EXPECT_EQ(batch->skipped, 999);
  EXPECT_LT(gone->asked, 500);  // rather than each of them
}

TEST_F(Outage, OfAStreamCannotBeSkipped) {
  class Nothing : public IterableDataset {
   public:
    std::int64_t size() const override { return -1; }
    std::unique_ptr<SampleStream> stream(std::uint64_t, std::int64_t) override { return nullptr; }
  };
  LoaderOptions options = options_of(4);
  options.shuffle = false;
  options.on_io_error = OnIoError::kSkip;
  EXPECT_ERROR(DataLoader(std::make_shared<Nothing>(), options), ErrorCode::kInvalidArgument, "skip");
  options.on_io_error = static_cast<OnIoError>(7);
  EXPECT_ERROR(DataLoader(dataset(), options), ErrorCode::kInvalidArgument, "on_io_error is 7");
  options.on_io_error = OnIoError::kRetry;
  options.io_retry = -1ms;
  EXPECT_ERROR(DataLoader(dataset(), options), ErrorCode::kInvalidArgument, "io_retry");
}

TEST_F(Outage, NextSaysWhatItWaitsForAndMayBeCalledAgain) {
  LoaderOptions options = options_of(4);
  options.timeout = 500ms;
  options.prefetch = 1;
  DataLoader loader(dataset(), options);
  std::string said;
  std::int64_t delivered = 0;
  bool down = false;
  // A busy machine is late for other reasons at first.
  for (int i = 0; i < 100 && said.find("tries again after") == std::string::npos; ++i) {
    try {
      if (loader.next()) ++delivered;
      if (!down) server_.go_down();
      down = true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kTimeout) << error.what();
      said = error.what();
    }
  }
  EXPECT_THAT(said, HasSubstr("batch " + std::to_string(delivered) + " is not made after 500 ms"));
  EXPECT_THAT(said, HasSubstr("tries again after: cannot load " + server_.url()));
  server_.come_back();
  for (bool more = true; more;) {
    try {
      more = loader.next().has_value();
      if (more) ++delivered;
    } catch (const Error& error) {  // a busy machine
      ASSERT_EQ(error.code(), ErrorCode::kTimeout) << error.what();
    }
  }
  EXPECT_EQ(delivered, kCount / 4);
}

// A program's own data that stands still.
TEST(LoaderTimeout, EndsAWaitForAnyData) {
  class StandsStill : public Dataset {
   public:
    explicit StandsStill(std::shared_future<void> until) : until_(std::move(until)) {}
    std::int64_t size() const override { return 4; }
    std::vector<at::Tensor> get(std::int64_t index) override {
      until_.wait();
      return {at::scalar_tensor(index)};
    }

   private:
    std::shared_future<void> until_;
  };
  std::promise<void> goes_on;
  LoaderOptions options = options_of(4, 1);
  options.timeout = 200ms;
  DataLoader loader(std::make_shared<StandsStill>(goes_on.get_future().share()), options);
  EXPECT_ERROR(loader.next(), ErrorCode::kTimeout, "batch 0 is not made after 200 ms", "a thread is making it");
  EXPECT_ERROR(loader.next(), ErrorCode::kTimeout, "200 ms");
  goes_on.set_value();
  std::optional<LoadedBatch> batch;
  for (int i = 0; i < 300 && !batch; ++i) {
    try {
      batch = loader.next();
    } catch (const Error&) {
    }
  }
  EXPECT_TRUE(batch);
  options.timeout = -1ms;
  EXPECT_ERROR(DataLoader(tensor_dataset({at::zeros({4})}), options), ErrorCode::kInvalidArgument, "timeout");
}

TEST_F(Outage, DoesNotHoldUpTheEndOfALoader) {
  for (const bool slow : {false, true}) {
    OpenRecordsOptions patient = remote();
    patient.remote.attempts = 1000;
    auto loader = std::make_unique<DataLoader>(dataset(patient), options_of(4));
    ASSERT_TRUE(loader->next());
    slow ? void(server_.slow = true) : server_.go_down();
    const int before = server_.requests;
    for (int i = 0; slow && server_.requests == before && i < 1000; ++i) {
      loader->start_epoch(i);  // what is under way for the one before is dropped
      std::this_thread::sleep_for(10ms);
    }
    const auto since = Clock::now();
    loader.reset();
    EXPECT_LT(Clock::now() - since, 30s);
    server_.slow = false;
    if (!slow) server_.come_back();
  }
}

// Two loaders of one data set: the close of one does not wait for what the other reads.
TEST_F(Outage, OfOneLoaderDoesNotHoldUpTheEndOfAnother) {
  for (const std::int64_t sample : {8, 9}) {  // waiting for the chunk that the other reads, or for its block
    OpenRecordsOptions patient = remote();
    patient.remote.attempts = 1000;
    const auto shared = dataset(patient);
    LoaderOptions options = options_of(1, 1);
    options.shuffle = false;
    auto one = std::make_unique<DataLoader>(shared, options), other = std::make_unique<DataLoader>(shared, options);
    server_.slow = true;
    const int before = server_.requests;
    one->start_epoch(0, 8);
    for (int i = 0; server_.requests == before && i < 1000; ++i) std::this_thread::sleep_for(10ms);
    other->start_epoch(0, sample);
    std::this_thread::sleep_for(500ms);  // it waits for what `one` reads by then, or the test says nothing
    auto closed = std::async(std::launch::async, [&] { other.reset(); });
    EXPECT_EQ(closed.wait_for(30s), std::future_status::ready) << sample;
    server_.slow = false;
    one.reset();
  }
}

TEST_F(Outage, ErrorsDoNotTellWhatLetsOthersIn) {
  std::string url = server_.url("/file?signature=geheim");
  url.replace(0, 7, "HTTP://user:passwort@");
  EXPECT_EQ(open_records({url}, remote())->size(), kCount);  // which has no case
  server_.go_down();
  try {
    open_records({url}, remote());
    ADD_FAILURE() << "there is no server";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("HTTP://127.0.0.1"));
    EXPECT_THAT(error.what(), testing::Not(testing::AnyOf(HasSubstr("geheim"), HasSubstr("passwort"))));
  }
  server_.come_back();
  RecordIOReader reader(url);
  for (const auto& misuse :
       {std::function<void()>([&] { reader[99]; }), std::function<void()>([&] { reader.chunk(99); }),
        std::function<void()>([&] { repair_recordio(url, dir_ / "out"); }),
        std::function<void()>([&] { merge_recordio({url}, url); })}) {
    try {
      misuse();
      ADD_FAILURE() << "it has none, or cannot be done";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("HTTP://127.0.0.1"));
      EXPECT_THAT(error.what(), testing::Not(testing::AnyOf(HasSubstr("geheim"), HasSubstr("passwort"))));
    }
  }
}

TEST_F(Outage, AReplyThatTricklesIsGivenUp) {
  OpenRecordsOptions options = remote();
  options.remote.stall_timeout = 1s;
  options.remote.attempts = 2;
  const auto source = open_records({server_.url()}, options);
  server_.slow = true;
  auto since = Clock::now();
  EXPECT_ERROR(source->read(kCount / 2), ErrorCode::kIo, server_.url(), "1024 bytes/sec", "2 attempts");
  EXPECT_LT(Clock::now() - since, 60s);
  // However slow is slow enough, a request ends.
  server_.slow = false;
  options.remote.least_speed = 1;
  options.remote.attempts = 1000;
  options.remote.request_timeout = 2s;
  const auto patient = open_records({server_.url()}, options);
  server_.slow = true;
  since = Clock::now();
  EXPECT_ERROR(patient->read(kCount / 2), ErrorCode::kIo, server_.url(), "request_timeout, 2000 ms");
  EXPECT_GE(Clock::now() - since, 1900ms);
  EXPECT_LT(Clock::now() - since, 60s);
  server_.slow = false;
  EXPECT_EQ(patient->read(kCount / 2).bytes.size(), static_cast<std::size_t>(kBytes));
  options.remote.least_speed = 0;
  EXPECT_ERROR(open_records({server_.url()}, options), ErrorCode::kInvalidArgument, "least_speed");
}

std::int64_t resident_bytes() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

TEST_F(Outage, BlocksOfManyFilesStayWithinTheCache) {
  OpenRecordsOptions options = remote();
  options.cache_bytes = 1 << 20;
  std::vector<std::string> urls;
  for (int i = 0; i < 20; ++i) urls.push_back(server_.url("/" + std::to_string(i)));
  const auto source = open_records({urls[0]}, options);
  for (const std::int64_t i : {0, 8, 16}) source->read(i);
  const std::int64_t before = resident_bytes();
  const auto all = open_records(urls, options);
  for (std::int64_t file = 0; file < 20; ++file) {
    for (const std::int64_t i : {0, 8, 16}) all->read(file * kCount + i);
  }
  EXPECT_LT(resident_bytes() - before, std::int64_t{100} << 20);  // of 240 MiB that were fetched
}

TEST_F(Outage, AFileThatIsCutOffIsAnErrorOfItsBatches) {
  write_numbered(dir_ / "local", 0);
  DataLoader loader(record_dataset({dir_ / "local"}, kFields), options_of(4));
  for (LoadedBatch& batch : loader.epoch(0)) EXPECT_EQ(batch.local_count, 4);  // all chunks are verified
  ASSERT_EQ(::truncate((dir_ / "local").c_str(), kBytes * 3), 0);
  EXPECT_ERROR(for (LoadedBatch& batch : loader.epoch(1)) EXPECT_EQ(batch.local_count, 4), ErrorCode::kDataLoss,
               "cannot load " + (dir_ / "local"), "chunk", "cut off while it was read");
}

// As after a disk's error that passes: a file that had lost pages has them again.
TEST_F(Outage, OfADiskThatPassesIsOverWithTheNextAttempt) {
  write_numbered(dir_ / "local", 0);
  const test::FileBytes content = test::read_file(dir_ / "local");
  const auto written = std::filesystem::last_write_time(dir_ / "local");
  const std::shared_ptr<RecordSource> source(open_records({dir_ / "local"}));
  LoaderOptions options = options_of(4);
  options.on_io_error = OnIoError::kFail;
  DataLoader loader(record_dataset(source, kFields), options);
  for (LoadedBatch& batch : loader.epoch(0)) EXPECT_EQ(batch.local_count, 4);
  std::filesystem::resize_file(dir_ / "local", kBytes * 3);
  EXPECT_ERROR(for (LoadedBatch& batch
                    : loader.epoch(1)) EXPECT_EQ(batch.local_count, 4),
               ErrorCode::kDataLoss, "cut off");
  {
    std::ofstream out(dir_ / "local", std::ios::binary | std::ios::in);
    out.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  }
  std::filesystem::last_write_time(dir_ / "local", written);
  std::multiset<std::int64_t> seen;
  for (LoadedBatch& batch : loader.epoch(2)) {
    seen.merge(ids_of(loader, batch));
    EXPECT_TRUE(at::equal(batch["rest"].select(1, 7).to(at::kLong), batch["id"]));
  }
  EXPECT_EQ(seen, all_ids());
}

}  // namespace
}  // namespace tandem::outage_test
