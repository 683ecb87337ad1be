#include "tandem/sample_schema.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include <msgpack/pack.hpp>
#include <msgpack/sbuffer.hpp>
#include <msgpack/type.hpp>
#include <protozero/pbf_writer.hpp>

#include "cpp/data/expect_error.h"
#include "cpp/data/pictures.h"
#include "tandem/recordio.h"

namespace tandem::sample_schema_test {
namespace {

using test::FileBytes;

FileBytes bytes_of(std::string_view text) {
  return FileBytes(text.begin(), text.end());
}

template <typename Number>
void append(FileBytes& to, std::initializer_list<Number> numbers) {
  for (const Number number : numbers) {
    const auto* const data = reinterpret_cast<const std::uint8_t*>(&number);
    to.insert(to.end(), data, data + sizeof number);
  }
}

std::unique_ptr<SampleDecoder> decoder_of(std::string_view json, const SampleDecoderOptions& options = {}) {
  return make_sample_decoder(SampleSchema::parse(json), options);
}

std::string text_of(const at::Tensor& bytes) {
  return std::string(static_cast<const char*>(bytes.const_data_ptr()), static_cast<std::size_t>(bytes.numel()));
}

// --- the schema

TEST(SampleSchema, JsonAndBack) {
  const std::string json =
      R"({"format":"msgpack","fields":[{"name":"label","dtype":"int64","shape":[]},)"
      R"({"name":"tokens","dtype":"int32","shape":[-1,2]},{"name":"caption","kind":"bytes","dtype":"uint8","shape":[-1]},)"
      R"({"name":"picture","kind":"image","dtype":"uint8","shape":[32,40,1],"mode":"gray","layout":"HWC"}]})";
  const SampleSchema schema = SampleSchema::parse(json);
  EXPECT_EQ(schema.format, SampleFormat::kMsgpack);
  ASSERT_EQ(schema.fields.size(), 4);
  EXPECT_EQ(schema.fields[1].dtype, at::kInt);
  EXPECT_TRUE(schema.fields[1].varies());
  EXPECT_EQ(schema.fields[3].mode, ImageMode::kGray);
  EXPECT_FALSE(schema.fields[3].varies());
  EXPECT_EQ(schema.to_json(), json);
}

TEST(SampleSchema, WhatIsLeftOutHasDefaults) {
  const SampleSchema schema =
      SampleSchema::parse(R"({"fields": [{"name": "label", "dtype": "int64"}, {"name": "picture", "kind": "image"}]})");
  EXPECT_EQ(schema.format, SampleFormat::kFixed);
  EXPECT_TRUE(schema.fields[0].shape.empty());
  EXPECT_EQ(schema.fields[1].shape, (std::vector<std::int64_t>{3, -1, -1}));
  EXPECT_EQ(schema.fields[1].mode, ImageMode::kRGB);
}

TEST(SampleSchema, MistakesAreNamed) {
  const auto refuse = [](const char* fields, const std::string& part, const char* format = "msgpack") {
    const std::string json = std::string(R"({"format": ")") + format + R"(", "fields": [)" + fields + "]}";
    EXPECT_ERROR(SampleSchema::parse(json), ErrorCode::kInvalidArgument, part);
  };
  EXPECT_ERROR(SampleSchema::parse("{"), ErrorCode::kInvalidArgument, "no JSON");
  EXPECT_ERROR(SampleSchema::parse("[1]"), ErrorCode::kInvalidArgument, "list of fields");
  EXPECT_ERROR(SampleSchema::parse(R"({"fields": [], "x": 1})"), ErrorCode::kInvalidArgument, "unknown key 'x'");
  refuse(R"({"name": "a", "dtype": "int8"})", "has to be one of fixed, msgpack, tf.train.Example, json, csv", "xml");
  refuse("", "no fields");
  refuse("7", "field 0");
  refuse(R"({"name": "a"})", "field 'a' has no dtype");
  refuse(R"({"name": "a", "dtype": "int7"})", "\"int7\", but has to be one of bool, uint8");
  refuse(R"({"name": "a", "dtype": 7})", "field 'a''s dtype is 7");
  refuse(R"({"name": "a", "dtype": "int8", "shap": [1]})", "unknown key 'shap'");
  refuse(R"({"name": "a", "dtype": "int8", "dtype": "int16"})", "key 'dtype' twice");
  refuse(R"({"name": "a", "dtype": "int8", "shape": 3})", "no list of sizes");
  refuse(R"({"name": "a", "dtype": "int8", "shape": [0]})", "size of 0");
  refuse(R"({"name": "a", "dtype": "int8", "shape": [-2]})", "size of -2");
  refuse(R"({"name": "a", "dtype": "int8", "shape": [2, -1]})", "varies in dimension 1");
  refuse(R"({"name": "a", "dtype": "int8", "shape": [4000000000, 4000000000]})", "4 GiB");
  refuse(R"({"name": "a", "dtype": "int8", "shape": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]})", "more than 16 dimensions");
  refuse(R"({"name": "a", "dtype": "int8"}, {"name": "a", "dtype": "int8"})", "two fields are called 'a'");
  refuse(R"({"name": "a", "dtype": "int8", "mode": "RGB"})", "only images");
  refuse(R"({"name": "a", "kind": "image", "shape": [1, 8, 8]})", "no shape [1, 8, 8]");
  refuse(R"({"name": "a", "kind": "image", "dtype": "int8"})", "uint8");
  refuse(R"({"name": "a", "kind": "bytes", "shape": [2, 2]})", "bytes");
  refuse(R"({"name": "a", "kind": "bytes"}, {"name": "b", "dtype": "int8"})", "only the last field", "fixed");
}

TEST(SampleSchema, GivesTheLoaderItsFields) {
  const SampleSchema schema = SampleSchema::parse(
      R"({"fields": [{"name": "label", "dtype": "uint8"}, {"name": "image", "dtype": "uint8", "shape": [1, 28, 28]}]})");
  const std::vector<RecordField> fields = schema.record_fields();
  ASSERT_EQ(fields.size(), 2);
  EXPECT_EQ(fields[1].name, "image");
  EXPECT_EQ(fields[1].sizes, (std::vector<std::int64_t>{1, 28, 28}));
  EXPECT_EQ(fields[1].out_dtype, at::kByte);
  EXPECT_ERROR(SampleSchema::parse(R"({"fields": [{"name": "t", "dtype": "int8", "shape": [-1]}]})").record_fields(),
               ErrorCode::kInvalidArgument, "field 't'", "fixed");
  EXPECT_ERROR(
      SampleSchema::parse(R"({"format": "msgpack", "fields": [{"name": "t", "dtype": "int8"}]})").record_fields(),
      ErrorCode::kInvalidArgument, "msgpack");
}

// --- fixed layout

TEST(FixedRecords, FieldsAreViewsOfTheRecord) {
  alignas(8) std::uint8_t record[8 + 12 + 3];
  const std::int64_t label = -5;
  const float values[3] = {1, 2.5, -3};
  std::memcpy(record, &label, 8);
  std::memcpy(record + 8, values, 12);
  std::memcpy(record + 20, "xyz", 3);
  const auto decoder = decoder_of(R"({"fields": [{"name": "label", "dtype": "int64"},
      {"name": "values", "dtype": "float32", "shape": [3]}, {"name": "text", "kind": "bytes"}]})");
  const auto out = decoder->decode(record);
  EXPECT_EQ(out[0].item<std::int64_t>(), -5);
  EXPECT_EQ(out[0].dim(), 0);
  EXPECT_TRUE(out[1].equal(at::tensor({1.f, 2.5f, -3.f})));
  EXPECT_EQ(text_of(out[2]), "xyz");
  EXPECT_EQ(out[1].const_data_ptr(), record + 8);
  EXPECT_EQ(out[2].const_data_ptr(), record + 20);
}

TEST(FixedRecords, MisalignedNumbersAreCopied) {
  FileBytes record{7};
  append<std::int32_t>(record, {1, -2});
  const auto decoder =
      decoder_of(R"({"fields": [{"name": "a", "dtype": "uint8"}, {"name": "b", "dtype": "int32", "shape": [-1]}]})");
  const auto out = decoder->decode(record);
  EXPECT_TRUE(out[1].equal(at::tensor({1, -2}, at::kInt)));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(out[1].const_data_ptr()) % 4, 0);
}

