#include "tandem/loader.h"

#include "core/handles.h"
#include "core/options.h"
#include "core/strings.h"

using tandem::Kind;
using tandem::capi::guard;
using tandem::capi::if_live;
using tandem::capi::invalid;
using tandem::capi::not_null;
using tandem::capi::to_strings;

struct tdm_loader : tandem::capi::Handle<Kind::kLoader> {
  tdm_loader(const std::vector<std::string>& paths, std::vector<tandem::RecordField> fields,
             const tandem::LoaderOptions& options)
      : loader(paths, std::move(fields), options) {}
  tandem::RecordIODataLoader loader;
};

namespace {

tandem::RecordField read_field(const tdm_field& given, std::size_t index) {
  tandem::RecordField field;
  field.name = given.name ? given.name : std::to_string(index);
  const std::string self = "fields[" + std::to_string(index) + "].";
  field.dtype = tandem::capi::to_scalar_type(given.dtype, (self + "dtype").c_str());
  field.out_dtype = tandem::capi::to_scalar_type(given.out_dtype, (self + "out_dtype").c_str());
  const auto sizes = tandem::capi::to_sizes(given.sizes, given.ndim, (self + "sizes").c_str());
  field.sizes.assign(sizes.begin(), sizes.end());
  field.mean = given.mean;
  field.std = given.std;
  field.scale = given.scale;
  return field;
}

}  // namespace

tdm_error* tdm_loader_create(const char* const* paths, size_t path_count, const tdm_field* fields, size_t field_count,
                             const tdm_loader_options* options, tdm_loader** out) {
  return guard("tdm_loader_create", [&] {
    not_null(out, "out");
    const auto files = to_strings(paths, path_count, "paths");
    tandem::capi::check_count(field_count, "fields");
    if (field_count > 0) not_null(fields, "fields");
    const auto given =
        tandem::capi::read_options(options, tdm_loader_options TDM_LOADER_OPTIONS_INIT, "tdm_loader_options");
    std::vector<tandem::RecordField> layout;
    for (std::size_t i = 0; i < field_count; ++i) layout.push_back(read_field(fields[i], i));
    tandem::LoaderOptions chosen;
    chosen.batch_size = given.batch_size;
    chosen.rank = given.rank;
    chosen.world_size = given.world_size;
    chosen.shuffle = given.shuffle != 0;
    chosen.seed = given.seed;
    chosen.drop_last = given.drop_last != 0;
    chosen.threads = given.threads;
    chosen.prefetch = given.prefetch;
    *out = new tdm_loader(files, std::move(layout), chosen);
  });
}

void tdm_loader_free(tdm_loader* loader) {
  delete if_live(loader);
}

int64_t tdm_loader_sample_count(const tdm_loader* loader) {
  return if_live(loader) ? loader->loader.sample_count() : 0;
}

int64_t tdm_loader_batch_count(const tdm_loader* loader) {
  return if_live(loader) ? loader->loader.batch_count() : 0;
}

tdm_error* tdm_loader_start_epoch(tdm_loader* loader, int64_t epoch, int64_t first_batch) {
  return guard("tdm_loader_start_epoch", [&] { not_null(loader, "loader")->loader.start_epoch(epoch, first_batch); });
}

tdm_error* tdm_loader_next(tdm_loader* loader, tdm_tensor** batch, size_t field_count, int32_t* has_batch) {
  return guard("tdm_loader_next", [&] {
    not_null(loader, "loader");
    not_null(batch, "batch");
    not_null(has_batch, "has_batch");
    const std::size_t expected = loader->loader.fields().size();
    if (field_count != expected) {
      invalid("batch has room for " + std::to_string(field_count) + " tensors, but the loader has " +
              std::to_string(expected) + " fields");
    }
    auto tensors = loader->loader.next();
    if (!tensors) {
      *has_batch = 0;
      return;
    }
    std::vector<tdm_tensor*> handles;
    try {
      handles.reserve(tensors->size());
      for (auto& tensor : *tensors) handles.push_back(tandem::capi::make_tensor_handle(std::move(tensor)));
    } catch (...) {
      for (tdm_tensor* handle : handles) tdm_tensor_free(handle);
      throw;
    }
    std::copy(handles.begin(), handles.end(), batch);
    *has_batch = 1;
  });
}
