#include "jit/errors.h"

#include <c10/util/Exception.h>
#include <torch/csrc/jit/runtime/jit_exception.h>

#include <new>
#include <optional>
#include <string_view>

namespace tandem::jit {
namespace {

void trim(std::string& text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  text.erase(0, text.find_first_not_of("\n "));
}

// `... File "code/__torch__.py", line 7, in forward ...`: the innermost of them as "code/__torch__.py, line 7, in
// forward".
std::string place_in(std::string_view trace) {
  static constexpr std::string_view kFile = "  File \"";
  const auto file = trace.rfind(kFile);
  if (file == std::string_view::npos) return "";
  std::string place(trace.substr(file + kFile.size(), trace.find('\n', file) - file - kFile.size()));
  if (const auto quote = place.find('"'); quote != std::string::npos) place.erase(quote, 1);
  return place;
}

// The interpreter's message is a stack with pieces of source, all of it indented, and then "CLASS: what went wrong".
struct Report {
  std::string reason, place;
};
Report parse(const std::string& message) {
  static constexpr std::string_view kHead = "The following operation failed in the TorchScript interpreter.";
  if (!message.starts_with(kHead)) return {message, ""};
  std::size_t line = message.rfind("<--- HERE\n");
  if (line == std::string::npos) line = 0;
  for (line = message.find('\n', line); line != std::string::npos; line = message.find('\n', line + 1)) {
    const std::string_view rest = std::string_view(message).substr(line + 1);
    if (rest.empty() || rest.front() == ' ' || rest.front() == '\n' || rest.starts_with("Traceback of TorchScript"))
      continue;
    std::string reason(rest);
    static constexpr std::string_view kUsual = "RuntimeError: ";
    if (reason.starts_with(kUsual)) reason.erase(0, kUsual.size());
    return {reason, place_in(std::string_view(message).substr(0, line))};
  }
  return {message, ""};
}

}  // namespace

std::string reason_of_current() {
  std::string reason;
  try {
    throw;
  } catch (const c10::Error& error) {
    reason = error.what_without_backtrace();
  } catch (const std::exception& error) {
    reason = error.what();
  } catch (...) {
    reason = "an exception that is no std::exception";
  }
  if (const auto stack = reason.find("\nException raised from"); stack != std::string::npos) reason.resize(stack);
  // "[enforce fail at FILE:LINE] CONDITION. WHY"
  if (reason.starts_with("[enforce fail at ")) {
    const auto why = reason.find(". ", reason.find("] "));
    if (why != std::string::npos) reason.erase(0, why + 2);
  }
  trim(reason);
  return reason;
}

void rethrow_from_run(const std::string& method) {
  std::optional<std::string> raised;
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const torch::jit::JITException& error) {
    raised = error.getPythonClassName();
  } catch (...) {
  }
  Report report = parse(reason_of_current());
  trim(report.reason);
  if (raised && raised->starts_with("builtins.")) {  // it is in the report as well
    if (report.reason.starts_with(*raised)) report.reason.erase(0, std::string_view("builtins.").size());
  }
  throw Error(code_of_reason(report.reason),
              method + ": " + report.reason + (report.place.empty() ? "" : " (" + report.place + ")"));
}

ErrorCode code_of_reason(const std::string& reason) {
  return reason.find("can't allocate memory") != std::string::npos ? ErrorCode::kOutOfMemory : ErrorCode::kInvalidArgument;
}

}  // namespace tandem::jit
