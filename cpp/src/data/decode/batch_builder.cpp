#include "tandem/batch_builder.h"

#include <ATen/ATen.h>
#include <c10/util/irange.h>

#include "base/invalid.h"
#include "tandem/error.h"

namespace tandem {
namespace {

// [N, 2] int64: height and width of each.
at::Tensor image_sizes(const SchemaField& field, const std::vector<at::Tensor>& images) {
  const std::int64_t height = field.layout == ImageLayout::kHWC ? 0 : 1;
  std::vector<std::int64_t> sizes;
  for (const at::Tensor& image : images) {
    sizes.push_back(image.size(height));
    sizes.push_back(image.size(height + 1));
  }
  return at::tensor(sizes, at::kLong).view({-1, 2});
}

// The fields and how they are collated, once that is known to fit.
struct Plan {
  Plan(const SampleDecoder& decoder, const CollateOptions& options_in) : fields(decoder.fields()), options(options_in) {
    check_names(options.pad);
    check_names(options.pack);
    for (const auto& [name, how] : options.pack) {
      if (options.pad.count(name)) invalid("field '" + name + "' can be padded or packed, not both");
      if (field_of(name).kind == FieldKind::kImage) invalid("field '" + name + "' holds images, which are not packed");
    }
  }

  // What stands behind a field's name for the tensors that go with it.
  std::vector<std::string> companions(const SchemaField& field) const {
    if (!field.varies()) return {};
    if (options.pack.count(field.name)) return {"_segment_ids", "_positions", "_cu_seqlens"};
    if (field.kind == FieldKind::kImage) return {"_sizes"};
    return {"_lengths"};
  }

  const std::vector<SchemaField> fields;
  const CollateOptions options;

 private:
  const SchemaField& field_of(const std::string& name) const {
    for (const SchemaField& field : fields) {
      if (field.name == name) return field;
    }
    invalid("there is no field '" + name + "' to pad or pack");
  }

  template <typename Options>
  void check_names(const std::map<std::string, Options>& named) const {
    for (const auto& [name, how] : named) {
      if (!field_of(name).varies()) invalid("field '" + name + "' has one size, so that nothing pads or packs it");
    }
  }
};

// A sample of a field that varies, without anything in it.
at::Tensor blank(const SchemaField& field) {
  std::vector<std::int64_t> sizes = field.shape;
  for (std::int64_t& size : sizes) size = std::max<std::int64_t>(size, 0);
  return at::empty(sizes, at::TensorOptions(field.dtype));
}

}  // namespace

std::vector<std::string> collated_names(const SampleDecoder& decoder, const CollateOptions& options) {
  const Plan plan(decoder, options);
  std::vector<std::string> names;
  for (const SchemaField& field : plan.fields) {
    names.push_back(field.name);
    for (const std::string& companion : plan.companions(field)) names.push_back(field.name + companion);
  }
  return names;
}

struct BatchBuilder::Impl : Plan {
  Impl(SampleDecoder& decoder_in, std::int64_t size_in, const CollateOptions& options_in, std::int64_t rows_in)
      : Plan(decoder_in, options_in), decoder(decoder_in), size(size_in), rows(rows_in == 0 ? size_in : rows_in) {
    if (rows < 1) invalid("a batch has at least 1 row, not " + std::to_string(rows));
    if (size < 0 || size > rows)
      invalid(std::to_string(size) + " samples are no part of " + std::to_string(rows) + " rows");
    for (const SchemaField& field : fields) {
      if (field.varies()) {
        waiting.emplace_back(static_cast<std::size_t>(size));
        tensors.emplace_back();
      } else {
        std::vector<std::int64_t> sizes{rows};
        sizes.insert(sizes.end(), field.shape.begin(), field.shape.end());
        tensors.push_back(at::empty(sizes, at::TensorOptions(field.dtype)));
        if (rows > size) tensors.back().narrow(0, size, rows - size).zero_();
        waiting.emplace_back();
      }
    }
    randomness.resize(static_cast<std::size_t>(size));
    is_set.resize(static_cast<std::size_t>(size));
  }