TEST(FixedRecords, PlacesAreFilled) {
  FileBytes record;
  append<std::int32_t>(record, {1, 2, 3, 4});
  const auto decoder = decoder_of(R"({"fields": [{"name": "a", "dtype": "int32", "shape": [2, 2]}]})");
  const at::Tensor batch = at::zeros({3, 2, 2}, at::kInt);
  std::vector<at::Tensor> places{batch[1]};
  decoder->decode(record, 0, places);
  EXPECT_TRUE(batch.equal(at::tensor({0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0}, at::kInt).view({3, 2, 2})));
  places[0] = batch[2].t();
  decoder->decode(record, 0, places);
  EXPECT_TRUE(batch[2].equal(at::tensor({1, 3, 2, 4}, at::kInt).view({2, 2})));
  places[0] = at::zeros({2, 2});
  EXPECT_ERROR(decoder->decode(record, 0, places), ErrorCode::kInvalidArgument, "field 'a'", "Float", "Int");
}

TEST(FixedRecords, OtherSizesAreRefused) {
  const auto decoder =
      decoder_of(R"({"fields": [{"name": "a", "dtype": "int32"}, {"name": "b", "dtype": "float64", "shape": [2]}]})");
  EXPECT_ERROR(decoder->decode(FileBytes(19)), ErrorCode::kDataLoss, "field 'b' takes bytes 4 to 20", "has 19");
  EXPECT_ERROR(decoder->decode(FileBytes(21)), ErrorCode::kDataLoss, "21 bytes", "take 20");
  const auto rest = decoder_of(R"({"fields": [{"name": "r", "dtype": "int32", "shape": [-1, 2]}]})");
  EXPECT_EQ(rest->decode(FileBytes(16))[0].sizes(), at::IntArrayRef({2, 2}));
  EXPECT_EQ(rest->decode(FileBytes(0))[0].sizes(), at::IntArrayRef({0, 2}));
  EXPECT_ERROR(rest->decode(FileBytes(15)), ErrorCode::kDataLoss, "field 'r'", "15 bytes");
  EXPECT_ERROR(rest->decode(FileBytes(12)), ErrorCode::kDataLoss, "field 'r'", "3 elements", "[-1, 2]");
}

