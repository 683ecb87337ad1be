// Fields of records, and how their elements get from a record into a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/convert.h"
#include "tandem/dataset.h"

namespace tandem::loader {

class RecordLayout {
 public:
  // Throws Error(kInvalidArgument) naming a field that cannot be.
  explicit RecordLayout(std::vector<RecordField> fields);

  const std::vector<RecordField>& fields() const { return fields_; }
  std::size_t record_bytes() const { return record_bytes_; }
  // A tensor a field, of shape [rows, sizes…]; those from `used` on are zeros.
  std::vector<at::Tensor> allocate(std::int64_t rows, std::int64_t used) const;
  // Record `record`, of record_bytes(), to row `row` of tensors whose data is at `to`.
  void copy(const std::uint8_t* record, std::int64_t row, const std::vector<std::uint8_t*>& to) const;

 private:
  struct Column {
    std::int64_t elements = 1;  // of one sample
    std::size_t offset = 0;     // in the record
    std::size_t bytes = 0;      // in the record
    std::size_t out_bytes = 0;  // in the batch
    Convert convert = nullptr;  // NULL: a copy
    float multiply = 1;
    float add = 0;
  };
  static Column make_column(const RecordField& field, std::size_t offset);

  std::vector<RecordField> fields_;
  std::vector<Column> columns_;
  std::size_t record_bytes_ = 0;
};

}  // namespace tandem::loader
