#include "core/dataset_handle.h"
#include "core/handles.h"
#include "core/strings.h"

using tandem::capi::guard;
using tandem::capi::if_live;
using tandem::capi::not_null;

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

}  // namespace tandem::capi

void tdm_dataset_free(tdm_dataset* dataset) {
  delete if_live(dataset);
}

int64_t tdm_dataset_size(const tdm_dataset* dataset) {
  return if_live(dataset) ? dataset->dataset->size() : 0;
}

size_t tdm_dataset_field_count(const tdm_dataset* dataset) {
  return if_live(dataset) ? dataset->names.size() : 0;
}

const char* tdm_dataset_field_name(const tdm_dataset* dataset, size_t index) {
  return if_live(dataset) && index < dataset->names.size() ? dataset->names[index].c_str() : nullptr;
}

tdm_error* tdm_dataset_from_records(const char* const* paths, size_t path_count, const tdm_field* fields,
                                    size_t field_count, tdm_dataset** out) {
  return guard("tdm_dataset_from_records", [&] {
    const auto files = tandem::capi::to_strings(paths, path_count, "paths");
    auto layout = tandem::capi::read_record_fields(fields, field_count);
    not_null(out, "out");
    *out = new tdm_dataset(tandem::record_dataset(files, std::move(layout)));
  });
}
