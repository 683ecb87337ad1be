#include "tandem/collate.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cpp/data/expect_error.h"

namespace tandem::collate_test {
namespace {

std::vector<at::Tensor> sequences(const std::vector<std::vector<std::int64_t>>& values) {
  std::vector<at::Tensor> result;
  for (const auto& one : values) result.push_back(at::tensor(one, at::kLong));
  return result;
}

at::Tensor rows(const std::vector<std::vector<std::int64_t>>& values) {
  return at::stack(sequences(values));
}

TEST(PadToLargest, IsPadSequenceForSequences) {
  const std::vector<at::Tensor> samples{at::rand({3, 2}), at::rand({5, 2}), at::rand({0, 2}), at::rand({1, 2})};
  const Padded padded = pad_to_largest(samples, {-1.5});
  EXPECT_TRUE(padded.tensor.equal(at::pad_sequence(samples, true, -1.5)));
  EXPECT_TRUE(padded.lengths.equal(at::tensor({3, 5, 0, 1}, at::kLong)));
}

TEST(PadToLargest, PadsEveryDimension) {
  const at::Tensor a = at::rand({3, 4, 2}), b = at::rand({3, 2, 6});
  const Padded padded = pad_to_largest(std::vector{a, b});
  ASSERT_EQ(padded.tensor.sizes(), at::IntArrayRef({2, 3, 4, 6}));
  EXPECT_TRUE(padded.tensor[0].equal(at::constant_pad_nd(a, {0, 4})));
  EXPECT_TRUE(padded.tensor[1].equal(at::constant_pad_nd(b, {0, 0, 0, 2})));
}

TEST(PadToLargest, EqualSizesAreStacked) {
  const std::vector<at::Tensor> samples{at::rand({2, 3}), at::rand({2, 3})};
  EXPECT_TRUE(pad_to_largest(samples).tensor.equal(at::stack(samples)));
  const Padded scalars = pad_to_largest(std::vector{at::scalar_tensor(2), at::scalar_tensor(5)});
  EXPECT_TRUE(scalars.tensor.equal(at::tensor({2.f, 5.f})));
}

TEST(PadToLargest, RoundsUpAndCuts) {
  PadOptions options;
  options.multiple_of = 4;
  EXPECT_TRUE(pad_to_largest(sequences({{1, 2, 3, 4, 5}, {6}}), options)
                  .tensor.equal(rows({{1, 2, 3, 4, 5, 0, 0, 0}, {6, 0, 0, 0, 0, 0, 0, 0}})));
  options = {};
  options.max_length = 2;
  const Padded cut = pad_to_largest(sequences({{1, 2, 3}, {4}}), options);
  EXPECT_TRUE(cut.tensor.equal(rows({{1, 2}, {4, 0}})));
  EXPECT_TRUE(cut.lengths.equal(at::tensor({2, 1}, at::kLong)));
  EXPECT_TRUE(mask_of_lengths(cut.lengths, 3).equal(rows({{1, 1, 0}, {1, 0, 0}}).to(at::kBool)));
}

TEST(PadToLargest, NamesTheOddSample) {
  EXPECT_ERROR(pad_to_largest(std::vector{at::rand({2}), at::rand({2, 2})}), ErrorCode::kInvalidArgument, "sample 1",
               "[2, 2]", "sample 0", "[2]");
  EXPECT_ERROR(pad_to_largest(std::vector{at::rand({2}), at::ones({2}, at::kLong)}), ErrorCode::kInvalidArgument,
               "sample 1", "Long");
  EXPECT_ERROR(pad_to_largest({}), ErrorCode::kInvalidArgument, "no samples");
  EXPECT_ERROR(pad_to_largest(std::vector{at::rand({1 << 20, 0}), at::rand({0, 1 << 20})}, {0, INT64_C(1) << 32}),
               ErrorCode::kInvalidArgument, "more elements");
}

TEST(PackSequences, RunOnInTheNextRow) {
  const Packed packed = pack_sequences(sequences({{1, 2, 3}, {}, {4, 5}, {6, 7, 8, 9, 10}}), {4});
  EXPECT_TRUE(packed.tensor.equal(rows({{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 0, 0}})));
  EXPECT_TRUE(packed.segment_ids.equal(rows({{1, 1, 1, 2}, {1, 2, 2, 2}, {1, 1, 0, 0}})));
  EXPECT_TRUE(packed.positions.equal(rows({{0, 1, 2, 0}, {0, 0, 1, 2}, {0, 1, 0, 0}})));
  EXPECT_TRUE(packed.cu_seqlens.equal(at::tensor({0, 3, 4, 5, 8, 10, 12}, at::kInt)));
  EXPECT_EQ(packed.max_seqlen, 3);
}

TEST(PackSequences, StayWholeWithoutSplitting) {
  const Packed packed = pack_sequences(sequences({{1, 2, 3}, {4, 5}, {6, 7}, {8, 9, 10, 11}, {12}}), {4, -1, false});
  EXPECT_TRUE(packed.tensor.equal(rows({{1, 2, 3, -1}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, -1, -1, -1}})));
  EXPECT_TRUE(packed.segment_ids.equal(rows({{1, 1, 1, 0}, {1, 1, 2, 2}, {1, 1, 1, 1}, {1, 0, 0, 0}})));
  EXPECT_TRUE(packed.cu_seqlens.equal(at::tensor({0, 3, 4, 6, 8, 12, 13, 16}, at::kInt)));
  EXPECT_EQ(packed.max_seqlen, 4);
}

TEST(PackSequences, AttentionWithinSegmentsIsThatOfTheSequences) {
  // What segment ids and positions are for: the packed rows give each sequence its own attention.
  at::manual_seed(2);
  const std::vector<at::Tensor> tokens{at::rand({3, 8}), at::rand({5, 8}), at::rand({2, 8})};
  const Packed packed = pack_sequences(tokens, {8, 0, false});
  const at::Tensor mask = packed.segment_ids.unsqueeze(2).eq(packed.segment_ids.unsqueeze(1));
  const at::Tensor out = at::scaled_dot_product_attention(packed.tensor, packed.tensor, packed.tensor, mask);
  const auto alone = [](const at::Tensor& x) {
    const at::Tensor one = x.unsqueeze(0);
    return at::scaled_dot_product_attention(one, one, one)[0];
  };
  EXPECT_TRUE(out[0].narrow(0, 0, 3).allclose(alone(tokens[0]), 1e-5, 1e-6));
  EXPECT_TRUE(out[0].narrow(0, 3, 5).allclose(alone(tokens[1]), 1e-5, 1e-6));
  EXPECT_TRUE(out[1].narrow(0, 0, 2).allclose(alone(tokens[2]), 1e-5, 1e-6));
}

TEST(PackSequences, KeepsOtherSizesAndDtype) {
  const std::vector<at::Tensor> frames{at::rand({2, 3}), at::rand({3, 3})};
  const Packed packed = pack_sequences(frames, {5});
  EXPECT_TRUE(packed.tensor.equal(at::cat(frames).unsqueeze(0)));
  EXPECT_EQ(pack_sequences(sequences({{}, {}}), {4}).tensor.sizes(), at::IntArrayRef({0, 4}));
}

TEST(PackSequences, NamesTheSequenceThatDoesNotFit) {
  EXPECT_ERROR(pack_sequences(sequences({{1}, {1, 2, 3}}), {2, 0, false}), ErrorCode::kInvalidArgument, "sequence 1",
               "3 elements", "row's 2");
  EXPECT_ERROR(pack_sequences(std::vector{at::rand({2, 3}), at::rand({2, 4})}, {5}), ErrorCode::kInvalidArgument,
               "sequence 1", "[2, 4]");
  EXPECT_ERROR(pack_sequences(std::vector{at::scalar_tensor(1)}, {5}), ErrorCode::kInvalidArgument, "scalar");
  EXPECT_ERROR(pack_sequences(sequences({{1}}), {0}), ErrorCode::kInvalidArgument, "length is 0");
}

}  // namespace
}  // namespace tandem::collate_test