TEST(FixedRecords, AnImageMayEndTheRecord) {
  const FileBytes jpeg = test::encode_jpeg(test::draw(20, 30, 3));
  FileBytes record;
  append<std::int64_t>(record, {3});
  record.insert(record.end(), jpeg.begin(), jpeg.end());
  constexpr auto kSchema = R"({"fields": [{"name": "label", "dtype": "int64"}, {"name": "picture", "kind": "image"}]})";
  EXPECT_TRUE(decoder_of(kSchema)->decode(record)[1].equal(decode_image(jpeg)));

  SampleDecoderOptions options;
  ImageFit& fit = options.fits["picture"];
  fit.kind = ImageFit::Kind::kRandomResizedCrop;
  fit.height = 8;
  fit.width = 9;
  const auto fitted = decoder_of(kSchema, options);
  EXPECT_EQ(fitted->fields()[1].shape, (std::vector<std::int64_t>{3, 8, 9}));
  EXPECT_TRUE(fitted->decode(record, 77)[1].equal(decode_fitted(jpeg, {}, fit, 77)));

  record.resize(record.size() / 2);
  EXPECT_ERROR(decoder_of(kSchema)->decode(record), ErrorCode::kDataLoss, "field 'picture'", "truncated");
  EXPECT_ERROR(decoder_of(R"({"fields": [{"name": "p", "kind": "image", "shape": [3, 20, 31]}]})")->decode(jpeg),
               ErrorCode::kDataLoss, "field 'p'", "[3, 20, 30]", "[3, 20, 31]");
  options.fits["other"] = fit;
  EXPECT_ERROR(decoder_of(kSchema, options), ErrorCode::kInvalidArgument, "'other'");
  options.fits = {{"label", fit}};
  EXPECT_ERROR(decoder_of(kSchema, options), ErrorCode::kInvalidArgument, "'label' is no image");
}

// --- MessagePack

constexpr auto kMsgpack = R"({"format": "msgpack", "fields": [
    {"name": "id", "dtype": "int64"}, {"name": "weight", "dtype": "float32"},
    {"name": "tokens", "dtype": "int32", "shape": [-1]}, {"name": "matrix", "dtype": "float64", "shape": [2, 3]},
    {"name": "raw", "dtype": "int16", "shape": [2]}, {"name": "text", "kind": "bytes"}, {"name": "flag", "dtype": "bool"}]})";

using Packer = msgpack::packer<msgpack::sbuffer>;

