#include "data/decode/field_value.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/invalid.h"
#include "tandem/error.h"

namespace tandem::decode {
namespace {

// The shape of so many elements. Throws where the schema has another.
std::vector<std::int64_t> shape_of(const FieldPlan& plan, std::int64_t count) {
  std::vector<std::int64_t> shape = plan.field.shape;
  const bool varies = !shape.empty() && shape[0] == -1;
  if (varies ? count % plan.elements != 0 : count != plan.elements) {
    refuse("it has " + std::to_string(count) + " elements, but the schema's shape is " +
           c10::str(at::IntArrayRef(plan.field.shape)));
  }
  if (varies) shape[0] = count / plan.elements;
  return shape;
}

void check_place(const at::Tensor& place, const std::vector<std::int64_t>& shape, at::ScalarType dtype) {
  if (place.scalar_type() != dtype || place.sizes() != at::IntArrayRef(shape) || !place.is_cpu()) {
    invalid("its place is " + std::string(c10::toString(place.scalar_type())) + " " + c10::str(place.sizes()) +
            ", but it is " + c10::toString(dtype) + " " + c10::str(at::IntArrayRef(shape)));
  }
}

// The elements at `data`, into the place or as a tensor of their own; `lasting`: they stay as long as the record.
void put(const FieldPlan& plan, const void* data, std::int64_t count, bool lasting, at::Tensor& place) {
  const std::vector<std::int64_t> shape = shape_of(plan, count);
  const at::ScalarType dtype = plan.field.dtype;
  const auto bytes = static_cast<std::size_t>(count * plan.element_bytes);
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(plan.element_bytes) == 0;
  if (!place.defined()) {
    if (lasting && aligned) {
      place = at::from_blob(const_cast<void*>(data), shape, at::TensorOptions(dtype));
      return;
    }
    place = at::empty(shape, at::TensorOptions(dtype));
  } else {
    check_place(place, shape, dtype);
  }
  if (bytes == 0) return;
  if (place.is_contiguous()) {
    std::memcpy(place.mutable_data_ptr(), data, bytes);
  } else {
    at::Tensor whole = at::empty(shape, at::TensorOptions(dtype));
    std::memcpy(whole.mutable_data_ptr(), data, bytes);
    place.copy_(whole);
  }
}

template <typename Number>
void put_converted(const FieldPlan& plan, std::span<const Number> numbers, at::Tensor& place) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  constexpr at::ScalarType from = c10::CppTypeToScalarType<Number>::value;
  if (plan.field.dtype == from) return put(plan, numbers.data(), count, /*lasting=*/false, place);
  const std::vector<std::int64_t> shape = shape_of(plan, count);
  if (place.defined()) {
    check_place(place, shape, plan.field.dtype);
  } else {
    place = at::empty(shape, at::TensorOptions(plan.field.dtype));
  }
  if (count == 0) return;
  place.copy_(at::from_blob(const_cast<Number*>(numbers.data()), shape, at::TensorOptions(from)));
}

// The range of an integer dtype, as far as int64 reaches.
std::pair<std::int64_t, std::int64_t> range_of(at::ScalarType dtype) {
  switch (dtype) {
    case at::kBool:
      return {0, 1};
    case at::kByte:
      return {0, UINT8_MAX};
    case at::kChar:
      return {INT8_MIN, INT8_MAX};
    case at::kShort:
      return {INT16_MIN, INT16_MAX};
    case at::kUInt16:
      return {0, UINT16_MAX};
    case at::kInt:
      return {INT32_MIN, INT32_MAX};
    case at::kUInt32:
      return {0, UINT32_MAX};
    case at::kUInt64:
      return {0, INT64_MAX};
    default:
      return {INT64_MIN, INT64_MAX};
  }
}

template <typename To, typename Number>
void check_finite_as(at::ScalarType dtype, std::span<const Number> numbers) {
  for (const Number number : numbers) {
    const auto converted = static_cast<float>(static_cast<To>(static_cast<float>(number)));
    if (std::isfinite(static_cast<double>(number)) && !std::isfinite(converted)) {
      refuse("it holds " + c10::str(number) + ", which " + c10::toString(dtype) + " does not reach");
    }
  }
}

// Throws where a number would become infinite.
template <typename Number>
void check_reach(at::ScalarType dtype, std::span<const Number> numbers) {
  if (dtype == at::kFloat) check_finite_as<float>(dtype, numbers);
  if (dtype == at::kHalf) check_finite_as<at::Half>(dtype, numbers);
  if (dtype == at::kBFloat16) check_finite_as<at::BFloat16>(dtype, numbers);
}

template <typename Number>
void decode_fractions(const FieldPlan& plan, std::span<const Number> numbers, at::Tensor& place) {
  if (plan.field.kind != FieldKind::kNumbers) refuse("it holds numbers, where the schema has bytes or an image");
  if (!at::isFloatingType(plan.field.dtype)) {
    refuse(std::string("it holds floating numbers, but its dtype is ") + c10::toString(plan.field.dtype));
  }
  check_reach(plan.field.dtype, numbers);
  put_converted(plan, numbers, place);
}

}  // namespace

