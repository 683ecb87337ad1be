#include "data/loader/record_layout.h"

#include <ATen/ops/empty.h>

#include <cstring>

#include "base/invalid.h"
#include "tandem/error.h"

namespace tandem::loader {
namespace {

static_assert(static_cast<int>(Element::kBool) == static_cast<int>(at::kBool) &&
              static_cast<int>(Element::kUInt32) == static_cast<int>(at::kUInt32) &&
              static_cast<int>(Element::kFloat64) == static_cast<int>(at::kDouble));

constexpr std::size_t kMaxRecordBytes = 0xffffffffu;

}  // namespace

RecordLayout::Column RecordLayout::make_column(const RecordField& field, std::size_t offset) {
  const std::string name = "field '" + field.name + "'";
  Column column;
  column.offset = offset;
  for (const std::int64_t size : field.sizes) {
    if (size < 1) invalid(name + " has a size of " + std::to_string(size) + "; sizes must be at least 1");
    if (__builtin_mul_overflow(column.elements, size, &column.elements)) invalid(name + " is too large");
  }
  const auto element_bytes = static_cast<std::int64_t>(c10::elementSize(field.dtype));
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(column.elements, element_bytes, &bytes) ||
      static_cast<std::size_t>(bytes) > kMaxRecordBytes - offset) {
    invalid(name + " does not fit into a record: RecordIO's limit is 4 GiB");
  }
  column.bytes = static_cast<std::size_t>(bytes);
  column.out_bytes = static_cast<std::size_t>(column.elements) * c10::elementSize(field.out_dtype);
  const auto from = static_cast<Element>(field.dtype);
  if (field.out_dtype == at::kFloat) {
    if (!(field.std > 0)) invalid(name + " has std " + std::to_string(field.std) + "; it must be positive");
    if (field.scale == 0) invalid(name + " has scale 0, which would make all its values equal; no scaling is 1");
    column.multiply = static_cast<float>(field.scale / field.std);
    column.add = static_cast<float>(-field.mean / field.std);
    const bool plain = field.dtype == at::kFloat && column.multiply == 1 && column.add == 0;
    column.convert = find_conversion_to_float(from);
    if (column.convert && plain)
      column.convert = nullptr;
    else if (!column.convert)
      invalid(name + " cannot be converted to float32 from " + c10::toString(field.dtype));
  } else if (field.out_dtype != field.dtype) {
    if (field.out_dtype == at::kLong) column.convert = find_conversion_to_int64(from);
    if (!column.convert) {
      invalid(name + " cannot be converted from " + c10::toString(field.dtype) + " to " +
              c10::toString(field.out_dtype) + "; a batch has the record's type, float32 or int64");
    }
  }
  return column;
}

RecordLayout::RecordLayout(std::vector<RecordField> fields) : fields_(std::move(fields)) {
  if (fields_.empty()) invalid("a loader of records needs at least one field");
  for (const RecordField& field : fields_) {
    columns_.push_back(make_column(field, record_bytes_));
    record_bytes_ += columns_.back().bytes;
  }
}

std::vector<at::Tensor> RecordLayout::allocate(std::int64_t rows, std::int64_t used) const {
  std::vector<at::Tensor> tensors;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    std::vector<std::int64_t> sizes{rows};
    sizes.insert(sizes.end(), fields_[i].sizes.begin(), fields_[i].sizes.end());
    tensors.push_back(at::empty(sizes, at::TensorOptions(fields_[i].out_dtype)));
    if (used == rows) continue;
    auto* data = static_cast<std::uint8_t*>(tensors.back().mutable_data_ptr());
    const std::size_t row_bytes = columns_[i].out_bytes;
    std::memset(data + static_cast<std::size_t>(used) * row_bytes, 0,
                static_cast<std::size_t>(rows - used) * row_bytes);
  }
  return tensors;
}

void RecordLayout::copy(const std::uint8_t* record, std::int64_t row, const std::vector<std::uint8_t*>& to) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    std::uint8_t* out = to[i] + static_cast<std::size_t>(row) * column.out_bytes;
    if (column.convert) {
      column.convert(record + column.offset, out, static_cast<std::size_t>(column.elements), column.multiply,
                     column.add);
    } else {
      std::memcpy(out, record + column.offset, column.bytes);
    }
  }
}

}  // namespace tandem::loader
