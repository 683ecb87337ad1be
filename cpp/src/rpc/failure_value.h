// How a failed call comes back to its caller.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/distributed/rpc/message.h>

#include <optional>
#include <string>

#include "tandem/error.h"

namespace tandem::rpc {

// What a function failed with, as its result: LibTorch's own way of telling an exception has one text for all, and logs it
// where the function ran. A value of this kind is no result of any function.
at::IValue failure_value(const Error& error);
// Null for a result.
std::optional<Error> failure_in(const at::IValue& value);

// The same, as the text of LibTorch's way, where only that is left.
std::string failure_text(const Error& error);

// The same error, of a call on `worker`: "twice() on worker 'w1': ...".
Error on_worker(const Error& error, const std::string& function, const std::string& worker);

// Of a call whose time is over.
Error no_answer();

// Why LibTorch's agent did not bring an answer: kTimeout, kPeerLost, kAborted once this worker has left, else kInternal.
Error transport_failure(const torch::distributed::rpc::JitFuture& failed, bool has_left);
// The same of an exception that it threw.
Error transport_failure(const std::exception& thrown, bool has_left);

}  // namespace tandem::rpc
