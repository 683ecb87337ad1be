// One field of one record: from what a record's format gives to a tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/sample_schema.h"

namespace tandem::decode {

// What all fields of a decoder share, and how each is decoded.
struct FieldPlan {
  SchemaField field;  // as it comes out
  ImageDecodeOptions image;
  ImageFit fit;
  std::int64_t elements = 1;  // of one sample; where dimension 0 varies, of each of its elements
  std::int64_t element_bytes = 1;
};

// Throws Error(kInvalidArgument).
std::vector<FieldPlan> plan_fields(const SampleSchema& schema, const SampleDecoderOptions& options);

[[noreturn]] void refuse(const std::string& message);  // Error(kDataLoss)

// What stands in a record, for errors: in quotes, of ASCII, and not too long.
std::string shown(std::string_view text);

// Bytes that are an image, a string, or numbers in little-endian order. `place` as SampleDecoder::decode()'s out.
void decode_bytes(const FieldPlan& plan, std::span<const std::uint8_t> bytes, std::uint64_t randomness,
                  at::Tensor& place);

// A string of a format that is text, where numbers have no bytes. `lasting`: it stays as long as the record.
void decode_text(const FieldPlan& plan, std::span<const std::uint8_t> text, bool lasting, at::Tensor& place);

// Numbers that a format lists. They must fit the field's dtype; an integer field takes no fractions.
void decode_numbers(const FieldPlan& plan, std::span<const std::int64_t> numbers, at::Tensor& place);
void decode_numbers(const FieldPlan& plan, std::span<const double> numbers, at::Tensor& place);
void decode_numbers(const FieldPlan& plan, std::span<const float> numbers, at::Tensor& place);

// The most numbers that the field can have in a record of so many bytes, each of which takes a byte at least.
std::int64_t most_numbers(const FieldPlan& plan, std::size_t record_bytes);

}  // namespace tandem::decode
