#include "tandem/open_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "cpp/data/expect_error.h"
#include "cpp/data/records.h"
#include "cpp/data/temp_dir.h"

namespace tandem::open_records_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void write_text(const std::string& path, const std::string& text) {
  write_file(path, {text.begin(), text.end()});
}

class OpenRecords : public testing::Test {
 protected:
  OpenRecords() {
    write_records(dir_ / "a-2", {"two"});
    write_records(dir_ / "a-10", {"ten", "ten too"}, {Compressor::kGzip, 1});
    RecordIOWriterOptions v2;
    v2.version = 2;
    write_records(dir_ / "b", {"b"}, v2);
    write_records(dir_ / "empty", {});
  }

  std::vector<std::string> expand(const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const auto& name : names) paths.push_back(name[0] == '@' ? "@" + (dir_ / name.substr(1)) : dir_ / name);
    std::vector<std::string> files = expand_record_paths(paths);
    for (auto& file : files) file = file.substr((dir_ / "").size());
    return files;
  }

  const TempDir dir_;
};

TEST_F(OpenRecords, JoinsFilesOfSeveralFormats) {
  write_text(dir_ / "lines.txt", "one\ntwo\n");
  const auto source = open_records({dir_ / "b", dir_ / "empty", dir_ / "lines.txt", dir_ / "a-10"});
  EXPECT_EQ(read_records(*source), (Records{"b", "one", "two", "ten", "ten too"}));
  EXPECT_EQ(source->place(0), dir_ / "b" + ", chunk 0, record 0");
  EXPECT_EQ(source->place(2), dir_ / "lines.txt" + ", record 1 at byte 4");
  EXPECT_EQ(source->place(4), dir_ / "a-10" + ", chunk 1, record 0");
}

TEST_F(OpenRecords, PatternsAreSortedByBytes) {
  EXPECT_THAT(expand({"a-*"}), ElementsAre("a-10", "a-2"));
  EXPECT_THAT(expand({"b", "[ab]*"}), ElementsAre("b", "a-10", "a-2", "b"));
  std::filesystem::create_directory(dir_ / "a-folder");
  EXPECT_THAT(expand({"a-*"}), ElementsAre("a-10", "a-2"));
  EXPECT_ERROR(expand({"c*"}), ErrorCode::kNotFound, dir_ / "c*");
}

// Of shards without an ending, `*` matches what a reader wrote beside them.
TEST_F(OpenRecords, AReadersOwnIndexIsNoFileOfRecords) {
  const Records records = random_records(400, 20, 6);
  const std::vector<std::string> shards = {"train-00000-of-00002", "train-00001-of-00002"};
  for (const auto& shard : shards) write_records(dir_ / shard, records, {Compressor::kNone, 1});
  EXPECT_EQ(open_records({dir_ / "train-*"})->size(), 800);
  ASSERT_THAT(dir_.names(), ::testing::IsSupersetOf({shards[0] + ".idx", shards[1] + ".idx"}));
  write_text(dir_ / (shards[1] + ".idx.tmp123-456789"), "");  // another rank's
  EXPECT_THAT(expand({"train-*"}), ElementsAreArray(shards));
  EXPECT_EQ(open_records({dir_ / "train-*"})->size(), 800);
  // As a shell's pattern gives them.
  EXPECT_THAT(expand({shards[0], shards[0] + ".idx"}), ElementsAre(shards[0]));
  EXPECT_THAT(expand({shards[0] + ".idx"}), ElementsAre(shards[0] + ".idx"));
}

TEST_F(OpenRecords, OthersFilesWithAnIndexsNameStay) {
  write_text(dir_ / "x", "one\n");
  write_text(dir_ / "x.idx", "two\n");
  write_text(dir_ / "x.idx.tmp", "three\n");
  EXPECT_THAT(expand({"x*"}), ElementsAre("x", "x.idx", "x.idx.tmp"));
  write_records(dir_ / "y", {"y"});
  write_recordio_index(dir_ / "y");
  std::filesystem::remove(dir_ / "y");
  EXPECT_THAT(expand({"y*"}), ElementsAre("y.idx"));  // opening says what it is
}

