#include "tandem/dynamic_loader.h"

#include <algorithm>
#include <sstream>

#include "core/dynamic_loader_handle.h"
#include "core/groups.h"
#include "core/handles.h"
#include "core/loaded_batch.h"
#include "core/loader_options.h"
#include "core/options.h"
#include "core/sampler_handle.h"
#include "core/timeout.h"

using tandem::capi::guard;
using tandem::capi::if_live;
using tandem::capi::invalid;
using tandem::capi::not_null;

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

std::vector<tandem::CommittedStep> read_log(const char* log) {
  std::vector<tandem::CommittedStep> steps;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      steps.push_back(tandem::CommittedStep::parse(line));
    } catch (const tandem::Error& error) {
      throw tandem::Error(error.code(),
                          "argument 'log', step " + std::to_string(steps.size()) + " in it: " + error.what());
    }
  }
  return steps;
}

}  // namespace

tdm_error* tdm_dynamic_loader_create(const tdm_dataset* dataset, const tdm_store* store,
                                     const tdm_dynamic_loader_options* options, const void* state, size_t state_size,
                                     const char* quarantine, tdm_dynamic_loader** out) {
  return guard("tdm_dynamic_loader_create", [&] {
    not_null(dataset, "dataset");
    not_null(store, "store");
    not_null(out, "out");
    Given given = read(options, state, state_size, quarantine);
    given.membership.store = store->store;
    *out = new tdm_dynamic_loader(*dataset, given.options, given.membership, given.state, given.quarantine);
  });
}

tdm_error* tdm_dynamic_loader_replay(const tdm_dataset* dataset, const char* log,
                                     const tdm_dynamic_loader_options* options, const void* state, size_t state_size,
                                     const char* quarantine, tdm_dynamic_loader** out) {
  return guard("tdm_dynamic_loader_replay", [&] {
    not_null(dataset, "dataset");
    not_null(log, "log");
    not_null(out, "out");
    const Given given = read(options, state, state_size, quarantine);
    *out = new tdm_dynamic_loader(*dataset, given.options, given.membership.rank, read_log(log), given.state,
                                  given.quarantine);
  });
}

void tdm_dynamic_loader_free(tdm_dynamic_loader* loader) {
  delete if_live(loader);
}

tdm_error* tdm_dynamic_loader_next_step(tdm_dynamic_loader* loader, int32_t* has_step) {
  return guard("tdm_dynamic_loader_next_step", [&] {
    not_null(loader, "loader");
    not_null(has_step, "has_step");
    loader->part.reset();
    *has_step = loader->loader.next_step() ? 1 : 0;
  });
}

tdm_error* tdm_dynamic_loader_next(tdm_dynamic_loader* loader, tdm_tensor** part, size_t field_count,
                                   int32_t* has_part) {
  return guard("tdm_dynamic_loader_next", [&] {
    not_null(loader, "loader");
    not_null(part, "part");
    not_null(has_part, "has_part");
    if (field_count != loader->field_count) {
      invalid("part has room for " + std::to_string(field_count) + " tensors, but the loader has " +
              std::to_string(loader->field_count) + " fields");
    }
    loader->part.reset();
    auto made = loader->loader.next();
    if (!made) {
      *has_part = 0;
      return;
    }
    const std::vector<tdm_tensor*> handles = tandem::capi::make_tensor_handles(std::move(made->tensors));
    made->tensors.clear();
    loader->part = std::move(made);
    std::copy(handles.begin(), handles.end(), part);
    *has_part = 1;
  });
}

tdm_error* tdm_dynamic_loader_get_part(const tdm_dynamic_loader* loader, tdm_loader_batch* out) {
  return guard("tdm_dynamic_loader_get_part", [&] {
    not_null(loader, "loader");
    tandem::capi::check_struct_size(not_null(out, "out")->struct_size, "tdm_loader_batch");
    if (!loader->part) {
      throw tandem::Error(
          tandem::ErrorCode::kOutOfRange,
          "this loader gave no part, or is at the end of a step; call tdm_dynamic_loader_next() before");
    }
    tandem::capi::write_batch(*loader->part, out);
  });
}

tdm_error* tdm_dynamic_loader_fail(tdm_dynamic_loader* loader, int64_t sample, const char* reason) {
  return guard("tdm_dynamic_loader_fail", [&] {
    not_null(loader, "loader");
    not_null(reason, "reason");
    loader->loader.fail(sample, reason);
    loader->part.reset();
  });
}

int64_t tdm_dynamic_loader_epoch(const tdm_dynamic_loader* loader) {
  return if_live(loader) ? loader->loader.epoch() : 0;
}

int64_t tdm_dynamic_loader_step(const tdm_dynamic_loader* loader) {
  return if_live(loader) ? loader->loader.step() : 0;
}

int64_t tdm_dynamic_loader_local_count(const tdm_dynamic_loader* loader) {
  return if_live(loader) ? loader->loader.local_count() : 0;
}

int64_t tdm_dynamic_loader_global_count(const tdm_dynamic_loader* loader) {
  return if_live(loader) ? loader->loader.global_count() : 0;
}

tdm_error* tdm_dynamic_loader_commit(tdm_dynamic_loader* loader, tdm_string** record) {
  return guard("tdm_dynamic_loader_commit", [&] {
    not_null(loader, "loader");
    const tandem::CommittedStep step = loader->loader.commit();
    loader->part.reset();
    if (record) *record = tandem::capi::make_string(step.json());
  });
}

tdm_error* tdm_dynamic_loader_abort(tdm_dynamic_loader* loader) {
  return guard("tdm_dynamic_loader_abort", [&] { not_null(loader, "loader")->loader.abort(); });
}

tdm_error* tdm_dynamic_loader_get_state(const tdm_dynamic_loader* loader, tdm_string** out) {
  return guard("tdm_dynamic_loader_get_state", [&] {
    not_null(loader, "loader");
    not_null(out, "out");
    *out = tandem::capi::make_string(loader->loader.state());
  });
}

tdm_error* tdm_dynamic_loader_get_quarantine(const tdm_dynamic_loader* loader, tdm_string** out) {
  return guard("tdm_dynamic_loader_get_quarantine", [&] {
    not_null(loader, "loader");
    not_null(out, "out");
    *out = tandem::capi::make_string(tandem::quarantine_json(loader->loader.quarantine()));
  });
}
