// Data sets of files and tensors, and those made of others.
#include <algorithm>

#include "core/call/numbers.h"
#include "core/call/strings.h"
#include "core/data/dataset_handle.h"
#include "core/data/record_files.h"
#include "core/handles/handles.h"
#include "tandem/derived_datasets.h"

using namespace tandem::capi;

namespace tandem::capi {
namespace {

RecordField read_field(const tdm_field& given, std::size_t index) {
  RecordField field;
  field.name = given.name ? given.name : std::to_string(index);
  const std::string self = "fields[" + std::to_string(index) + "].";
  field.dtype = to_scalar_type(given.dtype, (self + "dtype").c_str());
  field.out_dtype = to_scalar_type(given.out_dtype, (self + "out_dtype").c_str());
  const auto sizes = to_sizes(given.sizes, given.ndim, (self + "sizes").c_str());
  field.sizes.assign(sizes.begin(), sizes.end());
  field.mean = given.mean;
  field.std = given.std;
  field.scale = given.scale;
  return field;
}

}  // namespace

std::vector<RecordField> read_record_fields(const tdm_field* fields, std::size_t count) {
  check_count(count, "fields");
  if (count > 0) not_null(fields, "fields");
  std::vector<RecordField> layout;
  for (std::size_t i = 0; i < count; ++i) layout.push_back(read_field(fields[i], i));
  return layout;
}

const std::shared_ptr<Dataset>& samples_of(const tdm_dataset* dataset, const char* argument) {
  not_null(dataset, argument);
  if (!dataset->dataset) {
    throw Error(ErrorCode::kUnsupported, std::string("argument '") + argument +
                                             "' is a data set whose samples come one after the other; only a loader "
                                             "takes it");
  }
  return dataset->dataset;
}

}  // namespace tandem::capi

void tdm_dataset_free(tdm_dataset* dataset) {
  tandem::capi::guard_end("tdm_dataset_free", [&](tandem::ThreadState&) { delete if_live(dataset); });
}

int64_t tdm_dataset_size(const tdm_dataset* dataset) {
  if (!if_live(dataset)) return 0;
  return dataset->dataset ? dataset->dataset->size() : dataset->iterable->size();
}

size_t tdm_dataset_field_count(const tdm_dataset* dataset) {
  return if_live(dataset) ? dataset->names.size() : 0;
}

const char* tdm_dataset_field_name(const tdm_dataset* dataset, size_t index) {
  return if_live(dataset) && index < dataset->names.size() ? dataset->names[index].c_str() : nullptr;
}

tdm_error* tdm_dataset_get(const tdm_dataset* dataset, int64_t index, tdm_tensor** sample, size_t field_count) {
  return guard("tdm_dataset_get", [&] {
    const auto& samples = samples_of(dataset, "dataset");
    not_null(sample, "sample");
    if (index < 0 || index >= samples->size()) {
      throw tandem::Error(tandem::ErrorCode::kOutOfRange, "there is no sample " + std::to_string(index) +
                                                              " in a data set of " + std::to_string(samples->size()));
    }
    // A batch of what get() gives: the data set's own has no row of a sample where fields are packed.
    const auto batch = samples->tandem::Dataset::get_batch({&index, 1}, 1);
    if (batch.size() != field_count) {
      invalid("sample has room for " + std::to_string(field_count) + " tensors, but has " +
              std::to_string(batch.size()));
    }
    std::vector<at::Tensor> rows;
    for (const at::Tensor& tensor : batch) rows.push_back(tensor[0]);
    const auto handles = make_optional_handles(rows);
    std::copy(handles.begin(), handles.end(), sample);
  });
}

tdm_error* tdm_dataset_from_records(const char* const* paths, size_t path_count, const tdm_field* fields,
                                    size_t field_count, const tdm_open_records_options* options, tdm_dataset** out) {
  return guard("tdm_dataset_from_records", [&] {
    const auto files = to_strings(paths, path_count, "paths");
    auto layout = read_record_fields(fields, field_count);
    not_null(out, "out");
    std::shared_ptr<tandem::RecordSource> source =
        tandem::open_records(files, tandem::capi::read_open_records_options(options));
    *out = new tdm_dataset(tandem::record_dataset(std::move(source), std::move(layout)));
  });
}

tdm_error* tdm_dataset_from_tensors(tdm_tensor* const* tensors, size_t count, const char* const* names,
                                    tdm_dataset** out) {
  return guard("tdm_dataset_from_tensors", [&] {
    auto list = unwrap_list(tensors, count, "tensors");
    // The caller may change them afterwards, while threads read.
    for (at::Tensor& tensor : list) tensor = tensor.detach().clone();
    auto texts = to_strings(names, count, "names");
    not_null(out, "out");
    *out = new tdm_dataset(tandem::tensor_dataset(std::move(list), std::move(texts)));
  });
}

tdm_error* tdm_dataset_concat(const tdm_dataset* const* datasets, size_t count, tdm_dataset** out) {
  return guard("tdm_dataset_concat", [&] {
    check_count(count, "datasets");
    if (count > 0) not_null(datasets, "datasets");
    not_null(out, "out");
    std::vector<std::shared_ptr<tandem::Dataset>> parts;
    for (std::size_t i = 0; i < count; ++i) {
      parts.push_back(samples_of(datasets[i], ("datasets[" + std::to_string(i) + "]").c_str()));
    }
    *out = new tdm_dataset(tandem::concat_dataset(std::move(parts)));
  });
}

tdm_error* tdm_dataset_subset(const tdm_dataset* dataset, const int64_t* samples, size_t count, tdm_dataset** out) {
  return guard("tdm_dataset_subset", [&] {
    const auto& base = samples_of(dataset, "dataset");
    auto chosen = to_numbers(samples, count, "samples");
    not_null(out, "out");
    *out = new tdm_dataset(tandem::subset_dataset(base, std::move(chosen)));
  });
}

tdm_error* tdm_dataset_random_split(const tdm_dataset* dataset, const int64_t* sizes, size_t count, uint64_t seed,
                                    tdm_dataset** parts) {
  return guard("tdm_dataset_random_split", [&] {
    const auto& base = samples_of(dataset, "dataset");
    const auto chosen = to_numbers(sizes, count, "sizes");
    not_null(parts, "parts");
    std::vector<std::unique_ptr<tdm_dataset>> made;
    for (auto& part : tandem::random_split(base, chosen, seed)) {
      made.push_back(std::make_unique<tdm_dataset>(std::move(part)));
    }
    for (std::size_t i = 0; i < count; ++i) parts[i] = made[i].release();
  });
}

tdm_error* tdm_dataset_split_sizes(const tdm_dataset* dataset, const double* fractions, size_t count, int64_t* sizes) {
  return guard("tdm_dataset_split_sizes", [&] {
    const auto& base = samples_of(dataset, "dataset");
    const auto shares = to_numbers(fractions, count, "fractions");
    not_null(sizes, "sizes");
    const auto found = tandem::split_sizes(base->size(), shares);
    std::copy(found.begin(), found.end(), sizes);
  });
}
