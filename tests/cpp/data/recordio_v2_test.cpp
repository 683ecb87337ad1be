#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>
#include <thread>

#include "base/crc32c.h"
#include "cpp/data/expect_error.h"
#include "cpp/data/temp_dir.h"
#include "cpp/data/v2_without_records.h"
#include "data/recordio/record_file.h"
#include "data/recordio/repair.h"
#include "data/recordio/v2_chunks.h"
#include "tandem/open_records.h"
#include "tandem/recordio.h"

namespace tandem::recordio_v2_test {
namespace {

using test::FileBytes;
using test::read_file;
using test::TempDir;
using test::write_file;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Records = std::vector<std::string>;

RecordIOWriterOptions options_of(Compressor compressor = Compressor::kNone, std::uint64_t chunk_bytes = 1 << 20,
                                 std::uint32_t alignment = 64) {
  RecordIOWriterOptions options;
  options.version = 2;
  options.compressor = compressor;
  options.chunk_bytes = chunk_bytes;
  options.alignment = alignment;
  return options;
}

void write_records(const std::string& path, const Records& records, const RecordIOWriterOptions& options) {
  RecordIOWriter writer(path, options);
  for (const auto& record : records) writer.write(record.data(), record.size());
  writer.close();
}

Records read_records(const std::string& path) {
  RecordIOReader reader(path);
  Records records;
  for (std::int64_t i = 0; i < reader.size(); ++i) records.emplace_back(reader[i].begin(), reader[i].end());
  return records;
}

Records random_records(int count, int max_size, unsigned seed) {
  std::mt19937 random(seed);
  Records records;
  for (int i = 0; i < count; ++i) {
    std::string& record = records.emplace_back(random() % (max_size + 1), '\0');
    for (char& c : record) c = static_cast<char>(random() % 7);
  }
  return records;
}

TEST(RecordIOV2, GivesBackWhatWasWritten) {
  const TempDir dir;
  const Records many = random_records(500, 300, 1);
  for (const auto& records : {Records{}, Records{""}, Records{"", "", ""}, Records{"a"}, Records{"a", "", "b"}, many}) {
    for (const Compressor compressor : {Compressor::kNone, Compressor::kZstd}) {
      for (const std::uint64_t chunk : {1, 200, 5000, 1 << 20}) {
        for (const std::uint32_t alignment : {1u, 8u, 64u}) {
          write_records(dir / "file", records, options_of(compressor, chunk, alignment));
          EXPECT_EQ(read_records(dir / "file"), records);
          EXPECT_EQ(read_file(dir / "file").size() % 64, 0u);
        }
      }
    }
  }
}

TEST(RecordIOV2, RecordsOfPlainChunksLieAlignedInTheMap) {
  const TempDir dir;
  write_records(dir / "file", random_records(100, 50, 2), options_of(Compressor::kNone, 1000));
  RecordIOReader reader(dir / "file");
  EXPECT_EQ(reader.version(), 2);
  EXPECT_GT(reader.chunk_count(), 3u);
  for (std::int64_t i = 0; i < reader.size(); ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(reader[i].data()) % 64, 0u) << i;
  }
}

TEST(RecordIOV2, KeepsSchemaAndMetadata) {
  const TempDir dir;
  auto options = options_of();
  options.metadata.schema = R"({"fields":[{"name":"label","dtype":"uint8"}]})";
  options.metadata.user = {{"made by", "a test – é"}, {"empty", ""}};
  write_records(dir / "file", {"x"}, options);
  const RecordIOReader reader(dir / "file");
  EXPECT_EQ(reader.metadata().schema, options.metadata.schema);
  EXPECT_EQ(reader.metadata().user, options.metadata.user);
}

// What writes JSON calls itself: a file of two megabytes would take all of the stack.
TEST(RecordIOV2, DeeplyNestedMetadataAreRefused) {
  const TempDir dir;
  const auto metadata = [](std::size_t depth) {
    return R"({"schema":)" + test::nested_json(depth - 1) + R"(,"user":{"k":"[[[\"[[["}})";
  };
  write_file(dir / "file", test::v2_without_records(metadata(256)));
  EXPECT_EQ(RecordIOReader(dir / "file").metadata().schema, test::nested_json(255));
  for (const std::size_t depth : {257, 1'000'000}) {
    write_file(dir / "file", test::v2_without_records(metadata(depth)));
    EXPECT_ERROR(RecordIOReader(dir / "file"), ErrorCode::kDataLoss, dir / "file", "nested more than 256 deep");
    EXPECT_ERROR(repair_recordio(dir / "file", dir / "repaired"), ErrorCode::kDataLoss, "no whole chunk");
  }
  auto options = options_of();
  options.metadata.schema = test::nested_json(255);
  write_records(dir / "file", {"x"}, options);
  EXPECT_EQ(RecordIOReader(dir / "file").metadata().schema, options.metadata.schema);
  for (const std::size_t depth : {256, 1'000'000}) {
    options.metadata.schema = test::nested_json(depth);
    EXPECT_ERROR(RecordIOWriter(dir / "file", options), ErrorCode::kInvalidArgument, "schema", "255 deep");
  }
}

TEST(RecordIOV2, TheSameRecordsGiveTheSameFile) {
  const TempDir dir;
  const Records records = random_records(50, 50, 3);
  write_records(dir / "a", records, options_of());
  write_records(dir / "b", records, options_of());
  EXPECT_EQ(read_file(dir / "a"), read_file(dir / "b"));
}

// What docs/recordio-v2.md says, put together by hand.
TEST(RecordIOV2, IsWhatItsDefinitionSays) {
  const auto u32 = [](FileBytes& bytes, std::size_t at, std::uint32_t value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  };
  const auto u64 = [](FileBytes& bytes, std::size_t at, std::uint64_t value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  };
  const auto seal = [&](FileBytes& bytes, std::size_t at) {
    u32(bytes, at + 60, crc32c(std::span(bytes).subspan(at, 60)));
  };
  FileBytes file(64 * 8);
  const std::string metadata = R"({"user":{"k":"v"}})";
  const std::uint8_t magic[] = {0x89, 'T', 'R', 'I', 'O', '\r', '\n', 0x1a},
                     end[] = {0x89, 'T', 'R', 'E', 'N', 'D', '\n', 0x1a};
  const std::string sync = "0123456789abcdef";
  std::memcpy(file.data(), magic, 8);
  u32(file, 8, 2);
  std::memcpy(file.data() + 16, sync.data(), 16);
  u64(file, 32, metadata.size());
  std::memcpy(file.data() + 64, metadata.data(), metadata.size());
  u32(file, 40, crc32c(std::span(file).subspan(64, 64)));
  seal(file, 0);
  // A chunk of "ab" and "" and "c" on multiples of 8: table of 24 bytes, records at 24, 32, 32.
  std::memcpy(file.data() + 128, sync.data(), 16);
  file[144] = 1;
  file[146] = 3;
  u64(file, 160, 3);
  u64(file, 168, 33);
  u64(file, 176, 33);
  u64(file, 192, 26);
  u64(file, 200, 32);
  u64(file, 208, 33);
  std::memcpy(file.data() + 192 + 24, "ab", 2);
  file[192 + 32] = 'c';
  u32(file, 184, crc32c(std::span(file).subspan(192, 64)));
  seal(file, 128);
  // Footer and trailer.
  std::memcpy(file.data() + 256, sync.data(), 16);
  file[272] = 2;
  u64(file, 280, 3);
  u64(file, 288, 1);
  u64(file, 296, 32);
  u64(file, 304, 32);
  u64(file, 320, 128);
  u64(file, 328, 3);
  u64(file, 336, 33);
  u64(file, 344, 33);
  u32(file, 312, crc32c(std::span(file).subspan(320, 64)));
  seal(file, 256);
  std::memcpy(file.data() + 384, end, 8);
  u64(file, 392, 256);
  u64(file, 400, 3);
  u64(file, 408, 1);
  std::memcpy(file.data() + 416, sync.data(), 16);
  seal(file, 384);
  file.resize(448);

  const TempDir dir;
  write_file(dir / "file", file);
  EXPECT_EQ(read_records(dir / "file"), (Records{"ab", "", "c"}));
  EXPECT_EQ(RecordIOReader(dir / "file").metadata().user.at("k"), "v");
}

// Reads everything; whether that worked.
bool is_good(const std::string& path) {
  try {
    read_records(path);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDataLoss) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(path));
    return false;
  }
}

