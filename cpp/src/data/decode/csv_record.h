// A record of CSV: a line's columns, one after another. Source: RFC 4180.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/decode/field_value.h"

namespace tandem::decode {

// Throws Error(kDataLoss) that names the column by its number from 0.
class CsvRecord {
 public:
  CsvRecord(std::span<const std::uint8_t> record, char separator)
      : record_(reinterpret_cast<const char*>(record.data()), record.size()), separator_(separator) {}

  // Goes to the next column; false behind the last one. An empty record has one, which is empty.
  bool next();
  // Columns so far, that one included.
  std::int64_t count() const { return count_; }
  // Of the column, without the quotes around it. Lasts until next(), or as long as the record.
  std::span<const std::uint8_t> text() const;
  bool lasting() const { return lasting_; }
  // Adds the column's number, of the kind that the field's dtype is, to one of the two. Blanks around it are passed
  // over.
  void number(const FieldPlan& plan, std::vector<std::int64_t>& integers, std::vector<double>& fractions) const;

 private:
  [[noreturn]] void refuse_column(const std::string& why) const;
  void read_plain();
  void read_quoted();

  const std::string_view record_;
  const char separator_;
  std::size_t at_ = 0;  // where the next column begins
  std::int64_t count_ = 0;
  std::string_view text_;
  std::string unquoted_;  // a text with quotes in it
  bool lasting_ = true;
};

}  // namespace tandem::decode
