#include "core/call/libtorch_message.h"

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace tandem::capi {
namespace {

constexpr const char* kStack = "\nException raised from";

// Asked for each error, so that a program can switch it on while it runs.
bool wants_all() {
  const char* value = std::getenv("TANDEM_BACKTRACE");
  return value && *value && std::strcmp(value, "0") != 0;
}

void drop_stack(std::string& message) {
  const std::size_t stack = message.find(kStack);
  if (stack != std::string::npos) message.resize(stack);
}

// "CONDITION INTERNAL ASSERT FAILED at FILE:LINE, please report a bug to PyTorch. WHY": it is as often what the caller
// gave.
void describe_check(std::string& message) {
  static const std::string failed = " INTERNAL ASSERT FAILED at ", request = "please report a bug to PyTorch.";
  const std::size_t end = message.find(request);
  if (end == std::string::npos) return;
  const std::size_t mark = message.find(failed), why = message.find_first_not_of(' ', end + request.size());
  const std::string condition = mark < end ? message.substr(0, mark) : "";
  message = "a check inside LibTorch failed" +
            (condition.empty() || condition == "false" ? "" : " (" + condition + ")") +
            (why == std::string::npos ? "" : ": " + message.substr(why));
}

// "[enforce fail at FILE:LINE] CONDITION. WHY", and "/FILE:LINE: WHY" of checks in files that are included.
void drop_place(std::string& message) {
  if (message.starts_with("[enforce fail at ")) {
    const std::size_t condition = message.find("] ");
    const std::size_t why = condition == std::string::npos ? condition : message.find(". ", condition);
    if (why != std::string::npos) message.erase(0, why + 2);
  } else if (message.starts_with("/")) {
    const std::size_t why = message.find(": ");
    if (why < message.find(' ') && std::isdigit(static_cast<unsigned char>(message[why - 1])))
      message.erase(0, why + 2);
  }
}

// What LibTorch tells those who extend it.
void drop_advice(std::string& message) {
  for (const char* advice :
       {"(Could this error message be improved?", "You may have run into this message while using",
        ", or that you (the operator writer) forgot", "Run workload with environment variable", "File an issue at"}) {
    const std::size_t begin = message.find(advice);
    if (begin != std::string::npos) message.resize(begin);
  }
}

// The tracer shows a tensor that it cannot keep, all of it.
void drop_elements(std::string& message) {
  if (!message.starts_with("Cannot insert a Tensor that requires grad as a constant.")) return;
  if (const std::size_t elements = message.find("\nTensor:\n"); elements != std::string::npos) message.resize(elements);
}

// An operator that a device lacks: LibTorch guesses why, and lists where fifty parts of it registered what. What has a
// kernel is said on lines such as "CPU: registered at FILE:LINE [kernel]".
void shorten_missing_kernel(std::string& message) {
  const std::size_t guesses = message.find(" This could be because the operator doesn't exist for this backend");
  if (guesses == std::string::npos) return;
  std::istringstream lines(message.substr(guesses));
  std::string kernels;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": registered at ");
    if (colon == std::string::npos || !line.ends_with("[kernel]")) continue;
    const std::string name = line.substr(0, colon);
    if (name != "Tracer") kernels += (kernels.empty() ? "" : ", ") + name;
  }
  message.resize(guesses);
  message += kernels.empty() ? " It has no kernel in this LibTorch." : " It has kernels for " + kernels + ".";
}

std::string shortened(std::string message) {
  drop_stack(message);
  describe_check(message);
  drop_place(message);
  drop_advice(message);
  drop_elements(message);
  shorten_missing_kernel(message);
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  return message;
}

}  // namespace

std::string readable(const c10::Error& error) {
  return wants_all() ? error.what() : shortened(error.what_without_backtrace());
}

std::string readable(const std::exception& error) {
  return wants_all() ? error.what() : shortened(error.what());
}

std::string readable(const std::exception& error, const char* meaning) {
  return wants_all() ? std::string(meaning) + " (" + error.what() + ")" : meaning;
}

}  // namespace tandem::capi
