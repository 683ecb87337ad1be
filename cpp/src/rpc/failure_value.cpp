#include "rpc/failure_value.h"

#include <c10/util/Exception.h>

#include <charconv>

#include "comm/gloo/failure.h"

namespace tandem::rpc {
namespace {

namespace torch_rpc = torch::distributed::rpc;

constexpr const char* kMark = "tandem::rpc failure";

Error error_of(std::int64_t code, const std::string& text) {
  const bool is_known = code >= static_cast<int>(ErrorCode::kInternal) && code <= static_cast<int>(ErrorCode::kCallback);
  return Error(is_known ? static_cast<ErrorCode>(code) : ErrorCode::kInternal, text);
}

// Of failure_text().
std::optional<Error> failure_of_text(const std::string& text) {
  const std::string mark = std::string(kMark) + " ";
  const auto at = text.find(mark);
  if (at == std::string::npos) return std::nullopt;
  int code = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data() + at + mark.size(), end, code);
  if (problem != std::errc() || rest == end) return std::nullopt;
  return error_of(code, std::string(rest + 1, end));
}

Error of_text(const std::string& text, bool has_left) {
  if (has_left || text.find("RPC is no longer running") != std::string::npos) {
    return Error(ErrorCode::kAborted, "this worker has left (rpc::shutdown)");
  }
  if (const auto failure = failure_of_text(text)) return *failure;
  if (text.find("RPCErr:1:") != std::string::npos) return no_answer();  // of LibTorch's timeouts
  // TensorPipe's errors end in where they began.
  const auto origin = text.find(" (this error originated at ");
  if (origin != std::string::npos) {
    return Error(ErrorCode::kPeerLost, "the worker is gone (" + text.substr(0, origin) +
                                           "); see its output for why it ended. LibTorch does not connect to it again");
  }
  return Error(ErrorCode::kInternal, text.substr(0, text.find("\nException raised from ")));
}

}  // namespace

at::IValue failure_value(const Error& error) {
  return c10::ivalue::Tuple::create({at::IValue(std::string(kMark)),
                                     at::IValue(static_cast<std::int64_t>(error.code())),
                                     at::IValue(std::string(error.what()))});
}

std::optional<Error> failure_in(const at::IValue& value) {
  if (!value.isTuple()) return std::nullopt;
  const auto& parts = value.toTupleRef().elements();
  if (parts.size() != 3 || !parts[0].isString() || parts[0].toStringRef() != kMark) return std::nullopt;
  if (!parts[1].isInt() || !parts[2].isString()) return std::nullopt;
  return error_of(parts[1].toInt(), parts[2].toStringRef());
}

std::string failure_text(const Error& error) {
  return std::string(kMark) + " " + std::to_string(static_cast<int>(error.code())) + " " + error.what();
}

Error no_answer() {
  return Error(ErrorCode::kTimeout, "no answer in time; see whether the worker computes, is stopped, or hangs");
}

Error on_worker(const Error& error, const std::string& function, const std::string& worker) {
  return Error(error.code(), function + " on worker '" + worker + "': " + error.what());
}

Error transport_failure(const torch_rpc::JitFuture& failed, bool has_left) {
  return of_text(plain_text(std::runtime_error(failed.tryRetrieveErrorMessage())), has_left);
}

Error transport_failure(const std::exception& thrown, bool has_left) {
  return of_text(plain_text(thrown), has_left);
}

}  // namespace tandem::rpc
