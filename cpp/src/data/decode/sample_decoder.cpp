// Records of each format, taken apart. What they hold is whatever came from a file, so nothing in them is believed.
#include <protozero/pbf_reader.hpp>
#include <protozero/types.hpp>

#include <cstring>
#include <optional>
#include <unordered_map>

#include "data/decode/csv_record.h"
#include "data/decode/field_value.h"
#include "data/decode/json_record.h"
#include "data/decode/msgpack_record.h"
#include "tandem/error.h"

namespace tandem {
namespace {

using decode::FieldPlan;
using decode::refuse;
using Bytes = std::span<const std::uint8_t>;

class PlannedDecoder : public SampleDecoder {
 public:
  PlannedDecoder(const SampleSchema& schema, const SampleDecoderOptions& options)
      : plans_(decode::plan_fields(schema, options)) {
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      fields_.push_back(plans_[i].field);
      by_name_.emplace(plans_[i].field.name, i);
    }
  }
  const std::vector<SchemaField>& fields() const final { return fields_; }

 protected:
  // Runs `body` and names the field in what it throws.
  template <typename Body>
  void in_field(std::size_t i, const Body& body) const {
    try {
      body();
    } catch (const Error& error) {
      throw Error(error.code(), "field '" + fields_[i].name + "': " + error.what());
    }
  }
  void check_count(std::span<at::Tensor> out) const {
    if (out.size() != fields_.size()) {
      throw Error(ErrorCode::kInvalidArgument, "there are " + std::to_string(out.size()) + " tensors for " +
                                                   std::to_string(fields_.size()) + " fields");
    }
  }
  void check_complete(const std::vector<bool>& seen) const {
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (!seen[i]) refuse("the record has no field '" + fields_[i].name + "'");
    }
  }

  const std::vector<FieldPlan> plans_;
  std::vector<SchemaField> fields_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

class FixedDecoder final : public PlannedDecoder {
 public:
  using PlannedDecoder::PlannedDecoder;
  void decode(Bytes record, std::uint64_t randomness, std::span<at::Tensor> out) override {
    check_count(out);
    std::size_t at = 0;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      const FieldPlan& plan = plans_[i];
      const bool rest = plan.field.kind == FieldKind::kImage || plan.field.varies();
      const std::size_t left = record.size() - at;
      const std::size_t size = rest ? left : static_cast<std::size_t>(plan.elements * plan.element_bytes);
      if (size > left) {
        refuse("field '" + plan.field.name + "' takes bytes " + std::to_string(at) + " to " +
               std::to_string(at + size) + " of a record that has " + std::to_string(record.size()));
      }
      in_field(i, [&] { decode::decode_bytes(plan, record.subspan(at, size), randomness, out[i]); });
      at += size;
    }
    if (at != record.size()) {
      refuse("the record has " + std::to_string(record.size()) + " bytes, but the schema's fields take " +
             std::to_string(at));
    }
  }
};

// Records that say which field a value belongs to.
class NamedDecoder : public PlannedDecoder {
 public:
  using PlannedDecoder::PlannedDecoder;
  void decode(Bytes record, std::uint64_t randomness, std::span<at::Tensor> out) final {
    check_count(out);
    std::vector<bool> seen(plans_.size());
    const auto find = [&](std::string_view name) {
      const auto found = by_name_.find(std::string(name));
      return found == by_name_.end() ? decode::kNoField : found->second;
    };
    const auto put = [&](std::size_t i, const decode::RecordValue& value) {
      if (seen[i]) refuse("the record has field '" + fields_[i].name + "' twice");
      seen[i] = true;
      in_field(i, [&] {
        if (value.bytes) {
          put_bytes(plans_[i], *value.bytes, randomness, out[i]);
        } else if (!value.fractions.empty()) {
          decode::decode_numbers(plans_[i], value.fractions, out[i]);
        } else {
          decode::decode_numbers(plans_[i], value.integers, out[i]);
        }
      });
    };
    read(record, find, put);
    check_complete(seen);
  }

 private:
  virtual void read(Bytes record, const decode::FindField& find, const decode::PutValue& put) const = 0;
  virtual void put_bytes(const FieldPlan& plan, Bytes bytes, std::uint64_t randomness, at::Tensor& place) const = 0;
};

class MsgpackDecoder final : public NamedDecoder {
 public:
  using NamedDecoder::NamedDecoder;

 private:
  void read(Bytes record, const decode::FindField& find, const decode::PutValue& put) const override {
    decode::read_msgpack(record, plans_, find, put);
  }
  void put_bytes(const FieldPlan& plan, Bytes bytes, std::uint64_t randomness, at::Tensor& place) const override {
    decode::decode_bytes(plan, bytes, randomness, place);
  }
};

