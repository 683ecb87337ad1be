// Collectives in flight.
#include "core/groups.h"
#include "core/timeout.h"
#include "tandem/resident.h"

using namespace tandem::capi;

tdm_error* tdm_work_wait(tdm_work* work, int64_t timeout_ms) {
  return guard("tdm_work_wait", [&] {
    not_null(work, "work");
    if (timeout_ms == 0) invalid("argument 'timeout_ms' is 0; give milliseconds, or -1 for the group's timeout");
    work->work.wait(to_wait(timeout_ms));
    tandem::startup_is_over();
  });
}

int32_t tdm_work_is_completed(const tdm_work* work) {
  return if_live(work) ? work->work.is_completed() : 0;
}

tdm_error* tdm_work_error(const tdm_work* work) {
  return guard("tdm_work_error", [&] {
    if (const auto error = not_null(work, "work")->work.error()) throw *error;
  });
}

size_t tdm_work_result_count(const tdm_work* work) {
  return if_live(work) ? work->work.result().size() : 0;
}

tdm_error* tdm_work_result(const tdm_work* work, size_t index, tdm_tensor** out) {
  return guard("tdm_work_result", [&] {
    const auto& result = not_null(work, "work")->work.result();
    not_null(out, "out");
    if (index >= result.size()) {
      throw tandem::Error(tandem::ErrorCode::kOutOfRange, "argument 'index' is " + std::to_string(index) +
                                                              "; the work has " + std::to_string(result.size()) +
                                                              " results");
    }
    *out = make_tensor_handle(result[index]);
  });
}

int32_t tdm_work_source_rank(const tdm_work* work) {
  return if_live(work) ? work->work.source_rank() : -1;
}

void tdm_work_free(tdm_work* work) {
  if (!if_live(work)) return;
  try {
    work->work.wait();
  } catch (...) {
    // Whoever wanted to know waited before.
  }
  delete work;
}