  void collate(std::size_t f, Batch& batch) {
    const SchemaField& field = fields[f];
    waiting[f].resize(static_cast<std::size_t>(rows), blank(field));
    const auto add = [&](const at::Tensor& tensor, std::initializer_list<at::Tensor> companions) {
      batch.names.push_back(field.name);
      batch.tensors.push_back(tensor);
      batch.tensors.insert(batch.tensors.end(), companions);
      for (const std::string& companion : this->companions(field)) batch.names.push_back(field.name + companion);
    };
    const auto pack = options.pack.find(field.name);
    if (pack != options.pack.end()) {
      const Packed packed = pack_sequences(waiting[f], pack->second);
      add(packed.tensor, {packed.segment_ids, packed.positions, packed.cu_seqlens});
      return;
    }
    const auto pad = options.pad.find(field.name);
    const Padded padded = pad_to_largest(waiting[f], pad == options.pad.end() ? PadOptions() : pad->second);
    add(padded.tensor, {field.kind == FieldKind::kImage ? image_sizes(field, waiting[f]) : padded.lengths});
  }

  SampleDecoder& decoder;
  const std::int64_t size;  // samples
  const std::int64_t rows;
  std::vector<at::Tensor> tensors;               // of fields that do not vary
  std::vector<std::vector<at::Tensor>> waiting;  // for each of the others: of each sample
  std::vector<std::uint64_t> randomness;
  std::vector<char> is_set;  // bytes, so that threads may write beside one another
};

BatchBuilder::BatchBuilder(SampleDecoder& decoder, std::int64_t size, const CollateOptions& options, std::int64_t rows)
    : impl_(std::make_unique<Impl>(decoder, size, options, rows)) {}

BatchBuilder::~BatchBuilder() = default;

void BatchBuilder::set(std::int64_t i, std::span<const std::uint8_t> record, std::uint64_t randomness) {
  Impl& self = *impl_;
  if (i < 0 || i >= self.size) {
    throw Error(ErrorCode::kOutOfRange,
                "a batch of " + std::to_string(self.size) + " has no sample " + std::to_string(i));
  }
  std::vector<at::Tensor> places(self.fields.size());
  for (const std::size_t f : c10::irange(places.size())) {
    if (self.tensors[f].defined()) places[f] = self.tensors[f].select(0, i);
  }
  self.decoder.decode(record, randomness, places);
  const auto* const begin = record.data();
  for (const std::size_t f : c10::irange(places.size())) {
    if (self.tensors[f].defined()) continue;
    const auto* const data = static_cast<const std::uint8_t*>(places[f].const_data_ptr());
    const bool view = data >= begin && data < begin + record.size();
    self.waiting[f][static_cast<std::size_t>(i)] = view ? places[f].clone() : places[f];
  }
  self.randomness[static_cast<std::size_t>(i)] = randomness;
  self.is_set[static_cast<std::size_t>(i)] = 1;
}

Batch BatchBuilder::finish() {
  Impl& self = *impl_;
  for (const std::size_t i : c10::irange(self.is_set.size())) {
    if (!self.is_set[i]) invalid("sample " + std::to_string(i) + " of the batch was not set");
  }
  Batch batch;
  for (const std::size_t f : c10::irange(self.fields.size())) {
    if (self.tensors[f].defined()) {
      batch.names.push_back(self.fields[f].name);
      batch.tensors.push_back(self.tensors[f]);
      continue;
    }
    try {
      self.collate(f, batch);
    } catch (const Error& error) {
      throw Error(error.code(), "field '" + self.fields[f].name + "': " + error.what());
    }
  }
  batch.sample_randomness = self.randomness;
  return batch;
}

}  // namespace tandem
