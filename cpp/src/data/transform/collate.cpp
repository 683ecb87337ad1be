#include "tandem/collate.h"

#include <ATen/ATen.h>
#include <c10/util/irange.h>

#include <algorithm>

#include "base/invalid.h"
#include "tandem/error.h"

namespace tandem {
namespace {

// All CPU tensors of the first one's dtype and number of dimensions; `what` is their name in errors.
void check_alike(std::span<const at::Tensor> tensors, const std::string& what, std::int64_t least_dims) {
  if (tensors.empty()) invalid("there are no " + what + "s to collate");
  for (const std::size_t i : c10::irange(tensors.size())) {
    const at::Tensor& tensor = tensors[i];
    const std::string name = what + " " + std::to_string(i);
    if (!tensor.defined() || !tensor.is_cpu()) invalid(name + " is no tensor on the CPU");
    if (tensor.dim() < least_dims) invalid(name + " is a scalar: it has no length");
    const at::Tensor& first = tensors[0];
    if (tensor.scalar_type() != first.scalar_type() || tensor.dim() != first.dim()) {
      invalid(name + " is " + c10::toString(tensor.scalar_type()) + " " + c10::str(tensor.sizes()) + ", but " + what +
              " 0 is " + c10::toString(first.scalar_type()) + " " + c10::str(first.sizes()));
    }
  }
}

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) invalid("a batch of that size has more elements than memory can hold");
  return result;
}

}  // namespace

Padded pad_to_largest(std::span<const at::Tensor> samples, const PadOptions& options) {
  check_alike(samples, "sample", 0);
  if (options.multiple_of < 1 || options.max_length < 0) {
    invalid("multiple_of is " + std::to_string(options.multiple_of) + " and max_length " +
            std::to_string(options.max_length) + ", but they must be at least 1 and 0");
  }
  const auto count = static_cast<std::int64_t>(samples.size());
  const std::int64_t dims = samples[0].dim();
  Padded result{{}, at::empty({count}, at::kLong)};
  auto* const lengths = result.lengths.mutable_data_ptr<std::int64_t>();
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(dims) + 1, 0);
  sizes[0] = count;
  const auto size_of = [&](const at::Tensor& sample, std::int64_t dim) {
    const std::int64_t size = sample.size(dim);
    return dim == 0 && options.max_length > 0 ? std::min(size, options.max_length) : size;
  };
  for (const std::size_t i : c10::irange(samples.size())) {
    lengths[i] = dims > 0 ? size_of(samples[i], 0) : 1;
    for (const std::int64_t d : c10::irange(dims)) {
      std::int64_t& size = sizes[static_cast<std::size_t>(d) + 1];
      size = std::max(size, size_of(samples[i], d));
    }
  }
  bool all_full = true;
  for (const at::Tensor& sample : samples) {
    for (const std::int64_t d : c10::irange(dims)) {
      all_full = all_full && sample.size(d) == sizes[static_cast<std::size_t>(d) + 1];
    }
  }
  std::int64_t elements = count;
  for (const std::int64_t d : c10::irange(dims)) {
    std::int64_t& size = sizes[static_cast<std::size_t>(d) + 1];
    const std::int64_t groups = (size + options.multiple_of - 1) / options.multiple_of;
    const std::int64_t rounded = product(groups, options.multiple_of);
    all_full = all_full && rounded == size;
    size = rounded;
    elements = product(elements, size);
  }
  product(elements, static_cast<std::int64_t>(samples[0].element_size()));
  if (all_full) {
    result.tensor = at::stack(at::TensorList(samples.data(), samples.size()));
    return result;
  }
  result.tensor = at::full(sizes, options.value, samples[0].options());
  for (const std::int64_t i : c10::irange(count)) {
    at::Tensor place = result.tensor[i];
    at::Tensor sample = samples[static_cast<std::size_t>(i)];
    if (dims > 0) sample = sample.narrow(0, 0, lengths[i]);
    for (const std::int64_t d : c10::irange(dims)) place = place.narrow(d, 0, sample.size(d));
    place.copy_(sample);
  }
  return result;
}

