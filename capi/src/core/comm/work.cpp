// Collectives in flight.
#include <ATen/core/ivalue.h>

#include "core/call/callback.h"
#include "core/call/timeout.h"
#include "core/comm/groups.h"
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

tdm_error* tdm_work_error(const tdm_work* work, tdm_error** out) {
  return guard("tdm_work_error", [&] {
    not_null(work, "work");
    not_null(out, "out");
    const auto error = work->work.error();
    *out =
        error ? tandem_error_new(static_cast<tdm_error_code>(error->code()), "tdm_work_error", error->what()) : nullptr;
  });
}

namespace {

// Calls `call` once, with NULL or why the work failed: here where it has ended by now, else on the thread that ends it.
template <typename Call>
void on_completion(const c10::intrusive_ptr<c10d::Work>& work, Call call) {
  if (!work) return call(nullptr);
  work->getFuture()->addCallback([call = std::move(call)](c10::ivalue::Future& ended) {
    if (!ended.hasError()) return call(nullptr);
    try {
      std::rethrow_exception(ended.exception_ptr());
    } catch (const tandem::Error& error) {
      call(&error);
    } catch (const std::exception& error) {
      const tandem::Error lost(tandem::ErrorCode::kPeerLost, error.what());
      call(&lost);
    } catch (...) {
      const tandem::Error unknown(tandem::ErrorCode::kInternal, "it failed with what is no std::exception");
      call(&unknown);
    }
  });
}

}  // namespace

tdm_error* tdm_work_on_completion(tdm_work* work, void (*callback)(void* user_data, const tdm_error* error),
                                  void* user_data, void (*destroy)(void* user_data)) {
  return guard("tdm_work_on_completion", [&] {
    not_null(work, "work");
    not_null(callback, "callback");
    const auto held = std::make_shared<Callback>(user_data);
    held->adopt(destroy);
    auto call = [held, callback](const tandem::Error* failure) {
      tdm_error* error = failure ? tandem_error_new(static_cast<tdm_error_code>(failure->code()),
                                                    "tdm_work_on_completion", failure->what())
                                 : nullptr;
      try {
        const CallbackState state("a work's callback");
        callback(held->user_data(), error);
      } catch (...) {
        // Of a C++ program's callback; there is nobody to tell.
      }
      tandem_error_release(error);
    };
    try {
      on_completion(work->work.native(), std::move(call));
    } catch (...) {
      held->adopt(nullptr);  // who gets an error keeps user_data
      throw;
    }
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
  if (!if_live(work) || !tandem::thread_state_if_memory()) return;
  try {
    work->work.wait();
  } catch (...) {
    // Whoever wanted to know waited before.
  }
  delete work;
}