class JsonDecoder final : public NamedDecoder {
 public:
  using NamedDecoder::NamedDecoder;

 private:
  void read(Bytes record, const decode::FindField& find, const decode::PutValue& put) const override {
    decode::read_json(record, plans_, find, put);
  }
  void put_bytes(const FieldPlan& plan, Bytes bytes, std::uint64_t, at::Tensor& place) const override {
    decode::decode_text(plan, bytes, /*lasting=*/false, place);
  }
};

class CsvDecoder final : public PlannedDecoder {
 public:
  CsvDecoder(const SampleSchema& schema, const SampleDecoderOptions& options)
      : PlannedDecoder(schema, options), separator_(schema.separator) {
    for (const std::string& column : schema.columns) {
      const auto found = by_name_.find(column);
      columns_.push_back(found == by_name_.end() ? decode::kNoField : found->second);
    }
    for (std::size_t i = 0; columns_.size() < fields_.size() && schema.columns.empty(); ++i) columns_.push_back(i);
  }

  void decode(Bytes record, std::uint64_t, std::span<at::Tensor> out) override {
    check_count(out);
    decode::CsvRecord columns(record, separator_);
    for (const std::size_t i : columns_) {
      if (i == decode::kNoField) {
        if (!columns.next()) {
          refuse("the record ends before column " + std::to_string(columns.count()) + ", which the schema names");
        }
      } else {
        in_field(i, [&] { decode_field(plans_[i], columns, out[i]); });
      }
    }
    const std::int64_t expected = columns.count();
    while (columns.next()) {
    }
    if (columns.count() != expected) {
      refuse("the record has " + std::to_string(columns.count()) + " columns, but the schema's take " +
             std::to_string(expected));
    }
  }

 private:
  static void decode_field(const FieldPlan& plan, decode::CsvRecord& columns, at::Tensor& place) {
    if (plan.field.kind == FieldKind::kBytes) {
      if (!columns.next()) too_short(columns, columns.count());
      return decode::decode_text(plan, columns.text(), columns.lasting(), place);
    }
    std::vector<std::int64_t> integers;
    std::vector<double> fractions;
    const std::int64_t end = plan.field.varies() ? INT64_MAX : columns.count() + plan.elements;
    while (columns.count() < end && columns.next()) columns.number(plan, integers, fractions);
    if (columns.count() < end && !plan.field.varies()) too_short(columns, end - 1);
    if (at::isFloatingType(plan.field.dtype)) {
      decode::decode_numbers(plan, fractions, place);
    } else {
      decode::decode_numbers(plan, integers, place);
    }
  }

  [[noreturn]] static void too_short(const decode::CsvRecord& columns, std::int64_t column) {
    refuse("it takes column " + std::to_string(column) + ", but the record has " + std::to_string(columns.count()) +
           " columns");
  }

  const char separator_;
  std::vector<std::size_t> columns_;  // which field begins there, or kNoField
};