TEST_F(OpenRecords, ANameThatIsThereIsNoPattern) {
  write_records(dir_ / "a-[0-9]", {"odd name"});
  EXPECT_THAT(expand({"a-[0-9]"}), ElementsAre("a-[0-9]"));
  write_records(dir_ / "x{1..2}", {"odd name"});
  EXPECT_THAT(expand({"x{1..2}"}), ElementsAre("x{1..2}"));
}

TEST_F(OpenRecords, RangesOfNumbers) {
  EXPECT_THAT(expand({"r-{08..11}"}), ElementsAre("r-08", "r-09", "r-10", "r-11"));
  EXPECT_THAT(expand({"r{1..2}-{0..1}x"}), ElementsAre("r1-0x", "r1-1x", "r2-0x", "r2-1x"));
  EXPECT_THAT(expand({"{a,b}"}), ElementsAre("{a,b}"));
  EXPECT_ERROR(expand({"{3..1}"}), ErrorCode::kInvalidArgument, "{3..1}");
  EXPECT_ERROR(expand({"{0..99999999999}"}), ErrorCode::kInvalidArgument, "ten million");
  EXPECT_ERROR(expand({"{0..9999}{0..9999}"}), ErrorCode::kInvalidArgument, "ten million");
}

TEST_F(OpenRecords, ListsNameFilesRelativeToThemselves) {
  std::filesystem::create_directory(dir_ / "lists");
  write_text(dir_ / "lists/train.txt", "# what there is\n../a-2\r\n\n../a-{10..10}\n" + (dir_ / "b"));
  std::vector<std::string> files = expand_record_paths({"@" + (dir_ / "lists/train.txt")});
  EXPECT_THAT(files, ElementsAre(dir_ / "lists/../a-2", dir_ / "lists/../a-10", dir_ / "b"));
  EXPECT_EQ(read_records(*open_records({"@" + (dir_ / "lists/train.txt")})), (Records{"two", "ten", "ten too", "b"}));
  write_text(dir_ / "nested", "@lists/train.txt\n");
  EXPECT_ERROR(expand({"@nested"}), ErrorCode::kInvalidArgument, "nested", "a list too");
  write_text(dir_ / "nothing", "\n# no file\n");
  EXPECT_ERROR(expand({"@nothing"}), ErrorCode::kInvalidArgument, "names no file");
  EXPECT_ERROR(expand({"@b"}), ErrorCode::kInvalidArgument, "no text");
  EXPECT_ERROR(expand({"@missing"}), ErrorCode::kNotFound, "missing");
}

TEST_F(OpenRecords, MistakesNameFileAndRemedy) {
  EXPECT_ERROR(open_records({}), ErrorCode::kInvalidArgument, "no files");
  EXPECT_ERROR(open_records({""}), ErrorCode::kInvalidArgument, "empty");
  EXPECT_ERROR(open_records({dir_ / "missing"}), ErrorCode::kNotFound, dir_ / "missing");
  write_file(dir_ / "noise", {0xfe, 0xff, 0, 1, 2});
  EXPECT_ERROR(open_records({dir_ / "noise"}), ErrorCode::kInvalidArgument, dir_ / "noise", "fe ff 00 01 02",
               "say which format");
  write_file(dir_ / "x.tar.gz", {0x1f, 0x8b, 8, 0, 0});
  EXPECT_ERROR(open_records({dir_ / "x.tar.gz"}), ErrorCode::kInvalidArgument, "decompress it first");
  EXPECT_ERROR(open_records({dir_ / "b"}, {.skip = -1}), ErrorCode::kInvalidArgument, "skip");
  EXPECT_ERROR(open_records({dir_ / "b"}, {.format = static_cast<RecordFormat>(99)}), ErrorCode::kInvalidArgument,
               "99");
  EXPECT_ERROR(record_format("tfrecords"), ErrorCode::kInvalidArgument, "tfrecords", "tfrecord, dmlc");
  for (const std::string& name : record_format_names()) EXPECT_EQ(record_format_name(record_format(name)), name);
}

