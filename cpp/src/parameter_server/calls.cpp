#include "parameter_server/calls.h"

#include <optional>

#include "tandem/dist_autograd.h"

namespace tandem::parameter_server {

rpc::Future call(const std::string& worker, const char* function, rpc::Values arguments,
                 std::chrono::milliseconds timeout) {
  const rpc::WithContext none(-1);
  rpc::CallOptions options;
  options.timeout = timeout;
  return rpc::rpc_async(worker, function, std::move(arguments), options);
}

std::vector<at::IValue> wait_for_all(const std::vector<rpc::Future>& calls) {
  std::optional<Error> failure;
  std::vector<at::IValue> results;
  for (const rpc::Future& call : calls) {
    try {
      results.push_back(call.wait());
    } catch (const Error& error) {
      if (!failure) failure = error;
    }
  }
  if (failure) throw *failure;
  return results;
}

}  // namespace tandem::parameter_server