FileBytes packed(const std::function<void(Packer&)>& body) {
  msgpack::sbuffer buffer;
  Packer packer(buffer);
  body(packer);
  return FileBytes(buffer.data(), buffer.data() + buffer.size());
}

void pack_values(Packer& p, bool named) {
  const auto name = [&](const char* text) {
    if (named) p.pack(text);
  };
  name("id");
  p.pack(-1234567890123);
  if (named) {  // what the schema does not have, at any depth
    p.pack("unknown");
    p.pack(std::map<std::string, std::vector<int>>{{"id", {1, 2}}, {"x", {}}});
  }
  name("weight");
  p.pack(0.5);
  name("tokens");
  p.pack(std::vector<int>{5, -6, 70000});
  name("matrix");
  p.pack(std::vector<std::vector<double>>{{1, 2, 3}, {4, 5, 6.5}});
  name("raw");
  p.pack_bin(4);
  p.pack_bin_body("\x01\x02\xff\xff", 4);
  name("text");
  p.pack("héllo");
  name("flag");
  p.pack(true);
}

void expect_values(const std::vector<at::Tensor>& out) {
  EXPECT_EQ(out[0].item<std::int64_t>(), -1234567890123);
  EXPECT_EQ(out[1].item<float>(), 0.5f);
  EXPECT_EQ(out[1].scalar_type(), at::kFloat);
  EXPECT_TRUE(out[2].equal(at::tensor({5, -6, 70000}, at::kInt)));
  EXPECT_TRUE(out[3].equal(at::tensor({1., 2., 3., 4., 5., 6.5}, at::kDouble).view({2, 3})));
  EXPECT_TRUE(out[4].equal(at::tensor({0x201, -1}, at::kShort)));
  EXPECT_EQ(text_of(out[5]), "héllo");
  EXPECT_TRUE(out[6].item<bool>());
}

TEST(MsgpackRecords, MapsAndArrays) {
  const auto decoder = decoder_of(kMsgpack);
  expect_values(decoder->decode(packed([](Packer& p) {
    p.pack_map(8);
    pack_values(p, true);
  })));
  expect_values(decoder->decode(packed([](Packer& p) {
    p.pack_array(7);
    pack_values(p, false);
  })));
}