TEST(RecordIOV2, EverySingleBitFlipIsFound) {
  const TempDir dir;
  for (const Compressor compressor : {Compressor::kNone, Compressor::kZstd}) {
    auto options = options_of(compressor, 300, 8);
    options.metadata.user = {{"k", "v"}};
    write_records(dir / "file", random_records(12, 60, 4), options);
    const FileBytes good = read_file(dir / "file");
    ASSERT_TRUE(is_good(dir / "file"));
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
      FileBytes bad = good;
      bad[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
      write_file(dir / "bad", bad);
      EXPECT_FALSE(is_good(dir / "bad")) << "byte " << bit / 8;
    }
  }
}

TEST(RecordIOV2, EveryTruncationIsFound) {
  const TempDir dir;
  write_records(dir / "file", random_records(12, 60, 5), options_of(Compressor::kNone, 300));
  const FileBytes good = read_file(dir / "file");
  for (std::size_t size = 1; size < good.size(); ++size) {
    write_file(dir / "bad", FileBytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_FALSE(is_good(dir / "bad")) << size;
  }
}

// A file on another host, as far as it counts what is fetched of it.
class CountedFile : public DataFile {
 public:
  explicit CountedFile(FileBytes bytes) : DataFile("counted", "counted"), bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  std::optional<std::int64_t> modified() const override { return {}; }
  Record read(std::uint64_t offset, std::uint64_t length) override {
    fetched += length;
    return {std::span<const std::uint8_t>(bytes_).subspan(offset, length), nullptr};
  }
  std::shared_ptr<DataFile> open_other(const std::string&) const override { return nullptr; }

  std::uint64_t fetched = 0;

 private:
  const FileBytes bytes_;
};

// A chunk whose zstd frame is of blocks that repeat one byte, 128 KiB of four bytes.
FileBytes zeros_in_zstd(std::uint64_t size) {
  constexpr std::uint32_t kRepeated = 128 << 10;
  FileBytes frame = {0x28, 0xb5, 0x2f, 0xfd, 0xe0};  // magic; a size of eight bytes follows
  for (int i = 0; i < 8; ++i) frame.push_back(static_cast<std::uint8_t>(size >> 8 * i));
  for (std::uint64_t left = size; left > 0; left -= kRepeated) {
    const std::uint32_t block = kRepeated << 3 | 1 << 1 | (left == kRepeated ? 1 : 0);
    for (int i = 0; i < 3; ++i) frame.push_back(static_cast<std::uint8_t>(block >> 8 * i));
    frame.push_back(0);
  }
  return frame;
}

TEST(RecordIOV2, AFewBytesDoNotTakeGigabytes) {
  const TempDir dir;
  const std::uint64_t bytes = std::uint64_t{4} << 30;
  {
    AtomicFile file(dir / "bomb");
    recordio::v2::ChunkWriter writer(file, recordio::v2::encode_metadata({}));
    const FileBytes frame = zeros_in_zstd(bytes);
    EXPECT_LT(frame.size(), 132u << 10);
    writer.append(1, Compressor::kZstd, 64, bytes, frame);
    writer.finish();
    file.commit();
  }
  RecordIOReader reader(dir / "bomb");
  EXPECT_ERROR(reader[0], ErrorCode::kUnsupported, "bomb: chunk 0", "4294967296", "most_chunk_bytes, 1073741824");
  EXPECT_ERROR(reader.verify(0), ErrorCode::kUnsupported, "most_chunk_bytes");
  const auto source = open_records({dir / "bomb"});
  EXPECT_ERROR(source->read(0), ErrorCode::kUnsupported, "most_chunk_bytes");
  EXPECT_ERROR(merge_recordio({dir / "bomb"}, dir / "out"), ErrorCode::kUnsupported, "bomb: chunk 0",
               "--most-chunk-mb");
  EXPECT_ERROR(repair_recordio(dir / "bomb", dir / "out"), ErrorCode::kUnsupported, "bomb: chunk 0 at byte 128",
               "4294967296", "most_chunk_bytes, 1073741824");
  EXPECT_ERROR(recordio::scan_damage(dir / "bomb", {}, 1u << 30), ErrorCode::kUnsupported, "most_chunk_bytes");
  EXPECT_FALSE(std::filesystem::exists(dir / "out"));
}

TEST(RecordIOV2, AnOptionSaysHowMuchAChunkMayTake) {
  const TempDir dir;
  const Records records(2, std::string(1 << 20, 'x'));
  for (const Compressor compressor : {Compressor::kZstd, Compressor::kGzip, Compressor::kSnappy, Compressor::kNone}) {
    RecordIOWriterOptions options = options_of(compressor, 4 << 20);
    options.version = compressor == Compressor::kZstd ? 2 : 1;
    if (options.version == 1) options.alignment = RecordIOWriterOptions().alignment;
    write_records(dir / "file", records, options);
    RecordIOReaderOptions reading;
    reading.most_chunk_bytes = 2 << 20;
    RecordIOReader strict(dir / "file", reading);
    if (compressor == Compressor::kNone) {  // which takes no memory
      EXPECT_EQ(strict[1].size(), 1u << 20);
    } else {
      EXPECT_ERROR(strict[1], ErrorCode::kUnsupported, "most_chunk_bytes, 2097152");
    }
    reading.most_chunk_bytes += 4096;
    const auto copied = [&](const auto& copy) {
      if (compressor == Compressor::kNone) {
        copy(std::uint64_t{1});
      } else {
        EXPECT_ERROR(copy(std::uint64_t{2} << 20), ErrorCode::kUnsupported, "most_chunk_bytes, 2097152");
        copy((std::uint64_t{2} << 20) + 4096);
      }
      EXPECT_EQ(RecordIOReader(dir / "copy").size(), 2);
    };
    copied([&](std::uint64_t most) { merge_recordio({dir / "file"}, dir / "copy", {}, most); });
    copied([&](std::uint64_t most) { repair_recordio(dir / "file", dir / "copy", most); });
    RecordIOReader lenient(dir / "file", reading);
    EXPECT_EQ(lenient[1].size(), 1u << 20);
    EXPECT_EQ(open_records({dir / "file"}, {.most_chunk_bytes = 3 << 20})->read(1).bytes.size(), 1u << 20);
  }
}

// So that a reader with the same limit takes all of them.
TEST(RecordIOV2, ChunksOfSeveralRecordsHaveNoMoreThanTheirBytes) {
  const TempDir dir;
  constexpr std::uint64_t kChunk = 940;  // 13 records have 832 bytes, and a table of 104 that the alignment makes 128
  write_records(dir / "file", Records(100, std::string(64, 'x')), options_of(Compressor::kZstd, kChunk));
  RecordIOReaderOptions reading;
  reading.most_chunk_bytes = kChunk;
  RecordIOReader reader(dir / "file", reading);
  EXPECT_EQ(reader.size(), 100);
  EXPECT_GT(reader.chunk(0).records, 10);
  for (std::size_t i = 0; i < reader.chunk_count(); ++i) EXPECT_LE(reader.verify(i), kChunk) << i;
}

TEST(RecordIOV2, ATrailerThatLiesFetchesNothing) {
  const TempDir dir;
  write_records(dir / "file", Records(100, std::string(10'000, 'x')), options_of(Compressor::kNone, 20'000));
  const FileBytes good = read_file(dir / "file");
  const std::uint64_t end = good.size() - 64, first_chunk = RecordIOReader(dir / "file").chunk(0).offset;
  const auto open_with = [&](std::uint64_t footer_offset, std::uint64_t chunks) {
    FileBytes bytes = good;
    store_u64(bytes.data() + end + 8, footer_offset);
    store_u64(bytes.data() + end + 24, chunks);
    store_u32(bytes.data() + end + 60, crc32c({bytes.data() + end, 60}));
    const auto file = std::make_shared<CountedFile>(std::move(bytes));
    EXPECT_ERROR(recordio::open_v2(file, {}, nullptr), ErrorCode::kDataLoss, "counted", "trailer");
    EXPECT_LT(file->fetched, 1000u) << footer_offset << " " << chunks;
  };
  const std::uint64_t footer = load_u64(good.data() + end + 8), count = load_u64(good.data() + end + 24);
  const auto file = std::make_shared<CountedFile>(good);
  EXPECT_EQ(recordio::open_v2(file, {}, nullptr)->size(), 100);
  EXPECT_LT(file->fetched, 4000u);  // the footer has 3200
  open_with(first_chunk, count);
  open_with(first_chunk, (end - first_chunk - 64) / 32);  // as many as would fill it
  open_with(0, (end - 64) / 32);
  open_with(footer, count + 2);
  open_with(footer, count - 2);
  open_with(footer, ~0ull / 32);
  open_with(footer + 64, count);
  open_with(end, 0);
  open_with(~0ull - 63, count);
}

// A file on another host, each part of which keeps a block of it alive.
class BlockFile : public CountedFile {
 public:
  using CountedFile::CountedFile;
  Record read(std::uint64_t offset, std::uint64_t length) override {
    const Record part = CountedFile::read(offset, length);
    ++*blocks;
    return {part.bytes, std::shared_ptr<const void>(part.bytes.data(), [blocks = blocks](const void*) { --*blocks; })};
  }
  const std::shared_ptr<std::atomic<int>> blocks = std::make_shared<std::atomic<int>>(0);
};

TEST(RecordIO, SmallChunksKeepNoBlocks) {
  const TempDir dir;
  const Records records = random_records(300, 200, 8);
  for (const int version : {1, 2}) {
    RecordIOWriterOptions options = options_of(Compressor::kNone, 100);
    options.version = version;
    if (version == 1) options.alignment = RecordIOWriterOptions().alignment;
    write_records(dir / "file", records, options);
    const auto file = std::make_shared<BlockFile>(read_file(dir / "file"));
    const auto opened = recordio::open_record_file(file, {}, std::make_shared<LruCache>(1 << 20));
    ASSERT_GT(opened->chunk_count(), 100u);
    for (int round = 0; round < 2; ++round) {
      for (std::size_t i = 0; i < records.size(); ++i) {
        const Record record = opened->record(static_cast<std::int64_t>(i));
        EXPECT_EQ(std::string(record.bytes.begin(), record.bytes.end()), records[i]);
      }
      EXPECT_LE(*file->blocks, 2) << version;
    }
    // All of them are in the cache, which counts what they take.
    const std::uint64_t fetched = file->fetched;
    for (std::int64_t i = 0; i < opened->size(); ++i) opened->record(i);
    EXPECT_EQ(file->fetched, fetched);
  }
}

TEST(RecordIOV2, ThreadsShareAReaderAndAWriter) {
  const TempDir dir;
  {
    RecordIOWriter writer(dir / "file", options_of(Compressor::kZstd, 2000));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 200; ++i) {
          const std::string record(static_cast<std::size_t>(i), static_cast<char>('a' + t));
          writer.write(record.data(), record.size());
        }
      });
    }
    for (auto& thread : threads) thread.join();
    writer.close();
  }
  RecordIOReader reader(dir / "file");
  ASSERT_EQ(reader.size(), 800);
  std::vector<std::thread> threads;
  std::atomic<std::int64_t> bytes = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::int64_t i = 0; i < reader.size(); ++i) bytes += static_cast<std::int64_t>(reader[i].size());
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(bytes, 4 * 4 * 199 * 200 / 2);
}

