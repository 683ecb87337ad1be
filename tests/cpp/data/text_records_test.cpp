// Records of JSON and CSV.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cpp/data/expect_error.h"
#include "cpp/data/temp_dir.h"
#include "tandem/sample_schema.h"

namespace tandem::text_records_test {
namespace {

using test::FileBytes;

FileBytes bytes_of(std::string_view text) {
  return FileBytes(text.begin(), text.end());
}

std::string text_of(const at::Tensor& bytes) {
  return std::string(static_cast<const char*>(bytes.const_data_ptr()), static_cast<std::size_t>(bytes.numel()));
}

std::unique_ptr<SampleDecoder> decoder_of(const std::string& format, const std::string& fields) {
  return make_sample_decoder(SampleSchema::parse(R"({"format": ")" + format + R"(", "fields": [)" + fields + "]}"));
}

struct DtypeCase {
  const char* name;
  at::ScalarType dtype;
  const char *good, *bad;  // two numbers that it reaches, and one that it does not
};

constexpr DtypeCase kDtypes[] = {
    {"bool", at::kBool, "0,1", "2"},
    {"uint8", at::kByte, "0,255", "300"},
    {"int8", at::kChar, "-128,127", "128"},
    {"int16", at::kShort, "-32768,32767", "-32769"},
    {"uint16", at::kUInt16, "0,65535", "65536"},
    {"int32", at::kInt, "-2147483648,2147483647", "2147483648"},
    {"uint32", at::kUInt32, "0,4294967295", "4294967296"},
    {"int64", at::kLong, "-9223372036854775808,9223372036854775807", "9223372036854775808"},
    {"uint64", at::kUInt64, "0,9223372036854775807", "-1"},
    {"float16", at::kHalf, "-0.5,65504", "65520"},
    {"bfloat16", at::kBFloat16, "-0.5,3e38", "3.4e38"},
    {"float32", at::kFloat, "-0.5,3.4028235e38", "1e39"},
    {"float64", at::kDouble, "-0.5,1.7976931348623157e308", "1e309"}};

// The numbers as text of their exact values.
std::string numbers_of(const at::Tensor& tensor) {
  const auto number = [&](std::int64_t i) {
    return at::isFloatingType(tensor.scalar_type()) ? c10::str(tensor.to(at::kDouble)[i].item<double>())
                                                    : std::to_string(tensor.to(at::kLong)[i].item<std::int64_t>());
  };
  return number(0) + "," + number(1);
}

// --- JSON

constexpr auto kJson = R"({"name": "id", "dtype": "int64"}, {"name": "weight", "dtype": "float32"},
    {"name": "tokens", "dtype": "int32", "shape": [-1]}, {"name": "matrix", "dtype": "float64", "shape": [2, 3]},
    {"name": "text", "kind": "bytes"}, {"name": "flag", "dtype": "bool"}, {"name": "code", "kind": "bytes", "shape": [3]})";

void expect_values(const std::vector<at::Tensor>& out) {
  EXPECT_EQ(out[0].item<std::int64_t>(), -1234567890123);
  EXPECT_EQ(out[1].item<float>(), 0.5f);
  EXPECT_TRUE(out[2].equal(at::tensor({5, -6, 70000}, at::kInt)));
  EXPECT_TRUE(out[3].equal(at::tensor({1., 2., 3., 4., 5., 6.5}, at::kDouble).view({2, 3})));
  EXPECT_EQ(text_of(out[4]), std::string("Gr\u00fc\u00dfe \"\n\0!", 12));
  EXPECT_TRUE(out[5].item<bool>());
  EXPECT_EQ(text_of(out[6]), "abc");
}

TEST(JsonRecords, ObjectsAndArrays) {
  const auto decoder = decoder_of("json", kJson);
  // Names that the schema does not have are passed over at any depth, also where they are called like a field.
  expect_values(decoder->decode(bytes_of(R"({"id": -1234567890123, "other": {"id": [1, null, {"x": "y"}], "text": 3},
      "weight": 0.5, "flag": true, "tokens": [5, -6, 70000], "none": null, "matrix": [[1, 2, 3], [4, 5, 6.5]],
      "text": "Gr\u00fc\u00dfe \"\n\u0000!", "code": "abc"})")));
  expect_values(decoder->decode(bytes_of(R"([-1234567890123, 5e-1, [5, -6, 70000], [1, 2, 3, 4, 5, 6.5],
      "Gr\u00fc\u00dfe \"\n\u0000!", 1, "abc"])")));
}

TEST(JsonRecords, StringsOutliveTheirRecord) {
  const auto decoder = decoder_of("json", R"({"name": "a", "kind": "bytes"}, {"name": "b", "kind": "bytes"})");
  FileBytes record = bytes_of(R"({"a": "a text that is too long for a short string", "b": ""})");
  const auto out = decoder->decode(record);
  record.assign(record.size(), 'x');
  EXPECT_EQ(text_of(out[0]), "a text that is too long for a short string");
  EXPECT_EQ(out[1].sizes(), at::IntArrayRef({0}));
}

TEST(JsonRecords, EveryDtype) {
  for (const DtypeCase& one : kDtypes) {
    const std::string field = std::string(R"({"name": "v", "dtype": ")") + one.name + R"(", "shape": [2]})";
    const auto decode = [&](const std::string& values) {
      return decoder_of("json", field)->decode(bytes_of(R"({"v": [)" + values + "]}"))[0];
    };
    const at::Tensor out = decode(one.good);
    EXPECT_EQ(out.scalar_type(), one.dtype);
    const at::Tensor in_doubles = decoder_of("json", R"({"name": "v", "dtype": "float64", "shape": [2]})")
                                      ->decode(bytes_of(R"({"v": [)" + std::string(one.good) + "]}"))[0];
    if (at::isFloatingType(one.dtype)) {
      EXPECT_TRUE(out.equal(in_doubles.to(one.dtype))) << one.name;
    } else {
      EXPECT_EQ(numbers_of(out), one.good);
    }
    // 1e309 is no number of JSON that any double is.
    const bool no_json = one.dtype == at::kDouble;
    EXPECT_ERROR(decode(std::string("0, ") + one.bad), ErrorCode::kDataLoss, "field 'v'",
                 no_json ? "beyond what float64 reaches" : "does not reach");
  }
}

TEST(JsonRecords, NumbersFitOrAreRefused) {
  const auto decode = [](const std::string& dtype, const std::string& shape, const std::string& value) {
    return decoder_of("json", R"({"name": "v", "dtype": ")" + dtype + R"(", "shape": )" + shape + "}")
        ->decode(bytes_of(R"({"v": )" + value + "}"))[0];
  };
  const auto refuse = [&](const std::string& dtype, const std::string& shape, const std::string& value,
                          const std::string& part) {
    EXPECT_ERROR(decode(dtype, shape, value), ErrorCode::kDataLoss, "field 'v'", part);
  };
  EXPECT_EQ(decode("int8", "[-1, 2]", "[[1, 2], [3, 4], [5, 6]]").sizes(), at::IntArrayRef({3, 2}));
  EXPECT_EQ(decode("int8", "[-1, 2]", "[]").sizes(), at::IntArrayRef({0, 2}));
  EXPECT_EQ(decode("float64", "[]", "18446744073709551615").item<double>(), 18446744073709551615.);
  EXPECT_EQ(decode("float64", "[]", "100000000000000000000").item<double>(), 1e20);
  EXPECT_TRUE(decode("float32", "[3]", "[1, 2.5, true]").equal(at::tensor({1.f, 2.5f, 1.f})));
  refuse("int64", "[]", "1.5", "floating");
  refuse("int64", "[]", "100000000000000000000", "'100000000000000000000', which int64 does not reach");
  refuse("int64", "[]", "18446744073709551615", "18446744073709551615, which int64 does not reach");
  refuse("float32", "[]", "NaN", "JSON has no NaN");
  refuse("float32", "[2]", "[1, -Infinity]", "JSON has no NaN and no infinity");
  refuse("int8", "[]", "null", "holds null; strings, numbers, booleans");
  refuse("int8", "[]", R"({"x": 1})", "holds an object");
  refuse("int8", "[]", R"("7")", "holds a string, where the schema has numbers");
  refuse("int8", "[2]", R"(["a", "b"])", "holds a list of strings");
  refuse("int8", "[2]", "[1, null]", "holds null");
  refuse("int8", "[2]", "[1]", "1 elements");
  refuse("int8", "[2]", "[1, 2, 3]", "more than the 2 elements");
  refuse("int8", "[2]", "[[1], [2]]", "nested deeper");
  refuse("int8", "[]", "[1]", "nested deeper");
  refuse("int8", "[3, 2]", "[[1, 2, 3], [4, 5, 6]]", "otherwise than its shape");
  // Ragged, also where the count of numbers is right.
  refuse("int8", "[2, 2]", "[[1, 2, 3], [4]]", "rows of different lengths");
  refuse("int8", "[-1, 2]", "[[1, 2], []]", "rows of different lengths");
  refuse("int8", "[-1, 2]", "[[1, 2], 3, 4]", "numbers beside rows");
  refuse("int8", "[-1, 2]", "[3, 4, [1, 2]]", "numbers beside rows");
  refuse("int8", "[-1, 2]", "[[], []]", "otherwise than its shape");
  EXPECT_ERROR(decoder_of("json", kJson)->decode(bytes_of(R"({"code": "ab"})")), ErrorCode::kDataLoss, "field 'code'",
               "2 elements");
  EXPECT_ERROR(decoder_of("json", kJson)->decode(bytes_of(R"({"text": [1]})")), ErrorCode::kDataLoss, "field 'text'",
               "holds numbers");
}

TEST(JsonRecords, OtherRecordsAreRefused) {
  const auto decoder = decoder_of("json", R"({"name": "a", "dtype": "int8"})");
  const auto refuse = [&](const std::string& record, const std::string& part) {
    EXPECT_ERROR(decoder->decode(bytes_of(record)), ErrorCode::kDataLoss, part);
  };
  EXPECT_EQ(decoder->decode(bytes_of(" {\"a\": 1}\r\n"))[0].item<int>(), 1);
  refuse("", "no JSON: it is empty");
  refuse("7", "single JSON value");
  refuse("{}", "no field 'a'");
  refuse("[]", "array of 0 values");
  refuse("[1, 2]", "array of more than 1 values");
  refuse(R"({"a": 1, "a": 2})", "field 'a' twice");
  refuse(R"({"a": 1)", "truncated");
  refuse(R"({"a": )", "truncated, in field 'a'");
  refuse(R"({"a": 1} {"a": 2})", "bad byte at 9, '{\"a\": 2}'");
  refuse(R"({"a": 1,})", "bad byte at 8, '}'");
  refuse(R"({'a': 1})", "bad byte at 1, ''a': 1}'");
  refuse("{\"a\": 1, \"b\": \"\xff\xfe\"}", "bad byte at 15, '?");
  refuse(R"({"a": 1, "b": NaN})", "JSON has no NaN");
  refuse(R"({"a": 1, "b": )" + std::string(1 << 20, '['), "nested more than 64 deep");
  refuse(R"({"a": 1, "b": )" + std::string(100, '1') + std::string(1 << 20, '!') + "}", "bad byte at 114, '!!!");
}

// --- CSV

std::unique_ptr<SampleDecoder> csv_of(const std::string& fields, const std::string& more = "") {
  return make_sample_decoder(SampleSchema::parse(R"({"format": "csv", )" + more + R"("fields": [)" + fields + "]}"));
}

TEST(CsvRecords, ColumnsInTheSchemasOrder) {
  const auto decoder = csv_of(R"({"name": "id", "dtype": "int64"}, {"name": "text", "kind": "bytes"},
      {"name": "matrix", "dtype": "float32", "shape": [2, 2]}, {"name": "flag", "dtype": "bool"},
      {"name": "quoted", "kind": "bytes"}, {"name": "rest", "dtype": "int16", "shape": [-1, 2]})");
  const FileBytes record = bytes_of("-7, a text ,1, 2.5\t,\"3\",-4e0,True,\"say \"\"hi\"\",\r\n\",1,2,3,4");
  const auto out = decoder->decode(record);
  EXPECT_EQ(out[0].item<std::int64_t>(), -7);
  EXPECT_EQ(text_of(out[1]), " a text ");
  EXPECT_EQ(out[1].const_data_ptr(), record.data() + 3);  // a view
  EXPECT_TRUE(out[2].equal(at::tensor({1.f, 2.5f, 3.f, -4.f}).view({2, 2})));
  EXPECT_TRUE(out[3].item<bool>());
  EXPECT_EQ(text_of(out[4]), "say \"hi\",\r\n");
  EXPECT_TRUE(out[5].equal(at::tensor({1, 2, 3, 4}, at::kShort).view({2, 2})));
  EXPECT_EQ(decoder->decode(bytes_of("1,,1,2,3,4,0,\"\""))[5].sizes(), at::IntArrayRef({0, 2}));
  EXPECT_EQ(text_of(csv_of(R"({"name": "a", "kind": "bytes"})")->decode(bytes_of(""))[0]), "");
}

TEST(CsvRecords, ColumnsThatAreNamed) {
  const auto decoder =
      csv_of(R"({"name": "label", "dtype": "uint8"}, {"name": "pixels", "dtype": "uint8", "shape": [3]})",
             R"("separator": ";", "columns": ["id", "pixels", "note", "label", "note"], )");
  const auto out = decoder->decode(bytes_of("x;1;2;3;\"a;b\";9;"));
  EXPECT_EQ(out[0].item<int>(), 9);
  EXPECT_TRUE(out[1].equal(at::tensor({1, 2, 3}, at::kByte)));
  EXPECT_ERROR(decoder->decode(bytes_of("x;1;2;3;y;9")), ErrorCode::kDataLoss, "ends before column 6");
  const auto tabs =
      csv_of(R"({"name": "a", "dtype": "int8"}, {"name": "b", "dtype": "int8"})", R"("separator": "\t", )");
  EXPECT_EQ(tabs->decode(bytes_of("1\t2"))[1].item<int>(), 2);
}

TEST(CsvRecords, EveryDtype) {
  for (const DtypeCase& one : kDtypes) {
    const auto decoder = csv_of(std::string(R"({"name": "v", "dtype": ")") + one.name + R"(", "shape": [2]})");
    const auto exact = csv_of(R"({"name": "v", "dtype": "float64", "shape": [2]})");
    const at::Tensor out = decoder->decode(bytes_of(one.good))[0];
    EXPECT_EQ(out.scalar_type(), one.dtype);
    if (at::isFloatingType(one.dtype)) {
      EXPECT_TRUE(out.equal(exact->decode(bytes_of(one.good))[0].to(one.dtype))) << one.name;
    } else {
      EXPECT_EQ(numbers_of(out), one.good);
    }
    EXPECT_ERROR(decoder->decode(bytes_of(std::string("0,") + one.bad)), ErrorCode::kDataLoss, "field 'v'",
                 "does not reach");
  }
}

TEST(CsvRecords, MistakesNameFieldAndColumn) {
  const auto decoder = csv_of(R"({"name": "n", "dtype": "int64"}, {"name": "x", "dtype": "float32", "shape": [2]},
      {"name": "t", "kind": "bytes"}, {"name": "b", "dtype": "bool"})");
  const auto refuse = [&](const std::string& record, const std::string& field, const std::string& part) {
    EXPECT_ERROR(decoder->decode(bytes_of(record)), ErrorCode::kDataLoss, field, part);
  };
  EXPECT_FALSE(decoder->decode(bytes_of("1,2,3,,0"))[4 - 1].item<bool>());
  refuse("n,x0,x1,t,b", "field 'n'", "column 0 is 'n', no integer; a header is left out with the option skip");
  refuse("1.5,2,3,,0", "field 'n'", "'1.5', no integer");
  refuse("99999999999999999999,2,3,,0", "field 'n'", "'99999999999999999999', which int64 does not reach");
  refuse("1,2,,,0", "field 'x'", "column 2 is empty");
  refuse("1,2, ,,0", "field 'x'", "column 2 is empty");
  refuse("1,NaN,3,,0", "field 'x'", "column 1 is 'NaN', no number");
  refuse("1,2,-inf,,0", "field 'x'", "'-inf', no number");
  refuse("1,2,0x10,,0", "field 'x'", "'0x10', no number");
  refuse("1,2,3 4,,0", "field 'x'", "'3 4', no number");
  refuse("1,2,3,,yes", "field 'b'", "'yes', no true or false");
  refuse("1,2,3,,2", "field 'b'", "2, which Bool does not reach");
  refuse("1,2", "field 'x'", "takes column 2, but the record has 2 columns");
  refuse("1,2,3", "field 't'", "takes column 3, but the record has 3 columns");
  refuse("", "field 'n'", "column 0 is empty");
  refuse("1,2,3,,0,", "6 columns", "take 5");
  refuse("1,2,3,a\"b\",0", "field 't'", "column 3 has a quote in it");
  refuse("1,2,3,\"ab,0", "field 't'", "column 3 begins with a quote that does not end");
  refuse("1,2,3,\"a\"b,0", "field 't'", "column 3 goes on behind its closing quote");
  refuse("1,2,3,a\nb,0", "field 't'", "column 3 has a line's end");
  refuse("1," + std::string(1 << 20, '!') + ",3,,0", "field 'x'", "'!!!");
  const auto rest = csv_of(R"({"name": "r", "dtype": "int8", "shape": [-1, 2]})");
  EXPECT_ERROR(rest->decode(bytes_of("1,2,3")), ErrorCode::kDataLoss, "field 'r'", "3 elements", "[-1, 2]");
  const auto word = csv_of(R"({"name": "w", "kind": "bytes", "shape": [3]})");
  EXPECT_ERROR(word->decode(bytes_of("ab")), ErrorCode::kDataLoss, "field 'w'", "2 elements");
}

// --- schemas of both

TEST(TextSchemas, JsonAndBack) {
  const std::string json =
      R"({"format":"csv","columns":["b","","a"],"separator":";",)"
      R"("fields":[{"name":"a","dtype":"int8","shape":[]},{"name":"b","dtype":"int8","shape":[]}]})";
  EXPECT_EQ(SampleSchema::parse(json).to_json(), json);
  EXPECT_EQ(SampleSchema::parse(R"({"format": "json", "fields": [{"name": "a", "dtype": "int8"}]})").format,
            SampleFormat::kJson);
}

TEST(TextSchemas, MistakesAreNamed) {
  const auto refuse = [](const std::string& rest, const std::string& part, const char* format = "csv") {
    EXPECT_ERROR(SampleSchema::parse(R"({"format": ")" + std::string(format) + "\", " + rest + "}"),
                 ErrorCode::kInvalidArgument, part);
  };
  const std::string a = R"("fields": [{"name": "a", "dtype": "int8"}])";
  for (const char* format : {"json", "csv"}) {
    refuse(R"("fields": [{"name": "p", "kind": "image"}])", "field 'p' is an image", format);
    refuse(R"("fields": [{"name": "p", "kind": "image"}])", "msgpack or tf.train.Example", format);
  }
  refuse(R"("fields": [{"name": "a", "dtype": "int8", "shape": [-1]}, {"name": "b", "dtype": "int8"}])",
         "'a' varies in size");
  refuse(R"("columns": ["a", "b"], "fields": [{"name": "a", "dtype": "int8", "shape": [-1]}])", "'a' varies in size");
  refuse(R"("columns": ["b"], )" + a, "'a' is none of the schema's columns");
  refuse(R"("columns": ["a", "a"], )" + a, "field 'a' twice");
  refuse(R"("columns": "a", )" + a, "no list of names");
  refuse(R"("columns": [1], )" + a, "no list of names");
  refuse(R"("separator": "ab", )" + a, "no single character");
  refuse(R"("separator": "1", )" + a, "one of , ; | and a tab");
  refuse(R"("columns": ["a"], )" + a, "only the format csv", "json");
}

}  // namespace
}  // namespace tandem::text_records_test