// message Example { Features features = 1; }   message Features { map<string, Feature> feature = 1; }
// message Feature { oneof kind { BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3; } }
// Each list: repeated … value = 1, packed or not.
class TfExampleDecoder final : public PlannedDecoder {
 public:
  using PlannedDecoder::PlannedDecoder;
  void decode(Bytes record, std::uint64_t randomness, std::span<at::Tensor> out) override {
    check_count(out);
    // The last of several entries of a name holds, as in any protocol buffer, and only that one is decoded.
    std::vector<std::optional<protozero::data_view>> values(plans_.size());
    try {
      protozero::pbf_reader example(reinterpret_cast<const char*>(record.data()), record.size());
      while (example.next(1, protozero::pbf_wire_type::length_delimited)) {
        protozero::pbf_reader features = example.get_message();
        while (features.next(1, protozero::pbf_wire_type::length_delimited)) {
          protozero::pbf_reader entry = features.get_message();
          std::string name;
          protozero::data_view feature;
          while (entry.next()) {
            if (entry.tag_and_type() == protozero::tag_and_type(1, protozero::pbf_wire_type::length_delimited)) {
              name = entry.get_string();
            } else if (entry.tag_and_type() == protozero::tag_and_type(2, protozero::pbf_wire_type::length_delimited)) {
              feature = entry.get_view();
            } else {
              entry.skip();
            }
          }
          const auto found = by_name_.find(name);
          if (found != by_name_.end()) values[found->second] = feature;
        }
      }
    } catch (const protozero::exception& error) {
      refuse(std::string("the record is no tf.train.Example: ") + error.what());
    }
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      if (!values[i]) refuse("the record has no field '" + fields_[i].name + "'");
      in_field(i, [&] {
        try {
          decode_feature(plans_[i], *values[i], record.size(), randomness, out[i]);
        } catch (const protozero::exception& error) {
          refuse(std::string("it is no tf.train.Feature: ") + error.what());
        }
      });
    }
  }

 private:
  static void decode_feature(const FieldPlan& plan, protozero::data_view view, std::size_t record_bytes,
                             std::uint64_t randomness, at::Tensor& place) {
    protozero::pbf_reader feature(view);
    while (feature.next()) {
      if (feature.wire_type() != protozero::pbf_wire_type::length_delimited || feature.tag() < 1 || feature.tag() > 3) {
        feature.skip();
        continue;
      }
      const auto kind = feature.tag();
      protozero::pbf_reader list = feature.get_message();
      if (kind == 1) return decode_bytes_list(plan, list, randomness, place);
      if (kind == 2) return decode_float_list(plan, list, record_bytes, place);
      return decode_int64_list(plan, list, record_bytes, place);
    }
    refuse("it has no value");
  }

  static void decode_bytes_list(const FieldPlan& plan, protozero::pbf_reader list, std::uint64_t randomness,
                                at::Tensor& place) {
    std::optional<protozero::data_view> bytes;
    while (list.next(1, protozero::pbf_wire_type::length_delimited)) {
      if (bytes) refuse("it holds several byte strings, of which one is expected");
      bytes = list.get_view();
    }
    if (!bytes) refuse("it holds no byte string");
    decode::decode_bytes(plan, {reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size()}, randomness,
                         place);
  }

  static void decode_float_list(const FieldPlan& plan, protozero::pbf_reader list, std::size_t record_bytes,
                                at::Tensor& place) {
    std::vector<float> numbers;
    const std::int64_t most = decode::most_numbers(plan, record_bytes);
    const auto add = [&](const char* data, std::size_t size) {
      if (static_cast<std::int64_t>(numbers.size() + size / sizeof(float)) > most) too_many(most);
      const std::size_t before = numbers.size();
      numbers.resize(before + size / sizeof(float));
      if (size > 0) std::memcpy(numbers.data() + before, data, size);
    };
    while (list.next(1)) {
      if (list.wire_type() == protozero::pbf_wire_type::length_delimited) {
        const protozero::data_view packed = list.get_view();
        if (packed.size() % sizeof(float) != 0) refuse("its packed floats end in the middle of one");
        add(packed.data(), packed.size());
      } else {
        if (list.wire_type() != protozero::pbf_wire_type::fixed32) refuse("its float list holds no floats");
        const float number = list.get_float();
        add(reinterpret_cast<const char*>(&number), sizeof number);
      }
    }
    decode::decode_numbers(plan, std::span<const float>(numbers), place);
  }

  static void decode_int64_list(const FieldPlan& plan, protozero::pbf_reader list, std::size_t record_bytes,
                                at::Tensor& place) {
    std::vector<std::int64_t> numbers;
    const std::int64_t most = decode::most_numbers(plan, record_bytes);
    const auto add = [&](std::int64_t number) {
      if (static_cast<std::int64_t>(numbers.size()) == most) too_many(most);
      numbers.push_back(number);
    };
    while (list.next(1)) {
      if (list.wire_type() == protozero::pbf_wire_type::length_delimited) {
        for (const std::int64_t number : list.get_packed_int64()) add(number);
      } else {
        if (list.wire_type() != protozero::pbf_wire_type::varint) refuse("its int64 list holds no integers");
        add(list.get_int64());
      }
    }
    decode::decode_numbers(plan, std::span<const std::int64_t>(numbers), place);
  }

  [[noreturn]] static void too_many(std::int64_t most) {
    refuse("it has more than the " + std::to_string(most) + " elements of the schema's shape");
  }
};

}  // namespace

std::vector<at::Tensor> SampleDecoder::decode(Bytes record, std::uint64_t randomness) {
  std::vector<at::Tensor> out(fields().size());
  decode(record, randomness, out);
  return out;
}

std::unique_ptr<SampleDecoder> make_sample_decoder(const SampleSchema& schema, const SampleDecoderOptions& options) {
  switch (schema.format) {
    case SampleFormat::kFixed:
      return std::make_unique<FixedDecoder>(schema, options);
    case SampleFormat::kMsgpack:
      return std::make_unique<MsgpackDecoder>(schema, options);
    case SampleFormat::kTfExample:
      return std::make_unique<TfExampleDecoder>(schema, options);
    case SampleFormat::kJson:
      return std::make_unique<JsonDecoder>(schema, options);
    case SampleFormat::kCsv:
      return std::make_unique<CsvDecoder>(schema, options);
  }
  throw Error(ErrorCode::kInvalidArgument, "the schema's format is none");
}

}  // namespace tandem
