#include "data/decode/msgpack_record.h"

#include <msgpack/null_visitor.hpp>
#include <msgpack/parse.hpp>
#include <msgpack/unpack.hpp>

namespace tandem::decode {
namespace {

constexpr FormatWords kMsgpackWords = {"MessagePack value, neither map nor array", "nil", "a map", "byte strings",
                                       "bytes, numbers and arrays of numbers"};

// Called by msgpack's parser for each token.
class Visitor : public msgpack::null_visitor {
 public:
  explicit Visitor(ValueCollector& values) : values_(values) {}

  bool visit_nil() {
    check_key();
    values_.nothing();
    return true;
  }
  bool visit_boolean(bool value) {
    check_key();
    values_.integer(value);
    return true;
  }
  bool visit_positive_integer(std::uint64_t value) {
    check_key();
    values_.natural(value);
    return true;
  }
  bool visit_negative_integer(std::int64_t value) {
    check_key();
    values_.integer(value);
    return true;
  }
  bool visit_float32(float value) { return visit_float64(value); }
  bool visit_float64(double value) {
    check_key();
    values_.fraction(value);
    return true;
  }
  bool visit_str(const char* data, std::uint32_t size) {
    if (in_key_) {
      values_.key({data, size});
    } else {
      values_.bytes({reinterpret_cast<const std::uint8_t*>(data), size});
    }
    return true;
  }
  bool visit_bin(const char* data, std::uint32_t size) { return visit_str(data, size); }
  bool visit_ext(const char*, std::uint32_t) {
    check_key();
    values_.other("an extension type");
    return true;
  }

  bool start_array(std::uint32_t size) {
    check_key();
    values_.open_array(size);
    return true;
  }
  bool end_array() {
    values_.close_array();
    return true;
  }
  bool start_map(std::uint32_t) {
    check_key();
    values_.open_map();
    return true;
  }
  bool start_map_key() {
    in_key_ = values_.depth() == 1;
    return true;
  }
  bool end_map_key() {
    in_key_ = false;
    return true;
  }
  bool end_map() {
    values_.close_map();
    return true;
  }

  void parse_error(std::size_t, std::size_t at) {
    refuse("the record is no MessagePack: bad byte at " + std::to_string(at));
  }
  void insufficient_bytes(std::size_t, std::size_t) { refuse("the record is no MessagePack: it is truncated"); }

 private:
  void check_key() const {
    if (in_key_) refuse("the record is a map with keys that are no strings");
  }

  ValueCollector& values_;
  bool in_key_ = false;  // of the map at the top
};

}  // namespace

void read_msgpack(std::span<const std::uint8_t> record, const std::vector<FieldPlan>& plans, const FindField& find,
                  const PutValue& put) {
  if (record.empty()) refuse("the record is no MessagePack: it is empty");
  ValueCollector values(plans, record.size(), kMsgpackWords, find, put);
  Visitor visitor(values);
  std::size_t end = 0;
  msgpack::parse(reinterpret_cast<const char*>(record.data()), record.size(), end, visitor);
  if (end != record.size()) {
    refuse("the record has " + std::to_string(record.size() - end) + " bytes after its MessagePack value");
  }
}

}  // namespace tandem::decode
