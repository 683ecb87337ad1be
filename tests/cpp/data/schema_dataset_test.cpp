#include "tandem/schema_dataset.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>

#include "cpp/data/expect_error.h"
#include "cpp/data/pictures.h"
#include "cpp/data/records.h"
#include "cpp/data/temp_dir.h"
#include "tandem/derived_datasets.h"
#include "tandem/loader.h"
#include "tandem/recordio.h"
#include "tandem/sample_random.h"

namespace tandem::schema_dataset_test {
namespace {

using test::FileBytes;

// A number, then text or a picture.
FileBytes record_of(std::int32_t number, const FileBytes& rest) {
  FileBytes record(4 + rest.size());
  std::memcpy(record.data(), &number, 4);
  std::copy(rest.begin(), rest.end(), record.begin() + 4);
  return record;
}

constexpr auto kTexts = R"({"fields": [{"name": "id", "dtype": "int32"}, {"name": "text", "kind": "bytes"}]})";
constexpr auto kPictures = R"({"fields": [{"name": "id", "dtype": "int32"}, {"name": "picture", "kind": "image"}]})";

FileBytes text_of(std::int64_t id) {
  return FileBytes(static_cast<std::size_t>(id % 5 + 1), static_cast<std::uint8_t>('a' + id % 26));
}

FileBytes picture_of(std::int64_t id) {
  return test::encode_jpeg(test::draw(20 + static_cast<int>(id), 30, 3, static_cast<unsigned>(id)));
}

class SchemaDatasetTest : public testing::Test {
 protected:
  std::string write(const char* name, const char* schema, int count, FileBytes (*content)(std::int64_t)) {
    RecordIOWriterOptions options;
    options.version = 2;
    options.chunk_bytes = 64;
    options.metadata.schema = schema;
    RecordIOWriter writer(dir_ / name, options);
    for (int i = 0; i < count; ++i) writer.write(record_of(i, content(i)));
    writer.close();
    return dir_ / name;
  }
  test::TempDir dir_;
};

TEST_F(SchemaDatasetTest, BatchesGiveTextsBack) {
  // A label, a word of three letters, a text.
  test::write_records(dir_ / "texts", {"1abcGr\u00fc\u00dfe", "2def", "3ghi!"});
  const SampleSchema schema = SampleSchema::parse(R"({"fields": [{"name": "label", "dtype": "uint8"},
      {"name": "word", "kind": "bytes", "shape": [3]}, {"name": "text", "kind": "bytes"}]})");
  DataLoader loader(schema_dataset({dir_ / "texts"}, schema), {.batch_size = 4, .shuffle = false, .tail = Tail::kPad});
  const auto batch = loader.next();
  EXPECT_EQ(batch->strings("text"), (std::vector<std::string>{"Gr\u00fc\u00dfe", "", "!", ""}));
  EXPECT_EQ(batch->strings("word"), (std::vector<std::string>{"abc", "def", "ghi", std::string(3, '\0')}));
  EXPECT_ERROR(batch->strings("label"), ErrorCode::kInvalidArgument, "'label'", "texts");
  EXPECT_ERROR(batch->strings("none"), ErrorCode::kNotFound, "none");
  LoadedBatch longer = *batch;
  longer.tensors[3] = longer.tensors[3] + 100;  // as a step of the program's own may leave lengths
  ASSERT_EQ((*longer.names)[3], "text_lengths");
  EXPECT_ERROR(longer.strings("text"), ErrorCode::kInvalidArgument, "'text'", "'text_lengths' says 107");
}

TEST_F(SchemaDatasetTest, FilesAreOpenedAsOptionsSay) {
  const std::string path = write("pictures", kPictures, 5, picture_of);
  SchemaDatasetOptions options;
  options.files.skip = 3;
  EXPECT_EQ(schema_dataset({path}, schema_of_files({path}, options.files), options)->size(), 2);
  options.files.format = RecordFormat::kTFRecord;
  EXPECT_ERROR(schema_of_files({path}, options.files), ErrorCode::kNotFound, "no schema");
}

