// What calls of other workers take.
#pragma once

#include <cstddef>
#include <vector>

#include "core/call/options.h"
#include "core/call/timeout.h"
#include "core/jit/script_values.h"
#include "core/operators/values.h"
#include "tandem/dist_autograd.h"
#include "tandem/rpc.h"

namespace tandem::capi {

inline rpc::Values to_call_values(const tdm_value* values, std::size_t count) {
  check_count(count, "arguments");
  if (count != 0) not_null(values, "arguments");
  rpc::Values made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(to_script(values[i], element_name("arguments", i)));
  return made;
}

inline constexpr std::int64_t kThreadsContext = -1;

inline tdm_rpc_call_options read_call_options(const tdm_rpc_call_options* options) {
  const auto given = read_options<tdm_rpc_call_options>(options, TDM_RPC_CALL_OPTIONS_INIT, "tdm_rpc_call_options");
  if (given.timeout_ms < 0) {
    invalid("options->timeout_ms is " + std::to_string(given.timeout_ms) + "; it must be 0 or more");
  }
  if (given.context < kThreadsContext) {
    invalid("options->context is " + std::to_string(given.context) + ", which is no context of distributed autograd");
  }
  return given;
}

// Inside of the context that the options name.
template <typename Body>
auto in_context(const tdm_rpc_call_options& options, Body&& body) {
  const rpc::WithContext context(options.context == kThreadsContext ? rpc::current_context() : options.context);
  return body();
}

inline rpc::CallOptions to_call_options(const tdm_rpc_call_options& given) {
  rpc::CallOptions options;
  options.timeout = to_wait(given.timeout_ms);
  options.retries = given.retries;
  return options;
}

inline std::chrono::milliseconds to_optional_wait(std::int64_t timeout_ms) {
  if (timeout_ms < 0) invalid("argument 'timeout_ms' is " + std::to_string(timeout_ms) + "; it must be 0 or more");
  return to_wait(timeout_ms);
}

}  // namespace tandem::capi
