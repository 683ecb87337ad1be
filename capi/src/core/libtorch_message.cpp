#include "core/libtorch_message.h"

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

void drop_request(std::string& message) {
  static const std::string request = "please report a bug to PyTorch.";
  const std::size_t end = message.find(request);
  if (end == std::string::npos) return;
  const std::size_t text = message.find_first_not_of(' ', end + request.size());
  message = "a check inside LibTorch failed" + (text == std::string::npos ? "" : ": " + message.substr(text));
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
  drop_request(message);
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

}  // namespace tandem::capi
