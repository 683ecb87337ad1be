// RecordIO v1 between its original, github.com/wangkuiyi/recordio, and this library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cpp/data/original_files.h"
#include "cpp/data/records.h"
#include "cpp/data/temp_dir.h"
#include "tandem/recordio.h"

namespace tandem::recordio_original_test {
namespace {

using namespace test;

FileBytes bytes_of(std::string_view digits) {
  FileBytes bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

Records lines() {
  Records records(11);
  for (std::size_t i = 0; i < 10; ++i) {
    for (std::size_t times = 0; times < i; ++times) records[i] += "record " + std::to_string(i) + " ";
  }
  return records;
}

struct Golden {
  const char* name;
  const char* digits;
  Records records;
  std::vector<std::int64_t> chunks;  // records of each
};

std::vector<Golden> goldens() {
  const Records three = {"a", "", "b"}, large = {std::string(70'000, 'x'), "end"};
  const std::vector<std::int64_t> five = {5, 2, 1, 1, 2};
  return {{"three, plain", original::kThreePlain, three, {3}},
          {"three, Snappy streamed", original::kThreeSnappyStreamed, three, {3}},
          {"three, Snappy buffered", original::kThreeSnappyBuffered, three, {3}},
          {"three, gzip", original::kThreeGzip, three, {3}},
          {"empty, plain", original::kEmptyPlain, Records(3), {3}},
          {"empty, Snappy streamed", original::kEmptySnappyStreamed, Records(3), {3}},
          {"empty, Snappy buffered", original::kEmptySnappyBuffered, Records(3), {3}},
          {"empty, gzip", original::kEmptyGzip, Records(3), {3}},
          {"lines, plain", original::kLinesPlain, lines(), five},
          {"lines, Snappy streamed", original::kLinesSnappyStreamed, lines(), five},
          {"lines, Snappy buffered", original::kLinesSnappyBuffered, lines(), five},
          {"lines, gzip", original::kLinesGzip, lines(), five},
          {"large, gzip", original::kLargeGzip, large, {2}},
          {"nothing", "", {}, {}}};
}

void expect_records(RecordIOReader& reader, const Golden& golden) {
  std::vector<std::int64_t> chunks;
  for (std::size_t c = 0; c < reader.chunk_count(); ++c) chunks.push_back(reader.chunk(c).records);
  EXPECT_EQ(chunks, golden.chunks);
  ASSERT_EQ(reader.size(), static_cast<std::int64_t>(golden.records.size()));
  for (std::int64_t i = reader.size() - 1; i >= 0; --i) {  // so that no chunk is found after the one before
    const auto record = reader[i];
    EXPECT_EQ(std::string(record.begin(), record.end()), golden.records[static_cast<std::size_t>(i)]) << i;
  }
}

TEST(OriginalRecordIO, ItsFilesAreRead) {
  TempDir dir;
  for (const Golden& golden : goldens()) {
    SCOPED_TRACE(golden.name);
    write_file(dir / "f", bytes_of(golden.digits));
    RecordIOReader reader(dir / "f");
    expect_records(reader, golden);
  }
}

TEST(OriginalRecordIO, ItsFilesAreReadThroughAnIndex) {
  for (const Golden& golden : goldens()) {
    SCOPED_TRACE(golden.name);
    TempDir dir;
    write_file(dir / "f", bytes_of(golden.digits));
    EXPECT_EQ(write_recordio_index(dir / "f"), golden.chunks.size());
    EXPECT_THAT(dir.names(), testing::UnorderedElementsAre("f", "f.idx"));
    RecordIOReader reader(dir / "f");
    expect_records(reader, golden);
  }
}

TEST(OriginalRecordIO, TheSameBytesAreWritten) {
  TempDir dir;
  const auto written = [&](const Records& records, Compressor compressor, std::uint64_t chunk_bytes) {
    write_records(dir / "f", records, {compressor, chunk_bytes});
    return read_file(dir / "f");
  };
  constexpr std::uint64_t kDefault = 32u << 20;
  EXPECT_EQ(written({"a", "", "b"}, Compressor::kNone, kDefault), bytes_of(original::kThreePlain));
  EXPECT_EQ(written({"a", "", "b"}, Compressor::kSnappy, kDefault), bytes_of(original::kThreeSnappyBuffered));
  EXPECT_EQ(written(Records(3), Compressor::kNone, kDefault), bytes_of(original::kEmptyPlain));
  // The original's 100 bytes do not count the lengths, of which the first chunk has five.
  EXPECT_EQ(written(lines(), Compressor::kNone, 110), bytes_of(original::kLinesPlain));
  EXPECT_EQ(written({}, Compressor::kSnappy, kDefault), FileBytes());
}

}  // namespace
}  // namespace tandem::recordio_original_test
