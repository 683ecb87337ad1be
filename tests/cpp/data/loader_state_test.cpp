#include "tandem/loader_state.h"

#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "cpp/data/expect_error.h"

namespace tandem::loader_state_test {
namespace {

LoaderState example() {
  LoaderState state;
  state.fingerprint = 0xfedcba9876543210u;
  state.samples = std::int64_t{1} << 40;
  state.positions = std::int64_t{1} << 41;
  state.seed = ~std::uint64_t{0};
  state.epoch = 3;
  state.position = 12345678901;
  state.batch_size = 1000;
  state.order = "block shuffle of 1024 in 16";
  return state;
}

TEST(LoaderState, SurvivesItsBytes) {
  const LoaderState back = LoaderState::parse(example().bytes());
  EXPECT_EQ(back.bytes(), example().bytes());
  EXPECT_EQ(back.fingerprint, 0xfedcba9876543210u);
  EXPECT_EQ(back.samples, std::int64_t{1} << 40);
  EXPECT_EQ(back.positions, std::int64_t{1} << 41);
  EXPECT_EQ(back.seed, ~std::uint64_t{0});
  EXPECT_EQ(back.epoch, 3);
  EXPECT_EQ(back.position, 12345678901);
  EXPECT_EQ(back.batch_size, 1000);
  EXPECT_EQ(back.order, "block shuffle of 1024 in 16");
}

TEST(LoaderState, IsLessThan256Bytes) {
  LoaderState state = example();
  state.order = std::string(1000, 'x');
  EXPECT_LT(state.bytes().size(), 256u);
  EXPECT_EQ(LoaderState::parse(state.bytes()).order, std::string(80, 'x'));
}

// Checkpoints hold these bytes: every later version reads them.
TEST(LoaderState, BytesAreFrozen) {
  std::string hex;
  for (const unsigned char c : example().bytes()) {
    constexpr char digits[] = "0123456789abcdef";
    hex += {digits[c >> 4], digits[c & 15]};
  }
  EXPECT_EQ(hex,
            "54444d4c4f41443101000000"
            "1032547698badcfe0000000000010000"
            "0000000000020000ffffffffffffffff"
            "0300000000000000351cdcdf02000000"
            "e803000000000000"
            "1b000000626c6f636b2073687566666c65206f66203130323420696e203136"
            "e7f7ea9c");
}

TEST(LoaderState, DamageIsFound) {
  const std::string whole = example().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_ERROR(LoaderState::parse(std::string_view(whole).substr(0, size)), ErrorCode::kDataLoss, "no state");
  }
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_ERROR(LoaderState::parse(flipped), ErrorCode::kDataLoss, "no state");
  }
  EXPECT_ERROR(LoaderState::parse(whole + "x"), ErrorCode::kDataLoss, "checksum");
  EXPECT_ERROR(LoaderState::parse(std::string(100000, 'x')), ErrorCode::kDataLoss, "100000 bytes");
  LoaderState behind = example();
  behind.position = behind.positions + 1;
  EXPECT_ERROR(LoaderState::parse(behind.bytes()), ErrorCode::kDataLoss, "cannot be");
}

TEST(LoaderState, LaterVersionsAreNamed) {
  std::string later = example().bytes();
  later[8] = 2;
  later.resize(later.size() - 4);
  const std::uint32_t checksum = crc32c({reinterpret_cast<const std::uint8_t*>(later.data()), later.size()});
  later.append(reinterpret_cast<const char*>(&checksum), 4);
  EXPECT_ERROR(LoaderState::parse(later), ErrorCode::kUnsupported, "version 2");
}

}  // namespace
}  // namespace tandem::loader_state_test
