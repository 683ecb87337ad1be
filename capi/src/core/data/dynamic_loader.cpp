#include "tandem/dynamic_loader.h"

#include "core/call/options.h"
#include "core/call/strings.h"
#include "core/call/timeout.h"
#include "core/comm/groups.h"
#include "core/data/dataset_handle.h"
#include "core/data/loader_handle.h"
#include "core/data/loader_options.h"
#include "core/data/sampler_handle.h"
#include "core/handles/handles.h"

using tandem::capi::dynamic_loader;
using tandem::capi::guard;
using tandem::capi::if_live;
using tandem::capi::invalid;
using tandem::capi::not_null;
using tandem::capi::samples_of;

namespace {

constexpr std::size_t kLargestState = 4096;  // a state is less than 256 bytes

// What both ways of making a loader take.
struct Given {
  tandem::DynamicLoaderOptions options;
  tandem::LeaseMembership membership;
  std::string_view state;
  std::vector<tandem::Quarantined> quarantine;
};

Given read(const tdm_dynamic_loader_options* options, const void* state, std::size_t state_size,
           const char* quarantine) {
  const auto raw = tandem::capi::read_options(options, tdm_dynamic_loader_options TDM_DYNAMIC_LOADER_OPTIONS_INIT,
                                              "tdm_dynamic_loader_options");
  Given given;
  given.options.batch_size = raw.batch_size;
  given.options.micro_batch = raw.micro_batch;
  given.options.shuffle = raw.shuffle != 0;
  given.options.shuffle_block = raw.shuffle_block;
  if (raw.shuffle_window != 0) given.options.shuffle_window = raw.shuffle_window;
  if (raw.sampler) given.options.order = not_null(raw.sampler, "options->sampler")->order;
  given.options.seed = raw.seed;
  given.options.tail = tandem::capi::to_tail(raw.tail, tandem::Tail::kShort);
  given.options.threads = raw.threads;
  given.options.prefetch = raw.prefetch;
  if (raw.prefetch_bytes != 0) given.options.prefetch_bytes = raw.prefetch_bytes;
  given.options.pin_memory = raw.pin_memory != 0;
  given.options.device = tandem::capi::to_batch_device(raw.device);
  given.options.on_io_error = tandem::capi::to_on_io_error(raw.on_io_error);
  given.options.io_retry = tandem::capi::to_io_retry(raw.io_retry_ms);
  given.options.most_failures = raw.most_failures;
  given.options.most_quarantined = raw.most_quarantined;
  given.options.lost_after = tandem::capi::to_wait(raw.lost_after_ms);
  given.options.timeout = tandem::capi::to_wait(raw.timeout_ms);
  given.membership.generation = raw.generation;
  given.membership.rank = raw.rank;
  given.membership.world_size = raw.world_size;
  if (raw.name) given.membership.name = raw.name;
  if (state_size > 0) not_null(state, "state");
  if (state_size > kLargestState) invalid("argument 'state_size' is " + std::to_string(state_size) + ", too much");
  given.state = {static_cast<const char*>(state), state_size};
  if (quarantine) given.quarantine = tandem::parse_quarantine(quarantine);
  return given;
}

std::vector<tandem::CommittedStep> read_log(const char* const* records, std::size_t count) {
  std::vector<tandem::CommittedStep> steps;
  std::size_t index = 0;
  for (const std::string& record : tandem::capi::to_strings(records, count, "records")) {
    const std::string argument = "argument 'records'[" + std::to_string(index++) + "]: ";
    if (record.find_first_not_of(" \t\r\n") == std::string::npos) continue;  // a log's empty line
    try {
      steps.push_back(tandem::CommittedStep::parse(record));
    } catch (const tandem::Error& error) {
      throw tandem::Error(error.code(), argument + error.what());
    }
  }
  return steps;
}

constexpr auto kDynamic = std::in_place_type<tandem::DynamicLoader>;

// Of a live handle; NULL for another loader.
const tandem::DynamicLoader* dynamic_if_live(const tdm_loader* loader) {
  return if_live(loader) ? std::get_if<tandem::DynamicLoader>(&loader->loader) : nullptr;
}

// `of` such a loader, -1 of another; 0 of NULL, and what is no loader.
template <typename Of>
int64_t of_step(const tdm_loader* loader, Of&& of) {
  const auto* native = dynamic_if_live(loader);
  return native ? of(*native) : if_live(loader) ? -1 : 0;
}

}  // namespace

tdm_error* tdm_loader_create_dynamic(const tdm_dataset* dataset, const tdm_store* store,
                                     const tdm_dynamic_loader_options* options, const void* state, size_t state_size,
                                     const char* quarantine, tdm_loader** out) {
  return guard("tdm_loader_create_dynamic", [&] {
    not_null(dataset, "dataset");
    not_null(store, "store");
    not_null(out, "out");
    Given given = read(options, state, state_size, quarantine);
    given.membership.store = store->store;
    *out = new tdm_loader(kDynamic, dataset->names.size(), samples_of(dataset, "dataset"), given.options,
                          given.membership, given.state, given.quarantine);
  });
}

tdm_error* tdm_loader_create_replay(const tdm_dataset* dataset, const char* const* records, size_t record_count,
                                    const tdm_dynamic_loader_options* options, const void* state, size_t state_size,
                                    const char* quarantine, tdm_loader** out) {
  return guard("tdm_loader_create_replay", [&] {
    not_null(dataset, "dataset");
    not_null(out, "out");
    const Given given = read(options, state, state_size, quarantine);
    const auto log = read_log(records, record_count);
    *out = new tdm_loader(kDynamic, dataset->names.size(), samples_of(dataset, "dataset"), given.options,
                          given.membership.rank, log, given.state, given.quarantine);
  });
}

tdm_error* tdm_loader_next_step(tdm_loader* loader, int32_t* has_step) {
  return guard("tdm_loader_next_step", [&] {
    not_null(loader, "loader");
    not_null(has_step, "has_step");
    auto& native = dynamic_loader(*loader, "its epochs begin with tdm_loader_start_epoch()");
    loader->batch.reset();
    *has_step = native.next_step() ? 1 : 0;
  });
}

tdm_error* tdm_loader_fail(tdm_loader* loader, int64_t sample, const char* reason) {
  return guard("tdm_loader_fail", [&] {
    not_null(loader, "loader");
    not_null(reason, "reason");
    dynamic_loader(*loader, "nobody else computes its batches").fail(sample, reason);
    loader->batch.reset();
  });
}

int64_t tdm_loader_current_step(const tdm_loader* loader) {
  return of_step(loader, [](const auto& native) { return native.step(); });
}

int64_t tdm_loader_step_local_count(const tdm_loader* loader) {
  return of_step(loader, [](const auto& native) { return native.local_count(); });
}

int64_t tdm_loader_step_global_count(const tdm_loader* loader) {
  return of_step(loader, [](const auto& native) { return native.global_count(); });
}

tdm_error* tdm_loader_get_quarantine(const tdm_loader* loader, tdm_string** out) {
  return guard("tdm_loader_get_quarantine", [&] {
    not_null(loader, "loader");
    not_null(out, "out");
    const auto* native = dynamic_if_live(loader);
    if (!native)
      invalid("argument 'loader' deals no dynamic partition out, as one of tdm_loader_create_dynamic() does");
    *out = tandem::capi::make_string(tandem::quarantine_json(native->quarantine()));
  });
}
