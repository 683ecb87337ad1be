#include "tandem/recordio.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <random>
#include <thread>

#include "cpp/data/expect_error.h"
#include "cpp/data/temp_dir.h"

namespace tandem::recordio_test {
namespace {

using test::FileBytes;
using test::read_file;
using test::TempDir;
using test::write_file;

using Records = std::vector<std::string>;

void write_records(const std::string& path, const Records& records, Compressor compressor = Compressor::kNone,
                   std::uint64_t chunk_bytes = 32u << 20) {
  RecordIOWriter writer(path, {compressor, chunk_bytes});
  for (const auto& record : records) writer.write(record.data(), record.size());
  writer.close();
}

Records read_records(RecordIOReader& reader) {
  Records records;
  for (std::int64_t i = 0; i < reader.size(); ++i) records.emplace_back(reader[i].begin(), reader[i].end());
  return records;
}

Records read_records(const std::string& path) {
  RecordIOReader reader(path);
  return read_records(reader);
}

Records random_records(int count, int max_size, unsigned seed, int alphabet) {
  std::mt19937 random(seed);
  Records records;
  for (int i = 0; i < count; ++i) {
    std::string& record = records.emplace_back(random() % (max_size + 1), '\0');
    for (char& c : record) c = static_cast<char>(random() % alphabet);
  }
  return records;
}

// Made with Python's struct, zlib and gzip from the format's description, not with this writer.
const FileBytes kPlainFile = {
    0x04, 0x03, 0x02, 0x01, 0x3b, 0xde, 0x4d, 0xec, 0x00, 0x00, 0x00, 0x00, 0x0e, 0x00, 0x00, 0x00, 0x03,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x61, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x62,
};
const FileBytes kSnappyStoredFile = {
    0x04, 0x03, 0x02, 0x01, 0x7d, 0x23, 0x75, 0x74, 0x01, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x03, 0x00,
    0x00, 0x00, 0xff, 0x06, 0x00, 0x00, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59, 0x01, 0x12, 0x00, 0x00, 0x95, 0xcf,
    0x63, 0x97, 0x01, 0x00, 0x00, 0x00, 0x61, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x62,
};
const FileBytes kSnappyCompressedFile = {
    0x04, 0x03, 0x02, 0x01, 0x13, 0x5b, 0x76, 0x2b, 0x01, 0x00, 0x00, 0x00, 0x28, 0x00, 0x00,
    0x00, 0x03, 0x00, 0x00, 0x00, 0xff, 0x06, 0x00, 0x00, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59,
    0xfe, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x95, 0xcf, 0x63, 0x97, 0x0e,
    0x34, 0x01, 0x00, 0x00, 0x00, 0x61, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x62,
};
const FileBytes kSnappyFramePerWriteFile = {
    0x04, 0x03, 0x02, 0x01, 0xae, 0xf9, 0x7e, 0xbf, 0x01, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x03,
    0x00, 0x00, 0x00, 0xff, 0x06, 0x00, 0x00, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59, 0x01, 0x08, 0x00, 0x00,
    0x1d, 0x15, 0x82, 0x65, 0x01, 0x00, 0x00, 0x00, 0x01, 0x05, 0x00, 0x00, 0x78, 0x6e, 0xe4, 0x28, 0x61,
    0x01, 0x08, 0x00, 0x00, 0xa6, 0x7b, 0x11, 0x3a, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x1d,
    0x15, 0x82, 0x65, 0x01, 0x00, 0x00, 0x00, 0x01, 0x05, 0x00, 0x00, 0xd9, 0x8f, 0x0c, 0x04, 0x62,
};
const FileBytes kGzipFile = {
    0x04, 0x03, 0x02, 0x01, 0x62, 0xef, 0xe9, 0x7f, 0x02, 0x00, 0x00, 0x00, 0x1f, 0x00, 0x00, 0x00, 0x03,
    0x00, 0x00, 0x00, 0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x63, 0x64, 0x60, 0x60,
    0x48, 0x04, 0x62, 0x06, 0x46, 0x20, 0x4e, 0x02, 0x00, 0x3b, 0xde, 0x4d, 0xec, 0x0e, 0x00, 0x00, 0x00,
};
const Records kGoldenRecords = {"a", "", "b"};

TEST(RecordIOGolden, WritesThePlainFile) {
  TempDir dir;
  write_records(dir / "f", kGoldenRecords);
  EXPECT_EQ(read_file(dir / "f"), kPlainFile);
}

TEST(RecordIOGolden, WritesTheSnappyFile) {
  TempDir dir;
  write_records(dir / "f", kGoldenRecords, Compressor::kSnappy);
  EXPECT_EQ(read_file(dir / "f"), kSnappyStoredFile);
}

TEST(RecordIOGolden, ReadsWhatOthersWrote) {
  TempDir dir;
  for (const FileBytes& file :
       {kPlainFile, kSnappyStoredFile, kSnappyCompressedFile, kSnappyFramePerWriteFile, kGzipFile}) {
    write_file(dir / "f", file);
    EXPECT_EQ(read_records(dir / "f"), kGoldenRecords);
  }
}

class RecordIORoundTrip : public testing::TestWithParam<Compressor> {};

INSTANTIATE_TEST_SUITE_P(Compressors, RecordIORoundTrip,
                         testing::Values(Compressor::kNone, Compressor::kSnappy, Compressor::kGzip));

TEST_P(RecordIORoundTrip, RecordsOfAllKinds) {
  TempDir dir;
  for (const int alphabet : {2, 256}) {  // compressible, and not
    for (const std::uint64_t chunk_bytes : {1, 100, 65536, 32 << 20}) {
      const Records records = random_records(300, 2000, 7, alphabet);
      write_records(dir / "f", records, GetParam(), chunk_bytes);
      RecordIOReader reader(dir / "f");
      ASSERT_EQ(read_records(reader), records);
      EXPECT_GE(reader.chunk_count(), chunk_bytes == 1 ? 300u : 1u);
    }
  }
}

TEST_P(RecordIORoundTrip, NoRecords) {
  TempDir dir;
  write_records(dir / "f", {}, GetParam());
  EXPECT_EQ(read_file(dir / "f").size(), 0u);
  RecordIOReader reader(dir / "f");
  EXPECT_EQ(reader.size(), 0);
  EXPECT_ERROR(reader[0], ErrorCode::kOutOfRange, "no record 0");
}

TEST_P(RecordIORoundTrip, EmptyRecords) {
  TempDir dir;
  write_records(dir / "f", Records(5), GetParam());
  EXPECT_EQ(read_records(dir / "f"), Records(5));
}

TEST_P(RecordIORoundTrip, RecordLargerThanAChunkGetsItsOwn) {
  TempDir dir;
  const Records records = {"small", std::string(5000000, 'x'), "small too"};
  write_records(dir / "f", records, GetParam(), 1000);
  RecordIOReader reader(dir / "f");
  EXPECT_EQ(reader.chunk_count(), 3u);
  EXPECT_EQ(read_records(reader), records);
}

TEST_P(RecordIORoundTrip, ManyThreadsRead) {
  TempDir dir;
  const Records records = random_records(2000, 300, 3, 20);
  write_records(dir / "f", records, GetParam(), 10000);
  RecordIOReader reader(dir / "f");
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 4000; ++i) {
        const std::size_t at = random() % records.size();
        const auto record = reader[static_cast<std::int64_t>(at)];
        wrong += !std::equal(record.begin(), record.end(), records[at].begin(), records[at].end(),
                             [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); });
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(RecordIOReader, PlainRecordsAreViewsAndStayValid) {
  TempDir dir;
  write_records(dir / "f", {"abc", "de"});
  RecordIOReader reader(dir / "f");
  EXPECT_EQ(reader[0].data(), reader[0].data());
  EXPECT_EQ(reader[0].data() + 3 + 4, reader[1].data());  // as they lie in the file
}

TEST(RecordIOReader, OpeningReadsHeadersOnly) {
  TempDir dir;
  write_records(dir / "f", random_records(100, 100, 1, 256), Compressor::kNone, 1000);
  FileBytes bytes = read_file(dir / "f");
  bytes.back() ^= 1;  // in the last chunk's payload
  write_file(dir / "f", bytes);
  RecordIOReader reader(dir / "f");
  EXPECT_EQ(reader.size(), 100);
  EXPECT_NO_THROW(reader[0]);
  const std::size_t last = reader.chunk_count() - 1;
  for (int attempt = 0; attempt < 2; ++attempt) {  // the error does not go away
    EXPECT_ERROR(reader[99], ErrorCode::kDataLoss, dir / "f", "chunk " + std::to_string(last),
                 "byte " + std::to_string(reader.chunk(last).offset), "checksum");
  }
  EXPECT_ERROR(reader.verify(last), ErrorCode::kDataLoss, "checksum");
  EXPECT_NO_THROW(reader.verify(0));
}

TEST(RecordIOReader, SaysWhatAFileIsThatIsNoRecordIO) {
  TempDir dir;
  EXPECT_ERROR(RecordIOReader(dir / "missing"), ErrorCode::kNotFound, dir / "missing");
  EXPECT_ERROR(RecordIOReader("/"), ErrorCode::kInvalidArgument, "it is a folder");
  write_file(dir / "text", {'h', 'e', 'l', 'l', 'o', ' ', 'w', 'o', 'r', 'l', 'd', '!', '!'});
  EXPECT_ERROR(RecordIOReader(dir / "text"), ErrorCode::kDataLoss, dir / "text", "not a RecordIO file", "chunk 0");
  write_file(dir / "idx", {0, 0, 8, 3, 0, 0, 0, 1});
  EXPECT_ERROR(RecordIOReader(dir / "idx"), ErrorCode::kDataLoss, "'idx'", "tandem record convert");
  write_file(dir / "gz", {0x1f, 0x8b, 8, 0});
  EXPECT_ERROR(RecordIOReader(dir / "gz"), ErrorCode::kDataLoss, "gzip");
}

// Whatever is wrong with a file, either an error names a chunk of it, or what is read is what was written.
void expect_detected_or_harmless(const std::string& path, const Records& records, const std::string& what) {
  try {
    EXPECT_EQ(read_records(path), records) << what;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDataLoss) << what << ": " << error.what();
    EXPECT_THAT(error.what(), testing::HasSubstr("chunk ")) << what;
    EXPECT_THAT(error.what(), testing::HasSubstr(path)) << what;
  }
}

TEST_P(RecordIORoundTrip, EveryTruncationIsDetected) {
  TempDir dir;
  const Records records = random_records(12, 30, 5, 4);
  write_records(dir / "f", records, GetParam(), 100);
  const FileBytes bytes = read_file(dir / "f");
  std::vector<std::uint64_t> chunk_ends = {0};
  {
    RecordIOReader reader(dir / "f");
    ASSERT_GE(reader.chunk_count(), 2u);
    for (std::size_t c = 0; c < reader.chunk_count(); ++c) {
      chunk_ends.push_back(reader.chunk(c).offset + 20 + reader.chunk(c).stored_size);
    }
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    write_file(dir / "t", FileBytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)));
    const auto end = std::find(chunk_ends.begin(), chunk_ends.end(), size);
    if (end != chunk_ends.end()) {  // whole chunks are a file
      const Records read = read_records(dir / "t");
      EXPECT_TRUE(std::equal(read.begin(), read.end(), records.begin())) << size;
    } else {
      EXPECT_ERROR(RecordIOReader(dir / "t"), ErrorCode::kDataLoss, dir / "t", "chunk ",
                   size < 4 ? "not a RecordIO file" : "");
    }
  }
}