TEST(RecordIOV2, OptionsThatDoNotFitAreRefusedByName) {
  const TempDir dir;
  const auto refuses = [&](const RecordIOWriterOptions& options, const std::string& what) {
    EXPECT_ERROR(RecordIOWriter(dir / "file", options), ErrorCode::kInvalidArgument, what);
  };
  refuses(options_of(Compressor::kSnappy), "compressor 1");
  refuses(options_of(Compressor::kNone, 1000, 3), "alignment 3");
  refuses(options_of(Compressor::kNone, 1000, 128), "alignment 128");
  auto options = options_of();
  options.level = 20;
  refuses(options, "level 20");
  options = options_of();
  options.metadata.schema = "{";
  refuses(options, "schema");
  options = options_of();
  options.metadata.user["k"] = "\xff";
  refuses(options, "UTF-8");
  options = {};
  options.metadata.user["k"] = "v";
  refuses(options, "version 2");
  options = {};
  options.compressor = Compressor::kZstd;
  refuses(options, "compressor 3");
  options = {};
  options.version = 3;
  refuses(options, "version 3");
}

class Repair : public ::testing::TestWithParam<int> {
 protected:
  // Ten chunks of three records.
  void SetUp() override {
    for (int i = 0; i < 30; ++i) records.push_back(std::string(70, static_cast<char>('A' + i)));
    RecordIOWriterOptions options = options_of(Compressor::kNone, GetParam() == 1 ? 230 : 450);
    options.version = GetParam();
    if (GetParam() == 2) options.metadata.user["k"] = "v";
    write_records(dir / "good", records, options);
    RecordIOReader reader(dir / "good");
    ASSERT_EQ(reader.chunk_count(), 10u);
    for (std::size_t i = 0; i < 10; ++i) offsets.push_back(reader.chunk(i).offset);
    file = read_file(dir / "good");
  }

