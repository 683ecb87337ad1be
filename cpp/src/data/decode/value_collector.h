// What the tokens of a record that names its values (MessagePack, JSON) come to: the values of a schema's fields.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/decode/field_value.h"

namespace tandem::decode {

inline constexpr std::size_t kNoField = static_cast<std::size_t>(-1);

// A value of a field: a string of bytes, or numbers, which are fractions as soon as one of them is.
struct RecordValue {
  std::optional<std::span<const std::uint8_t>> bytes;
  std::vector<std::int64_t> integers;
  std::vector<double> fractions;
};

using FindField = std::function<std::size_t(std::string_view name)>;  // its number, or kNoField
using PutValue = std::function<void(std::size_t field, const RecordValue& value)>;

// What a format calls things, for errors.
struct FormatWords {
  const char* single;   // a record that is no container
  const char* nothing;  // the value that is none
  const char* map;
  const char* strings;
  const char* decodable;  // values
};

// Takes a record's tokens one after another. Values of the map at the top belong to the field of their key, those of an
// array at the top to the fields in their order; all others are passed over. Throws Error(kDataLoss).
class ValueCollector {
 public:
  ValueCollector(const std::vector<FieldPlan>& plans, std::size_t record_bytes, const FormatWords& words,
                 const FindField& find, const PutValue& put)
      : plans_(plans), record_bytes_(record_bytes), words_(words), find_(find), put_(put) {}

  // Containers that are open.
  int depth() const { return depth_; }
  // The one that the next value belongs to, or NULL.
  const SchemaField* field() const { return wanted() ? &plans_[field_].field : nullptr; }

  void open_map();
  void key(std::string_view name) { field_ = find_(name); }  // of the map at the top
  void close_map();
  // `size`, where the format says it ahead.
  void open_array(std::optional<std::uint32_t> size);
  void close_array();

  void nothing();
  void other(const std::string& what);  // that no field can hold
  void integer(std::int64_t number) {
    begin_scalar();
    if (wanted()) add_integer(number);
    end();
  }
  void natural(std::uint64_t number) {
    if (number > INT64_MAX) return large(static_cast<double>(number), std::to_string(number));
    integer(static_cast<std::int64_t>(number));
  }
  void fraction(double number) {
    begin_scalar();
    if (wanted()) add_fraction(number);
    end();
  }
  // An integer that int64 does not reach, which floating fields take.
  void large(double number, const std::string& text);
  void bytes(std::span<const std::uint8_t> bytes);

 private:
  // One of the arrays around a number, from the outermost of the field's value.
  struct Level {
    std::int64_t count = 0;  // elements so far
    std::int64_t size = -1;  // of those that are closed
  };

  bool wanted() const { return depth_ >= 1 && field_ != kNoField; }
  [[noreturn]] void refuse_value(const std::string& why) const;
  [[noreturn]] void refuse_listed(const std::string& count) const;
  [[noreturn]] void refuse_single() const;
  void begin_listed();
  void begin_number();
  void finish();

  // What every number goes through is inline.
  void begin() {
    if (depth_ == 1 && listed_) {
      begin_listed();
    } else if (depth_ > 1 && field_ != kNoField) {
      ++levels_[static_cast<std::size_t>(depth_ - 2)].count;
    }
  }
  void begin_scalar() {
    if (depth_ == 0) refuse_single();
    begin();
  }
  void begin_container();
  // A value ended; it is a field's whole value where it stands at the top.
  void end() {
    if (depth_ == 1 && field_ != kNoField) finish();
  }
  void count_number() {
    if (depth_ != numbers_depth_ || numbers_ == most_) begin_number();
    ++numbers_;
  }
  void add_integer(std::int64_t number) {
    count_number();
    if (value_.fractions.empty()) {
      value_.integers.push_back(number);
    } else {
      value_.fractions.push_back(static_cast<double>(number));
    }
  }
  void add_fraction(double number) {
    count_number();
    if (value_.fractions.empty()) value_.fractions.assign(value_.integers.begin(), value_.integers.end());
    value_.fractions.push_back(number);
  }

  const std::vector<FieldPlan>& plans_;
  const std::size_t record_bytes_;
  const FormatWords& words_;
  const FindField& find_;
  const PutValue& put_;
  int depth_ = 0;
  bool listed_ = false;           // the container at the top is an array
  std::size_t next_ = 0;          // item of it
  std::size_t field_ = kNoField;  // that the value belongs to
  RecordValue value_;
  std::vector<Level> levels_;
  int numbers_depth_ = 0;  // of the value's first number
  std::int64_t numbers_ = 0, most_ = 0;
};

}  // namespace tandem::decode
