#include "tandem/loader.h"

#include <algorithm>

#include "core/call/options.h"
#include "core/call/strings.h"
#include "core/call/timeout.h"
#include "core/data/dataset_handle.h"
#include "core/data/loaded_batch.h"
#include "core/data/loader_handle.h"
#include "core/data/loader_options.h"
#include "core/data/sampler_handle.h"
#include "core/handles/handles.h"

using tandem::capi::data_loader;
using tandem::capi::dynamic_loader;
using tandem::capi::guard;
using tandem::capi::if_live;
using tandem::capi::invalid;
using tandem::capi::not_null;
using tandem::capi::to_strings;
using tandem::capi::with_either;

namespace {

const tandem::LoadedBatch& last_batch(const tdm_loader& loader) {
  const auto& batch = loader.batch;
  if (!batch) {
    throw tandem::Error(
        tandem::ErrorCode::kOutOfRange,
        "this loader gave no batch, or is at the end of an epoch or a step; call tdm_loader_next() before");
  }
  return *batch;
}

}  // namespace

namespace tandem::capi {

Tail to_tail(tdm_tail tail, Tail unset) {
  switch (tail) {
    case TDM_TAIL_UNSET:
      return unset;
    case TDM_TAIL_SHORT:
      return Tail::kShort;
    case TDM_TAIL_DROP:
      return Tail::kDrop;
    case TDM_TAIL_PAD:
      return Tail::kPad;
    case TDM_TAIL_REPEAT:
      return Tail::kRepeat;
    case TDM_TAIL_EVEN:
      return Tail::kEven;
  }
  invalid("options->tail is " + std::to_string(tail) + ", which is no tdm_tail");
}

OnIoError to_on_io_error(tdm_on_io_error on_io_error) {
  switch (on_io_error) {
    case TDM_ON_IO_ERROR_RETRY:
      return OnIoError::kRetry;
    case TDM_ON_IO_ERROR_SKIP:
      return OnIoError::kSkip;
    case TDM_ON_IO_ERROR_FAIL:
      return OnIoError::kFail;
  }
  invalid("options->on_io_error is " + std::to_string(on_io_error) + ", which is no tdm_on_io_error");
}

std::chrono::milliseconds to_io_retry(std::int64_t io_retry_ms) {
  if (io_retry_ms < -1) {
    invalid("options->io_retry_ms is " + std::to_string(io_retry_ms) + ", but must be at least -1");
  }
  return io_retry_ms == 0 ? LoaderOptions().io_retry : to_wait(io_retry_ms);
}

std::optional<at::Device> to_batch_device(tdm_device device) {
  const at::DeviceIndex index = to_device_index(device, "options->device");
  if (device.type == TDM_DEVICE_CPU) return std::nullopt;
  if (device.type == TDM_DEVICE_CUDA) return at::Device(at::kCUDA, index);
  invalid("options->device has type " + std::to_string(device.type) +
          "; batches are on TDM_DEVICE_CPU or TDM_DEVICE_CUDA");
}

LoaderOptions read_loader_options(const tdm_loader_options* options) {
  const auto given = read_options(options, tdm_loader_options TDM_LOADER_OPTIONS_INIT, "tdm_loader_options");
  LoaderOptions chosen;
  chosen.batch_size = given.batch_size;
  chosen.per_rank = given.global_batch == 0;
  chosen.rank = given.rank;
  chosen.world_size = given.world_size;
  chosen.shuffle = given.shuffle != 0;
  chosen.shuffle_block = given.shuffle_block;
  if (given.shuffle_window != 0) chosen.shuffle_window = given.shuffle_window;
  chosen.seed = given.seed;
  chosen.tail = to_tail(given.tail, given.drop_last ? Tail::kDrop : Tail::kEven);
  chosen.threads = given.threads;
  chosen.prefetch = given.prefetch;
  if (given.sampler) chosen.order = not_null(given.sampler, "options->sampler")->order;
  if (given.prefetch_bytes != 0) chosen.prefetch_bytes = given.prefetch_bytes;
  chosen.pin_memory = given.pin_memory != 0;
  chosen.device = to_batch_device(given.device);
  chosen.on_io_error = to_on_io_error(given.on_io_error);
  chosen.io_retry = to_io_retry(given.io_retry_ms);
  if (given.timeout_ms < -1) {
    invalid("options->timeout_ms is " + std::to_string(given.timeout_ms) + ", but must be at least -1");
  }
  if (given.timeout_ms != 0) chosen.timeout = to_wait(given.timeout_ms);
  return chosen;
}

DataLoader& data_loader(tdm_loader& loader, const char* instead) {
  if (auto* found = std::get_if<DataLoader>(&loader.loader)) return *found;
  invalid(std::string("argument 'loader' deals a dynamic partition out; ") + instead);
}

DynamicLoader& dynamic_loader(tdm_loader& loader, const char* instead) {
  if (auto* found = std::get_if<DynamicLoader>(&loader.loader)) return *found;
  invalid(
      std::string("argument 'loader' deals no dynamic partition out, as one of tdm_loader_create_dynamic() does; ") +
      instead);
}

}  // namespace tandem::capi

