// RecordIO v1's sidecar index, and the dialects of other programs.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <snappy.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "cpp/data/expect_error.h"
#include "cpp/data/records.h"
#include "cpp/data/temp_dir.h"
#include "data/recordio/v1_format.h"
#include "tandem/open_records.h"

namespace tandem::recordio_index_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

FileBytes payload_of(const Records& records) {
  FileBytes payload;
  for (const std::string& record : records) {
    append_u32(payload, static_cast<std::uint32_t>(record.size()));
    payload.insert(payload.end(), record.begin(), record.end());
  }
  return payload;
}

// A chunk as Paddle fluid and pyrecordio order its header.
void append_chunk(FileBytes& file, std::uint32_t records, std::uint32_t checksum, std::uint32_t compressor,
                  const FileBytes& stored) {
  for (const std::uint32_t field :
       {recordio::kMagic, records, checksum, compressor, static_cast<std::uint32_t>(stored.size())}) {
    append_u32(file, field);
  }
  file.insert(file.end(), stored.begin(), stored.end());
}

FileBytes snappy_block(const FileBytes& payload) {
  std::string stored;
  snappy::Compress(reinterpret_cast<const char*>(payload.data()), payload.size(), &stored);
  return {stored.begin(), stored.end()};
}

const Records kRecords = {"first record", "", "third record, third record, third record"};

FileBytes paddle_file() {
  const FileBytes payload = payload_of(kRecords);
  FileBytes file;
  append_chunk(file, 3, tandem::crc32(payload), 0, payload);
  const FileBytes framed = recordio::snappy_compress(payload);
  append_chunk(file, 3, tandem::crc32(framed), 1, framed);
  return file;
}

FileBytes pyrecordio_file() {
  const FileBytes payload = payload_of(kRecords);
  FileBytes file;
  append_chunk(file, 3, crc32c(payload), 1, payload);
  const FileBytes block = snappy_block(payload);
  append_chunk(file, 3, crc32c(block), 2, block);
  const FileBytes zipped = recordio::gzip_compress(payload);
  append_chunk(file, 3, crc32c(zipped), 3, zipped);
  return file;
}

Records repeated(int times) {
  Records records;
  for (; times > 0; --times) records.insert(records.end(), kRecords.begin(), kRecords.end());
  return records;
}

TEST(RecordIODialects, AreToldByTheFirstChunk) {
  const TempDir dir;
  write_file(dir / "paddle", paddle_file());
  RecordIOReader paddle(dir / "paddle");
  EXPECT_EQ(paddle.dialect(), RecordIODialect::kPaddle);
  EXPECT_EQ(read_records(paddle), repeated(2));
  write_file(dir / "py", pyrecordio_file());
  RecordIOReader py(dir / "py");
  EXPECT_EQ(py.dialect(), RecordIODialect::kPyRecordIO);
  EXPECT_EQ(read_records(py), repeated(3));
  EXPECT_EQ(py.chunk(1).compressor, Compressor::kSnappy);
  EXPECT_EQ(read_records(*open_records({dir / "paddle", dir / "py"})), repeated(5));
}