at::Tensor mask_of_lengths(const at::Tensor& lengths, std::int64_t length) {
  if (!lengths.defined() || lengths.dim() != 1 || !at::isIntegralType(lengths.scalar_type(), false)) {
    invalid("lengths are a list of integers");
  }
  if (length < 0) invalid("length is " + std::to_string(length) + ", but must not be negative");
  return at::arange(length, lengths.options()).unsqueeze(0).lt(lengths.unsqueeze(1));
}

Packed pack_sequences(std::span<const at::Tensor> sequences, const PackOptions& options) {
  check_alike(sequences, "sequence", 1);
  const std::int64_t length = options.length;
  if (length < 1) invalid("length is " + std::to_string(length) + ", but rows need at least 1");
  // Which part of which sequence lies where, in the rows one after another.
  struct Part {
    std::size_t sequence;
    std::int64_t from, size, at;
  };
  std::vector<Part> parts;
  std::int64_t end = 0;
  for (const std::size_t i : c10::irange(sequences.size())) {
    if (sequences[i].sizes().slice(1) != sequences[0].sizes().slice(1)) {
      invalid("sequence " + std::to_string(i) + " is " + c10::str(sequences[i].sizes()) + ", but sequence 0 is " +
              c10::str(sequences[0].sizes()) + ": only their lengths may differ");
    }
    const std::int64_t size = sequences[i].size(0);
    if (!options.split) {
      if (size > length) {
        invalid("sequence " + std::to_string(i) + " has " + std::to_string(size) + " elements, more than a row's " +
                std::to_string(length) + "; cut it, or allow splitting");
      }
      if (size > length - end % length) end += length - end % length;
    }
    for (std::int64_t from = 0; from < size;) {
      const std::int64_t part = std::min(size - from, length - end % length);
      parts.push_back({i, from, part, end});
      from += part;
      end += part;
    }
  }
  const std::int64_t rows = (end + length - 1) / length, total = product(rows, length);
  if (total > INT32_MAX) invalid("the packed batch has more than 2^31 places, which cu_seqlens cannot count");
  std::vector<std::int64_t> sizes{total};
  for (const std::int64_t size : sequences[0].sizes().slice(1)) sizes.push_back(size);
  at::Tensor flat = at::full(sizes, options.value, sequences[0].options());
  const at::Tensor ids = at::zeros({total}, at::kLong), positions = at::zeros({total}, at::kLong);
  auto* const id = ids.mutable_data_ptr<std::int64_t>();
  auto* const position = positions.mutable_data_ptr<std::int64_t>();
  std::vector<std::int32_t> bounds{0};
  std::int64_t row = -1, segment = 0;
  for (const Part& part : parts) {
    flat.narrow(0, part.at, part.size).copy_(sequences[part.sequence].narrow(0, part.from, part.size));
    segment = part.at / length == row ? segment + 1 : 1;
    row = part.at / length;
    for (const std::int64_t k : c10::irange(part.size)) {
      id[part.at + k] = segment;
      position[part.at + k] = k;
    }
    if (part.at != bounds.back()) bounds.push_back(static_cast<std::int32_t>(part.at));  // an unfilled end before it
    bounds.push_back(static_cast<std::int32_t>(part.at + part.size));
  }
  if (total != bounds.back()) bounds.push_back(static_cast<std::int32_t>(total));
  Packed packed;
  for (const std::size_t i : c10::irange(bounds.size() - 1)) {
    packed.max_seqlen = std::max<std::int64_t>(packed.max_seqlen, bounds[i + 1] - bounds[i]);
  }
  sizes[0] = length;
  sizes.insert(sizes.begin(), rows);
  packed.tensor = flat.view(sizes);
  packed.segment_ids = ids.view({rows, length});
  packed.positions = positions.view({rows, length});
  packed.cu_seqlens = at::tensor(bounds, at::kInt);
  return packed;
}

}  // namespace tandem
