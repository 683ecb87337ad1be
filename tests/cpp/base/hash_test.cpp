// Hashes and checksums, against what others compute.
#include <gtest/gtest.h>

#include <string>

#include "base/crc32c.h"
#include "base/fingerprint.h"
#include "base/mix.h"
#include "base/sha256.h"

namespace tandem::hash_test {
namespace {

// NIST's examples, and one of each length around that of a block.
TEST(Sha256Test, IsWhatOthersCompute) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  std::string all;
  for (std::size_t length = 0; length <= 130; ++length) all += sha256(std::string(length, 'x'));
  EXPECT_EQ(sha256(all), "87aca1c44bc7ba8897768170211f0a02063de70801131ff86c7edb9ce32c6a50");
}

// The check values of the CRC catalogue; the mask is TFRecord's.
TEST(Crc32cTest, IsWhatOthersCompute) {
  const std::string text = "123456789";
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  EXPECT_EQ(crc32c(bytes), 0xe3069283u);
  EXPECT_EQ(crc32(bytes), 0xcbf43926u);
  EXPECT_EQ(crc32c(bytes.subspan(4), crc32c(bytes.first(4))), crc32c(bytes));
  EXPECT_EQ(masked_crc32c(bytes), ((0xe3069283u >> 15) | (0xe3069283u << 17)) + 0xa282ead8u);
  EXPECT_EQ(masked_crc32c(text), masked_crc32c(bytes));
}

// Checkpoints hold what these give.
TEST(MixTest, NeverChanges) {
  EXPECT_EQ(mix(0), 0xe220a8397b1dcdafu);              // SplitMix64's first number of the seed 0
  EXPECT_EQ(mix(kSplitMixStep), 0x6e789e6aa1b965f4u);  // and its second
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8u);
  Fingerprint one, other;
  one.add(1), one.add(2);
  other.add(2), other.add(1);
  EXPECT_EQ(one.value(), mix(mix(1) ^ 2));
  EXPECT_NE(one.value(), other.value());
}

}  // namespace
}  // namespace tandem::hash_test
