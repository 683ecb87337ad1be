#include "tandem/sample_schema.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/invalid.h"
#include "data/json_options.h"
#include "tandem/error.h"

namespace tandem {
namespace {

using options::Json;

constexpr std::size_t kMostFields = 10'000;
constexpr std::size_t kMostDims = 16;
constexpr std::size_t kMostColumns = 1'000'000;
constexpr std::string_view kSeparators = ",;|\t";

template <typename Value>
struct Name {
  const char* name;
  Value value;
};

constexpr Name<SampleFormat> kFormats[] = {{"fixed", SampleFormat::kFixed},
                                           {"msgpack", SampleFormat::kMsgpack},
                                           {"tf.train.Example", SampleFormat::kTfExample},
                                           {"json", SampleFormat::kJson},
                                           {"csv", SampleFormat::kCsv}};
constexpr Name<FieldKind> kKinds[] = {
    {"numbers", FieldKind::kNumbers}, {"bytes", FieldKind::kBytes}, {"image", FieldKind::kImage}};
constexpr Name<ImageMode> kModes[] = {
    {"RGB", ImageMode::kRGB}, {"gray", ImageMode::kGray}, {"unchanged", ImageMode::kUnchanged}};
constexpr Name<ImageLayout> kLayouts[] = {{"CHW", ImageLayout::kCHW}, {"HWC", ImageLayout::kHWC}};
constexpr Name<at::ScalarType> kDtypes[] = {
    {"bool", at::kBool},        {"uint8", at::kByte},   {"int8", at::kChar},     {"int16", at::kShort},
    {"int32", at::kInt},        {"int64", at::kLong},   {"uint16", at::kUInt16}, {"uint32", at::kUInt32},
    {"uint64", at::kUInt64},    {"float16", at::kHalf}, {"float32", at::kFloat}, {"float64", at::kDouble},
    {"bfloat16", at::kBFloat16}};

template <typename Value, std::size_t n>
const char* name_of(const Name<Value> (&names)[n], Value value) {
  for (const auto& one : names) {
    if (one.value == value) return one.name;
  }
  return nullptr;
}

// The named value under `key`, which says what it is for in errors.
template <typename Value, std::size_t n>
Value value_of(const Name<Value> (&names)[n], const Json& object, const char* key, Value otherwise,
               const std::string& where) {
  if (!object.contains(key)) return otherwise;
  std::string choices;
  for (const auto& one : names) {
    if (object[key] == one.name) return one.value;
    choices += (choices.empty() ? "" : ", ") + std::string(one.name);
  }
  invalid(where + "'s " + key + " is " + object[key].dump(-1, ' ', false, Json::error_handler_t::replace) +
          ", but has to be one of " + choices);
}

void check_keys(const Json& object, std::initializer_list<const char*> known, const std::string& where) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      invalid(where + " has the unknown key '" + key + "'");
  }
}

std::vector<std::int64_t> image_shape(const SchemaField& field) {
  const std::int64_t channels = field.mode == ImageMode::kUnchanged ? -1 : static_cast<std::int64_t>(field.mode);
  if (field.layout == ImageLayout::kHWC) return {-1, -1, channels};
  return {channels, -1, -1};
}

SchemaField parse_field(const Json& json, std::size_t number) {
  std::string where = "field " + std::to_string(number) + " of the schema";
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string())
    invalid(where + " is no object with a name");
  SchemaField field;
  field.name = json["name"].get<std::string>();
  where = "field '" + field.name + "'";
  check_keys(json, {"name", "kind", "dtype", "shape", "mode", "layout"}, where);
  field.kind = value_of(kKinds, json, "kind", FieldKind::kNumbers, where);
  const bool image = field.kind == FieldKind::kImage;
  if (field.kind == FieldKind::kNumbers && !json.contains("dtype")) invalid(where + " has no dtype");
  if (!image && (json.contains("mode") || json.contains("layout"))) {
    invalid(where + " has a mode or layout, which only images have");
  }
  field.dtype = value_of(kDtypes, json, "dtype", at::kByte, where);
  field.mode = value_of(kModes, json, "mode", ImageMode::kRGB, where);
  field.layout = value_of(kLayouts, json, "layout", ImageLayout::kCHW, where);
  if (json.contains("shape")) {
    if (!json["shape"].is_array()) invalid(where + " has a shape that is no list of sizes");
    for (const Json& size : json["shape"]) {
      if (!size.is_number_integer() || (size.is_number_unsigned() && size.get<std::uint64_t>() > INT64_MAX)) {
        invalid(where + " has a shape that is no list of sizes");
      }
      field.shape.push_back(size.get<std::int64_t>());
    }
  } else if (image) {
    field.shape = image_shape(field);
  } else if (field.kind == FieldKind::kBytes) {
    field.shape = {-1};
  }
  return field;
}