TEST_F(SchemaDatasetTest, ALoadersBatchesAreThoseOfABuilder) {
  const std::string path = write("pictures", kPictures, 13, picture_of);
  const SampleSchema schema = schema_of_files({path});
  SchemaDatasetOptions options;
  options.decoding.fits["picture"] = {ImageFit::Kind::kRandomResizedCrop, 8, 9};
  options.decoding.fits["picture"].flip = true;
  for (const int threads : {0, 3}) {
    DataLoader loader(schema_dataset({path}, schema, options), {.batch_size = 4, .seed = 5, .threads = threads});
    EXPECT_EQ(loader.names(), (std::vector<std::string>{"id", "picture"}));
    std::int64_t seen = 0;
    for (const LoadedBatch& batch : loader.epoch(2)) {
      ASSERT_EQ(batch["picture"].sizes(), at::IntArrayRef({batch.rows, 3, 8, 9}));
      for (std::int64_t i = 0; i < batch.rows; ++i, ++seen) {
        const std::int64_t id = batch.samples[static_cast<std::size_t>(i)];
        EXPECT_EQ(batch["id"][i].item<int>(), id);
        EXPECT_TRUE(batch["picture"][i].equal(
            decode_fitted(picture_of(id), {}, options.decoding.fits["picture"], sample_randomness(5, 2, id))));
      }
    }
    EXPECT_EQ(seen, 13);
  }
}

TEST_F(SchemaDatasetTest, TextsArePaddedAndRowsBehindThemBlank) {
  const std::string path = write("texts", kTexts, 7, text_of);
  SchemaDatasetOptions options;
  options.collating.pad["text"] = {'.', 4};
  DataLoader loader(schema_dataset({path}, SampleSchema::parse(kTexts), options),
                    {.batch_size = 5, .shuffle = false, .tail = Tail::kPad});
  EXPECT_EQ(loader.names(), (std::vector<std::string>{"id", "text", "text_lengths"}));
  loader.start_epoch(0, 1);
  const auto batch = loader.next();
  EXPECT_TRUE((*batch)["id"].equal(at::tensor({5, 6, 0, 0, 0}, at::kInt)));
  EXPECT_TRUE((*batch)["text_lengths"].equal(at::tensor({1, 2, 0, 0, 0}, at::kLong)));
  at::Tensor texts = at::full({5, 4}, '.', at::kByte);
  texts[0][0] = 'f';
  texts[1].narrow(0, 0, 2).fill_('g');
  EXPECT_TRUE((*batch)["text"].equal(texts));
}

TEST_F(SchemaDatasetTest, ARankWithoutSamplesHasTensorsOfThoseTypes) {
  const std::string path = write("texts", kTexts, 1, text_of);
  const auto part_of_nothing = [&](const CollateOptions& collating) {
    SchemaDatasetOptions options;
    options.collating = collating;
    DataLoader loader(schema_dataset({path}, SampleSchema::parse(kTexts), options),
                      {.batch_size = 2, .rank = 1, .world_size = 2});
    return *loader.next();
  };
  CollateOptions collating;
  const LoadedBatch padded = part_of_nothing(collating);
  EXPECT_EQ(padded.rows, 0);
  EXPECT_EQ(padded["id"].sizes(), at::IntArrayRef({0}));
  EXPECT_EQ(padded["id"].scalar_type(), at::kInt);
  EXPECT_EQ(padded["text"].size(0), 0);
  EXPECT_EQ(padded["text"].dim(), 2);
  collating.pack["text"] = {16};
  const LoadedBatch packed = part_of_nothing(collating);
  EXPECT_EQ(packed["text"].sizes(), at::IntArrayRef({0, 16}));
  EXPECT_TRUE(packed["text_cu_seqlens"].equal(at::tensor({0}, at::kInt)));
}

TEST_F(SchemaDatasetTest, TextsArePacked) {
  const std::string path = write("texts", kTexts, 3, text_of);
  SchemaDatasetOptions options;
  options.collating.pack["text"] = {4};
  DataLoader loader(schema_dataset({path}, SampleSchema::parse(kTexts), options), {.batch_size = 3, .shuffle = false});
  const auto batch = loader.next();
  EXPECT_TRUE((*batch)["text"].equal(at::tensor({'a', 'b', 'b', 'c', 'c', 'c', '\0', '\0'}, at::kByte).view({2, 4})));
  EXPECT_TRUE((*batch)["text_cu_seqlens"].equal(at::tensor({0, 1, 3, 4, 6, 8}, at::kInt)));
  EXPECT_TRUE((*batch)["id"].equal(at::tensor({0, 1, 2}, at::kInt)));
}

