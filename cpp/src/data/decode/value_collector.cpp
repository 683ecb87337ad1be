#include "data/decode/value_collector.h"

namespace tandem::decode {
namespace {

constexpr int kMostDepth = 64;

}  // namespace

void ValueCollector::open_map() {
  begin_container();
  if (wanted()) refuse_value(std::string("holds ") + words_.map);
  ++depth_;
}

void ValueCollector::close_map() {
  --depth_;
  end();
}

void ValueCollector::open_array(std::optional<std::uint32_t> size) {
  begin_container();
  if (depth_ == 0) {
    listed_ = true;
    if (size && *size != plans_.size()) refuse_listed(std::to_string(*size));
  } else if (wanted()) {
    // Sizes of nested arrays have to be those of the shape; a flat array may stand for any shape.
    const auto level = static_cast<std::size_t>(depth_ - 1);
    if (level >= plans_[field_].field.shape.size()) refuse_value("is nested deeper than its shape");
    if (level == levels_.size()) levels_.emplace_back();
    levels_[level].count = 0;
  }
  ++depth_;
}

void ValueCollector::close_array() {
  --depth_;
  if (depth_ == 0) {
    if (next_ != plans_.size()) refuse_listed(std::to_string(next_));
  } else if (wanted()) {
    Level& level = levels_[static_cast<std::size_t>(depth_ - 1)];
    if (level.size != -1 && level.size != level.count) refuse_value("has rows of different lengths");
    level.size = level.count;
  }
  end();
}

void ValueCollector::nothing() {
  other(words_.nothing);
}

void ValueCollector::other(const std::string& what) {
  begin_scalar();
  if (wanted()) refuse_value("holds " + what);
}

void ValueCollector::large(double number, const std::string& text) {
  begin_scalar();
  if (wanted() && !at::isFloatingType(plans_[field_].field.dtype)) {
    refuse_value("holds " + text + ", which int64 does not reach");
  }
  if (wanted()) add_fraction(number);
  end();
}

void ValueCollector::bytes(std::span<const std::uint8_t> bytes) {
  begin_scalar();
  if (wanted()) {
    if (depth_ != 1) refuse_value(std::string("holds a list of ") + words_.strings + ", of which one is expected");
    value_.bytes = bytes;
  }
  end();
}

void ValueCollector::refuse_value(const std::string& why) const {
  refuse("field '" + plans_[field_].field.name + "' " + why + "; " + words_.decodable + " can be decoded");
}

void ValueCollector::refuse_listed(const std::string& count) const {
  refuse("the record is an array of " + count + " values, but the schema has " + std::to_string(plans_.size()) +
         " fields");
}

void ValueCollector::refuse_single() const {
  refuse(std::string("the record is a single ") + words_.single);
}

void ValueCollector::begin_listed() {
  if (next_ == plans_.size()) refuse_listed("more than " + std::to_string(next_));
  field_ = next_++;
}

void ValueCollector::begin_container() {
  if (depth_ == kMostDepth) refuse("the record is nested more than " + std::to_string(kMostDepth) + " deep");
  begin();
}

void ValueCollector::finish() {
  const std::vector<std::int64_t>& shape = plans_[field_].field.shape;
  if (levels_.size() > 1) {
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (d >= levels_.size() || (shape[d] != -1 && shape[d] != levels_[d].size)) {
        refuse_value("is nested otherwise than its shape " + c10::str(at::IntArrayRef(shape)));
      }
    }
  }
  put_(field_, value_);
  value_ = {};
  levels_.clear();
  numbers_ = numbers_depth_ = 0;
  field_ = kNoField;
}

// The first number of a value, or one too many.
void ValueCollector::begin_number() {
  if (numbers_ == 0) {
    numbers_depth_ = depth_;
    most_ = most_numbers(plans_[field_], record_bytes_);
    return;
  }
  if (depth_ != numbers_depth_) refuse_value("has numbers beside rows of them");
  refuse_value("has more than the " + std::to_string(most_) + " elements of its shape");
}

}  // namespace tandem::decode