TEST_P(RecordIORoundTrip, EveryFlippedBitIsDetected) {
  TempDir dir;
  const Records records = {"some text", "", "some more text, some more text, some more text"};
  write_records(dir / "f", records, GetParam(), 40);
  const FileBytes bytes = read_file(dir / "f");
  std::size_t harmless = 0;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    FileBytes flipped = bytes;
    flipped[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    write_file(dir / "t", flipped);
    bool detected = false;
    try {
      read_records(dir / "t");
    } catch (const Error&) {
      detected = true;
    }
    harmless += !detected;
    expect_detected_or_harmless(dir / "t", records, "bit " + std::to_string(bit));
  }
  EXPECT_EQ(harmless, 0u);
}

TEST(RecordIOReader, ImpossibleHeadersAllocateNothing) {
  TempDir dir;
  const auto with = [&](std::size_t at, std::uint32_t value) {
    FileBytes bytes = kPlainFile;
    std::memcpy(bytes.data() + at, &value, 4);
    write_file(dir / "t", bytes);
  };
  with(16, 0xffffffff);
  EXPECT_ERROR(RecordIOReader(dir / "t"), ErrorCode::kDataLoss, "4294967295 records", "chunk 0 at byte 0");
  with(12, 0xffffffff);
  EXPECT_ERROR(RecordIOReader(dir / "t"), ErrorCode::kDataLoss, "truncated");
  with(8, 3);
  EXPECT_ERROR(RecordIOReader(dir / "t"), ErrorCode::kDataLoss, "compressor");
  with(16, 2);  // not covered by the checksum
  RecordIOReader fewer(dir / "t");
  EXPECT_ERROR(fewer[0], ErrorCode::kDataLoss, "after its last record");
}