TEST_F(SchemaDatasetTest, ASampleHasAllOfItsPackedFields) {
  const std::string path = write("texts", kTexts, 3, text_of);
  SchemaDatasetOptions options;
  options.collating.pack["text"] = {2};
  const auto dataset = schema_dataset({path}, SampleSchema::parse(kTexts), options);
  const auto sample = dataset->get(2);
  EXPECT_EQ(sample[0].item<int>(), 2);
  EXPECT_EQ(sample[0].dim(), 0);
  EXPECT_TRUE(sample[1].equal(at::tensor({'c', 'c', 'c', '\0'}, at::kByte).view({2, 2})));
}

TEST_F(SchemaDatasetTest, PackedBatchesAreNotMixed) {
  SchemaDatasetOptions options;
  options.collating.pack["text"] = {2};
  std::vector<std::shared_ptr<Dataset>> parts;
  for (const char* name : {"a", "b"}) {
    parts.push_back(schema_dataset({write(name, kTexts, 3, text_of)}, SampleSchema::parse(kTexts), options));
  }
  const auto both = concat_dataset(parts);
  const std::int64_t one[] = {3, 4, 5}, mixed[] = {2, 3, 5};
  EXPECT_EQ(both->get_batch(one, 3)[1].sizes(), at::IntArrayRef({3, 2}));
  EXPECT_ERROR(both->get_batch(mixed, 3), ErrorCode::kInvalidArgument, "data set 0", "packed", "one data set");
}

TEST_F(SchemaDatasetTest, AMistakeNamesFileChunkRecordAndField) {
  const std::string good = write("good", kPictures, 3, picture_of);
  const std::string bad = write("bad", kPictures, 2, [](std::int64_t id) {
    return id == 1 ? FileBytes{1, 2, 3} : picture_of(id);
  });
  SchemaDatasetOptions options;
  options.decoding.fits["picture"] = {ImageFit::Kind::kResize, 8, 8};
  DataLoader loader(schema_dataset({good, bad}, SampleSchema::parse(kPictures), options),
                    {.batch_size = 2, .shuffle = false, .threads = 2});
  EXPECT_EQ(loader.next()->rows, 2);
  EXPECT_EQ(loader.next()->rows, 2);
  for (int again = 0; again < 2; ++again) {
    EXPECT_ERROR(loader.next(), ErrorCode::kDataLoss, "cannot decode", bad, "chunk 1", "record 0", "field 'picture'");
  }
}

TEST_F(SchemaDatasetTest, ASampleIsABatchOfOne) {
  const auto dataset = schema_dataset({write("texts", kTexts, 3, text_of)}, SampleSchema::parse(kTexts));
  const auto sample = dataset->get(1);
  ASSERT_EQ(sample.size(), dataset->names().size());
  EXPECT_EQ(sample[0].item<int>(), 1);
  EXPECT_TRUE(sample[1].equal(at::tensor({'b', 'b'}, at::kByte)));
  EXPECT_EQ(sample[2].item<std::int64_t>(), 2);
}

// Of both: an id, a vector, tokens, of which record i has i % 4, and a text.
constexpr auto kNdjson = R"({"format": "json", "fields": [{"name": "id", "dtype": "int32"},
    {"name": "x", "dtype": "float32", "shape": [2]}, {"name": "tokens", "dtype": "int64", "shape": [-1]},
    {"name": "text", "kind": "bytes"}]})";
constexpr auto kCsv = R"({"format": "csv", "columns": ["text", "none", "id", "x", "tokens"], "fields": [
    {"name": "id", "dtype": "int32"}, {"name": "x", "dtype": "float32", "shape": [2]},
    {"name": "tokens", "dtype": "int64", "shape": [-1]}, {"name": "text", "kind": "bytes"}]})";