void check_field(const SchemaField& field) {
  const std::string where = "field '" + field.name + "'";
  if (field.name.empty()) invalid("a field of the schema has an empty name");
  if (!name_of(kDtypes, field.dtype)) {
    invalid(where + " has dtype " + c10::toString(field.dtype) + ", which records cannot have");
  }
  if (field.shape.size() > kMostDims) invalid(where + " has more than " + std::to_string(kMostDims) + " dimensions");
  std::int64_t bytes = static_cast<std::int64_t>(c10::elementSize(field.dtype));
  for (std::size_t i = 0; i < field.shape.size(); ++i) {
    const std::int64_t size = field.shape[i];
    if (size < -1 || size == 0) {
      invalid(where + " has a size of " + std::to_string(size) + "; sizes are at least 1, or -1 where they vary");
    }
    if (size == -1 && i > 0 && field.kind != FieldKind::kImage) {
      invalid(where + " varies in dimension " + std::to_string(i) + ", but only dimension 0 may");
    }
    if (size > 0 && (__builtin_mul_overflow(bytes, size, &bytes) || bytes > UINT32_MAX)) {
      invalid(where + " is too large: a record has at most 4 GiB");
    }
  }
  if (field.kind == FieldKind::kNumbers) return;
  if (field.dtype != at::kByte) invalid(where + " is bytes or an image, so its dtype is uint8");
  if (field.kind == FieldKind::kBytes) {
    if (field.shape.size() != 1) invalid(where + " is bytes, so its shape is [-1] or [n]");
    return;
  }
  const std::vector<std::int64_t> most = image_shape(field);
  const std::size_t channel = field.layout == ImageLayout::kHWC ? 2 : 0;
  if (field.shape.size() != 3 || (most[channel] > 0 && field.shape[channel] != most[channel])) {
    invalid(where + " is an image of mode " + std::string(name_of(kModes, field.mode)) + " and layout " +
            name_of(kLayouts, field.layout) + ", which has no shape " + c10::str(at::IntArrayRef(field.shape)));
  }
}

// The names of a record's columns, each field's among them.
std::vector<std::string> parse_columns(const Json& json) {
  if (!json.is_array() || json.size() > kMostColumns) invalid("the schema's columns are no list of names");
  std::vector<std::string> columns;
  for (const Json& name : json) {
    if (!name.is_string()) invalid("the schema's columns are no list of names");
    columns.push_back(name.get<std::string>());
  }
  return columns;
}

char parse_separator(const Json& json) {
  const std::string text = json.is_string() ? json.get<std::string>() : "";
  if (text.size() != 1) invalid("the schema's separator is no single character");
  return text[0];
}