  RecordIORepair repair() {
    write_file(dir / "bad", file);
    return repair_recordio(dir / "bad", dir / "repaired");
  }

  Records without(std::vector<int> chunks) const {
    Records left;
    for (int i = 0; i < 30; ++i) {
      if (std::find(chunks.begin(), chunks.end(), i / 3) == chunks.end()) left.push_back(records[i]);
    }
    return left;
  }

  TempDir dir;
  Records records;
  std::vector<std::uint64_t> offsets;
  FileBytes file;
};

TEST_P(Repair, AGoodFileLosesNothing) {
  const RecordIORepair report = repair();
  EXPECT_EQ(report.records, 30);
  EXPECT_EQ(report.chunks, 10u);
  EXPECT_TRUE(report.lost.empty());
  EXPECT_EQ(read_file(dir / "repaired"), file);
}

TEST_P(Repair, ADamagedPayloadCostsItsChunk) {
  file[offsets[4] + 100] ^= 1;
  const RecordIORepair report = repair();
  EXPECT_EQ(read_records(dir / "repaired"), without({4}));
  EXPECT_THAT(
      report.lost,
      ElementsAre(AllOf(HasSubstr("bytes " + std::to_string(offsets[4]) + " to " + std::to_string(offsets[5] - 1)),
                        HasSubstr("checksum"))));
  if (GetParam() == 2) {
    EXPECT_THAT(report.lost[0], HasSubstr("records 12 to 14"));
  }
}

