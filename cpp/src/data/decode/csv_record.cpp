#include "data/decode/csv_record.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tandem::decode {

bool CsvRecord::next() {
  if (at_ > record_.size()) return false;
  ++count_;
  lasting_ = true;
  if (record_.substr(at_).starts_with('"')) {
    read_quoted();
  } else {
    read_plain();
  }
  return true;
}

std::span<const std::uint8_t> CsvRecord::text() const {
  return {reinterpret_cast<const std::uint8_t*>(text_.data()), text_.size()};
}

void CsvRecord::read_plain() {
  const auto from = record_.begin() + static_cast<std::ptrdiff_t>(at_);
  const auto end = std::find_if(from, record_.end(),
                                [this](char c) { return c == separator_ || c == '"' || c == '\n' || c == '\r'; });
  if (end != record_.end() && *end == '"') refuse_column("has a quote in it, but none around it");
  if (end != record_.end() && *end != separator_) refuse_column("has a line's end in it, but no quotes around it");
  text_ = {from, end};
  at_ += text_.size() + 1;
}

void CsvRecord::read_quoted() {
  unquoted_.clear();
  for (std::size_t from = at_ + 1;;) {
    const std::size_t quote = record_.find('"', from);
    if (quote == std::string_view::npos) refuse_column("begins with a quote that does not end");
    const std::string_view part = record_.substr(from, quote - from);
    from = quote + 1;
    if (record_.substr(from).starts_with('"')) {  // two stand for one
      lasting_ = false;
      unquoted_.append(part).push_back('"');
      ++from;
      continue;
    }
    if (from < record_.size() && record_[from] != separator_) refuse_column("goes on behind its closing quote");
    text_ = lasting_ ? part : std::string_view(unquoted_.append(part));
    at_ = from + 1;
    return;
  }
}

void CsvRecord::number(const FieldPlan& plan, std::vector<std::int64_t>& integers,
                       std::vector<double>& fractions) const {
  const std::size_t first = text_.find_first_not_of(" \t");
  if (first == std::string_view::npos) refuse_column("is empty, where the schema has a number");
  const std::string_view text = text_.substr(first, text_.find_last_not_of(" \t") + 1 - first);
  const auto parse = [&](auto& number, const char* kind) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc::result_out_of_range) {
      refuse_column("is " + shown(text) + ", which " + kind + " does not reach");
    }
    return error == std::errc() && end == text.data() + text.size();
  };
  const at::ScalarType dtype = plan.field.dtype;
  if (at::isFloatingType(dtype)) {
    double number = 0;
    if (!parse(number, "float64") || !std::isfinite(number)) {
      refuse_column("is " + shown(text) + ", no number; a header is left out with the option skip");
    }
    fractions.push_back(number);
    return;
  }
  std::int64_t number = 0;
  if (dtype == at::kBool && (text == "true" || text == "True" || text == "TRUE")) {
    number = 1;
  } else if (dtype == at::kBool && (text == "false" || text == "False" || text == "FALSE")) {
    number = 0;
  } else if (!parse(number, "int64")) {
    refuse_column("is " + shown(text) + ", no " + (dtype == at::kBool ? "true or false" : "integer") +
                  "; a header is left out with the option skip");
  }
  integers.push_back(number);
}

void CsvRecord::refuse_column(const std::string& why) const {
  refuse("column " + std::to_string(count_ - 1) + " " + why);
}

}  // namespace tandem::decode