tdm_error* tdm_loader_create(const char* const* paths, size_t path_count, const tdm_field* fields, size_t field_count,
                             const tdm_loader_options* options, tdm_loader** out) {
  return guard("tdm_loader_create", [&] {
    not_null(out, "out");
    const auto files = to_strings(paths, path_count, "paths");
    auto layout = tandem::capi::read_record_fields(fields, field_count);
    const tandem::LoaderOptions chosen = tandem::capi::read_loader_options(options);
    *out = new tdm_loader(std::in_place_type<tandem::DataLoader>, field_count,
                          tandem::record_dataset(files, std::move(layout)), chosen);
  });
}

tdm_error* tdm_loader_create_from(const tdm_dataset* dataset, const tdm_loader_options* options, tdm_loader** out) {
  return guard("tdm_loader_create_from", [&] {
    not_null(dataset, "dataset");
    not_null(out, "out");
    const tandem::LoaderOptions chosen = tandem::capi::read_loader_options(options);
    const std::size_t tensors = dataset->names.size();
    constexpr auto kKind = std::in_place_type<tandem::DataLoader>;
    *out = dataset->iterable ? new tdm_loader(kKind, tensors, dataset->iterable, chosen)
                             : new tdm_loader(kKind, tensors, dataset->dataset, chosen);
  });
}

void tdm_loader_free(tdm_loader* loader) {
  tandem::capi::free_handle(loader);
}

int64_t tdm_loader_sample_count(const tdm_loader* loader) {
  if (!if_live(loader)) return 0;
  return with_either(*loader, [](const auto& native) { return native.sample_count(); });
}

int64_t tdm_loader_batch_count(const tdm_loader* loader) {
  if (!if_live(loader)) return 0;
  const auto* native = std::get_if<tandem::DataLoader>(&loader->loader);
  return native ? native->batch_count() : -1;
}

tdm_error* tdm_loader_start_epoch(tdm_loader* loader, int64_t epoch, int64_t first_batch) {
  return guard("tdm_loader_start_epoch", [&] {
    auto& native = data_loader(*not_null(loader, "loader"), "its steps begin with tdm_loader_next_step()");
    first_batch == -1 ? native.start_epoch(epoch) : native.start_epoch(epoch, first_batch);
    loader->batch.reset();
  });
}

tdm_error* tdm_loader_next(tdm_loader* loader, tdm_tensor** batch, size_t field_count, int32_t* has_batch) {
  return guard("tdm_loader_next", [&] {
    not_null(loader, "loader");
    not_null(batch, "batch");
    not_null(has_batch, "has_batch");
    if (field_count != loader->field_count) {
      invalid("batch has room for " + std::to_string(field_count) + " tensors, but the loader has " +
              std::to_string(loader->field_count) + " fields");
    }
    loader->batch.reset();
    auto made = with_either(*loader, [](auto& native) { return native.next(); });
    if (!made) {
      *has_batch = 0;
      return;
    }
    const std::vector<tdm_tensor*> handles = tandem::capi::make_tensor_handles(std::move(made->tensors));
    made->tensors.clear();
    loader->batch = std::move(made);
    std::copy(handles.begin(), handles.end(), batch);
    *has_batch = 1;
  });
}

tdm_error* tdm_loader_abort(tdm_loader* loader) {
  return guard("tdm_loader_abort",
               [&] { with_either(*not_null(loader, "loader"), [](auto& native) { native.abort(); }); });
}

tdm_error* tdm_loader_get_batch(const tdm_loader* loader, tdm_loader_batch* out) {
  return guard("tdm_loader_get_batch", [&] {
    not_null(loader, "loader");
    tandem::capi::check_struct_size(not_null(out, "out")->struct_size, "tdm_loader_batch");
    tandem::capi::write_batch(last_batch(*loader), out);
  });
}

tdm_error* tdm_loader_get_batch_mask(const tdm_loader* loader, tdm_tensor** out) {
  return guard("tdm_loader_get_batch_mask", [&] {
    not_null(loader, "loader");
    not_null(out, "out");
    *out = tandem::capi::make_tensor_handle(last_batch(*loader).mask());
  });
}

tdm_error* tdm_loader_commit(tdm_loader* loader, tdm_string** record) {
  return guard("tdm_loader_commit", [&] {
    not_null(loader, "loader");
    if (record) dynamic_loader(*loader, "it has no records: give NULL for 'record'");
    if (auto* native = std::get_if<tandem::DataLoader>(&loader->loader)) return native->commit();
    const tandem::CommittedStep step = std::get<tandem::DynamicLoader>(loader->loader).commit();
    loader->batch.reset();
    if (record) *record = tandem::capi::make_string(step.json());
  });
}

tdm_error* tdm_loader_get_state(const tdm_loader* loader, tdm_string** out) {
  return guard("tdm_loader_get_state", [&] {
    not_null(loader, "loader");
    not_null(out, "out");
    *out = tandem::capi::make_string(with_either(*loader, [](const auto& native) { return native.state(); }));
  });
}

tdm_error* tdm_loader_restore(tdm_loader* loader, const void* data, size_t size) {
  return guard("tdm_loader_restore", [&] {
    not_null(loader, "loader");
    if (size > 0) not_null(data, "data");
    data_loader(*loader, "give the state to tdm_loader_create_dynamic()")
        .restore({static_cast<const char*>(data), size});
  });
}

int64_t tdm_loader_current_epoch(const tdm_loader* loader) {
  if (!if_live(loader)) return 0;
  const auto* native = std::get_if<tandem::DataLoader>(&loader->loader);
  return native ? native->current_epoch() : std::get<tandem::DynamicLoader>(loader->loader).epoch();
}