TEST_P(Repair, DamagedHeadersAndWhatLiesBetweenGoodOnesAreSkipped) {
  for (const int chunk : {0, 4, 5}) std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(offsets[chunk]), 8, 0x55);
  const RecordIORepair report = repair();
  EXPECT_EQ(read_records(dir / "repaired"), without({0, 4, 5}));
  EXPECT_EQ(report.lost.size(), 2u);
}

TEST_P(Repair, ATornTailIsLeftOut) {
  file.resize(offsets[7] + 100);
  const RecordIORepair report = repair();
  EXPECT_EQ(read_records(dir / "repaired"), without({7, 8, 9}));
  EXPECT_EQ(report.lost.size(), 1u);
}

TEST(RepairV2, AnEmptyFileLosesNothing) {
  const TempDir dir;
  write_records(dir / "empty", {}, options_of());
  const RecordIORepair report = repair_recordio(dir / "empty", dir / "repaired");
  EXPECT_EQ(report.chunks, 0u);
  EXPECT_TRUE(report.lost.empty());
  EXPECT_EQ(read_file(dir / "repaired"), read_file(dir / "empty"));
}

TEST(RepairV2, AMissingEndIsSaid) {
  const TempDir dir;
  write_records(dir / "file", random_records(30, 100, 7), options_of(Compressor::kNone, 300));
  FileBytes file = read_file(dir / "file");
  const RecordIOChunk last = RecordIOReader(dir / "file").chunk(3);
  file.resize(last.offset);
  write_file(dir / "bad", file);
  const RecordIORepair report = repair_recordio(dir / "bad", dir / "repaired");
  EXPECT_EQ(report.records, last.first_record);
  EXPECT_THAT(report.lost, ElementsAre(HasSubstr("after record " + std::to_string(last.first_record - 1))));
}

