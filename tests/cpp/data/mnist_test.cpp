#include "tandem/mnist.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <functional>

#include "cpp/data/expect_error.h"
#include "cpp/data/temp_dir.h"
#include "tandem/recordio.h"

namespace tandem::mnist_test {
namespace {

using test::FileBytes;
using test::TempDir;
using test::write_file;

void put_u32(FileBytes& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(value >> shift));
}

FileBytes idx(std::uint32_t magic, const std::vector<std::uint32_t>& sizes, std::size_t items) {
  FileBytes bytes;
  put_u32(bytes, magic);
  for (const auto size : sizes) put_u32(bytes, size);
  for (std::size_t i = 0; i < items; ++i) bytes.push_back(static_cast<std::uint8_t>(i * 7));
  return bytes;
}

FileBytes compress(const FileBytes& bytes, const std::string& path) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  return test::read_file(path);
}

class MnistTest : public testing::Test {
 protected:
  // Images and labels as the files hold them, either compressed or not; the error of converting them.
  void expect(const FileBytes& images, const FileBytes& labels, ErrorCode code, const std::string& part) {
    for (const bool gzip : {false, true}) {
      write_file(dir_ / "images", gzip ? compress(images, dir_ / "z") : images);
      write_file(dir_ / "labels", gzip ? compress(labels, dir_ / "z") : labels);
      EXPECT_ERROR(mnist_to_recordio(dir_ / "images", dir_ / "labels", dir_ / "out"), code, part);
      std::filesystem::remove(dir_ / "z");
      EXPECT_EQ(dir_.names().size(), 2u) << "something was left behind";
    }
  }

  TempDir dir_;
  FileBytes images_ = idx(0x803, {5, 2, 3}, 30);
  FileBytes labels_ = idx(0x801, {5}, 5);
};

TEST_F(MnistTest, ConvertsPlainAndCompressed) {
  for (const bool gzip : {false, true}) {
    write_file(dir_ / "images", gzip ? compress(images_, dir_ / "z") : images_);
    write_file(dir_ / "labels", gzip ? compress(labels_, dir_ / "z") : labels_);
    EXPECT_EQ(mnist_to_recordio(dir_ / "images", dir_ / "labels", dir_ / "out"), 5);
    RecordIOReader all(dir_ / "out");
    ASSERT_EQ(all.size(), 5);
    for (std::int64_t i = 0; i < 5; ++i) {
      FileBytes expected = {static_cast<std::uint8_t>(i * 7)};
      for (int p = 0; p < 6; ++p) expected.push_back(static_cast<std::uint8_t>((i * 6 + p) * 7));
      EXPECT_TRUE(std::ranges::equal(all[i], expected)) << i;
    }
    EXPECT_EQ(mnist_to_recordio(dir_ / "images", dir_ / "labels", dir_ / "part", 1, 3), 3);
    RecordIOReader part(dir_ / "part");
    ASSERT_EQ(part.size(), 3);
    EXPECT_TRUE(std::ranges::equal(part[0], all[1]));
    EXPECT_EQ(mnist_to_recordio(dir_ / "images", dir_ / "labels", dir_ / "tail", 4), 1);
    EXPECT_EQ(mnist_to_recordio(dir_ / "images", dir_ / "labels", dir_ / "none", 5), 0);
  }
}

TEST_F(MnistTest, NamesWhatIsWrong) {
  expect(labels_, labels_, ErrorCode::kDataLoss, "IDX images begin with 0x00000803");
  expect(images_, images_, ErrorCode::kDataLoss, "IDX labels begin with 0x00000801");
  expect(idx(0x803, {6, 2, 3}, 30), idx(0x801, {6}, 6), ErrorCode::kDataLoss, "ends inside item 5");
  expect(idx(0x803, {5, 2, 3}, 31), labels_, ErrorCode::kDataLoss, "bytes after the 5 items");
  expect(images_, idx(0x801, {5}, 4), ErrorCode::kDataLoss, "ends inside item 4");
  expect(images_, idx(0x801, {5}, 6), ErrorCode::kDataLoss, "bytes after the 5 items");
  expect(images_, idx(0x801, {4}, 4), ErrorCode::kDataLoss, "do not belong together");
  expect({0, 0, 8}, labels_, ErrorCode::kDataLoss, "too short");
  expect({0, 0, 8, 3, 0, 0}, labels_, ErrorCode::kDataLoss, "ends inside its header");
  expect(idx(0x803, {5, 0xffffffff, 0xffffffff}, 30), labels_, ErrorCode::kDataLoss, "impossible size");
  expect(idx(0x803, {0xffffffff, 28, 28}, 30), idx(0x801, {0xffffffff}, 5), ErrorCode::kDataLoss, "ends inside item 0");
  EXPECT_ERROR(mnist_to_recordio(dir_ / "no", dir_ / "labels", dir_ / "out"), ErrorCode::kNotFound, dir_ / "no");
  EXPECT_ERROR(mnist_to_recordio("/", dir_ / "labels", dir_ / "out"), ErrorCode::kInvalidArgument,
               "cannot read /: it is a folder");
}

TEST_F(MnistTest, RefusesRangesOutsideTheFile) {
  write_file(dir_ / "images", images_);
  write_file(dir_ / "labels", labels_);
  const auto convert = [&](std::int64_t begin, std::int64_t count) {
    mnist_to_recordio(dir_ / "images", dir_ / "labels", dir_ / "out", begin, count);
  };
  EXPECT_ERROR(convert(-1, 2), ErrorCode::kOutOfRange, "the 5 of");
  EXPECT_ERROR(convert(6, -1), ErrorCode::kOutOfRange, "the 5 of");
  EXPECT_ERROR(convert(3, 3), ErrorCode::kOutOfRange, "the 5 of");
  EXPECT_ERROR(convert(0, -2), ErrorCode::kOutOfRange, "the 5 of");
  EXPECT_ERROR(convert(1, std::numeric_limits<std::int64_t>::max()), ErrorCode::kOutOfRange, "the 5 of");
}

TEST_F(MnistTest, EveryTruncationOfCompressedDataIsDetected) {
  write_file(dir_ / "labels", labels_);
  const FileBytes whole = compress(images_, dir_ / "z");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file(dir_ / "images", FileBytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_ERROR(mnist_to_recordio(dir_ / "images", dir_ / "labels", dir_ / "out"), ErrorCode::kDataLoss,
                 dir_ / "images");
  }
  EXPECT_FALSE(std::filesystem::exists(dir_ / "out"));
}

}  // namespace
}  // namespace tandem::mnist_test
