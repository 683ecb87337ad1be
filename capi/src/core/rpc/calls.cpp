// Calls of other workers, and references to what they give.
#include <memory>
#include <optional>
#include <utility>

#include "core/call/callback.h"
#include "core/rpc/call_values.h"
#include "core/rpc/rref_handle.h"
#include "tandem/rpc.h"

struct tdm_rpc_future : tandem::capi::Handle<tandem::Kind::kRpcFuture> {
  explicit tdm_rpc_future(tandem::rpc::Future held) : future(std::move(held)) {}

  const tandem::rpc::Future future;
};

using namespace tandem::capi;
namespace tr = tandem::rpc;

tdm_error* tdm_rpc_sync(const char* to, const char* function, const tdm_value* arguments, std::size_t argument_count,
                        const tdm_rpc_call_options* options, tdm_value* out) {
  return guard("tdm_rpc_sync", [&] {
    not_null(to, "to");
    not_null(function, "function");
    auto values = to_call_values(arguments, argument_count);
    const auto given = read_call_options(options);
    not_null(out, "out");
    const auto call = [&] { return tr::rpc_async(to, function, std::move(values), to_call_options(given)); };
    *out = from_script(in_context(given, call).wait());
  });
}

tdm_error* tdm_rpc_async(const char* to, const char* function, const tdm_value* arguments, std::size_t argument_count,
                         const tdm_rpc_call_options* options, tdm_rpc_future** out) {
  return guard("tdm_rpc_async", [&] {
    not_null(to, "to");
    not_null(function, "function");
    auto values = to_call_values(arguments, argument_count);
    const auto given = read_call_options(options);
    not_null(out, "out");
    *out = new tdm_rpc_future(
        in_context(given, [&] { return tr::rpc_async(to, function, std::move(values), to_call_options(given)); }));
  });
}

tdm_error* tdm_rpc_future_wait(const tdm_rpc_future* future, int64_t timeout_ms, tdm_value* out) {
  return guard("tdm_rpc_future_wait", [&] {
    not_null(future, "future");
    const auto timeout = to_optional_wait(timeout_ms);
    not_null(out, "out");
    *out = from_script(future->future.wait(timeout));
  });
}

int32_t tdm_rpc_future_is_done(const tdm_rpc_future* future) {
  return if_live(future) ? future->future.done() : 0;
}

tdm_error* tdm_rpc_future_on_completion(const tdm_rpc_future* future,
                                        void (*callback)(void* user_data, const tdm_error* error), void* user_data,
                                        void (*destroy)(void* user_data)) {
  return guard("tdm_rpc_future_on_completion", [&] {
    not_null(future, "future");
    not_null(callback, "callback");
    const auto held = std::make_shared<Callback>(user_data);
    held->adopt(destroy);
    try {
      future->future.then([held, callback](const tr::Future& ended) {
        const std::optional<tandem::Error> failure = ended.error();
        tdm_error* error = failure ? tandem_error_new(static_cast<tdm_error_code>(failure->code()),
                                                      "tdm_rpc_future_on_completion", failure->what())
                                   : nullptr;
        try {
          const CallbackState state("a call's callback");
          callback(held->user_data(), error);
        } catch (...) {
          // Of a C++ program's callback; there is nobody to tell.
        }
        tandem_error_release(error);
        return at::IValue();
      });
    } catch (...) {
      held->adopt(nullptr);  // who gets an error keeps user_data
      throw;
    }
  });
}

void tdm_rpc_future_free(tdm_rpc_future* future) {
  free_handle(future);
}

tdm_error* tdm_rpc_remote(const char* to, const char* function, const tdm_value* arguments, std::size_t argument_count,
                          const tdm_rpc_call_options* options, tdm_rref** out) {
  return guard("tdm_rpc_remote", [&] {
    not_null(to, "to");
    not_null(function, "function");
    auto values = to_call_values(arguments, argument_count);
    const auto given = read_call_options(options);
    not_null(out, "out");
    *out = new tdm_rref(
        in_context(given, [&] { return tr::remote(to, function, std::move(values), to_call_options(given)); }));
  });
}

tdm_error* tdm_rref_create(const tdm_value* value, tdm_rref** out) {
  return guard("tdm_rref_create", [&] {
    not_null(value, "value");
    at::IValue held = to_script(*value, "value");
    not_null(out, "out");
    *out = new tdm_rref(tr::RRef(std::move(held)));
  });
}

tdm_error* tdm_rref_owner(const tdm_rref* rref, int32_t* out) {
  return guard("tdm_rref_owner", [&] {
    not_null(rref, "rref");
    not_null(out, "out");
    *out = rref->rref.owner().id;
  });
}

int32_t tdm_rref_is_owner(const tdm_rref* rref) {
  return if_live(rref) ? rref->rref.is_owner() : 0;
}

int32_t tdm_rref_confirmed_by_owner(const tdm_rref* rref) {
  return if_live(rref) ? rref->rref.confirmed_by_owner() : 0;
}

tdm_error* tdm_rref_local_value(const tdm_rref* rref, int64_t timeout_ms, tdm_value* out) {
  return guard("tdm_rref_local_value", [&] {
    not_null(rref, "rref");
    const auto timeout = to_optional_wait(timeout_ms);
    not_null(out, "out");
    *out = from_script(rref->rref.local_value(timeout));
  });
}

tdm_error* tdm_rref_to_here(const tdm_rref* rref, const tdm_rpc_call_options* options, tdm_value* out) {
  return guard("tdm_rref_to_here", [&] {
    not_null(rref, "rref");
    const auto given = read_call_options(options);
    if (given.retries != 0) {
      invalid("options->retries is " + std::to_string(given.retries) + "; tdm_rref_to_here() takes none");
    }
    not_null(out, "out");
    *out = from_script(in_context(given, [&] { return rref->rref.to_here(to_wait(given.timeout_ms)); }));
  });
}

void tdm_rref_free(tdm_rref* rref) {
  free_handle(rref);
}