TEST_P(Repair, InsertedBytesAreSkipped) {
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(offsets[3]), 64, 0x77);
  const RecordIORepair report = repair();
  EXPECT_EQ(read_records(dir / "repaired"), records);
  EXPECT_EQ(report.lost.size(), 1u);
}

TEST_P(Repair, WhatIsNoRecordIOGivesNoFile) {
  file.assign(1000, 0x11);
  EXPECT_ERROR(repair(), ErrorCode::kDataLoss, "no whole chunk");
  EXPECT_FALSE(std::filesystem::exists(dir / "repaired"));
  EXPECT_ERROR(repair_recordio(dir / "good", dir / "good"), ErrorCode::kInvalidArgument, "in place");
}

INSTANTIATE_TEST_SUITE_P(Versions, Repair, ::testing::Values(1, 2));

TEST(RepairV2, ADamagedHeaderCostsTheMetadataAlone) {
  const TempDir dir;
  auto options = options_of(Compressor::kZstd, 300);
  options.metadata.user["k"] = "v";
  const Records records = random_records(30, 100, 6);
  write_records(dir / "file", records, options);
  FileBytes file = read_file(dir / "file");
  for (std::size_t i = 0; i < 64; ++i) file[i] = 0;
  write_file(dir / "bad", file);
  const RecordIORepair report = repair_recordio(dir / "bad", dir / "repaired");
  EXPECT_EQ(read_records(dir / "repaired"), records);
  ASSERT_FALSE(report.lost.empty());
  EXPECT_THAT(report.lost[0], HasSubstr("metadata"));
}

TEST(RepairV2, ChunksOfAFileWithinARecordAreNotTakenForItsOwn) {
  const TempDir dir;
  write_records(dir / "inner", {"inner record"}, options_of());
  const FileBytes inner = read_file(dir / "inner");
  const Records records = {"first", std::string(inner.begin(), inner.end()), "last"};
  write_records(dir / "file", records, options_of(Compressor::kNone, 1));
  FileBytes file = read_file(dir / "file");
  const std::uint64_t second = RecordIOReader(dir / "file").chunk(1).offset;
  file[second] ^= 1;
  write_file(dir / "bad", file);
  repair_recordio(dir / "bad", dir / "repaired");
  EXPECT_EQ(read_records(dir / "repaired"), (Records{"first", "last"}));
}

}  // namespace
}  // namespace tandem::recordio_v2_test