TEST(MsgpackRecords, NumbersFitOrAreRefused) {
  const auto decode = [](const char* dtype, const char* shape, const std::function<void(Packer&)>& value) {
    const std::string schema = std::string(R"({"format": "msgpack", "fields": [{"name": "v", "dtype": ")") + dtype +
                               R"(", "shape": )" + shape + "}]}";
    return decoder_of(schema)->decode(packed([&](Packer& p) {
      p.pack_map(1);
      p.pack("v");
      value(p);
    }))[0];
  };
  const auto number = [](auto x) { return [x](Packer& p) { p.pack(x); }; };
  EXPECT_EQ(decode("uint8", "[]", number(255)).item<int>(), 255);
  EXPECT_ERROR(decode("uint8", "[]", number(256)), ErrorCode::kDataLoss, "field 'v'", "256");
  EXPECT_ERROR(decode("uint8", "[]", number(-1)), ErrorCode::kDataLoss, "-1");
  EXPECT_ERROR(decode("int64", "[]", number(UINT64_MAX)), ErrorCode::kDataLoss, "18446744073709551615");
  EXPECT_ERROR(decode("int32", "[]", number(1.5)), ErrorCode::kDataLoss, "floating");
  EXPECT_EQ(decode("float16", "[]", number(3)).item<double>(), 3);
  EXPECT_TRUE(decode("float32", "[3]", number(std::vector<double>{1, 2.5, 3})).equal(at::tensor({1.f, 2.5f, 3.f})));
  EXPECT_EQ(decode("float32", "[-1]", number(std::vector<int>{})).numel(), 0);
  // Flat for any shape, nested only as the shape is.
  EXPECT_EQ(decode("int8", "[2, 2]", number(std::vector<int>{1, 2, 3, 4})).sizes(), at::IntArrayRef({2, 2}));
  using Rows = std::vector<std::vector<int>>;
  EXPECT_EQ(decode("int8", "[-1, 2]", number(Rows{{1, 2}, {3, 4}, {5, 6}})).sizes(), at::IntArrayRef({3, 2}));
  EXPECT_ERROR(decode("int8", "[2, 2]", number(Rows{{1, 2, 3}, {4}})), ErrorCode::kDataLoss,
               "rows of different lengths");
  EXPECT_ERROR(decode("int8", "[3, 2]", number(Rows{{1, 2, 3}, {4, 5, 6}})), ErrorCode::kDataLoss,
               "otherwise than its shape");
  EXPECT_ERROR(decode("int8", "[-1, 2]",
                      [](Packer& p) {
                        p.pack_array(3);
                        p.pack(std::vector<int>{1, 2}).pack(3).pack(4);
                      }),
               ErrorCode::kDataLoss, "numbers beside rows");
  EXPECT_EQ(decode("float64", "[]", number(UINT64_MAX)).item<double>(), 18446744073709551615.);
  EXPECT_ERROR(decode("float16", "[]", number(70000)), ErrorCode::kDataLoss, "70000, which Half does not reach");
  EXPECT_ERROR(decode("float32", "[]", number(1e300)), ErrorCode::kDataLoss, "1e+300, which Float does not reach");
  EXPECT_EQ(decode("float32", "[]", number(INFINITY)).item<float>(), INFINITY);
  EXPECT_ERROR(decode("int8", "[2]", number(Rows{{1}, {2}})), ErrorCode::kDataLoss, "nested deeper");
  EXPECT_ERROR(decode("int8", "[2]", number(std::vector<int>{1, 2, 3})), ErrorCode::kDataLoss,
               "more than the 2 elements");
  EXPECT_ERROR(decode("int8", "[2]", number(std::vector<int>{1})), ErrorCode::kDataLoss, "1 elements", "[2]");
  EXPECT_ERROR(decode("int8", "[]", [](Packer& p) { p.pack_nil(); }), ErrorCode::kDataLoss, "holds nil");
  EXPECT_ERROR(decode("int8", "[]", number(std::map<int, int>{{1, 1}})), ErrorCode::kDataLoss, "holds a map");
  EXPECT_ERROR(decode("int8", "[2]", number(std::vector<std::string>{"a", "b"})), ErrorCode::kDataLoss, "byte strings");
  EXPECT_ERROR(decode("int16", "[2]", number(std::string("abc"))), ErrorCode::kDataLoss, "3 bytes");
}

TEST(MsgpackRecords, OtherRecordsAreRefused) {
  const auto decoder = decoder_of(R"({"format": "msgpack", "fields": [{"name": "a", "dtype": "int8"}]})");
  EXPECT_ERROR(decoder->decode(FileBytes{}), ErrorCode::kDataLoss, "empty");
  EXPECT_ERROR(decoder->decode(packed([](Packer& p) { p.pack(5); })), ErrorCode::kDataLoss, "single MessagePack value");
  EXPECT_ERROR(decoder->decode(FileBytes{0xc1}), ErrorCode::kDataLoss, "no MessagePack");
  EXPECT_ERROR(decoder->decode(packed([](Packer& p) { p.pack_map(0); })), ErrorCode::kDataLoss, "no field 'a'");
  EXPECT_ERROR(decoder->decode(packed([](Packer& p) {
    p.pack(std::vector<int>{1, 2});
  })),
               ErrorCode::kDataLoss, "array of 2 values");
  EXPECT_ERROR(decoder->decode(packed([](Packer& p) {
    p.pack(std::map<int, int>{{1, 2}});
  })),
               ErrorCode::kDataLoss, "no strings");
  EXPECT_ERROR(decoder->decode(packed([](Packer& p) {
    p.pack_map(2);
    p.pack("a").pack(1).pack("a").pack(2);
  })),
               ErrorCode::kDataLoss, "field 'a' twice");
  FileBytes record = packed([](Packer& p) { p.pack(std::map<std::string, int>{{"a", 1}}); });
  EXPECT_EQ(decoder->decode(record)[0].item<int>(), 1);
  record.push_back(0xc0);
  EXPECT_ERROR(decoder->decode(record), ErrorCode::kDataLoss, "1 bytes after");
  record.resize(record.size() - 2);
  EXPECT_ERROR(decoder->decode(record), ErrorCode::kDataLoss, "truncated");
  FileBytes deep(1 << 20, 0x91);
  deep[0] = 0x81;
  EXPECT_ERROR(decoder->decode(deep), ErrorCode::kDataLoss, "no strings");
  deep[0] = 0x91;
  deep[1] = 0x81;
  deep[2] = 0xa1;
  EXPECT_ERROR(decoder->decode(deep), ErrorCode::kDataLoss, "holds a map");
  FileBytes deep_value = packed([](Packer& p) {
    p.pack_map(1);
    p.pack("other");
  });
  deep_value.resize(1 << 20, 0x91);
  EXPECT_ERROR(decoder->decode(deep_value), ErrorCode::kDataLoss, "nested more than 64 deep");
  // Billions of elements that are only claimed.
  EXPECT_ERROR(decoder->decode(FileBytes{0xdf, 0xff, 0xff, 0xff, 0xff}), ErrorCode::kDataLoss, "truncated");
}