// An uncompressed chunk is checked and indexed in blocks of 64 KiB; a record's length may lie across two of them.
TEST(PlainChunks, RecordsLieAcrossBlocks) {
  TempDir dir;
  for (std::size_t size = 65536 - 12; size <= 65536; ++size) {
    Records records = {std::string(size, 'a'), "b", std::string(200'000, 'c'), "", std::string(size, 'd'), "e"};
    write_records(dir / "f", records);
    RecordIOReader reader(dir / "f");
    ASSERT_EQ(read_records(reader), records) << size;
    ASSERT_EQ(reader.chunk_count(), 1u);
  }
}

// What no checksum tells: whoever wrote the chunk was wrong.
TEST(PlainChunks, WrongLengthsAreFoundInEveryBlock) {
  TempDir dir;
  for (const std::size_t before : {10, 65'530, 65'532, 65'534, 200'000}) {
    const FileBytes good = payload_of({std::string(before, 'a'), std::string(100, 'b')});
    const auto expect = [&](const FileBytes& payload, std::uint32_t records, const std::string& what) {
      FileBytes file;
      append_chunk(file, records, tandem::crc32(payload), 0, payload);
      write_file(dir / "f", file);
      RecordIOReaderOptions paddle;
      paddle.dialect = RecordIODialect::kPaddle;
      EXPECT_ERROR(RecordIOReader(dir / "f", paddle)[0], ErrorCode::kDataLoss, what);
      file.back() ^= 1;  // damage of bytes is told first
      write_file(dir / "f", file);
      EXPECT_ERROR(RecordIOReader(dir / "f", paddle)[0], ErrorCode::kDataLoss, "its checksum is");
    };
    FileBytes longer = good, shorter = good;
    longer[4 + before] += 1;
    shorter[4 + before] -= 1;
    expect(longer, 2, "record 1 of it declares 101 bytes, past the end");
    expect(shorter, 2, "1 bytes after its last record");
    expect(good, 1, "104 bytes after its last record");
    expect(good, 3, "record 2 of it lies past its payload");
  }
}

TEST(RecordIODialects, CanBeChosen) {
  const TempDir dir;
  FileBytes bytes = pyrecordio_file();
  bytes[20] ^= 1;  // of the first chunk's payload: nothing tells now
  write_file(dir / "f", bytes);
  EXPECT_ERROR(RecordIOReader(dir / "f"), ErrorCode::kDataLoss, dir / "f", "chunk 0");
  RecordIOReader reader(dir / "f", {RecordIODialect::kPyRecordIO, true});
  EXPECT_ERROR(reader[0], ErrorCode::kDataLoss, "chunk 0", "checksum");
  EXPECT_EQ(text_of(reader[3]), kRecords[0]);
  const auto source = open_records({dir / "f"}, {.format = RecordFormat::kPyRecordIO});
  EXPECT_EQ(text_of(source->read(8).bytes), kRecords[2]);
  EXPECT_ERROR(RecordIOReader(dir / "f", {RecordIODialect::kPaddle, true})[0], ErrorCode::kDataLoss, "chunk 1",
               "compressor is 2");
}

TEST(RecordIODialects, EveryFlippedBitOfAPayloadIsFound) {
  const TempDir dir;
  for (const FileBytes& bytes : {paddle_file(), pyrecordio_file()}) {
    for (std::size_t bit = 20 * 8; bit < 100 * 8; ++bit) {
      if (bit / 8 >= 20 + payload_of(kRecords).size()) break;
      FileBytes flipped = bytes;
      flipped[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
      write_file(dir / "t", flipped);
      EXPECT_ERROR(RecordIOReader(dir / "t")[0], ErrorCode::kDataLoss, "chunk 0");
    }
  }
}

TEST(RecordIODialects, RepairKeepsTheGoodChunksOfOne) {
  const TempDir dir;
  FileBytes bytes = pyrecordio_file();
  bytes[25] ^= 1;
  write_file(dir / "f", bytes);
  const RecordIORepair report = repair_recordio(dir / "f", dir / "g");
  EXPECT_EQ(report.chunks, 2u);
  RecordIOReader reader(dir / "g");
  EXPECT_EQ(read_records(reader), repeated(2));
}

TEST(RecordIODialects, ALyingSnappyLengthAllocatesNothing) {
  const TempDir dir;
  const FileBytes block = {0xff, 0xff, 0xff, 0xff, 0x0f, 0, 'x', 'y'};  // 4 GiB
  FileBytes file;
  append_chunk(file, 1, crc32c(block), 2, block);
  write_file(dir / "f", file);
  EXPECT_ERROR(RecordIOReader(dir / "f")[0], ErrorCode::kDataLoss, "impossible size");
}

class IndexTest : public testing::Test {
 protected:
  IndexTest() { write_records(file_, records_, {Compressor::kSnappy, 200}); }

  // As a reader with an index sees the file.
  void expect_all_records() {
    RecordIOReader reader(file_);
    EXPECT_EQ(test::read_records(reader), records_);
  }
  // Gives the index its checksums again.
  void mend(FileBytes& index) {
    store_u32(index.data() + 40, crc32c({index.data() + 64, index.size() - 64}));
    store_u32(index.data() + 60, crc32c({index.data(), 60}));
  }

  const TempDir dir_;
  const std::string file_ = dir_ / "f", sidecar_ = dir_ / "f.idx";
  const Records records_ = random_records(900, 100, 1);
};

TEST_F(IndexTest, IsWrittenWhereThereAreManyChunks) {
  EXPECT_FALSE(std::filesystem::exists(sidecar_));
  RecordIOReader reader(file_);
  ASSERT_GE(reader.chunk_count(), 256u);
  const FileBytes index = read_file(sidecar_);
  EXPECT_EQ(index.size(), 64 + 24 * reader.chunk_count());
  EXPECT_EQ(load_u64(index.data() + 16), read_file(file_).size());
  expect_all_records();
  EXPECT_THAT(dir_.names(), UnorderedElementsAre("f", "f.idx"));
  EXPECT_EQ(read_file(sidecar_), index);  // it was good
}

TEST_F(IndexTest, IsNotWrittenForAFewChunksUnlessAsked) {
  write_records(dir_ / "few", {"a", "b"});
  RecordIOReader reader(dir_ / "few");
  RecordIOReader without(file_, {{}, /*index=*/false});
  EXPECT_EQ(dir_.names().size(), 2u);
  EXPECT_EQ(write_recordio_index(dir_ / "few"), 1u);
  EXPECT_EQ(read_file(dir_ / "few.idx").size(), 64u + 24u);
  RecordIOReader again(dir_ / "few");
  EXPECT_EQ(read_records(again), (Records{"a", "b"}));
}

// What comes from the index, not from a walk, is seen by a chunk that is damaged where only a walk would look.
TEST_F(IndexTest, OpeningReadsItInsteadOfTheHeaders) {
  write_recordio_index(file_);
  struct stat before;
  ASSERT_EQ(stat(file_.c_str(), &before), 0);
  RecordIOReader whole(file_);
  const RecordIOChunk damaged = whole.chunk(10);
  FileBytes bytes = read_file(file_);
  bytes[damaged.offset] ^= 1;  // its magic number
  {
    const int fd = open(file_.c_str(), O_WRONLY);
    ASSERT_EQ(pwrite(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    const timespec times[2] = {before.st_mtim, before.st_mtim};
    ASSERT_EQ(futimens(fd, times), 0);
    close(fd);
  }
  RecordIOReader reader(file_);
  EXPECT_EQ(reader.size(), 900);
  EXPECT_EQ(text_of(reader[0]), records_[0]);
  EXPECT_ERROR(reader[damaged.first_record], ErrorCode::kDataLoss, file_, "chunk 10", "magic number");
  std::filesystem::remove(sidecar_);
  EXPECT_ERROR(RecordIOReader{file_}, ErrorCode::kDataLoss, "chunk 10");
}

TEST_F(IndexTest, AStaleOneIsMadeAnew) {
  write_recordio_index(file_);
  const FileBytes before = read_file(sidecar_);
  const Records others = {"only", "these"};
  write_records(file_, others);
  RecordIOReader reader(file_);
  EXPECT_EQ(read_records(reader), others);
  EXPECT_NE(read_file(sidecar_), before);
  EXPECT_EQ(read_file(sidecar_).size(), 64u + 24u);
}

TEST_F(IndexTest, ADamagedOneIsMadeAnew) {
  write_recordio_index(file_);
  const FileBytes good = read_file(sidecar_);
  for (std::size_t at = 8; at < good.size(); at += at < 100 ? 3 : 997) {
    FileBytes bad = good;
    bad[at] ^= 0x40;
    write_file(sidecar_, bad);
    expect_all_records();
    EXPECT_EQ(read_file(sidecar_), good) << at;
  }
  for (const std::size_t size : {9u, 63u, 64u, 100u}) {
    write_file(sidecar_, FileBytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)));
    expect_all_records();
    EXPECT_EQ(read_file(sidecar_), good) << size;
  }
}

TEST_F(IndexTest, OneThatLiesIsNotBelieved) {
  write_recordio_index(file_);
  const FileBytes good = read_file(sidecar_);
  const auto with = [&](auto&& change) {
    FileBytes bad = good;
    change(bad.data());
    mend(bad);
    write_file(sidecar_, bad);
    expect_all_records();
  };
  with([](std::uint8_t* index) { store_u64(index + 32, ~0ull / 24); });      // chunks
  with([](std::uint8_t* index) { store_u64(index + 64, 7); });               // the first one's place
  with([](std::uint8_t* index) { store_u32(index + 64 + 8, 0xffffffff); });  // size
  with([](std::uint8_t* index) { store_u32(index + 64 + 12, 5000); });       // records of the first
  with([](std::uint8_t* index) { store_u32(index + 64 + 20, 77); });         // compressor
  with([](std::uint8_t* index) { store_u32(index + 12, 1); });               // dialect
  // A chunk in the middle that nobody looked at: its header says otherwise when it is used.
  FileBytes bad = good;
  store_u32(bad.data() + 64 + 24 * 5 + 12, load_u32(bad.data() + 64 + 24 * 5 + 12) + 1);
  mend(bad);
  write_file(sidecar_, bad);
  RecordIOReader reader(file_);
  EXPECT_EQ(reader.size(), 901);
  EXPECT_ERROR(reader[reader.chunk(5).first_record], ErrorCode::kDataLoss, "chunk 5", "tandem record index");
}

TEST_F(IndexTest, OthersFilesAreLeftAlone) {
  const FileBytes theirs = {'0', '\t', '0', '\n'};
  write_file(sidecar_, theirs);
  expect_all_records();
  EXPECT_EQ(read_file(sidecar_), theirs);
  EXPECT_ERROR(write_recordio_index(file_), ErrorCode::kIo, sidecar_, "move it away");
}

TEST_F(IndexTest, AFolderThatCannotBeWrittenIsNoError) {
  std::filesystem::create_directory(sidecar_);  // stands in the way, for root as well
  expect_all_records();
  EXPECT_ERROR(write_recordio_index(file_), ErrorCode::kIo, sidecar_);
}

TEST_F(IndexTest, FilesWithIndexInsideNeedNone) {
  RecordIOWriterOptions options;
  options.version = 2;
  write_records(dir_ / "v2", {"a"}, options);
  EXPECT_EQ(write_recordio_index(dir_ / "v2"), 1u);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "v2.idx"));
}

TEST_F(IndexTest, TheFingerprintIsThatOfTheRecordsNotOfThePath) {
  const auto fingerprint = [](const std::string& path) { return open_records({path})->fingerprint(); };
  const std::uint64_t walked = fingerprint(file_);
  EXPECT_EQ(fingerprint(file_), walked);  // through the index
  std::filesystem::copy_file(file_, dir_ / "copy");
  EXPECT_EQ(fingerprint(dir_ / "copy"), walked);
  Records changed = records_;
  changed[500].push_back('!');
  write_records(dir_ / "other", changed, {Compressor::kSnappy, 200});
  EXPECT_NE(fingerprint(dir_ / "other"), walked);
}

// A hundred gigabytes in ten files without content, except for the headers: zeros are a large record each.
TEST(LargeSets, OpenInLittleMemory) {
  constexpr std::uint64_t kFiles = 10, kChunk = 4u << 20, kChunks = 2560;
  const TempDir dir;
  std::vector<std::string> paths;
  FileBytes head(24);
  FileBytes payload(kChunk - 20);
  store_u32(payload.data(), kChunk - 24);
  store_u32(head.data(), recordio::kMagic);
  store_u32(head.data() + 4, tandem::crc32(payload));
  store_u32(head.data() + 12, kChunk - 20);
  store_u32(head.data() + 16, 1);
  store_u32(head.data() + 20, kChunk - 24);
  for (std::uint64_t f = 0; f < kFiles; ++f) {
    paths.push_back(dir / ("part-" + std::to_string(f)));
    const int fd = open(paths.back().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (std::uint64_t c = 0; c < kChunks; ++c) {
      ASSERT_EQ(pwrite(fd, head.data(), head.size(), static_cast<off_t>(c * kChunk)), 24);
    }
    ASSERT_EQ(ftruncate(fd, kChunks * kChunk), 0);
    close(fd);
    ASSERT_EQ(write_recordio_index(paths.back()), kChunks);
  }
  int results[2];
  ASSERT_EQ(pipe(results), 0);
  const pid_t child = fork();  // whose memory is its own
  if (child == 0) {
    std::int64_t numbers[3] = {};
    const auto resident = [] {
      long pages = 0, resident = 0;
      std::ifstream("/proc/self/statm") >> pages >> resident;
      return resident * sysconf(_SC_PAGESIZE);
    };
    const std::int64_t before = resident();
    const auto source = open_records({dir / "part-*[0-9]"});
    numbers[0] = source->size();
    numbers[1] = resident() - before;
    numbers[2] = static_cast<std::int64_t>(source->read(source->size() - 1).bytes.size());
    _exit(write(results[1], numbers, sizeof numbers) == sizeof numbers ? 0 : 1);
  }
  std::int64_t numbers[3] = {};
  ASSERT_EQ(read(results[0], numbers, sizeof numbers), static_cast<ssize_t>(sizeof numbers));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  close(results[0]);
  close(results[1]);
  EXPECT_EQ(numbers[0], static_cast<std::int64_t>(kFiles * kChunks));
  EXPECT_LT(numbers[1], 100 << 20);
  EXPECT_EQ(numbers[2], static_cast<std::int64_t>(kChunk - 24));
}

}  // namespace
}  // namespace tandem::recordio_index_test
