#include "weights/zip_directory.h"

#include <gtest/gtest.h>

#include "cpp/data/expect_error.h"
#include "cpp/data/temp_dir.h"
#include "cpp/weights/zip_builder.h"

namespace tandem::weights {
namespace {

using test::FileBytes;
using test::ZipBuilder;

class ZipDirectory : public ::testing::Test {
 protected:
  ZipDirectory() {
    first_ = zip_.add("a/one", "1234");
    second_ = zip_.add("a/two", "");
    third_ = zip_.add("a/three", "xyz");
  }

  static void refused(const FileBytes& bytes, const char* why, ErrorCode code = ErrorCode::kDataLoss) {
    EXPECT_ERROR(read_zip_directory(bytes, "z.pt"), code, "z.pt is not a valid zip archive", why);
  }

  ZipBuilder zip_;
  std::size_t first_, second_, third_;
};

TEST_F(ZipDirectory, SaysWhereMembersLie) {
  for (const bool zip64 : {false, true}) {
    ZipBuilder zip = zip_;
    const auto members = read_zip_directory(zip.finish(zip64), "z.pt");
    ASSERT_EQ(members.size(), 3u);
    EXPECT_EQ(members[0].name, "a/one");
    EXPECT_EQ(members[0].offset, first_);
    EXPECT_EQ(members[0].size, 4u);
    EXPECT_EQ(members[0].crc, 0x9be3e0a3u);
    EXPECT_EQ(members[1].size, 0u);
    EXPECT_EQ(members[2].offset, third_);
  }
  EXPECT_TRUE(read_zip_directory(ZipBuilder().finish(), "z.pt").empty());
}

TEST_F(ZipDirectory, EveryCutIsRefused) {
  for (const bool zip64 : {false, true}) {
    ZipBuilder zip = zip_;
    const FileBytes whole = zip.finish(zip64);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_THROW(read_zip_directory(std::span(whole).first(size), "z.pt"), Error) << size;
    }
  }
}

TEST_F(ZipDirectory, RefusesWhatItIsNotToRead) {
  const FileBytes good = zip_.finish();
  const auto with = [&](std::size_t place, std::uint32_t value, int bytes) {
    FileBytes changed = good;
    for (int i = 0; i < bytes; ++i)
      changed[place + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(value >> 8 * i);
    return changed;
  };
  const std::size_t one = zip_.entries[0], three = zip_.entries[2];
  refused(with(one + 10, 8, 2), "'a/one' is compressed", ErrorCode::kUnsupported);
  refused(with(one + 8, 1, 2), "'a/one' is encrypted", ErrorCode::kUnsupported);
  refused(with(one + 24, 5, 4), "has two sizes");
  FileBytes longer = with(three + 24, 1000, 4);
  longer[three + 20] = 1000 & 0xff, longer[three + 21] = 1000 >> 8;
  refused(longer, "'a/three' takes 1000 bytes");
  refused(with(three + 42, 3, 4), "no header where the directory says");
  refused(with(three + 42, 0x7fffffff, 4), "no header where the directory says");
  refused(with(three + 42, 0xffffffff, 4), "lacks its 64-bit sizes");
  refused(with(one + 42, static_cast<std::uint32_t>(third_ - 37), 4), "does not match the directory");
  refused(with(zip_.end + 10, 4, 2), "several parts", ErrorCode::kUnsupported);
  refused(with(zip_.end + 16, 0x7fffffff, 4), "lies outside");
  refused(with(zip_.end + 12, 0x7fffffff, 4), "lies outside");
  refused(with(zip_.end + 10, 0xffff, 2), "64-bit part of its directory is missing");
  refused(with(one, 0, 4), "directory is damaged");
  refused(with(one + 28, 0xffff, 2), "directory is cut off");
  refused(with(one + 46, '\n', 1), "other letters");
  FileBytes claims = good;
  claims[zip_.end + 8] = claims[zip_.end + 10] = 200;
  refused(claims, "claims 200 members");
  FileBytes tail = good;
  tail.push_back(0);
  refused(tail, "no directory at its end");
  FileBytes front = good;
  front.insert(front.begin(), 7, 0);
  refused(front, "directory is damaged");
}

TEST_F(ZipDirectory, ReadsDeflatedMembersWhereTheyMayBe) {
  FileBytes bytes = zip_.finish();
  const auto set = [&](std::size_t entry_field, std::size_t local_field, std::uint8_t value) {
    bytes[zip_.entries[0] + entry_field] = bytes[local_field] = value;
  };
  set(10, 8, 8);     // the first is deflated
  set(24, 22, 100);  // to 100 bytes
  const auto read = [&] { return read_zip_directory(bytes, "z.pt", ZipMethods::kStoredOrDeflated); };
  ASSERT_EQ(read().size(), 3u);
  EXPECT_TRUE(read()[0].deflated);
  EXPECT_EQ(read()[0].size, 100u);
  EXPECT_EQ(read()[0].stored, 4u);
  EXPECT_FALSE(read()[2].deflated);
  EXPECT_EQ(read()[2].stored, 3u);
  refused(bytes, "is compressed", ErrorCode::kUnsupported);
  bytes[zip_.entries[0] + 25] = 0xff;  // more than deflate can
  EXPECT_ERROR(read(), ErrorCode::kDataLoss, "'a/one' cannot inflate from 4 bytes to ");
  bytes[zip_.entries[0] + 25] = 0;
  set(10, 8, 12);
  EXPECT_ERROR(read(), ErrorCode::kUnsupported, "is compressed");
}

TEST_F(ZipDirectory, RefusesMembersThatShareBytesOrNames) {
  // The second's header lies within the first's bytes.
  ZipBuilder inner;
  inner.add("a/in", "secret");
  const FileBytes inside = inner.finish();
  ZipBuilder outer;
  const std::size_t begin = outer.add("a/out", {reinterpret_cast<const char*>(inside.data()), inside.size()});
  outer.add("a/in", "other!");
  FileBytes bytes = outer.finish();
  for (std::size_t i = 0; i < 4; ++i) bytes[outer.entries[1] + 42 + i] = static_cast<std::uint8_t>(begin >> 8 * i);
  refused(bytes, "share the bytes");
  ZipBuilder twice;
  twice.add("a/b", "1");
  twice.add("a/b", "2");
  refused(twice.finish(), "'a/b' is there twice");
}

}  // namespace
}  // namespace tandem::weights