TEST(RecordIOWriter, AppearsWholeOrNotAtAll) {
  TempDir dir;
  {
    RecordIOWriter writer(dir / "f");
    writer.write("abc", 3);
  }
  EXPECT_TRUE(dir.names().empty());
  write_records(dir / "f", {"old"});
  {
    RecordIOWriter writer(dir / "f");
    writer.write("new", 3);
    EXPECT_EQ(read_records(dir / "f"), Records{"old"});  // until it is closed
    writer.close();
    EXPECT_ERROR(writer.close(), ErrorCode::kClosed, "closed");
    EXPECT_ERROR(writer.write("x", 1), ErrorCode::kClosed, "closed");
  }
  EXPECT_EQ(read_records(dir / "f"), Records{"new"});
  EXPECT_EQ(dir.names(), std::vector<std::string>{"f"});
}

TEST(RecordIOWriter, KilledWriterLeavesNoFile) {
  TempDir dir;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    RecordIOWriter writer(dir / "f", {Compressor::kNone, 100});
    for (int i = 0; i < 100; ++i) writer.write("0123456789", 10);
    if (write(ready[1], "x", 1) == 1) pause();
    _exit(1);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(std::filesystem::exists(dir / "f"));
  close(ready[0]);
  close(ready[1]);
  write_records(dir / "f", {"again"});  // what it left does not stand in the way
  EXPECT_EQ(read_records(dir / "f"), Records{"again"});
}

TEST(RecordIOWriter, RefusesWhatCannotBe) {
  TempDir dir;
  EXPECT_ERROR(RecordIOWriter(dir / "no/such/folder"), ErrorCode::kNotFound, "no/such/folder");
  EXPECT_ERROR(RecordIOWriter("/tmp"), ErrorCode::kIo, "folder");
  EXPECT_ERROR(RecordIOWriter(dir / "f", {Compressor::kNone, 0}), ErrorCode::kInvalidArgument, "chunk_bytes");
  EXPECT_ERROR(RecordIOWriter(dir / "f", {static_cast<Compressor>(9), 100}), ErrorCode::kInvalidArgument,
               "compressor 9");
  EXPECT_TRUE(dir.names().empty());
}

}  // namespace
}  // namespace tandem::recordio_test
