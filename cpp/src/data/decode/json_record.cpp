#include "data/decode/json_record.h"

#include <nlohmann/json.hpp>

namespace tandem::decode {
namespace {

using Json = nlohmann::json;

constexpr FormatWords kJsonWords = {"JSON value, neither object nor array", "null", "an object", "strings",
                                    "strings, numbers, booleans and arrays of numbers"};

// Called by the parser for each token. The parser keeps a bit for each container that is open and the text of one
// token.
class Handler final : public nlohmann::json_sax<Json> {
 public:
  Handler(std::span<const std::uint8_t> record, ValueCollector& values)
      : record_(reinterpret_cast<const char*>(record.data()), record.size()), values_(values) {}

  bool null() override {
    values_.nothing();
    return true;
  }
  bool boolean(bool value) override {
    values_.integer(value);
    return true;
  }
  bool number_integer(number_integer_t value) override {
    values_.integer(value);
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    values_.natural(value);
    return true;
  }
  bool number_float(number_float_t value, const string_t& text) override {
    if (text.find_first_not_of("-0123456789") == string_t::npos) {
      values_.large(value, shown(text));
    } else {
      values_.fraction(value);
    }
    return true;
  }
  bool string(string_t& value) override {
    values_.bytes({reinterpret_cast<const std::uint8_t*>(value.data()), value.size()});
    return true;
  }
  bool binary(binary_t&) override { return false; }  // text has none

  bool start_object(std::size_t) override {
    values_.open_map();
    return true;
  }
  bool key(string_t& name) override {
    if (values_.depth() == 1) values_.key(name);
    return true;
  }
  bool end_object() override {
    values_.close_map();
    return true;
  }
  bool start_array(std::size_t) override {
    values_.open_array({});
    return true;
  }
  bool end_array() override {
    values_.close_array();
    return true;
  }

  // `read`: bytes so far, the last of which does not belong there; the end counts as one.
  bool parse_error(std::size_t read, const std::string&, const nlohmann::detail::exception& error) override {
    std::string message = "the record is no JSON: ";
    const std::size_t at = read - 1;
    const std::string_view rest = at < record_.size() ? record_.substr(at) : std::string_view();
    if (error.id == kNumberOverflow) {
      message += "the number that ends at byte " + std::to_string(at) + " is beyond what float64 reaches";
    } else if (rest.empty()) {
      message += record_.empty() ? "it is empty" : "it is truncated";
    } else {
      message += "bad byte at " + std::to_string(at) + ", " + shown(rest);
    }
    if (const SchemaField* const field = values_.field()) message += ", in field '" + field->name + "'";
    if (rest.starts_with("NaN") || rest.starts_with("Inf")) message += "; JSON has no NaN and no infinity";
    refuse(message);
  }

 private:
  static constexpr int kNumberOverflow = 406;  // of nlohmann's exceptions

  const std::string_view record_;
  ValueCollector& values_;
};

}  // namespace

void read_json(std::span<const std::uint8_t> record, const std::vector<FieldPlan>& plans, const FindField& find,
               const PutValue& put) {
  ValueCollector values(plans, record.size(), kJsonWords, find, put);
  Handler handler(record, values);
  Json::sax_parse(record.begin(), record.end(), &handler);
}

}  // namespace tandem::decode