// --- tf.train.Example

FileBytes example(const std::function<void(protozero::pbf_writer&)>& features) {
  std::string record;
  {
    protozero::pbf_writer writer(record);
    protozero::pbf_writer inner(writer, 1);
    features(inner);
  }
  return bytes_of(record);
}

void add_feature(protozero::pbf_writer& features, const std::string& name, unsigned kind,
                 const std::function<void(protozero::pbf_writer&)>& list) {
  protozero::pbf_writer entry(features, 1);
  entry.add_string(1, name);
  protozero::pbf_writer feature(entry, 2);
  protozero::pbf_writer values(feature, kind);
  list(values);
}

constexpr auto kTf = R"({"format": "tf.train.Example", "fields": [
    {"name": "id", "dtype": "int64"}, {"name": "tokens", "dtype": "int32", "shape": [-1]},
    {"name": "x", "dtype": "float32", "shape": [2]}, {"name": "s", "kind": "bytes"},
    {"name": "raw", "dtype": "uint16", "shape": [2]}]})";

FileBytes whole_example(bool packed_lists) {
  return example([&](protozero::pbf_writer& features) {
    add_feature(features, "id", 3, [&](auto& list) { list.add_int64(1, -7); });
    add_feature(features, "other", 1, [&](auto& list) { list.add_bytes(1, "ignored"); });
    add_feature(features, "tokens", 3, [&](auto& list) {
      const std::vector<std::int64_t> tokens{1, 70000, -3};
      if (packed_lists) {
        list.add_packed_int64(1, tokens.begin(), tokens.end());
      } else {
        for (const auto token : tokens) list.add_int64(1, token);
      }
    });
    add_feature(features, "x", 2, [&](auto& list) {
      const std::vector<float> values{0.5, -2};
      if (packed_lists) {
        list.add_packed_float(1, values.begin(), values.end());
      } else {
        for (const float value : values) list.add_float(1, value);
      }
    });
    add_feature(features, "s", 1, [&](auto& list) { list.add_bytes(1, "abc"); });
    add_feature(features, "raw", 1, [&](auto& list) { list.add_bytes(1, std::string("\x01\x02\xff\xff", 4)); });
  });
}

TEST(TfExamples, ListsOfEachKind) {
  for (const bool packed_lists : {false, true}) {
    const auto example = whole_example(packed_lists);  // out has views of it
    const auto out = decoder_of(kTf)->decode(example);
    EXPECT_EQ(out[0].item<std::int64_t>(), -7);
    EXPECT_TRUE(out[1].equal(at::tensor({1, 70000, -3}, at::kInt)));
    EXPECT_TRUE(out[2].equal(at::tensor({0.5f, -2.f})));
    EXPECT_EQ(text_of(out[3]), "abc");
    EXPECT_TRUE(out[4].to(at::kInt).equal(at::tensor({0x201, 0xffff}, at::kInt)));
  }
}

TEST(TfExamples, TensorFlowsOwnBytes) {
  // tf.train.Example(features={"id": int64_list [7], "s": bytes_list [b"abc"]}).SerializeToString()
  const FileBytes record = {0x0a, 0x1b, 0x0a, 0x0b, 0x0a, 0x02, 'i',  'd',  0x12, 0x05, 0x1a, 0x03, 0x0a, 0x01, 0x07,
                            0x0a, 0x0c, 0x0a, 0x01, 's',  0x12, 0x07, 0x0a, 0x05, 0x0a, 0x03, 'a',  'b',  'c'};
  const auto out =
      decoder_of(R"({"format": "tf.train.Example", "fields": [{"name": "id", "dtype": "int64", "shape": [1]},
      {"name": "s", "kind": "bytes"}]})")
          ->decode(record);
  EXPECT_TRUE(out[0].equal(at::tensor({7}, at::kLong)));
  EXPECT_EQ(text_of(out[1]), "abc");
}

