#include "data/decode/msgpack_record.h"

#include <msgpack/null_visitor.hpp>
#include <msgpack/parse.hpp>
#include <msgpack/unpack.hpp>

namespace tandem::decode {
namespace {

constexpr int kMostDepth = 64;

// Called by msgpack's parser for each token. depth_ counts open maps and arrays; at depth 1 stand names and values.
class Visitor : public msgpack::null_visitor {
 public:
  Visitor(const std::vector<FieldPlan>& plans, std::size_t record_bytes,
          const std::function<std::size_t(std::string_view)>& find,
          const std::function<void(std::size_t, const MsgpackValue&)>& put)
      : plans_(plans), record_bytes_(record_bytes), find_(find), put_(put) {}

  bool visit_nil() {
    if (wanted()) refuse_value("holds nil");
    return finished();
  }
  bool visit_boolean(bool value) { return integer(value); }
  bool visit_positive_integer(std::uint64_t value) {
    if (wanted() && value > INT64_MAX) refuse_value("holds " + std::to_string(value) + ", more than int64 reaches");
    return integer(static_cast<std::int64_t>(value));
  }
  bool visit_negative_integer(std::int64_t value) { return integer(value); }
  bool visit_float32(float value) { return fraction(value); }
  bool visit_float64(double value) { return fraction(value); }
  bool visit_str(const char* data, std::uint32_t size) {
    if (in_key_) {
      field_ = find_(std::string_view(data, size));
      return true;
    }
    return bytes(data, size);
  }
  bool visit_bin(const char* data, std::uint32_t size) { return visit_str(data, size); }
  bool visit_ext(const char*, std::uint32_t) {
    if (wanted()) refuse_value("holds an extension type");
    return finished();
  }

  bool start_array(std::uint32_t size) {
    check_container();
    if (depth_ == 0) {
      if (size != plans_.size()) {
        refuse("the record is an array of " + std::to_string(size) + " values, but the schema has " +
               std::to_string(plans_.size()) + " fields");
      }
    } else if (wanted()) {
      check_nesting(size);
    }
    ++depth_;
    return true;
  }
  bool start_array_item() {
    if (depth_ == 1) field_ = next_++;
    return true;
  }
  bool end_array() {
    --depth_;
    return finished();
  }
  bool start_map(std::uint32_t) {
    check_container();
    if (depth_ > 0 && wanted()) refuse_value("holds a map");
    ++depth_;
    return true;
  }
  bool start_map_key() {
    in_key_ = depth_ == 1;
    if (in_key_) field_ = kNoField;
    return true;
  }
  bool end_map_key() {
    in_key_ = false;
    return true;
  }
  bool end_map() {
    --depth_;
    return finished();
  }

  void parse_error(std::size_t, std::size_t at) {
    refuse("the record is no MessagePack: bad byte at " + std::to_string(at));
  }
  void insufficient_bytes(std::size_t, std::size_t) { refuse("the record is no MessagePack: it is truncated"); }

  bool saw_container() const { return saw_container_; }

 private:
  // Whether what comes belongs to a field of the schema.
  bool wanted() const { return depth_ >= 1 && !in_key_ && field_ != kNoField; }

  [[noreturn]] void refuse_value(const std::string& why) const {
    refuse("field '" + plans_[field_].field.name + "' " + why +
           "; bytes, numbers and arrays of numbers can be decoded");
  }

  void check_container() {
    saw_container_ = true;
    if (in_key_) refuse("the record is a map with keys that are no strings");
    if (depth_ == kMostDepth) refuse("the record is nested more than " + std::to_string(kMostDepth) + " deep");
  }

  // Sizes of nested arrays have to be those of the shape; a flat array may stand for any shape.
  void check_nesting(std::uint32_t size) {
    const std::vector<std::int64_t>& shape = plans_[field_].field.shape;
    const auto level = static_cast<std::size_t>(depth_ - 1);
    if (level >= shape.size()) refuse_value("is nested deeper than its shape");
    if (level >= levels_.size()) {
      levels_.push_back(size);
    } else if (levels_[level] != size) {
      refuse_value("has rows of different lengths");
    }
  }

  bool integer(std::int64_t value) {
    if (in_key_) refuse("the record is a map with keys that are no strings");
    if (wanted()) {
      check_room();
      if (value_.fractions.empty()) {
        value_.integers.push_back(value);
      } else {
        value_.fractions.push_back(static_cast<double>(value));
      }
    }
    return finished();
  }

  bool fraction(double value) {
    if (in_key_) refuse("the record is a map with keys that are no strings");
    if (wanted()) {
      check_room();
      if (value_.fractions.empty()) value_.fractions.assign(value_.integers.begin(), value_.integers.end());
      value_.fractions.push_back(value);
    }
    return finished();
  }

  bool bytes(const char* data, std::uint32_t size) {
    if (wanted()) {
      if (depth_ != 1) refuse_value("holds a list of byte strings, of which one is expected");
      value_.bytes.emplace(reinterpret_cast<const std::uint8_t*>(data), size);
    }
    return finished();
  }

  void check_room() const {
    const std::int64_t most = most_numbers(plans_[field_], record_bytes_);
    if (static_cast<std::int64_t>(std::max(value_.integers.size(), value_.fractions.size())) >= most) {
      refuse_value("has more than the " + std::to_string(most) + " elements of its shape");
    }
  }

  // A value ended; it is a field's whole value where it stands at the top.
  bool finished() {
    if (depth_ != 1 || in_key_ || field_ == kNoField) return true;
    const std::vector<std::int64_t>& shape = plans_[field_].field.shape;
    if (levels_.size() > 1) {
      for (std::size_t d = 0; d < shape.size(); ++d) {
        if (d >= levels_.size() || (shape[d] != -1 && shape[d] != levels_[d])) {
          refuse_value("is nested otherwise than its shape " + c10::str(at::IntArrayRef(shape)));
        }
      }
    }
    put_(field_, value_);
    value_ = {};
    levels_.clear();
    field_ = kNoField;
    return true;
  }

  const std::vector<FieldPlan>& plans_;
  const std::size_t record_bytes_;
  const std::function<std::size_t(std::string_view)>& find_;
  const std::function<void(std::size_t, const MsgpackValue&)>& put_;
  int depth_ = 0;
  bool in_key_ = false;
  bool saw_container_ = false;
  std::size_t next_ = 0;          // item of an array at the top
  std::size_t field_ = kNoField;  // that the value belongs to
  MsgpackValue value_;
  std::vector<std::int64_t> levels_;  // sizes of the value's nested arrays
};

}  // namespace

void read_msgpack(std::span<const std::uint8_t> record, const std::vector<FieldPlan>& plans,
                  const std::function<std::size_t(std::string_view)>& find,
                  const std::function<void(std::size_t, const MsgpackValue&)>& put) {
  if (record.empty()) refuse("the record is no MessagePack: it is empty");
  Visitor visitor(plans, record.size(), find, put);
  std::size_t end = 0;
  msgpack::parse(reinterpret_cast<const char*>(record.data()), record.size(), end, visitor);
  if (!visitor.saw_container()) refuse("the record is a single MessagePack value, neither map nor array");
  if (end != record.size()) {
    refuse("the record has " + std::to_string(record.size() - end) + " bytes after its MessagePack value");
  }
}

}  // namespace tandem::decode
