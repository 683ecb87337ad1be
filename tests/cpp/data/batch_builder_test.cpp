#include "tandem/batch_builder.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "cpp/data/expect_error.h"
#include "cpp/data/pictures.h"
#include "cpp/data/temp_dir.h"
#include "tandem/batch_transform.h"
#include "tandem/recordio.h"
#include "tandem/sample_random.h"

namespace tandem::batch_builder_test {
namespace {

using test::FileBytes;

// A label, then text or a picture.
FileBytes record_of(std::int32_t label, const FileBytes& rest) {
  FileBytes record(4 + rest.size());
  std::memcpy(record.data(), &label, 4);
  std::copy(rest.begin(), rest.end(), record.begin() + 4);
  return record;
}

std::unique_ptr<SampleDecoder> decoder_of(const std::string& field, const SampleDecoderOptions& options = {}) {
  return make_sample_decoder(SampleSchema::parse(R"({"fields": [{"name": "label", "dtype": "int32"}, )" + field + "]}"),
                             options);
}

Batch build(SampleDecoder& decoder, const std::vector<FileBytes>& records, const CollateOptions& options = {}) {
  BatchBuilder builder(decoder, static_cast<std::int64_t>(records.size()), options);
  for (std::size_t i = 0; i < records.size(); ++i) {
    FileBytes copy = records[i];
    builder.set(static_cast<std::int64_t>(i), copy, 10 + i);
    copy.assign(copy.size(), 0xee);  // the record is gone
  }
  return builder.finish();
}

const std::vector<FileBytes> kTexts = {record_of(1, {'a', 'b', 'c'}), record_of(2, {}), record_of(3, {'d', 'e'})};
constexpr auto kText = R"({"name": "text", "kind": "bytes"})";

TEST(BatchBuilder, SequencesArePadded) {
  const auto decoder = decoder_of(kText);
  const Batch batch = build(*decoder, kTexts);
  EXPECT_EQ(batch.names, (std::vector<std::string>{"label", "text", "text_lengths"}));
  EXPECT_EQ(batch.sample_randomness, (std::vector<std::uint64_t>{10, 11, 12}));
  EXPECT_TRUE(batch.tensors[0].equal(at::tensor({1, 2, 3}, at::kInt)));
  EXPECT_TRUE(
      batch.tensors[1].equal(at::tensor({'a', 'b', 'c', '\0', '\0', '\0', 'd', 'e', '\0'}, at::kByte).view({3, 3})));
  EXPECT_TRUE(batch.tensors[2].equal(at::tensor({3, 0, 2}, at::kLong)));
  CollateOptions options;
  options.pad["text"] = {'.', 4, 2};
  EXPECT_TRUE(
      build(*decoder, kTexts, options)
          .tensors[1]
          .equal(at::tensor({'a', 'b', '.', '.', '.', '.', '.', '.', 'd', 'e', '.', '.'}, at::kByte).view({3, 4})));
}

TEST(BatchBuilder, SequencesArePacked) {
  const auto decoder = decoder_of(kText);
  CollateOptions options;
  options.pack["text"] = {4};
  const Batch batch = build(*decoder, kTexts, options);
  EXPECT_EQ(batch.names,
            (std::vector<std::string>{"label", "text", "text_segment_ids", "text_positions", "text_cu_seqlens"}));
  EXPECT_TRUE(batch.tensors[1].equal(at::tensor({'a', 'b', 'c', 'd', 'e', '\0', '\0', '\0'}, at::kByte).view({2, 4})));
  EXPECT_TRUE(batch.tensors[2].equal(at::tensor({1, 1, 1, 2, 1, 0, 0, 0}, at::kLong).view({2, 4})));
  EXPECT_TRUE(batch.tensors[4].equal(at::tensor({0, 3, 4, 5, 8}, at::kInt)));
}

TEST(BatchBuilder, PicturesOfOneSizeGoIntoTheirPlaces) {
  SampleDecoderOptions options;
  options.fits["picture"] = {ImageFit::Kind::kRandomResizedCrop, 8, 9};
  const auto decoder = decoder_of(R"({"name": "picture", "kind": "image"})", options);
  std::vector<FileBytes> pictures, records;
  for (int i = 0; i < 5; ++i) {
    pictures.push_back(test::encode_jpeg(test::draw(20 + i, 30, 3, static_cast<unsigned>(i))));
    records.push_back(record_of(i, pictures.back()));
  }
  const Batch batch = build(*decoder, records);
  ASSERT_EQ(batch.tensors[1].sizes(), at::IntArrayRef({5, 3, 8, 9}));
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(batch.tensors[1][static_cast<std::int64_t>(i)].equal(
        decode_fitted(pictures[i], {}, options.fits["picture"], 10 + i)));
  }
}

TEST(BatchBuilder, PicturesOfDifferentSizesArePadded) {
  const auto decoder = decoder_of(R"({"name": "picture", "kind": "image"})");
  const FileBytes small = test::encode_png(test::draw(4, 6, 3)), wide = test::encode_png(test::draw(3, 9, 3));
  const Batch batch = build(*decoder, {record_of(0, small), record_of(1, wide)});
  EXPECT_EQ(batch.names, (std::vector<std::string>{"label", "picture", "picture_sizes"}));
  ASSERT_EQ(batch.tensors[1].sizes(), at::IntArrayRef({2, 3, 4, 9}));
  EXPECT_TRUE(batch.tensors[1][0].equal(at::constant_pad_nd(decode_image(small), {0, 3})));
  EXPECT_TRUE(batch.tensors[2].equal(at::tensor({4, 6, 3, 9}, at::kLong).view({2, 2})));
}

TEST(BatchBuilder, ThreadsFillOneBatch) {
  SampleDecoderOptions options;
  options.fits["picture"] = {ImageFit::Kind::kResize, 16, 16};
  const auto decoder = decoder_of(R"({"name": "picture", "kind": "image"})", options);
  std::vector<FileBytes> records;
  for (int i = 0; i < 32; ++i) {
    records.push_back(record_of(i, test::encode_jpeg(test::draw(40, 40, 3, static_cast<unsigned>(i)))));
  }
  const Batch expected = build(*decoder, records);
  BatchBuilder builder(*decoder, 32);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = static_cast<std::size_t>(t); i < 32; i += 4) {
        builder.set(static_cast<std::int64_t>(i), records[i], 10 + i);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const Batch batch = builder.finish();
  EXPECT_TRUE(batch.tensors[0].equal(expected.tensors[0]));
  EXPECT_TRUE(batch.tensors[1].equal(expected.tensors[1]));
  EXPECT_EQ(batch.sample_randomness, expected.sample_randomness);
}

TEST(BatchBuilder, AFileIsReadByItsSchema) {
  const test::TempDir dir;
  const std::string path = dir / "pictures.recordio";
  RecordIOWriterOptions options;
  options.version = 2;
  options.metadata.schema =
      R"({"fields": [{"name": "label", "dtype": "int32"}, {"name": "picture", "kind": "image", "shape": [3, 8, 8]}]})";
  RecordIOWriter writer(path, options);
  for (int i = 0; i < 32; ++i) {
    writer.write(record_of(i, test::encode_png(test::draw(8, 8, 3, static_cast<unsigned>(i)))));
  }
  writer.close();
  const std::uint64_t seed = 7, epoch = 0;

  tandem::RecordIOReader reader(path);
  auto decoder = tandem::make_sample_decoder(tandem::SampleSchema::parse(reader.metadata().schema));
  tandem::BatchBuilder builder(*decoder, 32);
  for (std::int64_t i = 0; i < 32; ++i) builder.set(i, reader[i], tandem::sample_randomness(seed, epoch, i));
  tandem::Batch batch = builder.finish();
  tandem::random_horizontal_flip({"picture"})->apply(batch);

  EXPECT_TRUE(batch.tensors[0].equal(at::arange(32, at::kInt)));
  int flipped = 0;
  for (int i = 0; i < 32; ++i) {
    const at::Tensor drawn = decode_image(test::encode_png(test::draw(8, 8, 3, static_cast<unsigned>(i))));
    const at::Tensor picture = batch.tensors[1][i];
    EXPECT_TRUE(picture.equal(drawn) || picture.equal(drawn.flip(2))) << i;
    flipped += !picture.equal(drawn);
  }
  EXPECT_TRUE(flipped > 4 && flipped < 28) << flipped;
}

TEST(BatchBuilder, MistakesAreNamed) {
  const auto decoder = decoder_of(kText);
  CollateOptions options;
  options.pad["label"] = {};
  EXPECT_ERROR(BatchBuilder(*decoder, 2, options), ErrorCode::kInvalidArgument, "'label' has one size");
  options = {};
  options.pack["txt"] = {4};
  EXPECT_ERROR(BatchBuilder(*decoder, 2, options), ErrorCode::kInvalidArgument, "no field 'txt'");
  options = {};
  options.pack["text"] = {4};
  options.pad["text"] = {};
  EXPECT_ERROR(BatchBuilder(*decoder, 2, options), ErrorCode::kInvalidArgument, "not both");
  EXPECT_ERROR(BatchBuilder(*decoder, 0), ErrorCode::kInvalidArgument, "at least 1 row");
  BatchBuilder builder(*decoder, 2);
  EXPECT_ERROR(builder.set(2, kTexts[0], 0), ErrorCode::kOutOfRange, "no sample 2");
  EXPECT_ERROR(builder.set(0, FileBytes{1}, 0), ErrorCode::kDataLoss, "field 'label'");
  builder.set(0, kTexts[0], 0);
  EXPECT_ERROR(builder.finish(), ErrorCode::kInvalidArgument, "sample 1", "not set");
  options = {};
  options.pack["text"] = {2, 0, false};
  EXPECT_ERROR(build(*decoder, kTexts, options), ErrorCode::kInvalidArgument, "field 'text'", "sequence 0");
}

}  // namespace
}  // namespace tandem::batch_builder_test