TEST(TfExamples, ImagesDecode) {
  const FileBytes png = test::encode_png(test::draw(6, 5, 3));
  const FileBytes record = example([&](protozero::pbf_writer& features) {
    add_feature(features, "image/encoded", 1,
                [&](auto& list) { list.add_bytes(1, std::string(png.begin(), png.end())); });
  });
  const auto decoder =
      decoder_of(R"({"format": "tf.train.Example", "fields": [{"name": "image/encoded", "kind": "image"}]})");
  EXPECT_TRUE(decoder->decode(record)[0].equal(decode_image(png)));
}

TEST(TfExamples, TheLastEntryOfANameHolds) {
  const FileBytes record = example([&](protozero::pbf_writer& features) {
    add_feature(features, "v", 3, [&](auto& list) { list.add_int64(1, 1); });
    add_feature(features, "v", 3, [&](auto& list) { list.add_int64(1, 2); });
  });
  EXPECT_EQ(decoder_of(R"({"format": "tf.train.Example", "fields": [{"name": "v", "dtype": "int8"}]})")
                ->decode(record)[0]
                .item<int>(),
            2);
}

TEST(TfExamples, OtherRecordsAreRefused) {
  const auto decode = [](unsigned kind, const std::function<void(protozero::pbf_writer&)>& list, const char* dtype) {
    const std::string schema = std::string(R"({"format": "tf.train.Example", "fields": [{"name": "v", "dtype": ")") +
                               dtype + R"(", "shape": [2]}]})";
    return decoder_of(schema)->decode(
        example([&](protozero::pbf_writer& features) { add_feature(features, "v", kind, list); }))[0];
  };
  // Writers of protocol buffers write lists that have no elements, which protozero's leaves out.
  const auto empty = [](unsigned kind, const char* dtype) {
    const std::string schema = std::string(R"({"format": "tf.train.Example", "fields": [{"name": "v", "dtype": ")") +
                               dtype + R"(", "shape": [2]}]})";
    return decoder_of(schema)->decode(example([&](protozero::pbf_writer& features) {
      protozero::pbf_writer entry(features, 1);
      entry.add_string(1, "v");
      protozero::pbf_writer feature(entry, 2);
      feature.add_message(kind, std::string());
    }));
  };
  const auto floats = [](auto& list) {
    for (const float value : {1.f, 2.f}) list.add_float(1, value);
  };
  const auto integers = [](auto& list) {
    for (const int value : {1, 300}) list.add_int64(1, value);
  };
  EXPECT_TRUE(decode(2, floats, "float64").equal(at::tensor({1., 2.}, at::kDouble)));
  EXPECT_TRUE(decode(3, integers, "float32").equal(at::tensor({1.f, 300.f})));
  EXPECT_ERROR(decode(2, floats, "int32"), ErrorCode::kDataLoss, "field 'v'", "floating");
  EXPECT_ERROR(decode(3, integers, "uint8"), ErrorCode::kDataLoss, "300");
  EXPECT_ERROR(decode(2, integers, "float32"), ErrorCode::kDataLoss, "no floats");
  EXPECT_ERROR(decode(3, floats, "int32"), ErrorCode::kDataLoss, "no integers");
  EXPECT_ERROR(decode(
                   2, [](auto& list) { list.add_bytes(1, "abcde"); }, "float32"),
               ErrorCode::kDataLoss, "middle");
  EXPECT_ERROR(empty(3, "int32"), ErrorCode::kDataLoss, "0 elements");
  EXPECT_ERROR(decode(
                   1, [](auto& list) { list.add_bytes(1, "ab"), list.add_bytes(1, "ab"); }, "int8"),
               ErrorCode::kDataLoss, "several byte strings");
  EXPECT_ERROR(empty(1, "int8"), ErrorCode::kDataLoss, "no byte string");
  const auto decoder = decoder_of(kTf);
  EXPECT_ERROR(decoder->decode(FileBytes{}), ErrorCode::kDataLoss, "no field 'id'");
  const FileBytes whole = whole_example(true);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_ERROR(decoder->decode({whole.data(), size}), ErrorCode::kDataLoss, "");
  }
}

}  // namespace
}  // namespace tandem::sample_schema_test