TEST_F(SchemaDatasetTest, LinesOfJsonAndCsvAreBatches) {
  constexpr int kRecords = 23;
  std::string ndjson, csv = "a header,\"of \"\"two\"\"\nlines\"\n";
  for (int i = 0; i < kRecords; ++i) {
    const std::string id = std::to_string(i);
    std::string tokens;
    for (int t = 0; t < i % 4; ++t) tokens += "," + std::to_string(10 * i + t);
    ndjson += R"({"id": )" + id + R"(, "text": "t\n)" + id + R"(", "tokens": [)" +
              (tokens.empty() ? "" : tokens.substr(1)) + R"(], "x": [)" + id + ", 0.5]}\n";
    csv += "\"t\n" + id + "\",skipped," + id + "," + id + ",0.5" + tokens + "\r\n";
  }
  test::write_file(dir_ / "a.ndjson", FileBytes(ndjson.begin(), ndjson.end()));
  test::write_file(dir_ / "a.csv", FileBytes(csv.begin(), csv.end()));
  for (const bool json : {true, false}) {
    SchemaDatasetOptions options;
    options.collating.pad["tokens"] = {-1, 3};
    options.files.skip = json ? 0 : 1;
    const auto dataset =
        schema_dataset({dir_ / (json ? "a.ndjson" : "a.csv")}, SampleSchema::parse(json ? kNdjson : kCsv), options);
    DataLoader loader(dataset, {.batch_size = 5, .seed = 3, .threads = 3});
    std::int64_t seen = 0;
    for (const LoadedBatch& batch : loader.epoch(1)) {
      const auto texts = batch.strings("text");
      ASSERT_EQ(batch["tokens"].sizes(), at::IntArrayRef({batch.rows, 3}));
      for (std::int64_t i = 0; i < batch.rows; ++i, ++seen) {
        const std::int64_t id = batch.samples[static_cast<std::size_t>(i)];
        EXPECT_EQ(batch["id"][i].item<int>(), id);
        EXPECT_TRUE(batch["x"][i].equal(at::tensor({static_cast<float>(id), 0.5f})));
        EXPECT_EQ(texts[static_cast<std::size_t>(i)], "t\n" + std::to_string(id));
        EXPECT_EQ(batch["tokens_lengths"][i].item<std::int64_t>(), id % 4);
        for (std::int64_t t = 0; t < 3; ++t) {
          EXPECT_EQ(batch["tokens"][i][t].item<std::int64_t>(), t < id % 4 ? 10 * id + t : -1);
        }
      }
    }
    EXPECT_EQ(seen, kRecords);
  }
}

TEST_F(SchemaDatasetTest, AMistakeInALineNamesItsPlace) {
  const auto first = [&](const std::string& name, const std::string& text, const char* schema) {
    test::write_file(dir_ / name, FileBytes(text.begin(), text.end()));
    DataLoader loader(schema_dataset({dir_ / name}, SampleSchema::parse(schema)),
                      {.batch_size = 2, .shuffle = false, .threads = 2});
    loader.next();
  };
  EXPECT_ERROR(first("a.ndjson", "{\"v\": 1}\n\n{\"v\": 300}\n",
                     R"({"format": "json", "fields": [{"name": "v", "dtype": "uint8"}]})"),
               ErrorCode::kDataLoss, dir_ / "a.ndjson", "record 1 at byte 10", "field 'v'", "300");
  EXPECT_ERROR(
      first("a.csv", "1,2\n3,x\n", R"({"format": "csv", "fields": [{"name": "v", "dtype": "uint8", "shape": [2]}]})"),
      ErrorCode::kDataLoss, dir_ / "a.csv", "record 1 at byte 4", "field 'v'", "column 1 is 'x'");
  // A record of RecordIO may be text, too, and the file says so.
  RecordIOWriterOptions options;
  options.version = 2;
  options.metadata.schema = R"({"format": "json", "fields": [{"name": "v", "dtype": "uint8"}]})";
  test::write_records(dir_ / "records", {"{\"v\": 7}", "{\"v\": 1.5}"}, options);
  const auto dataset = schema_dataset({dir_ / "records"}, schema_of_files({dir_ / "records"}));
  EXPECT_EQ(dataset->get(0)[0].item<int>(), 7);
  EXPECT_ERROR(dataset->get(1), ErrorCode::kDataLoss, dir_ / "records", "chunk 0", "record 1", "field 'v'", "floating");
}

TEST_F(SchemaDatasetTest, FilesWithoutSchemaAreRefused) {
  const std::string path = write("none", "", 1, text_of);
  EXPECT_ERROR(schema_of_files({path}), ErrorCode::kNotFound, path, "carries no schema");
}

}  // namespace
}  // namespace tandem::schema_dataset_test