TEST_F(OpenRecords, AFormatCanBeChosen) {
  EXPECT_EQ(read_records(*open_records({dir_ / "a-2"}, {.format = RecordFormat::kLines})).size(), 1u);
  EXPECT_ERROR(open_records({dir_ / "a-2"}, {.format = RecordFormat::kTFRecord}), ErrorCode::kDataLoss, dir_ / "a-2");
}

TEST_F(OpenRecords, SkipLeavesOutTheFirstRecordsOfEachFile) {
  write_text(dir_ / "1.csv", "name,label\na,1\nb,2\n");
  write_text(dir_ / "2.csv", "name,label\nc,3\n");
  const auto source = open_records({dir_ / "?.csv"}, {.skip = 1});
  EXPECT_EQ(read_records(*source), (Records{"a,1", "b,2", "c,3"}));
  EXPECT_EQ(source->place(2), dir_ / "2.csv" + ", record 1 at byte 11");
  EXPECT_EQ(open_records({dir_ / "2.csv"}, {.skip = 9})->size(), 0);
  EXPECT_NE(source->fingerprint(), open_records({dir_ / "?.csv"})->fingerprint());
}

TEST_F(OpenRecords, TheFingerprintDependsOnTheOrder) {
  const auto of = [&](const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const auto& name : names) paths.push_back(dir_ / name);
    return open_records(paths)->fingerprint();
  };
  EXPECT_EQ(of({"a-2", "b"}), of({"a-2", "b"}));
  EXPECT_NE(of({"a-2", "b"}), of({"b", "a-2"}));
  EXPECT_NE(of({"a-2"}), of({"a-10"}));
}

// Of compressed files only so much stays in memory; what is held stays good.
TEST_F(OpenRecords, DecompressedChunksAreBounded) {
  const Records records = random_records(400, 1000, 9, 4);
  for (const int version : {1, 2}) {
    RecordIOWriterOptions options;
    options.version = version;
    options.compressor = version == 1 ? Compressor::kSnappy : Compressor::kZstd;
    options.chunk_bytes = 20000;
    write_records(dir_ / "f", records, options);
    const auto source = open_records({dir_ / "f"}, {.cache_bytes = 50000});
    const Record held = source->read(0);
    ASSERT_TRUE(held.owner);
    const std::weak_ptr<const void> dropped = source->read(399).owner;
    EXPECT_FALSE(dropped.expired());  // it is in the cache
    for (int round = 0; round < 2; ++round) ASSERT_EQ(read_records(*source), records);
    source->read(0);
    source->read(100);
    source->read(200);
    EXPECT_TRUE(dropped.expired());
    EXPECT_EQ(text_of(held.bytes), records[0]);
  }
}

TEST_F(OpenRecords, ARecordLivesLongerThanItsSource) {
  Record record;
  {
    const auto source = open_records({dir_ / "a-10"});
    record = source->read(1);
  }
  EXPECT_EQ(text_of(record.bytes), "ten too");
}

TEST_F(OpenRecords, ThreadsShareASource) {
  const Records records = random_records(2000, 300, 3, 20);
  write_records(dir_ / "f", records, {Compressor::kSnappy, 10000});
  const auto source = open_records({dir_ / "b", dir_ / "f"}, {.cache_bytes = 30000});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 2000; ++i) {
        const std::size_t at = random() % records.size();
        wrong += text_of(source->read(static_cast<std::int64_t>(at) + 1).bytes) != records[at];
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tandem::open_records_test