void check_columns(const SampleSchema& schema) {
  if (schema.format != SampleFormat::kCsv) {
    if (schema.columns.empty() && schema.separator == ',') return;
    invalid("the schema has columns or a separator, which only the format csv has");
  }
  if (kSeparators.find(schema.separator) == std::string_view::npos) {
    invalid("the schema's separator has to be one of , ; | and a tab");
  }
  std::map<std::string_view, const SchemaField*> by_name;
  std::vector<const SchemaField*> order;  // of the columns; NULL: of no field
  for (const SchemaField& field : schema.fields) {
    by_name.emplace(field.name, &field);
    if (schema.columns.empty()) order.push_back(&field);
  }
  std::set<const SchemaField*> found;
  for (const std::string& column : schema.columns) {
    const auto field = by_name.find(column);
    order.push_back(field == by_name.end() ? nullptr : field->second);
    if (order.back() && !found.insert(order.back()).second) {
      invalid("the schema's columns have field '" + column + "' twice; it stands once for all that it takes");
    }
  }
  for (const SchemaField& field : schema.fields) {
    if (!schema.columns.empty() && !found.count(&field)) {
      invalid("field '" + field.name + "' is none of the schema's columns");
    }
  }
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    if (order[i] && order[i]->kind == FieldKind::kNumbers && order[i]->varies()) {
      invalid("field '" + order[i]->name +
              "' varies in size; in records of CSV only the last field may, as nothing says where it ends");
    }
  }
}

}  // namespace

bool SchemaField::varies() const {
  return std::find(shape.begin(), shape.end(), -1) != shape.end();
}

SampleSchema SampleSchema::parse(std::string_view text) {
  const Json json = options::parse_json(text, "the schema");
  if (!json.is_object() || !json.contains("fields") || !json["fields"].is_array()) {
    invalid("the schema is no object with a list of fields");
  }
  check_keys(json, {"format", "columns", "separator", "fields"}, "the schema");
  SampleSchema schema;
  schema.format = value_of(kFormats, json, "format", SampleFormat::kFixed, "the schema");
  if (json.contains("columns")) schema.columns = parse_columns(json["columns"]);
  if (json.contains("separator")) schema.separator = parse_separator(json["separator"]);
  if (json["fields"].size() > kMostFields) invalid("the schema has more than 10000 fields");
  for (const Json& field : json["fields"]) schema.fields.push_back(parse_field(field, schema.fields.size()));
  schema.check();
  return schema;
}

void SampleSchema::check() const {
  if (fields.empty()) invalid("the schema has no fields");
  const bool text = format == SampleFormat::kJson || format == SampleFormat::kCsv;
  std::set<std::string> names;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    check_field(fields[i]);
    if (text && fields[i].kind == FieldKind::kImage) {
      invalid("field '" + fields[i].name + "' is an image, which records of format " + name_of(kFormats, format) +
              " cannot hold, as they are text: write them as msgpack or tf.train.Example");
    }
    if (!names.insert(fields[i].name).second) invalid("two fields are called '" + fields[i].name + "'");
    const bool whole = fields[i].kind == FieldKind::kImage || fields[i].varies();
    if (format == SampleFormat::kFixed && whole && i + 1 < fields.size()) {
      invalid("field '" + fields[i].name +
              "' varies in size; in records of fixed layout only the last field may, as nothing says where it ends");
    }
  }
  check_columns(*this);
}

std::string SampleSchema::to_json() const {
  Json json = Json::object();
  json["format"] = name_of(kFormats, format);
  if (!columns.empty()) json["columns"] = columns;
  if (separator != ',') json["separator"] = std::string(1, separator);
  json["fields"] = Json::array();
  for (const SchemaField& field : fields) {
    Json one = {{"name", field.name}};
    if (field.kind != FieldKind::kNumbers) one["kind"] = name_of(kKinds, field.kind);
    one["dtype"] = name_of(kDtypes, field.dtype);
    one["shape"] = field.shape;
    if (field.kind == FieldKind::kImage) {
      one["mode"] = name_of(kModes, field.mode);
      one["layout"] = name_of(kLayouts, field.layout);
    }
    json["fields"].push_back(one);
  }
  try {
    return json.dump();
  } catch (const Json::type_error&) {
    invalid("the name of a field or column is not UTF-8");
  }
}

std::vector<RecordField> SampleSchema::record_fields() const {
  check();
  if (format != SampleFormat::kFixed) {
    invalid(std::string("records of format ") + name_of(kFormats, format) + " have no fixed layout");
  }
  std::vector<RecordField> result;
  for (const SchemaField& field : fields) {
    if (field.kind == FieldKind::kImage || field.varies()) invalid("field '" + field.name + "' has no fixed layout");
    result.push_back({field.name, field.dtype, field.shape, field.dtype});
  }
  return result;
}

}  // namespace tandem