std::vector<FieldPlan> plan_fields(const SampleSchema& schema, const SampleDecoderOptions& options) {
  schema.check();
  std::vector<FieldPlan> plans;
  std::size_t fitted = 0;
  for (const SchemaField& field : schema.fields) {
    FieldPlan plan;
    plan.field = field;
    plan.element_bytes = static_cast<std::int64_t>(c10::elementSize(field.dtype));
    for (const std::int64_t size : field.shape) plan.elements *= std::max<std::int64_t>(size, 1);
    plan.image.mode = field.mode;
    plan.image.layout = field.layout;
    plan.image.max_pixels = options.max_pixels;
    plan.image.strict = options.strict;
    const auto fit = options.fits.find(field.name);
    if (fit != options.fits.end()) {
      if (field.kind != FieldKind::kImage)
        invalid("field '" + field.name + "' is no image, so that nothing can fit it");
      ++fitted;
      plan.fit = fit->second;
      if (plan.fit.kind != ImageFit::Kind::kNone) {
        const std::size_t height = field.layout == ImageLayout::kHWC ? 0 : 1;
        plan.field.shape[height] = plan.fit.height;
        plan.field.shape[height + 1] = plan.fit.width;
      }
    }
    plans.push_back(plan);
  }
  if (fitted != options.fits.size()) {
    for (const auto& [name, fit] : options.fits) {
      if (std::none_of(plans.begin(), plans.end(), [&](const FieldPlan& plan) { return plan.field.name == name; })) {
        invalid("an image fit is for field '" + name + "', which the schema does not have");
      }
    }
  }
  return plans;
}

void refuse(const std::string& message) {
  throw Error(ErrorCode::kDataLoss, message);
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::string result = "'";
  for (const char c : text.substr(0, kMost)) result += c >= ' ' && c <= '~' ? c : '?';
  return result + (text.size() > kMost ? "…'" : "'");
}

void decode_bytes(const FieldPlan& plan, std::span<const std::uint8_t> bytes, std::uint64_t randomness,
                  at::Tensor& place) {
  if (plan.field.kind != FieldKind::kImage) {
    const auto size = static_cast<std::int64_t>(bytes.size());
    if (size % plan.element_bytes != 0) {
      refuse("its " + std::to_string(size) + " bytes are no whole number of elements of " +
             c10::toString(plan.field.dtype));
    }
    return put(plan, bytes.data(), size / plan.element_bytes, /*lasting=*/true, place);
  }
  if (place.defined()) return decode_fitted_into(bytes, plan.image, plan.fit, randomness, place);
  const at::Tensor image = decode_fitted(bytes, plan.image, plan.fit, randomness);
  for (std::int64_t d = 0; d < 3; ++d) {
    const std::int64_t size = plan.field.shape[static_cast<std::size_t>(d)];
    if (size != -1 && size != image.size(d)) {
      refuse("the picture is " + c10::str(image.sizes()) + ", but the schema's shape is " +
             c10::str(at::IntArrayRef(plan.field.shape)));
    }
  }
  place = image;
}

void decode_text(const FieldPlan& plan, std::span<const std::uint8_t> text, bool lasting, at::Tensor& place) {
  if (plan.field.kind != FieldKind::kBytes) refuse("it holds a string, where the schema has numbers");
  put(plan, text.data(), static_cast<std::int64_t>(text.size()), lasting, place);
}

void decode_numbers(const FieldPlan& plan, std::span<const std::int64_t> numbers, at::Tensor& place) {
  if (plan.field.kind != FieldKind::kNumbers) refuse("it holds numbers, where the schema has bytes or an image");
  if (!at::isFloatingType(plan.field.dtype)) {
    const auto [least, most] = range_of(plan.field.dtype);
    for (const std::int64_t number : numbers) {
      if (number < least || number > most) {
        refuse("it holds " + std::to_string(number) + ", which " + c10::toString(plan.field.dtype) + " does not reach");
      }
    }
  } else {
    check_reach(plan.field.dtype, numbers);
  }
  put_converted(plan, numbers, place);
}

void decode_numbers(const FieldPlan& plan, std::span<const double> numbers, at::Tensor& place) {
  decode_fractions(plan, numbers, place);
}

void decode_numbers(const FieldPlan& plan, std::span<const float> numbers, at::Tensor& place) {
  decode_fractions(plan, numbers, place);
}

std::int64_t most_numbers(const FieldPlan& plan, std::size_t record_bytes) {
  const bool varies = !plan.field.shape.empty() && plan.field.shape[0] == -1;
  return varies ? static_cast<std::int64_t>(record_bytes) : plan.elements;
}

}  // namespace tandem::decode
