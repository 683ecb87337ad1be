// Numbers and texts in bytes, and bytes that end early.
#include "base/bytes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/packed.h"

namespace tandem::bytes_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(BytesTest, AreLittleEndianUnlessTheirNameSaysOtherwise) {
  const Bytes bytes = {1, 2, 3, 4, 5, 6, 7, 0xff};
  EXPECT_EQ(load_u32(bytes.data()), 0x04030201u);
  EXPECT_EQ(load_big_u32(bytes.data()), 0x01020304u);
  EXPECT_EQ(load_big_u32(bytes.data() + 4), 0x050607ffu);
  EXPECT_EQ(load_u64(bytes.data()), 0xff07060504030201u);
  Bytes stored(12);
  store_u64(stored.data(), 0xff07060504030201u);
  store_u32(stored.data() + 8, 7);
  append_u32(stored, 0x01020304u);
  EXPECT_EQ(stored, (Bytes{1, 2, 3, 4, 5, 6, 7, 0xff, 7, 0, 0, 0, 4, 3, 2, 1}));
}

TEST(PackedTest, GivesBackWhatWasPacked) {
  Packer packer("TDM1");
  packer << std::uint64_t{258} << std::string_view("text");
  packer.raw("raw") << std::int32_t{-2};
  const std::string bytes = packer.bytes();
  EXPECT_EQ(bytes, std::string("TDM1\x02\x01\0\0\0\0\0\0\x04\0\0\0textraw\xfe\xff\xff\xff", 27));
  Unpacker unpacker(bytes);
  EXPECT_EQ(unpacker.raw(4), "TDM1");
  EXPECT_EQ(unpacker.take<std::uint64_t>(), 258u);
  EXPECT_EQ(unpacker.text(), "text");
  EXPECT_EQ(unpacker.raw(3), "raw");
  EXPECT_FALSE(unpacker.at_end());
  EXPECT_EQ(unpacker.take<std::int32_t>(), -2);
  EXPECT_TRUE(unpacker.at_end());
}

TEST(PackedTest, SaysWhereBytesEndEarly) {
  EXPECT_THROW(Unpacker("abc").take<std::uint32_t>(), Unpacker::Ended);
  EXPECT_THROW(Unpacker("abc").raw(4), Unpacker::Ended);
  EXPECT_THROW(Unpacker(std::string_view("\x05\0\0\0text", 8)).text(), Unpacker::Ended);
  // Sizes that no memory has room for are never asked for.
  EXPECT_THROW(Unpacker("\xff\xff\xff\xff").text(), Unpacker::Ended);
  EXPECT_THROW(Unpacker(std::string_view("\x03\0\0\0twoo", 8)).count(2), Unpacker::Ended);
  EXPECT_EQ(Unpacker(std::string_view("\x02\0\0\0twoo", 8)).count(2), 2u);
}

}  // namespace
}  // namespace tandem::bytes_test
